#include "attach/agent/code/value.h"

#include <float.h>
#include <string.h>

static bool near(double a, double b)
{
	double magnitude_a = a < 0 ? -a : a;
	double magnitude_b = b < 0 ? -b : b;
	double larger = magnitude_a > magnitude_b ? magnitude_a : magnitude_b;
	double difference = a < b ? b - a : a - b;

	/* NaN fails every comparison; an infinity is near nothing but itself. */
	return a == b || (larger <= DBL_MAX && difference <= VALUE_FLOAT_TOLERANCE * larger);
}

static bool same_float32(const void *a, const void *b)
{
	float x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return near((double)x, (double)y);
}

static bool same_float64(const void *a, const void *b)
{
	double x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return near(x, y);
}

bool value_same(const void *a, const void *b, unsigned size, enum insn_element element)
{
	if (element == ELEMENT_FLOAT64 && size == sizeof(double))
		return same_float64(a, b);
	if (element == ELEMENT_FLOAT32 && size == sizeof(float))
		return same_float32(a, b);
	if (element == ELEMENT_FLOAT32 && size == 2 * sizeof(float))
		return same_float32(a, b) && same_float32((const char *)a + sizeof(float),
							  (const char *)b + sizeof(float));
	return memcmp(a, b, size) == 0;
}
