/*
 * What an agent's batches mean for the object profile: checks allocations, positions and accesses,
 * brings them into order (profile/intake/object_order.h), keeps the tracked objects
 * (profile/intake/object_table.h) and adds what accesses cost to the window's object profile.
 *
 * As in profile/intake/intake.h, nothing in a batch can be wrong enough to stop the run: what is
 * out of range, unknown, repeated or beyond a limit is dropped and counted in the window's losses.
 *
 * One for each run; the window outlives it.
 */
#ifndef JXPERF_PROFILE_INTAKE_OBJECT_INTAKE_H
#define JXPERF_PROFILE_INTAKE_OBJECT_INTAKE_H

#include <stdint.h>

#include "profile/intake/agent_ids.h"
#include "profile/intake/attribution_intake.h"
#include "profile/intake/object_order.h"
#include "profile/intake/object_table.h"
#include "profile/window/result.h"
#include "proto/events.h"
#include "proto/jxperf.pb-c.h"

struct object_intake {
	struct window_result *result;      /* borrowed */
	const struct agent_ids *nodes;     /* borrowed: agent's id -> node of the window's tree */
	const struct agent_ids *locations; /* borrowed: likewise, of its locations */
	struct attribution_intake *attribution; /* borrowed: who makes accesses */
	struct agent_ids classes;               /* agent's id -> string of the window's profile */
	struct object_order order;
	struct object_table table;
	uint64_t evicted;  /* of the table's, counted as losses so far */
	uint32_t youngest; /* of a pass: see object_profile_judged */
	uint64_t ready_ns; /* when the batch was sent */
};

void object_intake_init(struct object_intake *in, struct window_result *result,
			const struct agent_ids *nodes, const struct agent_ids *locations,
			struct attribution_intake *attribution);
void object_intake_release(struct object_intake *in);

/* Take each batch: what it says of objects beside its events, before these and after its nodes and
 * locations; its events; and at last until when everything has been said. 0 or -ENOMEM. */
int object_intake_begin(struct object_intake *in, const Jxp__Batch *batch);
int object_intake_allocation(struct object_intake *in, const struct event_allocation *a);
int object_intake_position(struct object_intake *in, const struct event_position *p);
int object_intake_settled(struct object_intake *in, const struct event_settled *s);
int object_intake_access(struct object_intake *in, const struct event_access *a);
int object_intake_settle(struct object_intake *in, uint64_t settled_ns);

/* An access whose maker is told. 0 or -ENOMEM. */
int object_intake_attributed(struct object_intake *in, const struct attribution_held *held);

/* Nothing more will come: applies what waits. 0 or -ENOMEM. */
int object_intake_finish(struct object_intake *in);

/* Heap bytes held, without the window's. */
size_t object_intake_memory_bytes(const struct object_intake *in);

#endif
