#include "client/command/parse.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/units.h"
#include "proto/words.h"

#define COUNT_MAX 1000000

/* The longest time that makes sense is shorter. */
#define PERIOD_END_BYTES 64

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

/* Behind a time to the second: a part of one, which is left out, and where that time is: "Z", "UTC"
 * or "+01:00"; nothing: here. False for what is none of these. */
static bool read_rest(const char *rest, struct tm *tm, time_t *seconds)
{
	size_t digits = rest[0] == '.' ? strspn(rest + 1, "0123456789") : 0;
	struct tm zone = {0};
	const char *end;

	rest += digits > 0 ? digits + 1 : 0;
	if (rest[0] == '\0') {
		*seconds = mktime(tm);
		return true;
	}
	rest += rest[0] == ' ';
	end = strcmp(rest, "UTC") == 0 ? rest + 3 : strptime(rest, "%z", &zone);
	if (!end || *end)
		return false;
	*seconds = timegm(tm) - zone.tm_gmtoff;
	return true;
}

/* Fewer digits are no seconds since 1970, but a number without its unit. */
#define SECONDS_DIGITS_MIN 9
#define SECONDS_DIGITS_MAX 11

static bool read_seconds(const char *text, uint64_t *unix_ns)
{
	size_t digits = strlen(text);

	if (!parse_is_number(text) || digits < SECONDS_DIGITS_MIN || digits > SECONDS_DIGITS_MAX)
		return false;
	return !__builtin_mul_overflow(strtoull(text, NULL, 10), NS_PER_S, unix_ns);
}

/* strptime(3) leaves what a format does not name at 0. */
static bool read_date(const char *text, uint64_t *unix_ns)
{
	static const char *const formats[] = {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S",
					      "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", "%Y-%m-%d"};

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct tm tm = {.tm_isdst = -1};
		const char *end = strptime(text, formats[i], &tm);
		time_t seconds;

		if (!end || !read_rest(end, &tm, &seconds))
			continue;
		if (seconds < 0 || (uint64_t)seconds > UINT64_MAX / NS_PER_S)
			return false;
		*unix_ns = (uint64_t)seconds * NS_PER_S;
		return true;
	}
	return false;
}

static int time_before(const char *text, uint64_t now_unix_ns, uint64_t *unix_ns, struct err *err)
{
	struct err ignored;
	uint64_t ago_ns;

	if (read_seconds(text, unix_ns) || read_date(text, unix_ns))
		return 0;
	if (units_duration(text, &ago_ns, &ignored) < 0)
		return err_set(err, EINVAL,
			       "'%s' is not a time: use one like 24h, which is so long ago, "
			       "\"2026-11-22 03:00\" or 2026-11-22T02:00:00Z",
			       text);
	*unix_ns = ago_ns < now_unix_ns ? now_unix_ns - ago_ns : 0;
	return 0;
}

int parse_time(const char *text, void *unix_ns, struct err *err)
{
	return time_before(text, clock_ns(CLOCK_REALTIME), unix_ns, err);
}

bool parse_is_period(const char *text)
{
	return strstr(text, "..");
}

/* Nothing is 0. */
static int parse_end(const char *text, size_t length, uint64_t now_unix_ns, uint64_t *unix_ns,
		     struct err *err)
{
	char end[PERIOD_END_BYTES];

	if (length == 0) {
		*unix_ns = 0;
		return 0;
	}
	/* What is too long is no time, however much of it is shown. */
	(void)snprintf(end, sizeof(end), "%.*s", (int)(length < sizeof(end) ? length : sizeof(end)),
		       text);
	return time_before(end, now_unix_ns, unix_ns, err);
}

int parse_period(const char *text, uint64_t now_unix_ns, uint64_t *since_unix_ns,
		 uint64_t *until_unix_ns, struct err *err)
{
	const char *dots = strstr(text, "..");
	uint64_t since = 0, until = 0;
	int r;

	if (!dots)
		return err_set(err, EINVAL, "'%s' is not a period: use one like 24h..12h or 24h..",
			       text);
	r = parse_end(text, (size_t)(dots - text), now_unix_ns, &since, err);
	if (r == 0)
		r = parse_end(dots + 2, strlen(dots + 2), now_unix_ns, &until, err);
	if (r < 0)
		return r;
	if (until && until <= since)
		return err_set(err, EINVAL, "the period '%s' ends before it begins", text);
	*since_unix_ns = since;
	*until_unix_ns = until;
	return 0;
}

int parse_count(const char *text, void *count, struct err *err)
{
	if (read_integer(text, 1, COUNT_MAX, count) < 0)
		return err_set(err, EINVAL, "'%s' is not a number from 1 to %d", text, COUNT_MAX);
	return 0;
}

/* ---------------------------------------------------------------- names */

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

/* ---------------------------------------------------------------- options of several commands */

static const char *const formats[] = {"text", "json",  "collapsed",  "pprof",
				      "html", "sarif", "speedscope", NULL};
static const char *const regions[] = {"all", "heap", "stack", "other", NULL};

static int set_regions(const char *text, void *report, struct err *err)
{
	static Jxp__Region known[] = {JXP__REGION__REGION_OTHER, JXP__REGION__REGION_HEAP,
				      JXP__REGION__REGION_STACK};
	Jxp__ReportRequest *r = report;

	if (strcmp(text, "all") == 0) {
		r->n_regions = 0;
		return 0;
	}
	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(name_of_region(known[i]), text) == 0) {
			r->regions = &known[i];
			r->n_regions = 1;
			return 0;
		}
	return err_set(err, EINVAL, "'%s' is not a region: use heap, stack, other or all", text);
}

#define REPORT(member) .field = offsetof(Jxp__ReportRequest, member)

const struct argument_option report_arguments[] = {
    {.name = "format",
     .type = ARGUMENT_CHOICE,
     REPORT(format),
     .names = formats,
     .least = JXP__FORMAT__FORMAT_TEXT,
     .noun = "a format",
     .value = "F",
     .unset = "text, or json with --json"},
    {.name = "pairs",
     .type = ARGUMENT_PARSED,
     .parse = parse_count,
     REPORT(pairs),
     .value = "N",
     .help = "show at most N rows of each list of a kind"},
    {.name = "view",
     .type = ARGUMENT_CHOICE,
     REPORT(view),
     .names = view_names,
     .least = JXP__VIEW__VIEW_ALL,
     .noun = "a view",
     .value = "V",
     .help = "these parts",
     .unset = "all"},
    {.name = "all-frames",
     REPORT(all_frames),
     .help = "write out the frames that the two contexts of a pair have in common"},
    {.name = "region",
     .type = ARGUMENT_PARSED,
     .parse = set_regions,
     .names = regions,
     .value = "R",
     .help = "list pairs of this memory",
     .unset = "all"},
    {.name = "baseline",
     .type = ARGUMENT_TEXT,
     REPORT(baseline),
     .noun = "a window",
     .value = "WINDOW",
     .help = "put loops first that take more of the CPU time than in that window"},
    {0},
};

const struct argument_option output_arguments[] = {
    {.name = "output",
     .letter = 'o',
     .type = ARGUMENT_TEXT,
     .noun = "a file",
     .value = "FILE",
     .help = "write to FILE, which appears whole or not at all; - is standard output"},
    {0},
};

#define SELECTION(member) .field = offsetof(Jxp__Selection, member)

/* They are of one command line. */
static int set_selected_kinds(const char *text, void *selection, struct err *err)
{
	static Jxp__Kind kinds[PARSE_KINDS_MAX];
	Jxp__Selection *s = selection;
	int r = parse_kinds(text, kinds, &s->n_kinds, err);

	s->kinds = kinds;
	return r;
}

const struct argument_option chosen_arguments[] = {
    {.name = "kinds",
     .type = ARGUMENT_PARSED,
     .parse = set_selected_kinds,
     .name_at = kind_option_at,
     .value = "K,K",
     .help = "that were for one of these kinds"},
    {.name = "schedule",
     .type = ARGUMENT_TEXT,
     SELECTION(schedule),
     .noun = "a schedule",
     .value = "NAME",
     .help = "of this schedule"},
    {0},
};

const struct argument_option selection_arguments[] = {
    {.name = "app",
     .type = ARGUMENT_TEXT,
     SELECTION(app),
     .noun = "an application",
     .value = "APP",
     .help = "windows of this application, or of several: 'shop-*,cart'; report: all of them as "
	     "one, in place of WINDOW"},
    {.name = "since",
     .type = ARGUMENT_PARSED,
     .parse = parse_time,
     SELECTION(since_unix_ns),
     .value = "TIME",
     .help = "that began since then: 24h ago, or \"2026-11-22 03:00\""},
    {.name = "until",
     .type = ARGUMENT_PARSED,
     .parse = parse_time,
     SELECTION(until_unix_ns),
     .value = "TIME",
     .help = "and before then"},
    {0},
};
