/*
 * What signal handlers look at, in whatever thread they run: a part of what the window was asked to
 * do, the facts of this JVM, and the few things that change while the window runs.
 *
 * A global, because the kernel hands a handler nothing but the number of its thread's entry; what
 * no handler reads is not in here. Written by the session thread before the first event is opened,
 * and constant until the last one is closed, except for the atomics.
 */
#ifndef JXPERF_AGENT_HANDLER_HANDLERS_H
#define JXPERF_AGENT_HANDLER_HANDLERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "attach/agent/code/region.h"
#include "attach/agent/epoch/pauses.h"
#include "attach/agent/slowdown/slowdown.h"
#include "attach/agent/slowdown/switching.h"
#include "attach/agent/stack/context.h"
#include "attach/agent/stack/stack.h"
#include "attach/agent/place/object_layout.h"
#include "common/perf/events.h"
#include "common/perf/switch_costs.h"
#include "proto/kinds.h"

/* What is sampled. */
struct sampling {
	uint8_t kinds[PAIR_KINDS]; /* Kind values, of pairs; objects are beside them */
	unsigned kind_count;
	bool cpu;   /* the clock's ticks, each with its calling context, wherever they come */
	bool loops; /* and with its place in compiled code; some begin to count a loop's turns */
	/* The hardware sampler's; none: it is the clock. */
	struct perf_hardware_event events[PERF_HARDWARE_EVENTS];
	unsigned event_count;
};

struct handlers {
	struct sampling sampling;
	/* In force, in the sampler's unit: nanoseconds for the clock, else operations. Follows the
	 * budget; session thread. */
	_Atomic uint64_t period;
	/* The part of a thread's time that may be lost to registers that are on; and what takes
	 * longer then. */
	double slowdown_most;
	struct slowdown_costs register_costs;
	struct switch_costs switch_costs;
	uint64_t scheduler_tick_ns;
	/* Are accesses sampled for objects now? Not yet where objects begin later than the window,
	 * and no more once they were switched off. Session thread. */
	_Atomic bool objects_on;
	/* Kind loops: of BURST_CHANCE_ONE ticks in planned loops so many begin a burst or a trace,
	 * by the budget; and what a counted hit of a breakpoint takes. Session thread. */
	_Atomic uint32_t burst_chance;
	uint64_t burst_hit_ns;
	_Atomic uint64_t burst_ticks; /* ticks that came in planned loops; handlers */
	/* And what one signal of a trace takes, all in all; session thread. How many there were,
	 * and the CPU time that handlers spent in them; handlers. */
	_Atomic uint64_t trace_signal_ns;
	_Atomic uint64_t trace_signals, trace_ns;
	_Atomic int wake_fd; /* an eventfd, or -1 */
	_Atomic bool asked;
	uint64_t trace_key[2]; /* of the window, for hashes of values */
	_Atomic bool stopping; /* handlers return at once; session thread */
	/* What epochs are told by: the JVM's count of pauses, or what it tells of collections,
	 * which the positions of objects need. Then the number is one more when a pause of the
	 * collector begins, and when it ends: even while the application runs. */
	bool epoch_is_counted;
	_Atomic uint32_t epoch;
	struct pauses pauses;
	struct region_map regions;
	struct object_layout layout;
	struct stack_walker walker;
	struct context_table *contexts; /* every window's: mapped once for the process */
};

extern struct handlers handlers;

/* Once a window, before anything else of it: maps the table of contexts if that was not done yet,
 * and empties it. 0 or -errno. */
int handlers_init(void);

/* Gives the pages of the table of contexts back; it stays mapped, for handlers that are late. */
void handlers_release(void);

/* Has the session thread look at once what there is. In handlers. */
void handlers_wake(void);

/* Tells the session thread that a thread's registers are to be opened or taken away: it wakes for
 * that. In handlers. */
void handlers_ask(void);

/* Session thread: has anybody asked since the last call? */
bool handlers_were_asked(void);

/* The present epoch: an address in the heap that was taken in another one may be that of another
 * object, or of none. */
uint32_t handlers_epoch(void);

/* In the thread that makes a pause of the collector, at its beginning and at its end. */
void handlers_gc_started(void);
void handlers_gc_finished(void);

#endif
