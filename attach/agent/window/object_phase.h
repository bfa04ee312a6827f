/*
 * The objects part of a window and where it stands: it may begin later than the window, be refused
 * by the JVM, and end before the window does.
 *
 *   none ──────────────────────────────── not asked for, or refused
 *   waiting ──▶ tracked ──▶ ended         by time, then by StopObjects
 *
 * A window that is for other things, too, runs without the objects where they are not to be had.
 *
 * Session thread.
 */
#ifndef JXPERF_AGENT_WINDOW_OBJECT_PHASE_H
#define JXPERF_AGENT_WINDOW_OBJECT_PHASE_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/agent/jvmti/vm.h"
#include "attach/agent/objects/object_settings.h"
#include "attach/agent/objects/tracker.h"
#include "attach/agent/stream/drain.h"
#include "common/err.h"

enum object_phase_state { OBJECTS_NONE, OBJECTS_WAITING, OBJECTS_TRACKED, OBJECTS_ENDED };

struct object_phase {
	enum object_phase_state state;
	bool alone; /* the window is for nothing else: it ends when objects are refused */
	bool more;  /* there is more to do at once */
	const struct object_settings *settings;
	const struct ledger *ledger;
	struct vm *vm;
	struct drain *drain;
	struct tracker tracker;
};

/* Begins with the window, after vm_start: with the objects themselves, or by trying whether they
 * can be had later. All pointers outlive the phase. 0, or -errno when the window must end. */
int object_phase_start(struct object_phase *p, const struct object_settings *settings,
		       const struct ledger *ledger, bool alone, struct vm *vm, struct drain *drain,
		       struct err *err);

/* Goes on: begins when it is time to, sends the allocations that were sampled and looks where the
 * objects are. 0, or -errno when the window must end. */
int object_phase_update(struct object_phase *p, struct err *err);

/* In mid-window: objects are not tracked any more. 0, or -errno when the session cannot go on. */
int object_phase_end(struct object_phase *p);

/* Is the window for objects, whether they are tracked at this moment or not? Then its threads get
 * what sampling accesses takes. */
bool object_phase_is_wanted(const struct object_phase *p);

/* Tells the drain up to when the engine has all allocations and accesses; accesses_ns: up to when
 * it has the accesses. */
void object_phase_settle(struct object_phase *p, uint64_t accesses_ns);

/* At the window's end, when nothing is sampled any more: stops, and sends what has gathered. 0 or
 * -errno. */
int object_phase_stop(struct object_phase *p, bool vm_alive);

/* After object_phase_stop, and after the last look at the tracker's counters. Safe on a phase that
 * was not started. */
void object_phase_release(struct object_phase *p, bool vm_alive);

#endif
