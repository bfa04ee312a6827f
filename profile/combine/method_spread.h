/*
 * Tells how the windows of a merge differ in the CPU time of each method beyond what ticks let it
 * be, for those who compare two merges (compare/change.h).
 *
 * Of each calling context with ticks the merge keeps its CPU time by batch of windows
 * (profile/combine/batches.h). A method's is that of it and all that it called, as it is compared.
 * Its own variance V over the batches, by sampling's S, has few degrees of freedom, f: by itself it
 * would be off by much, most of all that of two or three windows. So it is moderated, as variances
 * of many genes in few samples are (Smyth 2004, "Linear models and empirical Bayes methods for
 * assessing differential expression in microarray experiments"):
 *
 *   excess = (f (V / S - 1) + d0 r^2 D / S) / (f + d0),  with f + d0 degrees of freedom.
 *
 * What all methods have in common is how much they vary by as a part of themselves, and not their
 * V / S, which grows with ticks: r of change_drift's measure D (whose own r is CHANGE_DRIFT). r^2
 * is estimated by moments, sum (V - S) / p over sum D / p, of methods that have enough ticks for V,
 * and counts as METHOD_SPREAD_PRIOR = d0 degrees of freedom. By simulation (docs/statistics.md): V
 * alone shows less of what changed and more of what did not; r alone tells nothing of one method
 * that varies by itself.
 */
#ifndef JXPERF_PROFILE_COMBINE_METHOD_SPREAD_H
#define JXPERF_PROFILE_COMBINE_METHOD_SPREAD_H

#include "profile/combine/batches.h"
#include "profile/combine/row_merge.h"

#define METHOD_SPREAD_PRIOR 4.0

/* Adds the contexts of a window that was for CPU time and whose rows were added, to the batch (all
 * are folded before if fold), where *capacity contexts have room. 0 or -ENOMEM. */
int method_spread_add(const struct row_merge *rows, size_t *capacity, unsigned batch, bool fold);

/* The excess of each method of a tree that is given by node of the window's profile, in excess by
 * method's id, and behind the last one of the collector's threads; ticks: that the window's CPU
 * time is of. *freedom, at least 1, is theirs; both are as they were where w is no merge, or none
 * that tells. 0 or -ENOMEM. */
int method_spread_of(const struct window_result *w, const struct cct *cct, const uint32_t *nodes,
		     double ticks, double *excess, double *freedom);

#endif
