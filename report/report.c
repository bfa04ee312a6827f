#include "report/report.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "report/formats.h"
#include "report/pprof/pprof.h"
#include "proto/limits.h"

/* Of each list of a page: what a browser opens in two seconds. */
#define PAGE_ROWS 10000

struct format {
	report_write_fn *write;
	size_t default_pairs;
};

static const struct format *find_format(Jxp__Format format)
{
	static const struct format formats[] = {
	    [JXP__FORMAT__FORMAT_TEXT] = {report_text_write, 10},
	    [JXP__FORMAT__FORMAT_JSON] = {report_json_write, 1000},
	    [JXP__FORMAT__FORMAT_COLLAPSED] = {report_collapsed_write, LIMIT_PAIRS},
	    [JXP__FORMAT__FORMAT_PPROF] = {report_pprof_write, LIMIT_PAIRS},
	    [JXP__FORMAT__FORMAT_HTML] = {report_page_write, PAGE_ROWS},
	    [JXP__FORMAT__FORMAT_SARIF] = {report_sarif_write, PROBLEMS_MAX},
	    [JXP__FORMAT__FORMAT_SPEEDSCOPE] = {report_speedscope_write, LIMIT_PAIRS},
	};

	if ((unsigned)format >= sizeof(formats) / sizeof(formats[0]))
		return NULL;
	return &formats[format];
}

int report_check_format(Jxp__Format format, struct err *err)
{
	if (find_format(format))
		return 0;
	return err_set(err, EOPNOTSUPP,
		       "such reports are not available: use --format text, json, collapsed, "
		       "pprof, html, sarif or speedscope");
}

/* A text's first memory, which doubles. */
#define FIRST_BYTES ((size_t)4096)

/* Where a report is written to: memory that never grows beyond what may be sent. */
struct bounded_text {
	char *text; /* size bytes and a NUL */
	size_t size;
	size_t capacity; /* without the NUL */
	size_t max;
	int error; /* of the first write that failed */
	const atomic_bool *cancelled;
};

static bool bounded_text_reserve(struct bounded_text *b, size_t size)
{
	size_t capacity = b->capacity ? b->capacity : FIRST_BYTES;
	char *grown;

	while (capacity < size)
		capacity *= 2;
	if (b->text && capacity == b->capacity)
		return true;
	grown = realloc(b->text, capacity + 1);
	if (!grown)
		return false;
	b->text = grown;
	b->capacity = capacity;
	return true;
}

static ssize_t bounded_text_write(void *cookie, const char *bytes, size_t size)
{
	struct bounded_text *b = cookie;

	if (b->error == 0 && b->cancelled && atomic_load(b->cancelled))
		b->error = -ECANCELED;
	else if (b->error == 0 && size > b->max - b->size)
		b->error = -EMSGSIZE;
	else if (b->error == 0 && !bounded_text_reserve(b, b->size + size))
		b->error = -ENOMEM;
	if (b->error < 0)
		return 0; /* fopencookie's failure. */
	memcpy(b->text + b->size, bytes, size);
	b->size += size;
	b->text[b->size] = '\0';
	return (ssize_t)size;
}

/* With at most so many rows of each list. 0, -EMSGSIZE when it would have more than max_bytes,
 * -ECANCELED or -ENOMEM. */
static int write_once(const atomic_bool *cancelled, report_write_fn *write,
		      const struct report_model *m, size_t rows, size_t max_bytes, char **text,
		      size_t *size)
{
	struct bounded_text bounded = {.max = max_bytes, .cancelled = cancelled};
	FILE *out;
	int r;

	if (!bounded_text_reserve(&bounded, 0))
		return -ENOMEM;
	bounded.text[0] = '\0';
	out = fopencookie(&bounded, "w", (cookie_io_functions_t){.write = bounded_text_write});
	if (!out) {
		free(bounded.text);
		return -ENOMEM;
	}
	r = write(out, m, rows);
	if (fclose(out) != 0 && r == 0)
		r = -ENOMEM;
	if (bounded.error < 0)
		r = bounded.error; /* The writer took it for something else. */
	if (r < 0) {
		free(bounded.text);
		return r;
	}
	*text = bounded.text;
	*size = bounded.size;
	return 0;
}

/* With half as many rows each time that it would be too long. */
static int write_bounded(const atomic_bool *cancelled, report_write_fn *write,
			 const struct report_model *m, size_t rows, size_t max_bytes, char **text,
			 size_t *size)
{
	int r;

	for (;; rows /= 2) {
		r = write_once(cancelled, write, m, rows, max_bytes, text, size);
		if (r != -EMSGSIZE || rows == 0)
			return r;
	}
}

/* r as it is, with the reason in words. */
static int result(int r, struct err *err)
{
	switch (r) {
	case 0:
		return 0;
	case -ECANCELED:
		return err_set(err, ECANCELED, "nobody wants the report any more");
	case -EMSGSIZE:
		return err_set(err, EMSGSIZE, "the report does not fit into one message");
	default:
		return err_set(err, -r, "out of memory while writing the report");
	}
}

int report_new_unless(const atomic_bool *cancelled, const struct window_result *w,
		      const struct report_wanted *wanted, size_t max_bytes, char **text,
		      size_t *size, struct err *err)
{
	const struct format *found = find_format(wanted->format);
	size_t pairs = wanted->pairs;
	struct report_model model;
	int r;

	if (!found)
		return report_check_format(wanted->format, err);
	if (pairs == 0)
		pairs = found->default_pairs;
	r = report_model_init(&model, w, wanted);
	if (r == 0) {
		r = write_bounded(cancelled, found->write, &model, pairs, max_bytes, text, size);
		report_model_release(&model);
	}
	return result(r, err);
}

void report_time(char text[REPORT_TIME_BYTES], uint64_t unix_ns)
{
	time_t seconds = (time_t)(unix_ns / NS_PER_S);
	unsigned ms = (unsigned)(unix_ns % NS_PER_S / NS_PER_MS);
	struct tm utc = {0};
	size_t used;

	(void)gmtime_r(&seconds, &utc); /* Fails only for years beyond an int. */
	used = strftime(text, REPORT_TIME_BYTES, "%Y-%m-%dT%H:%M:%S", &utc);
	(void)snprintf(text + used, REPORT_TIME_BYTES - used, ".%03uZ", ms);
}
