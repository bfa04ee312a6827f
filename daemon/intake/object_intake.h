/*
 * What an agent's batches mean for the object profile: checks allocations, positions and accesses,
 * brings them into order (daemon/intake/object_order.h), keeps the tracked objects
 * (daemon/intake/object_table.h) and adds what accesses cost to the window's object profile.
 *
 * As in daemon/intake/intake.h, nothing in a batch can be wrong enough to stop the run: what is
 * out of range, unknown, repeated or beyond a limit is dropped and counted in the window's losses.
 *
 * One for each run; the window outlives it.
 */
#ifndef JXPERF_DAEMON_INTAKE_OBJECT_INTAKE_H
#define JXPERF_DAEMON_INTAKE_OBJECT_INTAKE_H

#include <stdint.h>

#include "daemon/intake/agent_ids.h"
#include "daemon/intake/attribution_intake.h"
#include "daemon/intake/object_order.h"
#include "daemon/intake/object_table.h"
#include "daemon/window/result.h"
#include "proto/jxperf.pb-c.h"

struct object_intake {
	struct window_result *result;      /* borrowed */
	const struct agent_ids *nodes;     /* borrowed: agent's id -> node of the window's tree */
	const struct agent_ids *locations; /* borrowed: likewise, of its locations */
	struct attribution_intake *attribution; /* borrowed: who makes accesses */
	struct agent_ids classes;               /* agent's id -> string of the window's profile */
	struct object_order order;
	struct object_table table;
	uint64_t evicted; /* of the table's, counted as losses so far */
};

void object_intake_init(struct object_intake *in, struct window_result *result,
			const struct agent_ids *nodes, const struct agent_ids *locations,
			struct attribution_intake *attribution);
void object_intake_release(struct object_intake *in);

/* Applies the object part of a batch whose nodes and locations are known already. 0 or -ENOMEM. */
int object_intake_batch(struct object_intake *in, const Jxp__Batch *batch);

/* An access whose maker is told. 0 or -ENOMEM. */
int object_intake_attributed(struct object_intake *in, const struct attribution_held *held);

/* Nothing more will come: applies what waits. 0 or -ENOMEM. */
int object_intake_finish(struct object_intake *in);

/* Heap bytes held, without the window's. */
size_t object_intake_memory_bytes(const struct object_intake *in);

#endif
