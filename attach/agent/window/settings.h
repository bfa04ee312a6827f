/*
 * What a window was asked to do: WindowStart, checked and in the agent's own terms. Built once, at
 * the beginning of a window, and constant after that; whoever does a part of the work is handed
 * that part.
 */
#ifndef JXPERF_AGENT_WINDOW_SETTINGS_H
#define JXPERF_AGENT_WINDOW_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/agent/handler/handlers.h"
#include "attach/agent/objects/object_settings.h"
#include "common/err.h"
#include "common/perf/switch_costs.h"
#include "proto/jxperf.pb-c.h"

struct settings {
	struct sampling sampling;
	uint64_t period;     /* asked for, in the sampler's unit: nanoseconds for the clock, else
			      * operations */
	unsigned registers;  /* debug registers of a thread, 1 to PERF_DEBUG_REGISTERS */
	unsigned max_frames; /* of a calling context, 1 to MAX_FRAMES_LIMIT */
	double budget;       /* fraction of the target's CPU time, above 0, at most 1 */
	double cpu_limit;    /* what cgroups let the target have, in CPUs; 0: no limit */
	struct switch_costs switch_costs; /* of this machine */
	uint64_t deadline_ns; /* CLOCK_MONOTONIC time at which the window ends by itself */
	bool through_daemon;  /* no event is to be opened in the target */
	bool kernel_gate;     /* the gate's program came with WindowStart */
	struct object_settings objects;
};

/* 0; or -EINVAL, with the reason in err and *out unchanged, when the daemon asked for what this
 * agent does not have, or beyond its limits. */
int settings_from_start(const Jxp__WindowStart *start, struct settings *out, struct err *err);

#endif
