/*
 * Who makes an access: which method of those that are inlined in compiled code, and which bytecode.
 *
 * The JVM's debug information is of safepoints only; the record next to an instruction most often
 * names a method that cannot have made the access. What was accessed is known, so candidates are
 * the bytecodes that access it, of all instances (instances.h), callees without a record among
 * them. A null-check entry of the instruction decides, or a dense record of its own; else the
 * candidate that is nearest to the places around (nearby.h), by the calls that they share.
 *
 * Made once for a code, of which only what answers need is kept; finding is a pure function of
 * that. Any thread.
 */
#ifndef JXPERF_PROFILE_ATTRIBUTION_ATTRIBUTION_H
#define JXPERF_PROFILE_ATTRIBUTION_ATTRIBUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/attribution/access_bytecodes.h"
#include "profile/attribution/access_shape.h"
#include "profile/attribution/instances.h"
#include "profile/attribution/nearby.h"
#include "profile/attribution/sites.h"
#include "profile/attribution/spans.h"
#include "profile/loops/code_image.h"
#include "profile/certainty.h"

struct attribution_options {
	/* Dense records count at safepoints alone, and null checks not at all: for tests, which
	 * hold answers against them. */
	bool ignore_dense, ignore_null_checks;
};

/* This is kept of an instruction that accesses memory, or of a call of a stub that does. */
struct attribution_place {
	uint32_t offset; /* of a call's last byte */
	struct nearby_points before, behind;
	struct twins twins;
	struct access_shape shape;
	struct instance_place null_check, dense; /* INSTANCE_NONE: it has none */
	bool locked; /* no bytecode but a call of the library's comes to such an instruction,
		      * headers aside */
	bool called;
};

struct attribution {
	struct code_image image; /* of its members those that answers need */
	struct instances instances;
	struct sites sites;
	struct attribution_place *places; /* ascending */
	size_t place_count;
	struct spans spans; /* by which of these ticks are told */
};

/* Takes the image on success and leaves it alone on failure. 0; -E2BIG where the code is too large
 * or too tangled, -ENOMEM; then a is empty. */
int attribution_make(struct attribution *a, struct code_image *image,
		     const struct attribution_options *options);
void attribution_release(struct attribution *a);

/* Heap bytes held. */
size_t attribution_memory_bytes(const struct attribution *a);

struct attribution_answer {
	enum certainty certainty;
	/* But for UNKNOWN: the compiled method's call first, the bytecode that makes the access
	 * last. For METHOD it is the compiled method alone, bci -1. */
	struct instance_call calls[INSTANCE_DEPTH_MAX];
	unsigned count;
	bool inlined;  /* something is inlined in the code at all */
	uint64_t work; /* that it took: bytes of bytecodes, and as if each candidate were 512 */
};

/* Tells the instruction at an offset or, where a stub made the access, the last byte of the stub's
 * call. 0 or -ENOMEM. */
int attribution_find(const struct attribution *a, uint32_t offset,
		     const struct attribution_access *access, struct attribution_answer *answer);

/* The same of a tick, of which nothing is known but where it came: the access that the thread
 * waited for there, or the nearest one, is told by its shape (access_shape.h), and where that fits
 * nothing the nearest place around it is taken. INFERRED or UNKNOWN. */
int attribution_find_tick(const struct attribution *a, uint32_t offset,
			  struct attribution_answer *answer);

/* The offset of the instruction whose access such a tick is told by; UINT32_MAX: there is none. */
uint32_t attribution_tick_access(const struct attribution *a, uint32_t offset);

/* How many of the innermost calls of a path, which come first and have methods of the window's
 * tree, are those of a record of this code, up to the compiled method; 0: no record has them, and
 * the compiled method is not the innermost one. */
unsigned attribution_match(const struct attribution *a, const struct instance_call *path,
			   unsigned count);

#endif
