#include "common/units.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"

#define KIB 1024.0

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

/* More does not fit the 64-bit integers that quantities become. */
#define QUANTITY_MAX 9.2e18

/* That of the length bytes at name, or NULL. */
static const struct unit *find_unit(const struct unit *units, const char *name, size_t length)
{
	for (; units->name; units++)
		if (strlen(units->name) == length && memcmp(units->name, name, length) == 0)
			return units;
	return NULL;
}

/* A number with one of the units, or several as in "1h30m", of which each has a smaller unit than
 * the one before it. -EINVAL when it is not, or when the sum is QUANTITY_MAX or more. */
static int read_quantity(const char *text, const struct unit *units, double *value)
{
	double sum = 0, before = INFINITY;

	do {
		double number;
		const char *name = read_number(text, &number);
		const struct unit *unit;

		if (!name)
			return -EINVAL;
		text = name + strcspn(name, "0123456789");
		unit = find_unit(units, name, (size_t)(text - name));
		if (!unit || unit->factor >= before)
			return -EINVAL;
		before = unit->factor;
		sum += number * unit->factor;
	} while (*text);
	if (sum >= QUANTITY_MAX)
		return -EINVAL;
	*value = sum;
	return 0;
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
	    {"w", 604800.0 * NS_PER_S},
	    {0},
	};
	double value;

	if (read_quantity(text, units, &value) < 0)
		return err_set(err, EINVAL,
			       "'%s' is not a time: use one like 30s, 5ms, 2m or 1h30m", text);
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

int units_number(const char *text, double *number, struct err *err)
{
	double value;
	const char *rest = read_number(text, &value);

	if (!rest || rest[0] != '\0')
		return err_set(err, EINVAL, "'%s' is not a number: use one like 4 or 1.5", text);
	*number = value;
	return 0;
}

int units_size(const char *text, uint64_t *bytes, struct err *err)
{
	/* "K" is 1024 and "KB" 1000, as dd(1) and others of coreutils have it. */
	static const struct unit units[] = {
	    {"", 1},
	    {"B", 1},
	    {"k", KIB},
	    {"K", KIB},
	    {"KiB", KIB},
	    {"M", KIB * KIB},
	    {"MiB", KIB * KIB},
	    {"G", KIB * KIB * KIB},
	    {"GiB", KIB * KIB * KIB},
	    {"kB", 1e3},
	    {"KB", 1e3},
	    {"MB", 1e6},
	    {"GB", 1e9},
	    {0},
	};
	double value;

	if (read_quantity(text, units, &value) < 0)
		return err_set(err, EINVAL, "'%s' is not a size: use one like 4096, 1KiB or 2MiB",
			       text);
	*bytes = (uint64_t)value;
	return 0;
}
