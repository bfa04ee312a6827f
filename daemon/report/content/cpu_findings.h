/*
 * Where a window's CPU time went, as fractions of one whole: what its ticks stand for, and the CPU
 * time of the collector's and the compilers' threads, which have no ticks.
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
	double whole_ns;
	/* Of the whole; these seven add up to 1: */
	double compiled, interpreted, native;
	double no_java;    /* threads that run no Java code */
	double unwalkable; /* the JVM could not tell the stack */
	double gc, jit;    /* 0 where they are not known */
	/* Parts of the first three that are in no context: */
	double truncated; /* root frames are missing */
	double lost;      /* the context is not known, or there was no room for it */
	struct cpu_ranking ranking;
};

/* 0 or -ENOMEM, and then it is empty. */
int report_cpu_init(struct report_cpu *c, const struct window_result *w);
void report_cpu_release(struct report_cpu *c);

/* CPU time of a group in the whole window, by what was seen of it while it was watched; ns. */
double report_cpu_beside_ns(const struct window_result *w, double seen_ns);

/* All of it; ns. */
double report_cpu_whole_ns(const struct window_result *w);

#endif
