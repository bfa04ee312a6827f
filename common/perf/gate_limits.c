#include "common/perf/gate_limits.h"

#include <unistd.h>

#include "common/clock.h"

#define BURST_NS NS_PER_S

void gate_limits_for(struct gate_limits *out, __u64 window_end_ns, __u64 period, bool operations,
		     unsigned cpus)
{
	__u64 period_ns = operations ? period / GATE_OPERATIONS_PER_NS : period;
	__u64 interval_ns = period_ns / (cpus ? cpus : 1) / GATE_SLACK;

	if (interval_ns == 0)
		interval_ns = 1;
	if (interval_ns > GATE_TIME_MAX_NS)
		interval_ns = GATE_TIME_MAX_NS;
	*out = (struct gate_limits){
	    .window_end_ns = window_end_ns,
	    .interval_ns = interval_ns,
	    .burst_ns = interval_ns > BURST_NS ? interval_ns : BURST_NS,
	};
}

unsigned gate_cpus(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n > 0 ? (unsigned)n : 1;
}
