#include "common/units.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"

struct unit {
	const char *name;
	double factor;
};

/* Reads "DIGITS[.DIGITS]" and returns what follows, or NULL. strtod itself would also take signs,
 * blanks, exponents, hexadecimal numbers, infinity and NaN. */
static const char *read_number(const char *text, double *value)
{
	const char *end = text + strspn(text, "0123456789");
	const char *fraction;

	if (end == text)
		return NULL;
	if (*end == '.') {
		fraction = end + 1;
		end = fraction + strspn(fraction, "0123456789");
		if (end == fraction)
			return NULL;
	}
	if (*end == 'e' || *end == 'E' || *end == 'x' || *end == 'X')
		return NULL;
	*value = strtod(text, NULL); /* Reads the same; the locale is "C", set by nobody. */
	return end;
}

/* A number with one of the units; the product must be below 2^63. -EINVAL when it is not. */
static int read_quantity(const char *text, const struct unit *units, double *value)
{
	double number;
	const char *rest = read_number(text, &number);

	if (!rest)
		return -EINVAL;
	for (; units->name; units++) {
		if (strcmp(units->name, rest) != 0)
			continue;
		number *= units->factor;
		if (number >= 9.2e18)
			return -EINVAL;
		*value = number;
		return 0;
	}
	return -EINVAL;
}

int units_duration(const char *text, uint64_t *ns, struct err *err)
{
	static const struct unit units[] = {
	    {"ns", 1},
	    {"us", 1e3},
	    {"ms", 1e6},
	    {"s", NS_PER_S},
	    {"m", 60.0 * NS_PER_S},
	    {"h", 3600.0 * NS_PER_S},
	    {"d", 86400.0 * NS_PER_S},
	    {0},
	};
	double value;

	if (read_quantity(text, units, &value) < 0)
		return err_set(err, EINVAL,
			       "'%s' is not a time: use one like 30s, 5ms, 500us or 2m", text);
	if (value < 1)
		return err_set(err, EINVAL,
			       "'%s' is no time at all: use one like 30s, 5ms or 500us", text);
	*ns = (uint64_t)value;
	return 0;
}

int units_fraction(const char *text, double *fraction, struct err *err)
{
	double value;
	const char *rest = read_number(text, &value);

	if (rest && strcmp(rest, "%") == 0)
		value /= 100;
	else if (!rest || rest[0] != '\0')
		return err_set(err, EINVAL, "'%s' is not a share: use one like 1%% or 0.01", text);
	else if (value >= 1)
		return err_set(err, EINVAL, "'%s' is ambiguous: use one like 1%% or 0.01", text);
	if (value <= 0 || value > 1)
		return err_set(err, EINVAL,
			       "'%s' is not above 0%% and at most 100%%: use one like 1%%", text);
	*fraction = value;
	return 0;
}

int units_size(const char *text, uint64_t *bytes, struct err *err)
{
	static const struct unit units[] = {
	    {"", 1}, {"B", 1}, {"KiB", 1024}, {"MiB", 1024.0 * 1024}, {"GiB", 1024.0 * 1024 * 1024},
	    {0},
	};
	double value;

	if (read_quantity(text, units, &value) < 0)
		return err_set(err, EINVAL, "'%s' is not a size: use one like 4096, 1KiB or 2MiB",
			       text);
	*bytes = (uint64_t)value;
	return 0;
}
