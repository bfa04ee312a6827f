/*
 * Which loops take more of the CPU time than in another window of the application, the baseline:
 * LDoctor begins with a run that is slow and one that is not.
 *
 * A loop is met by its class, method and header. Compared are shares of CPU time, of a loop's own
 * code or, where it calls what takes its time, with all that it calls. They are different where the
 * simultaneous interval over all loops that are compared excludes 0 (compare/change.h), which
 * allows for what windows of one program vary by. Each tick is an observation, all alike.
 *
 * Code with less than 2% of the ticks is not looked at for loops: of a loop that the baseline does
 * not know, growth counts only as far as it is certainly more than that.
 */
#ifndef JXPERF_REPORT_LOOPS_LOOP_GROWTH_H
#define JXPERF_REPORT_LOOPS_LOOP_GROWTH_H

#include "report/loops/loop_findings.h"

/* Compares the loops of a report of w with those of baseline, which has some, and brings those that
 * have grown to the front, the one that certainly has most first. 0 or -ENOMEM. */
int report_loops_compare(struct report_loops *l, const struct window_result *w,
			 const struct window_result *baseline);

#endif
