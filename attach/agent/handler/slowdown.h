/*
 * By how much debug registers that are on slow a thread down.
 *
 * While one is on, whatever it watches, each store that crosses a cache line takes as long as one
 * that crosses a page; nothing else takes longer (measured with loads, stores and their widths,
 * copies, locks, calls, system calls). Objects are aligned to 8 bytes and cleared and copied by 32
 * or 64 at a time, so programs make such stores as they allocate. How many, programs told that ran
 * with a register on that watched nothing they touch: 0 to 5% slower, and 1.4 to 2.8% for each GiB
 * allocated per second of CPU time where both were measured and it was more than noise. Copies onto
 * objects that live already are not in it.
 */
#ifndef JXPERF_AGENT_HANDLER_SLOWDOWN_H
#define JXPERF_AGENT_HANDLER_SLOWDOWN_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

struct slowdown {
	bool begun;
	uint64_t bytes, cpu_ns; /* that it had allocated and used when it was first seen */
	double fraction;        /* of its time, while registers are on */
};

/* Bytes allocated for one store that crosses a cache line. */
#define SLOWDOWN_SPLIT_BYTES 275.0

/* What a program was seen to lose at most. Large arrays are allocated by GiB and cleared without
 * such stores. */
#define SLOWDOWN_MOST 0.05

/* Of a thread that allocates so many bytes in so much CPU time, where such a store takes split_ns
 * longer: pure. */
double slowdown_of(uint64_t bytes, uint64_t cpu_ns, double split_ns);

/* At a tick, in the thread, which has used so much CPU time: looks at what it has allocated. */
void slowdown_note(struct slowdown *s, uint64_t cpu_ns, const ucontext_t *uc);

#endif
