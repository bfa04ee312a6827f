/*
 * The objects part of a window: samples allocations, keeps track of the objects, and tells the
 * engine (docs/agent.md, "Objects"). Session thread only.
 */
#ifndef JXPERF_AGENT_OBJECTS_TRACKER_H
#define JXPERF_AGENT_OBJECTS_TRACKER_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/agent/jvmti/vm.h"
#include "attach/agent/objects/alloc_pace.h"
#include "attach/agent/objects/object_settings.h"
#include "attach/agent/objects/objects.h"
#include "attach/agent/stream/drain.h"
#include "proto/ledger.h"

struct tracker {
	struct vm *vm;
	struct drain *drain;
	const struct ledger *ledger;
	struct objects objects;
	struct alloc_share share;
	struct alloc_pace pace;
	struct alloc_floor floor;
	bool running;
	uint64_t settled_ns;   /* no allocation of an earlier time will be sent */
	uint64_t pass_ns;      /* CPU time of passes so far */
	uint64_t pass_cost_ns; /* of the one that is being made */
	uint64_t next_pass_ns; /* not before this time */
	int error;             /* of the report of a pass */
	unsigned taken;        /* allocations, in the last update */
};

/* Starts sampling allocations, after vm_start. On failure the tracker is idle, and the other
 * functions do nothing. */
int tracker_start(struct tracker *t, struct vm *vm, struct drain *drain,
		  const struct object_settings *settings, const struct ledger *ledger,
		  struct err *err);

/* Sends the allocations that were sampled and goes on with a pass. *more: call again soon. 0, or
 * -errno when the session cannot go on. */
int tracker_update(struct tracker *t, bool *more);

/* Do sampled allocations cost so much that the interval is to be chosen at once? */
bool tracker_is_dear(const struct tracker *t);

/* Holds what the engine has told of sampled accesses to the heap, in totals of the window. */
struct tracker_use {
	uint64_t accesses;
	uint64_t met;            /* of these, to a tracked object */
	uint64_t accessed_bytes; /* objects of this size or more have most; 0: not known */
};

/* Chooses the interval anew, as cpu_ns of the target since the window began allow, and the smallest
 * size. About four times a second, and when sampling is dear. */
void tracker_set_pace(struct tracker *t, uint64_t cpu_ns, const struct tracker_use *use);

/* Stops sampling and sends what has gathered; nothing of it is left in the JVM, unless that has
 * died. */
int tracker_stop(struct tracker *t, bool vm_alive);

/* Stops in mid-window: what is tracked is given up, the counters stay. 0, or -errno when the
 * session cannot go on. */
int tracker_switch_off(struct tracker *t);

/* After tracker_stop, and after the last look at the counters: gives up the table. */
void tracker_release(struct tracker *t);

/* CPU time that it took of the application's threads; the session thread's own is not in it. */
uint64_t tracker_cost_ns(const struct tracker *t);

/* Adds its counters to counters[COUNTER_MAX]. */
void tracker_counters(const struct tracker *t, uint64_t *counters);

#endif
