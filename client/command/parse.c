#include "client/command/parse.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"

#define COUNT_MAX 1000000

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

int parse_duration(const char *text, uint64_t *ns, struct err *err)
{
	static const struct unit units[] = {
	    {"ns", 1},
	    {"us", 1e3},
	    {"ms", 1e6},
	    {"s", NS_PER_S},
	    {"m", 60.0 * NS_PER_S},
	    {"h", 3600.0 * NS_PER_S},
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

int parse_fraction(const char *text, double *fraction, struct err *err)
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

int parse_size(const char *text, uint64_t *bytes, struct err *err)
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

bool parse_is_number(const char *text)
{
	return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

/* 0 when the text is a number between low and high. */
static int read_integer(const char *text, unsigned long low, unsigned long high, uint32_t *out)
{
	unsigned long value;

	if (!parse_is_number(text))
		return -EINVAL;
	value = strtoul(text, NULL, 10); /* ULONG_MAX on overflow, which is above every limit. */
	if (value < low || value > high)
		return -EINVAL;
	*out = (uint32_t)value;
	return 0;
}

int parse_pid(const char *text, uint32_t *pid, struct err *err)
{
	if (read_integer(text, 1, INT_MAX, pid) < 0)
		return err_set(err, EINVAL, "'%s' is not a process id: see 'jxperfctl list'", text);
	return 0;
}

int parse_count(const char *text, uint32_t *count, struct err *err)
{
	if (read_integer(text, 1, COUNT_MAX, count) < 0)
		return err_set(err, EINVAL, "'%s' is not a number from 1 to %d", text, COUNT_MAX);
	return 0;
}

/* ---------------------------------------------------------------- names */

struct name {
	const char *name;
	int value;
};

static const struct name samplers_known[] = {
    {"auto", JXP__SAMPLER__SAMPLER_AUTO},
    {"pebs", JXP__SAMPLER__SAMPLER_PEBS},
    {"ibs", JXP__SAMPLER__SAMPLER_IBS},
    {"clock", JXP__SAMPLER__SAMPLER_CLOCK},
    {0},
};

static const struct name formats_known[] = {
    {"text", JXP__FORMAT__FORMAT_TEXT},
    {"json", JXP__FORMAT__FORMAT_JSON},
    {"collapsed", JXP__FORMAT__FORMAT_COLLAPSED},
    {"pprof", JXP__FORMAT__FORMAT_PPROF},
    {0},
};

static const struct name *find_name(const struct name *names, const char *text)
{
	for (; names->name; names++)
		if (strcmp(names->name, text) == 0)
			return names;
	return NULL;
}

int parse_kinds(const char *text, Jxp__Kind kinds[PARSE_KINDS_MAX], size_t *count, struct err *err)
{
	Jxp__Kind found[PARSE_KINDS_MAX];
	char options[KIND_OPTIONS_BYTES];
	size_t used = 0;

	for (const char *p = text;; p++) {
		size_t length = strcspn(p, ",");
		Jxp__Kind kind = kind_of_option(p, length);
		bool repeated = false;

		if (kind == JXP__KIND__KIND_NONE)
			return err_set(err, EINVAL, "unknown kind '%.*s': use %s", (int)length, p,
				       kind_options(options, " or "));
		for (size_t i = 0; i < used; i++)
			repeated = repeated || found[i] == kind;
		if (!repeated)
			found[used++] = kind;
		p += length;
		if (*p == '\0')
			break;
	}
	memcpy(kinds, found, used * sizeof(found[0]));
	*count = used;
	return 0;
}

int parse_sampler(const char *text, Jxp__Sampler *sampler, struct err *err)
{
	const struct name *name = find_name(samplers_known, text);

	if (!name)
		return err_set(err, EINVAL, "unknown sampler '%s': use auto, pebs, ibs or clock",
			       text);
	*sampler = (Jxp__Sampler)name->value;
	return 0;
}

int parse_format(const char *text, Jxp__Format *format, struct err *err)
{
	const struct name *name = find_name(formats_known, text);

	if (!name)
		return err_set(err, EINVAL, "unknown format '%s': use text, json or collapsed",
			       text);
	*format = (Jxp__Format)name->value;
	return 0;
}
