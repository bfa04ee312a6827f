/*
 * What one window was asked to do, and the JVM-wide facts handlers need. Written by the session
 * thread before the first event is opened, constant until the last one is closed, except for the
 * atomics.
 */
#ifndef JXPERF_AGENT_HANDLER_HANDLERS_H
#define JXPERF_AGENT_HANDLER_HANDLERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "attach/agent/code/region.h"
#include "attach/agent/handler/context.h"
#include "attach/agent/handler/stack.h"
#include "common/perf/events.h"

#define KINDS_MAX 3

struct handlers {
	uint8_t kinds[KINDS_MAX]; /* Kind values to sample */
	unsigned kind_count;      /* of pairs; objects are beside them */
	unsigned registers;       /* debug registers in use, 1..4 */
	unsigned max_frames;
	/* In the sampler's unit: nanoseconds for clock, else operations. Follows the budget. */
	_Atomic uint64_t period;
	/* Of the hardware samplers; none: the clock. */
	struct perf_hardware_event events[PERF_HARDWARE_EVENTS];
	unsigned event_count;
	struct region_map regions;
	struct stack_walker walker;
	struct context_table *contexts;
	bool objects; /* the window is for objects, too: threads get what that takes */
	/* Now, and not only later or until it was switched off: accesses are sampled for objects.
	 * Session thread. */
	_Atomic bool objects_on;
	_Atomic uint32_t epoch; /* rises when a pause of the collector starts and when it ends; even
				 * while the application runs */
	_Atomic bool stopping;  /* handlers return at once */
};

extern struct handlers handlers;

/* In the thread that makes a pause of the collector, at its beginning and at its end. */
void handlers_gc_started(void);
void handlers_gc_finished(void);

#endif
