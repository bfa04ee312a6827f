/*
 * How much of what a loop computes it has computed before: a rate, and how sure it is.
 *
 * Of instances (LDoctor, section 3.2.3): each pair of instances, one behind the other, says of one
 * load, drawn at random, how much of its values was there again, and of all scalars whether they
 * were. The rate is the mean over inputs, each load and each scalar counting once, of the mean over
 * their pairs.
 *
 * Loads are strata: their means are independent, since a pair has values of one. The scalars of a
 * pair come together, and with its load; of this correlation only the widest is taken, so that
 * standard deviations are added. The variance makes a number of independent observations of 0 or 1
 * that would have it, p (1 - p) / var, of which the interval is Wilson's. It is no more than as if
 * all observations were 0 or 1: that is the most that numbers in 0..1 can vary, and so few pairs
 * that are all alike have an interval, too.
 */
#ifndef JXPERF_PROFILE_REPEATS_REPEAT_RATE_H
#define JXPERF_PROFILE_REPEATS_REPEAT_RATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/wilson.h"
#include "proto/limits.h"

/* Parts, each 0 to 1, of pairs. */
struct repeat_sum {
	uint64_t pairs;
	double sum, squares;
};

struct repeat_rate {
	bool known; /* else the interval is [0, 1] */
	double rate;
	struct wilson ci95;
	double traces; /* pairs of instances, or of turns */
};

/* All zero is empty. */
struct repeat_inputs {
	double loads, scalars;           /* inputs */
	double load_means, scalar_means; /* sums */
	double load_variance;            /* of the sum of their means, as estimated, */
	double load_inverse;             /* and were it 1 for each pair; */
	double single_inverse;           /* of these, loads with one pair */
	double pairs;
};

void repeat_sum_add(struct repeat_sum *sum, double part);

/* An input with pairs, were there times as many like them; one without is none. */
void repeat_inputs_load(struct repeat_inputs *in, const struct repeat_sum *load, double times);
void repeat_inputs_scalar(struct repeat_inputs *in, const struct repeat_sum *scalar);

/* together: of each pair, the part of its scalars that were there again. */
struct repeat_rate repeat_inputs_rate(const struct repeat_inputs *in,
				      const struct repeat_sum *together, double times);

/*
 * How much of a sequence of values is there again in another one (LDoctor, section 3.2.3).
 *
 * By their edit distance (Levenshtein 1966; Wagner, Fischer 1974). It is at least the difference of
 * their lengths, which is taken off, so that a sequence that has only grown is all there again. The
 * paper prints this as a distance, 0 where both are the same, and divides by the longer length;
 * here 1 is the same, 0 is nothing, and it is divided by the shorter length, of which that is the
 * range.
 */

/* Least number of values to insert, delete or change. Each has at most LIMIT_TRACE_VALUES. */
unsigned sequence_distance(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count);

/* 0 to 1. Of two empty ones 1; of one that is empty nothing is there in the other: 0. */
double sequence_repeated(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count);

/* The same beyond chance, 0 to 1: few different values are there again in any order, so what the
 * other way round has of the other one is taken off (as kappa does; Cohen 1960, "A coefficient of
 * agreement for nominal scales"). Sequences of fewer than SEQUENCE_ORDER_MIN values have no order
 * to speak of, and are as above. False where the other way round has all of it: such values say
 * nothing. */
#define SEQUENCE_ORDER_MIN 8u
bool sequence_repeated_beyond_chance(const uint32_t *a, size_t a_count, const uint32_t *b,
				     size_t b_count, double *part);

#endif
