/*
 * The methods that are inlined in compiled code, each by the calls that lead to it from the method
 * that was compiled: an instance. Those on the calls of any debug record were inlined for certain
 * ("seen"); below them hang those that their invokes may lead to and that left no record, since all
 * of such a callee may stand between two safepoints.
 *
 * Bounded, whatever the image says. Pure functions, any thread.
 */
#ifndef JXPERF_PROFILE_ATTRIBUTION_INSTANCES_H
#define JXPERF_PROFILE_ATTRIBUTION_INSTANCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/container/hash_index.h"
#include "profile/loops/code_image.h"

#define INSTANCES_MAX       4096u
#define INSTANCE_DEPTH_MAX  72u /* frames of a record, and callees below them */
#define INSTANCE_LEVELS_MAX 3u
#define INSTANCE_NONE       UINT32_MAX

/* C2 inlines larger ones where they are hot at no time (FreqInlineSize). */
#define INSTANCE_UNSEEN_BYTES_MAX 325u

struct instance {
	uint32_t caller; /* an earlier instance; INSTANCE_NONE: it was compiled */
	int32_t bci;     /* of the call in it */
	uint32_t method; /* index of the image's */
	uint16_t depth;  /* calls that lead to it */
	uint8_t level;   /* 0: seen; else so many calls below one that was */
};

/* A bytecode of an instance. */
struct instance_place {
	uint32_t instance;
	int32_t bci;
};

/* By instance, then by bytecode: of two struct instance_place, for qsort. */
int instance_places_order(const void *a, const void *b);

struct instances {
	struct instance *list; /* the compiled method is the first */
	size_t count, capacity;
	struct hash_index index;
	struct instance_place *records; /* by the image's records: the innermost call of each;
					 * INSTANCE_NONE where its calls do not begin with the
					 * compiled method */
};

/* called: of each record, whether a call of compiled code returns to it: what is called there was
 * not inlined. usable: whether it counts at all. 0 or -ENOMEM, with an empty s. */
int instances_make(struct instances *s, const struct code_image *image, const bool *usable,
		   const bool *called);
void instances_release(struct instances *s);

/* Heap bytes held. */
size_t instances_memory_bytes(const struct instances *s);

/* One call of a chain. */
struct instance_call {
	uint32_t method;
	int32_t bci;
};

/* The calls that lead to a place, the compiled method's first, and itself as the last. Their
 * number. */
unsigned instances_chain(const struct instances *s, struct instance_place place,
			 struct instance_call calls[INSTANCE_DEPTH_MAX]);

/* Is it inlined in, at any depth, what is called at place? */
bool instances_is_below(const struct instances *s, uint32_t instance, struct instance_place place);

#endif
