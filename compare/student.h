/*
 * Student's t distribution, for variances that are themselves estimated from few numbers.
 *
 * Degrees of freedom need not be whole (Welch 1947, "The generalization of Student's problem").
 */
#ifndef JXPERF_COMPARE_STUDENT_H
#define JXPERF_COMPARE_STUDENT_H

/* The probability of being at least t away from 0, on either side. df above 0. */
double student_two_sided(double t, double df);

/* The t that this is the two-sided probability of; p above 0, at most 1, df at least 1. */
double student_quantile(double p, double df);

#endif
