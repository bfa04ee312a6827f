#include "profile/repeats/repeat_rate.h"

#include <assert.h>
#include <math.h>

#include "common/wilson.h"
#include "compare/student.h"

#define Z2 (WILSON_Z95 * WILSON_Z95)

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

unsigned sequence_distance(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count)
{
	/* The distance of the part of a that was looked at, to each beginning of b. */
	unsigned row[LIMIT_TRACE_VALUES + 1];

	assert(a_count <= LIMIT_TRACE_VALUES && b_count <= LIMIT_TRACE_VALUES);
	for (unsigned j = 0; j <= b_count; j++)
		row[j] = j;
	for (unsigned i = 1; i <= a_count; i++) {
		unsigned before = row[0]; /* of one less of each */

		row[0] = i;
		for (unsigned j = 1; j <= b_count; j++) {
			unsigned changed = before + (a[i - 1] != b[j - 1]);

			before = row[j];
			row[j] = least(changed, 1 + least(row[j], row[j - 1]));
		}
	}
	return row[b_count];
}

double sequence_repeated(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count)
{
	size_t longer = a_count > b_count ? a_count : b_count;
	size_t shorter = a_count > b_count ? b_count : a_count;
	unsigned distance;

	if (shorter == 0)
		return longer == 0 ? 1 : 0;
	distance = sequence_distance(a, a_count, b, b_count);
	return 1 - (double)(distance - (longer - shorter)) / (double)shorter;
}

bool sequence_repeated_beyond_chance(const uint32_t *a, size_t a_count, const uint32_t *b,
				     size_t b_count, double *part)
{
	uint32_t reversed[LIMIT_TRACE_VALUES];
	double found = sequence_repeated(a, a_count, b, b_count), chance = 0;

	if (a_count >= SEQUENCE_ORDER_MIN && b_count >= SEQUENCE_ORDER_MIN) {
		for (size_t i = 0; i < b_count; i++)
			reversed[i] = b[b_count - 1 - i];
		chance = sequence_repeated(a, a_count, reversed, b_count);
	}
	if (chance >= 1)
		return false;
	*part = found > chance ? (found - chance) / (1 - chance) : 0;
	return true;
}

void repeat_sum_add(struct repeat_sum *sum, double part)
{
	sum->pairs++;
	sum->sum += part;
	sum->squares += part * part;
}

static double mean_of(const struct repeat_sum *sum)
{
	return fmin(1, sum->sum / (double)sum->pairs);
}

/* The variance of the mean of n like these, which are more than one. */
static double variance_of_mean(const struct repeat_sum *sum, double n)
{
	double pairs = (double)sum->pairs, mean = mean_of(sum);

	return fmax(0, sum->squares / pairs - mean * mean) * pairs / (pairs - 1) / n;
}

void repeat_inputs_load(struct repeat_inputs *in, const struct repeat_sum *load, double times)
{
	double n = times * (double)load->pairs;

	if (load->pairs == 0)
		return;
	in->loads++;
	in->pairs += n;
	in->load_means += mean_of(load);
	in->load_inverse += 1 / n;
	if (load->pairs > 1)
		in->load_variance += variance_of_mean(load, n);
	else
		in->single_inverse += 1 / n;
}

void repeat_inputs_scalar(struct repeat_inputs *in, const struct repeat_sum *scalar)
{
	if (scalar->pairs == 0)
		return;
	in->scalars++;
	in->scalar_means += mean_of(scalar);
}

/* The variance of the sum of all means: as it would be of observations of 0 or 1, with this mean,
 * and as it was found to be. */
static double widest_variance(const struct repeat_inputs *in, double n)
{
	double sd = sqrt(in->load_inverse) + (n > 0 ? in->scalars / sqrt(n) : 0);

	return sd * sd;
}

static double found_variance(const struct repeat_inputs *in, const struct repeat_sum *together,
			     double n, double of_one)
{
	double sd = sqrt(in->load_variance + in->single_inverse * of_one);

	if (together->pairs > 1)
		sd += in->scalars * sqrt(variance_of_mean(together, n));
	else if (together->pairs > 0)
		sd += in->scalars * sqrt(of_one / n);
	return sd * sd;
}

struct repeat_rate repeat_inputs_rate(const struct repeat_inputs *in,
				      const struct repeat_sum *together, double times)
{
	double inputs = in->loads + in->scalars, n = times * (double)together->pairs;
	double t, most, middle, of_one, variance;
	struct repeat_rate r = {.known = in->loads > 0, .ci95 = {0, 1}, .traces = in->pairs};

	if (!r.known)
		return r;
	r.rate = (in->load_means + in->scalar_means) / inputs;
	most = inputs * inputs / widest_variance(in, n);
	middle = (r.rate * most + Z2 / 2) / (most + Z2);
	of_one = middle * (1 - middle);
	t = student_quantile(0.05, fmax(1, in->pairs - in->loads)) / WILSON_Z95;
	variance = found_variance(in, together, n, of_one) * t * t;
	if (variance > 0)
		most = fmin(most, of_one * inputs * inputs / variance);
	r.ci95 = wilson_ci95(r.rate, fmax(1, most));
	return r;
}
