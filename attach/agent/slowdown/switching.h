/*
 * How often a thread switches, and what that costs it with what is held open on it.
 *
 * At each switch of a thread that has perf events the kernel takes them off the processor and puts
 * those of the next one on, which takes as long as common/perf/switch_costs.h measures. A thread
 * that does little but switch would run at half its rate. So events are held only where that costs
 * next to nothing (attach/agent/window/holdings.h).
 *
 * Rates are by the thread's CPU time, not by the clock on the wall: what is to be compared is what
 * switches cost of it. Pure; one thread.
 */
#ifndef JXPERF_AGENT_SLOWDOWN_SWITCHING_H
#define JXPERF_AGENT_SLOWDOWN_SWITCHING_H

#include <stdint.h>

struct switching {
	uint64_t switches;  /* since the thread began, */
	uint64_t cpu_ns;    /* its CPU time, */
	uint64_t kernel_ns; /* and what of that was in the kernel, when it was last seen */
	double per_ns;      /* switches for each ns, of late */
	double kernel;      /* part of the CPU time in the kernel, of late */
};

/* What is older than this counts less and less, of the thread's CPU time. */
#define SWITCHING_MEMORY_NS UINT64_C(100000000)

/* Notes what a thread has done since it began, as getrusage(2) tells. Returns the switches since it
 * was last seen; of the first time, 0. */
uint64_t switching_note(struct switching *s, uint64_t switches, uint64_t cpu_ns,
			uint64_t kernel_ns);

#endif
