/*
 * Accesses whose makers are to be told (profile/attribution): each waits until the compiled code
 * that it was made in is known, and is then handed on with the contexts of those who made it.
 *
 * Code is asked for once, that which most accesses wait for first, and so that its images take a
 * part of the window's budget alone; what waits, and what is kept of code, is bounded: beyond that,
 * where no code comes, and when the window ends, accesses are handed on as the JVM has them, and
 * marked so. Code is analysed by the owner, off the loop (daemon/engine/code_work.h).
 *
 * As in profile/intake/intake.h, nothing in a batch can be wrong enough to stop the run. One for
 * each run; the window outlives it.
 */
#ifndef JXPERF_PROFILE_INTAKE_ATTRIBUTION_INTAKE_H
#define JXPERF_PROFILE_INTAKE_ATTRIBUTION_INTAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/attribution/attribution.h"
#include "profile/container/row_table.h"
#include "profile/intake/code_requests.h"
#include "profile/intake/method_intake.h"
#include "profile/object_profile.h"
#include "profile/profile.h"
#include "profile/window/result.h"
#include "proto/jxperf.pb-c.h"

/* Codes that are known of, and all that are asked for in a window. */
#define ATTRIBUTION_CODES_MAX (1u << 14)
#define ATTRIBUTION_ASKED_MAX 1024u

/* Code is asked for when so many accesses wait for it: rows of fewer lead nobody anywhere, and an
 * image costs the agent as much as they did. */
#define ATTRIBUTION_WAITING_MIN 5u

/* Beyond so many, images take what the ledger allows. */
#define ATTRIBUTION_ASKED_FREE 4u

/* What is kept of analysed code; the one that was needed longest ago goes first. */
#define ATTRIBUTION_BYTES_MAX ((size_t)12 << 20)

/* Answers that are remembered. */
#define ATTRIBUTION_TOLD_MAX (1u << 17)

/* Work of answers in a window (attribution_answer.work): a second or so. */
#define ATTRIBUTION_WORK_MAX (UINT64_C(1) << 29)

/* ... and of ticks, apart, so that accesses have theirs. */
#define ATTRIBUTION_TICK_WORK_MAX (UINT64_C(1) << 28)

/* Accesses and pairs that wait. */
#define ATTRIBUTION_HELD_MAX (1u << 14)

/* One access. */
struct attribution_query {
	uint64_t code; /* the agent's number, 0: none */
	uint32_t offset;
	uint32_t node;     /* of the window's tree, as the JVM has it; 0: none */
	uint32_t location; /* of the window's profile */
	uint32_t calls;    /* the node's innermost ones, of compiled code; 0: it was none */
	bool loads, stores;
};

/* What waits: a pair, or an access to an object. */
struct attribution_held {
	struct attribution_query queries[2]; /* the second one's node is 0 but for pairs */
	bool is_pair;
	union {
		struct observation pair;
		struct held_access {
			struct object_access access;
			uint32_t site; /* HELD_* or a site of the profile */
			uint8_t region;
			double object_weight, object_metric;
		} access;
	};
};

struct attribution_code {
	struct wanted_code is;
	uint64_t used;    /* KNOWN: when it was needed last, in answers */
	uint32_t waiting; /* MET: accesses that wait for it */
	struct attribution attribution;
};

/* An answer, and for what. */
struct attribution_told {
	struct attribution_key {
		uint32_t code; /* position */
		uint32_t offset;
		uint32_t node;
		uint32_t access; /* location << 2 | loads << 1 | stores */
	} key;
	uint32_t node;
	uint8_t certainty;
};

/* The access of an instruction that is told the surest. */
struct attribution_seen {
	uint32_t code, offset;
	uint32_t told; /* position */
};

struct attribution_intake {
	struct window_result *result;        /* borrowed */
	const struct method_intake *methods; /* borrowed */
	uint32_t waiting_min;                /* ATTRIBUTION_WAITING_MIN, or what a test sets */
	/* Takes what waited, with the nodes of its queries as they are right. 0 or -ENOMEM. */
	int (*apply)(void *arg, const struct attribution_held *held);
	void *arg;
	TABLE_OF(struct attribution_code, codes, code_count, code_table);
	struct code_requests requests;
	struct attribution_told *told;
	size_t told_count, told_capacity;
	struct hash_index told_index;
	struct attribution_seen *seen; /* from the end on, by instruction */
	size_t seen_count;
	uint64_t answers, work, tick_work;
	size_t codes_known; /* so many times in all */
	size_t bytes;       /* of all KNOWN */
	struct attribution_held *held;
	size_t held_count, held_capacity;
};

void attribution_intake_init(struct attribution_intake *in, struct window_result *result,
			     const struct method_intake *methods,
			     int (*apply)(void *arg, const struct attribution_held *held),
			     void *arg);
void attribution_intake_release(struct attribution_intake *in);

/* Applies held, now or once its code is known. 0 or -ENOMEM. */
int attribution_intake_add(struct attribution_intake *in, const struct attribution_held *held);

/* An image of code: true where it was asked for here. *error: 0 or -ENOMEM. */
bool attribution_intake_image(struct attribution_intake *in, const Jxp__CodeImage *m, int *error);

/* A tick at an offset of the agent's code, whose context is node as the JVM has it: 1 with what is
 * told of it, 0 where the code is not known now, or -ENOMEM. */
int attribution_intake_tick(struct attribution_intake *in, uint64_t code, uint32_t offset,
			    uint32_t node, struct attribution_told *told);

/* The same once all has been finished, where accesses of the instruction that the tick is told by
 * were sampled; called: in a stub that is called at offset. 0 where none was, or they are not told.
 */
int attribution_intake_tick_by_access(struct attribution_intake *in, uint64_t code, uint32_t offset,
				      bool called, uint32_t node, struct attribution_told *told);

/* An image that somebody else has asked for: taken where it is not known yet and there is room. 0
 * or -ENOMEM. */
int attribution_intake_offer(struct attribution_intake *in, const Jxp__CodeImage *m);

/* Numbers of codes to be asked for now, which count as asked. The window's CPU time and counters
 * say for how many there was room. */
size_t attribution_intake_ask(struct attribution_intake *in, uint64_t codes[CODES_OPEN_MAX]);

/* Takes an image that waits to be analysed, for the caller to release; *code is its position. */
bool attribution_intake_take_image(struct attribution_intake *in, struct code_image *image,
				   uint32_t *code);

/* What came of it: 0 with an attribution, whose content is taken; or why there is none. 0 or
 * -ENOMEM. */
int attribution_intake_analysed(struct attribution_intake *in, uint32_t code, int error,
				struct attribution *attribution);

/* Nothing more will come: analyses what is there, and applies all that waits. 0 or -ENOMEM. */
int attribution_intake_finish(struct attribution_intake *in);

/* Heap bytes held, without the window's. */
size_t attribution_intake_memory_bytes(const struct attribution_intake *in);

#endif
