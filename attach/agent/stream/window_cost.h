/*
 * What a window has cost the target so far, as the engine is told with every report.
 */
#ifndef JXPERF_AGENT_STREAM_WINDOW_COST_H
#define JXPERF_AGENT_STREAM_WINDOW_COST_H

#include <stdint.h>

struct window_cost {
	uint64_t cpu_ns;      /* CPU time of the whole process since the window began */
	uint64_t overhead_ns; /* of which ours */
	uint64_t session_ns;  /* of which the session thread's */
	uint64_t setup_ns;    /* the session thread's before the window's account began */
	uint64_t period;      /* in the sampler's unit */
};

#endif
