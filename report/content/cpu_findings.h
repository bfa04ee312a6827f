/*
 * Where a window's CPU time went, as fractions of all that the program used itself: what its ticks
 * stand for, the CPU time of the collector's and the compilers' threads, which have no ticks, and
 * the rest, which nothing is known of.
 */
#ifndef JXPERF_REPORT_CONTENT_CPU_FINDINGS_H
#define JXPERF_REPORT_CONTENT_CPU_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/window/result.h"

/* A method's own time is that of ticks in it, its total that of ticks in it and in all that it
 * called; where it calls itself, a tick counts once. A context is the same whether its frames ran
 * interpreted or compiled. All are ranked by time, which decides before the number of ticks. */
struct ranked_method {
	uint32_t method; /* of the profile's tree; 0: all frames without a name */
	struct cpu_sum own;
	struct cpu_sum total;
};

/* All zero is empty. */
struct cpu_ranking {
	struct ranked_method *by_own; /* methods with time of their own, */
	size_t by_own_count;
	struct ranked_method *by_total; /* and all methods */
	size_t by_total_count;
	struct cpu_context *contexts;
	size_t context_count;
	struct watched_thread *threads; /* their sums are what the program itself used */
	size_t thread_count;
};

struct report_cpu {
	bool taken;        /* the window is of kind cpu, and had ticks; else the rest is empty */
	bool beside_known; /* the JVM's own threads were watched */
	uint64_t samples;  /* ticks */
	double whole_ns;   /* in the unit of ticks (window_result_whole_ns), */
	double whole_s;    /* and as the program's own time */
	/* Parts of the whole; these nine add up to 1: */
	double compiled, interpreted, native;
	double kernel;     /* of all threads with ticks, whether they run Java code or not */
	double no_java;    /* threads that run no Java code, not in the kernel */
	double unwalkable; /* the JVM could not tell the stack */
	double gc, jit;    /* 0 where they are not known */
	double other;      /* threads that were not sampled */
	/* Parts of the first four that are in no context: */
	double truncated; /* root frames are missing */
	double lost;      /* the context is not known, or there was no room for it */
	struct cpu_ranking ranking;
};

/* The ranking takes 40 bytes for each method, twice, 72 for each context and 216 for each thread. 0
 * or -ENOMEM, and then it is empty. */
int report_cpu_init(struct report_cpu *c, const struct window_result *w);
void report_cpu_release(struct report_cpu *c);

#endif
