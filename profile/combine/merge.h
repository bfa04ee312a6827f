/*
 * Makes one window of many, which reports show as they show any other.
 *
 * Classes, methods, instructions and contexts are met by their names, not by ids
 * (profile/combine/names.h). The first window that is added decides what is merged: those of
 * another sampler or event, or for NUMA on a machine with other nodes, count something else, and
 * are left out and counted; what else differs is counted and said (profile/window/merged.h).
 *
 * Kinds. Each kind is of the windows that were for it. Its fractions are of their observations
 * alone. Its CPU time is a share of theirs, p_k = sum_k y / sum_k C, and is multiplied by what all
 * windows used over what these used: the merge has one whole, K, of which p_k is the part that the
 * kind shows (a ratio estimate: Cochran, section 6.8). So shares of different kinds are of one
 * whole, and can be compared and added as in one window, though a window that was not for a kind
 * says nothing of it. How sure a share is goes by the ticks and batches of the kind's own windows
 * (struct merged_kind).
 *
 * Weights. Let window w have used C_w of CPU time for n_w samples: a sample stands for C_w / n_w,
 * as the budget allowed. And let it stand for the time S_w of such a JVM, of which it saw T_w (a
 * scheduled window's weight_s, fleet/draw.h; any other window stands for itself, S_w = T_w). So
 * each of its observations stands for
 *
 *   S_w / T_w * C_w / n_w    of CPU time,
 *
 * the inverse of the chance that an instant of the program's CPU time had to be sampled, and sums
 * weighted by it estimate the whole (Horvitz and Thompson 1952). Only their ratios are reported, so
 * they are divided by their mean over all samples: sums stay in the bytes of this many samples.
 * Where a window was cut short, T_w is the time it was asked for: it stands for less, rather than
 * that one with a moment's samples could outweigh all others. Accesses to objects have their
 * samples' CPU time (or operations) in them and are weighted by S_w / T_w alone.
 *
 * CPU time at wasteful accesses is a share of the window's whole, K_w (window_result_whole_ns). So
 * what pairs stand for of it is weighted by S_w / T_w * C_w / K_w, and K_w itself becomes S_w / T_w
 * * C_w: the share of the merge is the mean of those of its windows by the CPU time that they stand
 * for. All of it is divided by one number in the end, so that the merge's own K is the sum of the
 * windows'. A window without ticks (kept before they were counted) has no part in it. Ticks as a
 * profile (kind cpu), and the CPU time of the collector's and the compilers' threads, are parts of
 * K_w and weighted in the same way, where numbers of ticks are just added up.
 *
 * Variances. Observations of weights v x have the effective number (sum v x)^2 / sum v^2 x^2
 * (Kish), as in one window. What windows of a program differ by beyond that is in the facts of the
 * result (profile/combine/batches.h): a design effect of the kind, for fractions and for CPU time,
 * by which the intervals of its pairs are widened, too. Of methods' CPU time only who compares is
 * told (profile/combine/method_spread.h).
 *
 * Takes what the merged profile takes, 24 bytes more for each pair, 144 for each site, 128 for each
 * context with ticks, and the map of the window that is being added. Bounded as one window's
 * profile is.
 */
#ifndef JXPERF_PROFILE_COMBINE_MERGE_H
#define JXPERF_PROFILE_COMBINE_MERGE_H

#include "common/err.h"
#include "profile/combine/batches.h"
#include "profile/combine/object_merge.h"
#include "profile/combine/pair_merge.h"
#include "profile/window/result.h"

/* Processes told apart. */
#define MERGE_PROCESSES_MAX 1024

/* Sums over the windows that are for a kind, or (KIND_NONE) over all. */
struct merge_kind {
	struct batch_clock clock;
	double samples;      /* of these windows, */
	double stands_for_s; /* and the CPU time that these stand for; */
	double wholes_for_s; /* and that the windows' wholes do, */
	double after_for_s;  /* and what of these lies behind the last ticks */
};

/* All zero is empty. */
struct merge {
	struct window_result *result; /* NULL before the first window that is merged */
	struct window_merged *facts;  /* the result's, or what waits for it */
	struct merge_kind kinds[KIND_VALUES];
	struct pair_merge pairs;
	struct object_merge objects;
	size_t context_capacity; /* of the facts' contexts */
	uint64_t objects_ns;
	pid_t processes[MERGE_PROCESSES_MAX];
};

/* Adds a window that nothing changes any more; the earliest first. It is not needed afterwards. 0,
 * also where it was left out; -ENOMEM, and then the merge can only be released. */
int merge_add(struct merge *m, const struct window_result *w);

/* S_w / T_w of a window, and what an observation and its CPU time are multiplied by. */
struct merge_weights {
	double time;
	double objects; /* that times the seconds in which it looked at objects */
	struct pair_weights pairs;
};
struct merge_weights merge_weights_of(const struct window_result *w);

/* Takes of a first window what is not summed, and nothing else: for sums that were made elsewhere
 * by the same weights (fleet/report/), whose maker puts them into m, rows of the result included.
 * 0 or -ENOMEM. */
int merge_begin(struct merge *m, const struct window_result *first);

/* Windows that belong to the merge and are not in it for a reason of the caller's, which is said
 * like the merge's own: so many of them, the first one (0: unknown), what was the matter with it. 0
 * or -ENOMEM. */
int merge_leave_out(struct merge *m, enum merged_note why, unsigned windows, unsigned first,
		    const char *detail);

/* The merged window, kept once and finished, without a number; m is empty then. 0; -ENODATA with
 * the reason when there was none to merge; -ENOMEM. */
int merge_finish(struct merge *m, struct window_result **w, struct err *err);

void merge_release(struct merge *m);

#endif
