/*
 * By how much debug registers that are on slow a thread down.
 *
 * While one is on, whatever it watches, processors take longer for some instructions, each for
 * others (docs/measurements.md tells what was tried):
 *
 * Intel's for a store that crosses a cache line: as long as for one that crosses a page. Objects
 * are aligned to 8 bytes and cleared and copied by 32 or 64 at a time, so programs make such stores
 * as they allocate. How many, programs told that ran with a register on that watched nothing they
 * touch: 0 to 5% slower, and 1.4 to 2.8% for each GiB allocated per second of CPU time where both
 * were measured and it was more than noise. Copies onto objects that live already are not in it.
 *
 * AMD's for strings (rep movs, rep stos), which then go byte by byte: up to forty times as long.
 * The C library and the kernel clear and copy large blocks by them, HotSpot does where it has no
 * better. Ticks tell how much of its time a thread is in one of its own; what the kernel copies for
 * it, how many bytes it reads and writes (attach/agent/slowdown/thread_io.h).
 *
 * Everybody's for a context switch (attach/agent/slowdown/switching.h).
 *
 * What the machine at hand does is measured when a window begins (attach/agent/window/calibrate.h).
 */
#ifndef JXPERF_AGENT_SLOWDOWN_SLOWDOWN_H
#define JXPERF_AGENT_SLOWDOWN_SLOWDOWN_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "common/code/insn.h"

/* Registers that are on do this on this machine; all 0: nothing. */
struct slowdown_costs {
	double split_ns;    /* that a store which crosses a cache line takes longer */
	double string_lost; /* of the time that a thread then spends in strings, what is lost */
	double byte_ns;     /* that a byte of a string takes longer */
};

struct slowdown {
	bool begun;
	uint64_t bytes, cpu_ns; /* that it had allocated and used when it was first seen */
	double splits;          /* of its time, while registers are on: lost in stores */
	uint64_t copied,
	    copied_cpu_ns;     /* bytes, and the time, when that was looked at last; 0: never */
	double copies;         /* lost in the kernel's copies */
	uint32_t ticks;        /* that came while registers were on, */
	uint32_t string_ticks; /* and in a string */
	double fraction;       /* of its time, while registers are on: all that is lost */
};

/* Bytes allocated for one store that crosses a cache line. */
#define SLOWDOWN_SPLIT_BYTES 275.0

/* A program was seen to lose so much at most by such stores. Large arrays are allocated by GiB and
 * cleared without them. */
#define SLOWDOWN_SPLIT_MOST 0.05

/* More than all cannot be lost, and nothing of what is told is that exact. */
#define SLOWDOWN_MOST 0.95

/* One tick is no share: as if so many had come before in which there was no string. */
#define SLOWDOWN_TICKS_BEFORE 32u

/* From measurements: what one such store takes longer, and what a string of so many bytes takes
 * without and with a register on. Pure; what may be noise of the clock counts for nothing. */
struct slowdown_costs slowdown_costs_of(double split_ns, double off_ns, double on_ns,
					double string_bytes);

/* Slows down a thread that allocates so many bytes in so much CPU time, where such a store takes
 * split_ns longer: pure. */
double slowdown_by_splits(uint64_t bytes, uint64_t cpu_ns, double split_ns);

/* Slows down a thread that was in strings in so many of its ticks with registers on: pure. */
double slowdown_by_strings(uint32_t string_ticks, uint32_t ticks, double string_lost);

/* Slows down a thread that had so many bytes copied in so much CPU time without registers: pure. */
double slowdown_by_copies(uint64_t bytes, uint64_t cpu_ns, double byte_ns);

/* Is it one of what is slow: a repeated string instruction that moves or stores? Pure. */
bool slowdown_is_string(const struct insn *in);

/* A tick, as its thread sees it. */
struct slowdown_tick {
	const struct slowdown_costs *costs;
	uint64_t allocated_offset; /* of what the JVM adds up, in a JavaThread; 0: not known */
	uint64_t cpu_ns;           /* that the thread has used */
	double switches; /* of its time, while registers are on: lost at context switches */
	bool on;         /* registers were, until now */
	const ucontext_t *uc;
};

/* Looks at what the thread has allocated and had copied, and at where it is. Async-signal-safe. */
void slowdown_note(struct slowdown *s, const struct slowdown_tick *tick);

#endif
