/*
 * Ticks of CPU time in compiled code, whose methods are to be told (attribution_find_tick).
 *
 * A tick counts for the context that the JVM has for it at once, and for the right one from when
 * its code is known, which ticks do not ask for: it comes for accesses, and for loops. So profiles
 * are complete at any time, and right as far as they can be at the end. Ticks in stubs (copies,
 * fills) are those of the method that accesses memory there, which is known at the end.
 *
 * As in profile/intake/intake.h, nothing in a batch can be wrong enough to stop the run. One for
 * each run; the window outlives it.
 */
#ifndef JXPERF_PROFILE_INTAKE_TICK_INTAKE_H
#define JXPERF_PROFILE_INTAKE_TICK_INTAKE_H

#include <stddef.h>
#include <stdint.h>

#include "profile/container/hash_index.h"
#include "profile/intake/attribution_intake.h"
#include "profile/window/result.h"
#include "proto/events.h"

enum tick_kind {
	TICK_IN_CODE,
	TICK_CALLED,    /* in a stub that is called there */
	TICK_OF_NOBODY, /* whose context is not to be told: loops alone want to know of it */
};

/* Ticks of one place, in one context. */
struct tick_place {
	struct tick_key {
		uint64_t code; /* the agent's number */
		uint32_t offset;
		uint32_t node; /* of the window's tree, as the JVM has it */
		uint64_t kind; /* enum tick_kind */
	} key;
	uint32_t told;     /* the right node, once certainty is not NONE */
	uint8_t certainty; /* enum certainty */
	struct cpu_sum sum;
};

struct tick_intake {
	struct window_result *result;      /* borrowed */
	struct attribution_intake *makers; /* borrowed */
	struct tick_place *places;
	size_t place_count, place_capacity;
	struct hash_index place_index;
	size_t codes_known; /* of makers, when all places were looked at last */
};

void tick_intake_init(struct tick_intake *in, struct window_result *result,
		      struct attribution_intake *makers);
void tick_intake_release(struct tick_intake *in);

/* A tick in compiled code that is in the profile with its node. Moves it to the right one, and
 * remembers it. 1; 0: there is no room; or -ENOMEM. */
int tick_intake_add(struct tick_intake *in, const struct event_tick *tick, uint32_t node,
		    enum tick_kind kind);

/* Moves ticks of code that is known since the last time. 0 or -ENOMEM. */
int tick_intake_settle(struct tick_intake *in);

/* As far as it is known, the right node of a tick whose node is as the JVM has it. */
uint32_t tick_intake_node(const struct tick_intake *in, uint64_t code, uint32_t offset,
			  uint32_t node);

/* Nothing more will come, and makers has finished: settles the rest, and counts what is not told. 0
 * or -ENOMEM. */
int tick_intake_finish(struct tick_intake *in);

/* Heap bytes held. */
size_t tick_intake_memory_bytes(const struct tick_intake *in);

#endif
