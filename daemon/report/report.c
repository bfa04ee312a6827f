#include "daemon/report/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
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
struct sink {
	char *text; /* size bytes and a NUL */
	size_t size;
	size_t capacity; /* without the NUL */
	size_t max;
	int error; /* of the first write that failed */
	const atomic_bool *cancelled;
};

static bool sink_reserve(struct sink *s, size_t size)
{
	size_t capacity = s->capacity ? s->capacity : FIRST_BYTES;
	char *grown;

	while (capacity < size)
		capacity *= 2;
	if (s->text && capacity == s->capacity)
		return true;
	grown = realloc(s->text, capacity + 1);
	if (!grown)
		return false;
	s->text = grown;
	s->capacity = capacity;
	return true;
}

static ssize_t sink_write(void *cookie, const char *bytes, size_t size)
{
	struct sink *s = cookie;

	if (s->error == 0 && s->cancelled && atomic_load(s->cancelled))
		s->error = -ECANCELED;
	else if (s->error == 0 && size > s->max - s->size)
		s->error = -EMSGSIZE;
	else if (s->error == 0 && !sink_reserve(s, s->size + size))
		s->error = -ENOMEM;
	if (s->error < 0)
		return 0; /* fopencookie's failure. */
	memcpy(s->text + s->size, bytes, size);
	s->size += size;
	s->text[s->size] = '\0';
	return (ssize_t)size;
}

/* 0, -EMSGSIZE when it would have more than max_bytes, -ECANCELED or -ENOMEM. */
static int write_once(const atomic_bool *cancelled, const struct report_model *m,
		      const struct format *format, size_t pairs, size_t max_bytes, char **text,
		      size_t *size)
{
	struct sink sink = {.max = max_bytes, .cancelled = cancelled};
	FILE *out;
	int r;

	if (!sink_reserve(&sink, 0))
		return -ENOMEM;
	sink.text[0] = '\0';
	out = fopencookie(&sink, "w", (cookie_io_functions_t){.write = sink_write});
	if (!out) {
		free(sink.text);
		return -ENOMEM;
	}
	r = format->write(out, m, pairs);
	if (fclose(out) != 0 && r == 0)
		r = -ENOMEM;
	if (sink.error < 0)
		r = sink.error; /* What the writer took for something else. */
	if (r < 0) {
		free(sink.text);
		return r;
	}
	*text = sink.text;
	*size = sink.size;
	return 0;
}

int report_new(const struct window *w, Jxp__Format format, size_t pairs, size_t max_bytes,
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

int report_new_unless(const atomic_bool *cancelled, const struct window *w, Jxp__Format format,
		      size_t pairs, size_t max_bytes, char **text, size_t *size, struct err *err)
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
