/*
 * Where a window's CPU time went, as fractions of all that the program used itself: what its ticks
 * stand for, the CPU time of the collector's and the compilers' threads, which have no ticks, and
 * the rest, which nothing is known of.
 */
#ifndef JXPERF_DAEMON_REPORT_CONTENT_CPU_FINDINGS_H
#define JXPERF_DAEMON_REPORT_CONTENT_CPU_FINDINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/report/content/cpu_ranking.h"

struct report_cpu {
	bool taken;        /* the window is of kind cpu, and had ticks; else the rest is empty */
	bool beside_known; /* the JVM's own threads were watched */
	uint64_t samples;  /* ticks */
	double whole_ns;   /* in the unit of ticks (window_result_whole_ns), */
	double whole_s;    /* and as the program's own time */
	/* Of the whole; these nine add up to 1: */
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

/* 0 or -ENOMEM, and then it is empty. */
int report_cpu_init(struct report_cpu *c, const struct window_result *w);
void report_cpu_release(struct report_cpu *c);

#endif
