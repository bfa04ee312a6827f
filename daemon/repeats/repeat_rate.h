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
#ifndef JXPERF_DAEMON_REPEATS_REPEAT_RATE_H
#define JXPERF_DAEMON_REPEATS_REPEAT_RATE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/wilson.h"

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

#endif
