#include "daemon/report/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/report/formats.h"

/* Of a report's memory, which doubles. */
#define FIRST_BYTES ((size_t)4096)

struct format {
	report_write_fn *write; /* NULL: not there */
	size_t default_pairs;
};

static const struct format *find_format(Jxp__Format format)
{
	static const struct format formats[] = {
	    [JXP__FORMAT__FORMAT_TEXT] = {report_text_write, 10},
	    [JXP__FORMAT__FORMAT_JSON] = {report_json_write, 1000},
	    [JXP__FORMAT__FORMAT_COLLAPSED] = {report_collapsed_write, 10000},
	    [JXP__FORMAT__FORMAT_PPROF] = {NULL, 0},
	};

	if ((unsigned)format >= sizeof(formats) / sizeof(formats[0]) || !formats[format].write)
		return NULL;
	return &formats[format];
}

int report_check_format(Jxp__Format format, struct err *err)
{
	if (find_format(format))
		return 0;
	return err_set(err, EOPNOTSUPP,
		       "%s reports are not available: use --format text, json or collapsed",
		       format == JXP__FORMAT__FORMAT_PPROF ? "pprof" : "such");
}

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

/* 0, -EMSGSIZE when it would have more than max_bytes, -ECANCELED or -ENOMEM. */
static int write_once(const atomic_bool *cancelled, const struct report_model *m,
		      const struct format *format, size_t pairs, size_t max_bytes, char **text,
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
	r = format->write(out, m, pairs);
	if (fclose(out) != 0 && r == 0)
		r = -ENOMEM;
	if (bounded.error < 0)
		r = bounded.error; /* What the writer took for something else. */
	if (r < 0) {
		free(bounded.text);
		return r;
	}
	*text = bounded.text;
	*size = bounded.size;
	return 0;
}

int report_new(const struct window_result *w, Jxp__Format format, size_t pairs, size_t max_bytes,
	       char **text, size_t *size, struct err *err)
{
	return report_new_unless(NULL, w, format, pairs, max_bytes, text, size, err);
}

/* With fewer and fewer pairs, until it fits. */
static int write_fitting(const atomic_bool *cancelled, const struct report_model *m,
			 const struct format *format, size_t pairs, size_t max_bytes, char **text,
			 size_t *size)
{
	for (;;) {
		int r = write_once(cancelled, m, format, pairs, max_bytes, text, size);

		if (r != -EMSGSIZE || pairs == 0)
			return r;
		pairs /= 2;
	}
}

int report_new_unless(const atomic_bool *cancelled, const struct window_result *w,
		      Jxp__Format format, size_t pairs, size_t max_bytes, char **text, size_t *size,
		      struct err *err)
{
	const struct format *found = find_format(format);
	struct report_model model;
	int r;

	if (!found)
		return report_check_format(format, err);
	if (pairs == 0)
		pairs = found->default_pairs;
	r = report_model_init(&model, w);
	if (r == 0) {
		r = write_fitting(cancelled, &model, found, pairs, max_bytes, text, size);
		report_model_release(&model);
	}
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
