/*
 * How much of a sequence of values is there again in another one (LDoctor, section 3.2.3).
 *
 * By their edit distance (Levenshtein 1966; Wagner, Fischer 1974). It is at least the difference of
 * their lengths, which is taken off, so that a sequence that has only grown is all there again. The
 * paper prints this as a distance, 0 where both are the same, and divides by the longer length;
 * here 1 is the same, 0 is nothing, and it is divided by the shorter length, of which that is the
 * range.
 */
#ifndef JXPERF_DAEMON_REPEATS_SEQUENCE_DISTANCE_H
#define JXPERF_DAEMON_REPEATS_SEQUENCE_DISTANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/limits.h"

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
