/*
 * Loops of the places where problems are: what a window found of loops is evidence of the problem
 * whose operation, or whose way from it to its accesses, they are in. One that no problem has is a
 * problem of its own: `searched` where its turns have no results, `repeated` where it does again
 * what it did. It could save that part of the time that it takes with the loops inside it.
 */
#ifndef JXPERF_REPORT_PROBLEMS_LOOP_PROBLEMS_H
#define JXPERF_REPORT_PROBLEMS_LOOP_PROBLEMS_H

#include "report/loops/loop_findings.h"
#include "report/problems/problems.h"

/* loops: of the same window, which must outlive the problems. */
void problems_take_loops(struct problems *problems, const struct report_loops *loops,
			 const struct window_result *w);

#endif
