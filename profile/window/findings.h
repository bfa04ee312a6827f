/*
 * What a window runs on: what the machine offered to its request, and what was chosen. All by
 * value, so that it means the same in another process or later.
 */
#ifndef JXPERF_PROFILE_WINDOW_FINDINGS_H
#define JXPERF_PROFILE_WINDOW_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "machine/numa_topology.h"
#include "machine/sampler_choice.h"
#include "common/perf/switch_costs.h"
#include "profile/window/request.h"

struct window_findings {
	Jxp__Sampler sampler;                      /* never SAMPLER_AUTO */
	char sampler_reason[SAMPLER_REASON_BYTES]; /* why this one */
	/* Those of the pebs and ibs samplers, or the one of the request; the clock has none. */
	struct perf_hardware_event events[PERF_HARDWARE_EVENTS];
	size_t event_count;
	uint64_t period; /* the shortest: ns of the clock, else operations of each event */
	struct numa_topology numa; /* node_count is never 0 */
	double cpu_limit; /* what cgroups let the target have, in CPUs, when it was attached to; 0:
			     no limit */
	struct switch_costs switch_costs;  /* not kept in the store: what came of them is counted */
	bool kernel_gate;                  /* the sampling gate is in the kernel (BPF) */
	char gate_reason[ERR_MESSAGE_MAX]; /* why it is not, or "" */
};

/* What this machine offers to the request; the gate is not asked for yet. Opens the hardware events
 * to see whether it may. Loop thread. 0; -EINVAL with one line for the user when the request makes
 * no sense here (usage); -EOPNOTSUPP, or the kernel's error, when this machine cannot do it. */
int window_findings_here(const struct window_request *request, struct window_findings *out,
			 struct err *err);

#endif
