#include "profile/combine/batches.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "compare/student.h"

unsigned batch_next(struct batch_clock *clock, bool *fold)
{
	if (clock->capacity == 0)
		clock->capacity = 1;
	*fold = clock->windows == MERGED_BATCHES * clock->capacity;
	if (*fold)
		clock->capacity *= 2;
	return clock->windows++ / clock->capacity;
}

struct batch_clock batch_clock_of(unsigned windows)
{
	struct batch_clock clock = {.windows = windows, .capacity = windows > 0};

	while (windows > (uint64_t)MERGED_BATCHES * clock.capacity)
		clock.capacity *= 2;
	return clock;
}

unsigned batch_count(const struct batch_clock *clock)
{
	return clock->windows == 0 ? 0 : (clock->windows - 1) / clock->capacity + 1;
}

void batches_fold(double sums[MERGED_BATCHES])
{
	size_t half = MERGED_BATCHES / 2;

	for (size_t i = 0; i < half; i++)
		sums[i] = sums[2 * i] + sums[2 * i + 1];
	memset(sums + half, 0, half * sizeof(*sums));
}

double batches_variance(const double *part, const double *whole, unsigned count)
{
	double parts = 0, wholes = 0, sum = 0;
	unsigned used = 0;

	for (unsigned i = 0; i < count; i++) {
		parts += part[i];
		wholes += whole[i];
		used += whole[i] > 0;
	}
	if (used < 2)
		return 0;
	for (unsigned i = 0; i < count; i++) {
		/* What is left for the others is above 0, but for rounding. */
		double rest = fmax(1 - whole[i] / wholes, DBL_EPSILON);
		double residual = (part[i] - parts / wholes * whole[i]) / rest;

		sum += residual * residual;
	}
	return (used - 1.0) / used * sum / (wholes * wholes);
}

double batches_freedom(const double *whole, unsigned count)
{
	double sum = 0, squares = 0;

	for (unsigned i = 0; i < count; i++) {
		sum += whole[i];
		squares += whole[i] * whole[i];
	}
	return squares > 0 ? fmax(sum * sum / squares - 1, 1) : 1;
}

double batches_inflation(double freedom)
{
	double ratio = student_quantile(0.05, freedom) / student_quantile(0.05, INFINITY);

	return ratio * ratio;
}

void batches_scale(double sums[MERGED_BATCHES], double scale)
{
	for (unsigned i = 0; i < MERGED_BATCHES; i++)
		sums[i] *= scale;
}

struct merged_spread batches_spread(const double *part, const double *whole, unsigned count,
				    double sampling)
{
	struct merged_spread s = {.freedom = batches_freedom(whole, count)};
	double variance = batches_variance(part, whole, count);

	if (sampling > 0)
		s.excess = fmax(variance / sampling - 1, 0);
	s.effect = 1 + batches_inflation(s.freedom) * s.excess;
	return s;
}
