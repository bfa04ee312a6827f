#include "profile/repeats/turn_tuples.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/cleanup.h"
#include "common/wilson.h"
#include "compare/student.h"

#define Z2 (WILSON_Z95 * WILSON_Z95)

bool turn_tuples_add(struct turn_tuples *t, const uint64_t *tuples, size_t count, double turn_ns)
{
	uint32_t from = t->traces ? t->ends[t->traces - 1] : 0;

	assert(count <= LIMIT_TRACE_VALUES);
	if (t->traces == TURN_TRACES_MAX)
		return false;
	if (turn_ns > 0)
		t->turn_ns[t->timed++] = turn_ns;
	if (count == 0)
		return true;
	memcpy(t->tuples + from, tuples, count * sizeof(*tuples));
	t->ends[t->traces++] = from + (uint32_t)count;
	return true;
}

/* ---------------------------------------------------------------- counting */

struct seen {
	uint64_t tuple;
	uint32_t trace;
};

static int by_tuple(const void *x, const void *y)
{
	const struct seen *a = x, *b = y;

	return ORDER(ASCENDING(a->tuple, b->tuple), ASCENDING(a->trace, b->trace));
}

static int by_number(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	return ASCENDING(a, b);
}

static int by_time(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return a < b ? -1 : a > b;
}

struct counting {
	struct seen seen[TURN_TUPLES_MAX];
	uint32_t pairs[TURN_TUPLES_MAX]; /* first * TURN_TRACES_MAX + second */
	size_t pair_count;
	double once[TURN_TRACES_MAX];
};

/* One tuple, as often as it was seen. */
static void count_tuple(struct counting *c, const struct seen *seen, size_t count,
			struct turn_counts *out)
{
	uint32_t first = seen[0].trace, second = first;
	unsigned traces = 1;

	for (size_t i = 1; i < count; i++) {
		if (seen[i].trace == seen[i - 1].trace)
			continue;
		traces++;
		second = seen[i].trace;
	}
	out->distinct++;
	if (traces == 1) {
		out->once++;
		c->once[first]++;
	} else if (traces == 2) {
		out->twice++;
		c->pairs[c->pair_count++] = first * TURN_TRACES_MAX + second;
	}
}

static double median(const double *values, unsigned count)
{
	double sorted[TURN_TRACES_MAX];

	if (count == 0)
		return 0;
	memcpy(sorted, values, count * sizeof(*values));
	qsort(sorted, count, sizeof(*sorted), by_time);
	return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

static void count_by_trace(const struct turn_tuples *t, const struct counting *c,
			   struct turn_counts *out)
{
	for (unsigned i = 0; i < t->traces; i++) {
		double turns = t->ends[i] - (i ? t->ends[i - 1] : 0);

		out->once_squares += c->once[i] * c->once[i];
		out->tuples_squares += turns * turns;
		out->products += c->once[i] * turns;
	}
	for (size_t i = 0; i < c->pair_count; i++)
		out->pairs += i == 0 || c->pairs[i] != c->pairs[i - 1];
}

int turn_tuples_count(const struct turn_tuples *t, struct turn_counts *counts)
{
	_cleanup_free_ struct counting *c = calloc(1, sizeof(*c));
	struct turn_counts out = {.traces = t->traces, .turn_ns = median(t->turn_ns, t->timed)};
	uint32_t count = t->traces ? t->ends[t->traces - 1] : 0;

	if (!c)
		return -ENOMEM;
	out.tuples = count;
	for (uint32_t i = 0, trace = 0; i < count; i++) {
		trace += i == t->ends[trace];
		c->seen[i] = (struct seen){t->tuples[i], trace};
	}
	qsort(c->seen, count, sizeof(*c->seen), by_tuple);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && c->seen[end].tuple == c->seen[i].tuple;)
			end++;
		count_tuple(c, c->seen + i, end - i, &out);
	}
	qsort(c->pairs, c->pair_count, sizeof(*c->pairs), by_number);
	count_by_trace(t, c, &out);
	*counts = out;
	return 0;
}

/* ---------------------------------------------------------------- estimating */

/* The interval of a mean that so many were counted of; within 1% (Wilson, Hilferty 1931). */
static struct wilson poisson_ci95(double count)
{
	double more = count + 1;
	double low = count > 0 ? 1 - 1 / (9 * count) - WILSON_Z95 / (3 * sqrt(count)) : 0;
	double high = 1 - 1 / (9 * more) + WILSON_Z95 / (3 * sqrt(more));

	return (struct wilson){count * pow(fmax(0, low), 3), more * pow(high, 3)};
}

/* Tuples that no other trace has, by turns. */
static struct wilson new_by_turn(const struct turn_counts *c)
{
	double r = c->once / c->tuples, m = c->traces, independent = m, var, t;

	if (m > 1) {
		t = student_quantile(0.05, m - 1) / WILSON_Z95;
		var = fmax(0, c->once_squares - 2 * r * c->products + r * r * c->tuples_squares) /
		      (c->tuples * c->tuples) * m / (m - 1) * t * t;
		if (var > 0)
			independent = fmin(c->tuples, r * (1 - r) / var);
	}
	return wilson_ci95(r, fmax(1, independent));
}

/* By Chao, tuples that were not seen, and what they may be. */
static double unseen(const struct turn_counts *c, struct wilson *ci)
{
	double all = (c->traces - 1) / c->traces * c->once * fmax(0, c->once - 1) / 2;
	struct wilson pairs = poisson_ci95(c->pairs);
	/* Traces that overlap share some half of their turns. */
	double each = c->pairs > 0 ? c->twice / c->pairs : fmax(1, c->tuples / c->traces / 2);

	ci->low = all / (each * pairs.high);
	ci->high = 0;
	if (all > 0)
		ci->high = pairs.low > 0 ? all / (each * pairs.low) : INFINITY;
	if (c->twice > 0)
		return all / c->twice;
	return all > 0 ? INFINITY : 0;
}

struct turn_sums turn_counts_sums(const struct turn_counts *c, double cpu_ns)
{
	struct turn_sums s = {.traces = (uint64_t)c->traces,
			      .tuples = (uint64_t)c->tuples,
			      .distinct = (uint64_t)c->distinct,
			      .turns = c->tuples};
	struct wilson by_chao, bound;
	double others, by_turn;

	if (c->tuples == 0)
		return s;
	if (c->turn_ns > 0)
		s.turns = fmax(s.turns, cpu_ns / c->turn_ns);
	others = s.turns - c->tuples;
	bound = new_by_turn(c);
	by_turn = c->once / c->tuples;
	s.estimated = c->distinct + fmin(unseen(c, &by_chao), others * by_turn);
	by_chao.high = fmax(by_chao.high, others * Z2 / (c->traces + Z2));
	s.low = c->distinct + fmin(by_chao.low, others * bound.low);
	s.high = c->distinct + fmin(by_chao.high, others * bound.high);
	return s;
}

static double repeated(double different, double turns)
{
	return fmin(1, fmax(0, 1 - different / turns));
}

struct repeat_rate turn_sums_rate(const struct turn_sums *s)
{
	struct repeat_rate r = {
	    .known = s->tuples > 0 && s->turns > 0, .ci95 = {0, 1}, .traces = (double)s->traces};

	if (!r.known)
		return r;
	r.rate = repeated(s->estimated, s->turns);
	r.ci95 = (struct wilson){repeated(s->high, s->turns), repeated(s->low, s->turns)};
	return r;
}
