#include "common/perf/gate_limits.h"

#include <unistd.h>

#include "common/clock.h"

#define BURST_NS NS_PER_S

void gate_limits_for(struct gate_limits *out, __u64 window_end_ns, __u64 period, bool operations,
		     double cpus)
{
	__u64 period_ns = operations ? period / GATE_OPERATIONS_PER_NS : period;
	double wanted_ns = (double)period_ns / (cpus > 0 ? cpus : 1) / GATE_SLACK;
	__u64 interval_ns =
	    wanted_ns < (double)GATE_TIME_MAX_NS ? (__u64)wanted_ns : GATE_TIME_MAX_NS;

	if (interval_ns == 0)
		interval_ns = 1;
	*out = (struct gate_limits){
	    .window_end_ns = window_end_ns,
	    .interval_ns = interval_ns,
	    .burst_ns = interval_ns > BURST_NS ? interval_ns : BURST_NS,
	};
}

double gate_cpus(double limit)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	double cpus = n > 0 ? (double)n : 1;

	return limit > 0 && limit < cpus ? limit : cpus;
}
