/*
 * The limits of a window's sampling gate (bpf/gate.h), the same whether the kernel applies them or
 * the agent: four times the ticks that the period in force allows the CPUs that the target may
 * use, and a second's worth of them at once. So a gate bites only where the period does not do what
 * it is meant to: the agent's own control is late, stuck or wrong. Pure.
 */
#ifndef JXPERF_COMMON_PERF_GATE_LIMITS_H
#define JXPERF_COMMON_PERF_GATE_LIMITS_H

#include <stdbool.h>

#include "bpf/gate.h"

/* More operations than this no CPU retires in a nanosecond, loads, stores or any. */
#define GATE_OPERATIONS_PER_NS 10u

/* How much more than the period allows: a tick may have a look after it (attach/agent/reservoir),
 * and a period that was just changed is in force at once in the threads, and a moment later here.
 */
#define GATE_SLACK 4u

/* The period, above 0, is in nanoseconds of CPU time, or in operations. cpus need not be a
 * whole number; 0 counts as 1. */
void gate_limits_for(struct gate_limits *out, __u64 window_end_ns, __u64 period, bool operations,
		     double cpus);

/* CPUs that a target may use: those that are online now, or what its cgroups let it have of their
 * time (limit, 0 for no limit) if that is less. */
double gate_cpus(double limit);

#endif
