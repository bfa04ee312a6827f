#include "daemon/report/report.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "common/clock.h"
#include "daemon/report/formats.h"
#include "daemon/report/writer/bounded_text.h"
#include "daemon/report/pprof/pprof.h"
#include "proto/limits.h"

struct format {
	report_write_fn *write;
	size_t default_pairs;
};

/* A model and how it is written. */
struct model_writer {
	const struct report_model *model;
	report_write_fn *write;
};

static const struct format *find_format(Jxp__Format format)
{
	static const struct format formats[] = {
	    [JXP__FORMAT__FORMAT_TEXT] = {report_text_write, 10},
	    [JXP__FORMAT__FORMAT_JSON] = {report_json_write, 1000},
	    [JXP__FORMAT__FORMAT_COLLAPSED] = {report_collapsed_write, LIMIT_PAIRS},
	    [JXP__FORMAT__FORMAT_PPROF] = {report_pprof_write, LIMIT_PAIRS},
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
		       "such reports are not available: use --format text, json, collapsed or "
		       "pprof");
}

int report_new(const struct window_result *w, Jxp__Format format, size_t pairs, size_t max_bytes,
	       char **text, size_t *size, struct err *err)
{
	return report_new_unless(NULL, w, &(struct report_wanted){.format = format, .pairs = pairs},
				 max_bytes, text, size, err);
}

static int write_model(FILE *out, const void *what, size_t pairs)
{
	const struct model_writer *w = what;

	return w->write(out, w->model, pairs);
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
		r = bounded_text_new(cancelled, write_model,
				     &(struct model_writer){&model, found->write}, pairs, max_bytes,
				     text, size);
		report_model_release(&model);
	}
	return bounded_text_result(r, err);
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
