/*
 * Measures what perf events that are open on a thread cost it at a context switch, off the
 * processor and on again, on this machine. The kernel takes a thread's events off the processor
 * when it goes, and programs them anew when it comes back; threads without events pay nothing.
 */
#ifndef JXPERF_COMMON_PERF_SWITCH_COSTS_H
#define JXPERF_COMMON_PERF_SWITCH_COSTS_H

/* Nanoseconds for each switch. */
struct switch_costs {
	double clock_ns; /* for a clock that is on: a timer is programmed */
	double held_ns;  /* for breakpoints that are open and off */
	double armed_ns; /* for one that is on */
};

/* Where nothing could be measured: of a virtual machine on an AMD EPYC, Linux 6.18. */
#define SWITCH_COSTS_USUAL \
	((struct switch_costs){.clock_ns = 1200, .held_ns = 200, .armed_ns = 420})

/* Measures them, in some ten milliseconds, on the calling thread and one that it starts, which hand
 * a byte to and fro on one processor. 0; or -errno, and *costs is unchanged, where events or
 * threads cannot be had. Leaves nothing behind. */
int switch_costs_measure(struct switch_costs *costs);

#endif
