/*
 * Is a part of the CPU time another one in B than in A, or of the bytes that were checked?
 *
 * A part is a sum over observations that stand for CPU time, its share p that sum of the process's
 * CPU time, which n ticks are drawn from. An observation stands for a ticks (a = 1 for ticks
 * themselves, more for pairs), so each of the n makes one with the chance p / a
 * (profile/cpu_share.h). Of checked bytes n is the effective number of observations, and a
 * of the part's by the mean of all. What is compared is CPU time for the same work: A's shares, and
 * B's times factor, the CPU time of B for the same work by that of A (compare/work.h; 1 where that
 * is not known).
 *
 * The difference has the middle and the variance S of two such proportions, each with one success
 * and one failure more (Agresti and Caffo 2000: so that nothing seen is no certainty), the variance
 * of the factor, and that of what shares of one program vary by from window to window anyhow:
 * CHANGE_DRIFT of themselves, less where little is beside them, as standard deviation; an allowance
 * that no theory gives.
 *
 * Where a side is of several windows, these say themselves by how much more than S they differ
 * (profile/combine/batches.h; of methods profile/combine/method_spread.h). That part E of the
 * variance has few degrees of freedom: Student's quantile is for it, with those of Welch 1947 and
 * Satterthwaite 1946 for two sides, and the normal one for the rest. So of two windows that
 * disagree hardly anything is shown.
 *
 * What a thread uses after its last tick is in n, and no tick stands for it (profile/cpu_share.h).
 * A share may be as much larger as the whole would be smaller without it; the interval is longer by
 * that, whatever its confidence. A side with fewer than CHANGE_OBSERVATIONS_MIN observations, by
 * what they stand for, says nothing.
 *
 * Intervals are simultaneous. Half of CHANGE_LEVEL is for what the same work takes, half for all
 * else: when m differences are looked at, each has the confidence 1 - CHANGE_LEVEL / 2 m
 * (Bonferroni's inequality; Dunn 1961, "Multiple comparisons among means"), so that all of them are
 * right together with a chance of 1 - CHANGE_LEVEL at least, however they depend on each other. A
 * difference is shown if its interval excludes 0, and not otherwise: what is printed is what
 * decides. Holm's procedure finds a little more, but has no such intervals. Pure functions.
 */
#ifndef JXPERF_COMPARE_CHANGE_H
#define JXPERF_COMPARE_CHANGE_H

#include "compare/side.h"

/* The chance that any difference is called shown though nothing differs. */
#define CHANGE_LEVEL 0.01

#define CHANGE_DRIFT 0.05

/* Parts with fewer observations, or less of a share, in both sides together are not looked at.
 * Neither says anything of a difference, so choosing by them spoils no interval. */
#define CHANGE_COUNT_MIN 10.0
#define CHANGE_SHARE_MIN 0.005

/* Normal quantiles this far out say nothing of fewer. */
#define CHANGE_OBSERVATIONS_MIN 10.0

struct change_whole {
	double amount; /* of CPU time, or of checked bytes */
	double ticks;  /* or observations of mean size */
	unsigned windows;
	double after;   /* the part of it that may lie behind threads' last ticks, in [0, 1) */
	double excess;  /* the variance between windows, as a multiple of sampling's, */
	double freedom; /* and its degrees of freedom, at least 1 where there is any */
};

/* B's CPU time is multiplied with this, whose logarithm has this standard error. */
struct change_factor {
	double factor;
	double error;
};

struct change {
	double share[2]; /* of A's CPU time; B's times factor */
	double difference;
	double low, high; /* the simultaneous interval */
	bool shown;       /* it excludes 0 */
};

/* z for an interval when m differences are looked at beside the work's; the work's own with 1. */
double change_quantile(unsigned looked_at);

/* factor: of B; quantile: of the interval. */
struct change change_of(const struct compare_sums part[2], const struct change_whole whole[2],
			const struct change_factor *factor, double quantile);

/* Is it large enough to be looked at? */
bool change_is_looked_at(const struct compare_sums part[2], const struct change_whole whole[2]);

/* The standard deviation that is taken for granted of a share. */
double change_drift(double share, unsigned windows);

#endif
