/*
 * How many different turns a loop makes in a window, of what a few of them went by (LDoctor,
 * section 3.2.3, for turns).
 *
 * A tuple is all that a turn goes by, as a hash. Traces, each of some turns one behind the other,
 * were begun at random; what lies between them was not seen. Of the part that was sampled the
 * number of different ones, by that of all sampled, is no estimate: of 10,000 values that come 100
 * times each, a sample of a thousand has next to none twice.
 *
 * The estimate is Chao's for samples of many individuals (Chao 1987, "Estimating the population
 * size for capture-recapture data with unequal catchability"): seen tuples, and of those that were
 * not seen as many as (m - 1) / m q1 (q1 - 1) / (2 q2), where q1 tuples were in one trace alone and
 * q2 in two, of m; without bound where q2 is 0. By traces, not by turns (Chao 1984), since turns of
 * a trace are alike more often than others are: values that always come twice in a row would seem
 * to be few.
 *
 * This is low where some tuples are much rarer than others, and there it is bounded from what is
 * known besides: the turns that were not seen, in pieces as long as a trace, each bring as many
 * tuples that no other trace has as those that were (Good 1953, likewise by traces).
 *
 * The interval: chance is in the pairs of traces that share a tuple, as few as they may be, so
 * their number is taken for Poisson's (Wilson, Hilferty 1931), and the bound's is Wilson's of a
 * ratio over traces (Cochran, "Sampling Techniques", section 6.5). What m traces cannot rule out,
 * z^2 / (m + z^2) of the turns, may always be new.
 */
#ifndef JXPERF_PROFILE_REPEATS_TURN_TUPLES_H
#define JXPERF_PROFILE_REPEATS_TURN_TUPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/repeats/repeat_rate.h"
#include "proto/limits.h"

#define TURN_TRACES_MAX 128u
#define TURN_TUPLES_MAX (TURN_TRACES_MAX * LIMIT_TRACE_VALUES)

/* All zero is empty. Large: on the heap. */
struct turn_tuples {
	uint64_t tuples[TURN_TUPLES_MAX];
	uint32_t ends[TURN_TRACES_MAX]; /* of each trace */
	double turn_ns[TURN_TRACES_MAX];
	unsigned traces;
	unsigned timed; /* of turn_ns */
};

/* Holds what they say, without how many turns there are. */
struct turn_counts {
	double traces, tuples, distinct;
	double once, twice; /* tuples in one trace, in two */
	double pairs;       /* different ones, of traces, that share one that is in no other */
	double once_squares, tuples_squares, products; /* by trace: once, and turns */
	double turn_ns;                                /* median; 0: not known */
};

/* Sums of a window's turns, or of those of many windows, one behind the other. */
struct turn_sums {
	uint64_t traces, tuples, distinct;
	double turns;                /* all, at least */
	double estimated, low, high; /* different ones of these, and a 95% interval */
};

/* False where there is no room for more traces. At most LIMIT_TRACE_VALUES tuples; turn_ns: what a
 * turn took, 0: not known. */
bool turn_tuples_add(struct turn_tuples *t, const uint64_t *tuples, size_t count, double turn_ns);

/* 0 or -ENOMEM. */
int turn_tuples_count(const struct turn_tuples *t, struct turn_counts *counts);

/* The sums of so much CPU time of the loop; turns are no fewer than were seen. */
struct turn_sums turn_counts_sums(const struct turn_counts *c, double cpu_ns);

/* 1 - different turns / turns. */
struct repeat_rate turn_sums_rate(const struct turn_sums *s);

#endif
