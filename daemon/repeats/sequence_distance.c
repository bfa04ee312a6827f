#include "daemon/repeats/sequence_distance.h"

#include <assert.h>

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

unsigned sequence_distance(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count)
{
	/* Of the part of a that was looked at, to each beginning of b. */
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
