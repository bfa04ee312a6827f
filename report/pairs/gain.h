/*
 * Tells what could be gained where an access is wasteful: the CPU time at the access that could go.
 *
 * Of a dead store that is the first access, of a silent store or load the second one; what the
 * other one costs, most often the miss that brings the line, has to be paid in any case. Ticks of
 * CPU time are told by the access that they waited for, so that W, the sum of those of one bytecode
 * in one context, is what its accesses take. Of the pairs of a kind whose access that could go is
 * there, a part f is wasteful and of the row in question, so that
 *
 *   gain = sum of W f over such bytecodes and contexts.
 *
 * Each tick there is one of the row with probability f: as an estimate of a share (cpu_share.h)
 * with W f / (W / n) ticks of W / n ns each, n being the ticks there; f comes of m pairs, k of them
 * wasteful, which adds W^2 times the variance that f has after these, all values having been as
 * likely before: g (1 - g) / (m + 3), g = (k + 1) / (m + 2). Rows of one kind share W and never
 * count it twice.
 *
 * It is what removing the access saves where nothing else changes. A better algorithm may save all
 * of what its loop or method takes; and a load whose line the cache does not have any more may cost
 * another access as much once it is gone. Pure functions.
 */
#ifndef JXPERF_REPORT_PAIRS_GAIN_H
#define JXPERF_REPORT_PAIRS_GAIN_H

#include <stddef.h>

#include "profile/cpu_share.h"
#include "profile/window/result.h"

/* The sums of a pair of the profile, or of several added up. */
struct gain_sums {
	struct cpu_sums cpu;
	double ticks;    /* that it is told by */
	uint64_t untold; /* wasteful pairs with an access that could go and that nobody can tell */
};

/* The gains of all pairs of a window's profile, in their order. To be freed with free. 0 or
 * -ENOMEM. */
int pair_gains_new(const struct window_result *w, struct gain_sums **out);

void gain_sums_add(struct gain_sums *to, const struct gain_sums *from);

/* The CPU time of ticks, and the part of it that observations say is wasteful, with both their
 * variances. */
struct gain_sums gain_all(const struct cpu_sum *ticks);
struct gain_sums gain_part(const struct cpu_sum *ticks, double part, double observations);

#endif
