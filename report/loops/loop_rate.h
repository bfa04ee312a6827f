/*
 * How often a loop's turns have results, or begin an instance of it, and how sure that is: of the
 * sums that bursts left (struct loop_counts, profile/loop_profile.h).
 *
 * Bursts begin at turns drawn by time, so the ratio of sums, events by turns, is that of the loop.
 * Its variance is that of a ratio over clusters, the bursts (Cochran, "Sampling Techniques",
 * section 6.5), with Student's quantile for as many. For rates below a half the interval is
 * Wilson's, of as many independent turns as would have this variance, and no more than were
 * looked at: it stays inside 0..1. Where no event was met, the upper end is the rate at which that
 * has a chance of 2.5%, of turns by the part of their places that were counted.
 *
 * How many turns an instance has is better told by its counter, where that was read (struct
 * loop_lengths): the mean over instances, each as likely as the others, with Student's interval.
 * What a reading leaves open widens it: an exit from the middle of a loop that was unrolled, and a
 * first turn that the compiler may have peeled off, which no counter has.
 */
#ifndef JXPERF_REPORT_LOOPS_LOOP_RATE_H
#define JXPERF_REPORT_LOOPS_LOOP_RATE_H

#include <stdbool.h>

#include "profile/estimate.h"
#include "profile/loop_profile.h"

#define LOOP_LENGTHS_MIN 8

struct loop_rate {
	bool known;           /* else nothing was counted, and the interval is [0, inf) */
	bool bound;           /* what is known is the upper end of the interval */
	double rate;          /* events by turn; above 1 where a turn may have several */
	struct interval ci95; /* high: INFINITY where nothing bounds it */
	double bursts, seen;  /* as in loop_counts */
};

/* Turns of an instance, as its counter told them. */
struct loop_length {
	bool known; /* else the rest is empty */
	double turns;
	struct interval ci95;
};

/* Not known of fewer than LOOP_LENGTHS_MIN instances, or where more than one of ten that were begun
 * was not told: of these nobody knows that they are like the others. */
struct loop_length loop_length_of(const struct loop_lengths *l);

/* The rate of counts, were there times as many like them. */
struct loop_rate loop_rate_of(const struct loop_counts *c, double times);

#endif
