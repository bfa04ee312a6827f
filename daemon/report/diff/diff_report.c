#include "daemon/report/diff/diff_report.h"

#include <errno.h>

#include "daemon/report/writer/bounded_text.h"

struct diff_format {
	bounded_write_fn *write; /* NULL: not there */
	size_t default_rows;
};

static const struct diff_format *find_format(Jxp__Format format)
{
	static const struct diff_format formats[] = {
	    [JXP__FORMAT__FORMAT_TEXT] = {diff_text_write, 10},
	    [JXP__FORMAT__FORMAT_JSON] = {diff_json_write, 1000},
	};

	if ((unsigned)format >= sizeof(formats) / sizeof(formats[0]) || !formats[format].write)
		return NULL;
	return &formats[format];
}

int diff_check_format(Jxp__Format format, struct err *err)
{
	if (find_format(format))
		return 0;
	return err_set(err, EOPNOTSUPP,
		       "a difference can be had as text or JSON: use --format text or json");
}

int diff_new(const struct window_result *a, const struct window_result *b, Jxp__Format format,
	     size_t rows, size_t max_bytes, char **text, size_t *size, struct err *err)
{
	return diff_new_unless(NULL, a, b, format, rows, max_bytes, text, size, err);
}

int diff_new_unless(const atomic_bool *cancelled, const struct window_result *a,
		    const struct window_result *b, Jxp__Format format, size_t rows,
		    size_t max_bytes, char **text, size_t *size, struct err *err)
{
	const struct diff_format *found = find_format(format);
	struct diff diff;
	int r;

	if (!found)
		return diff_check_format(format, err);
	r = diff_init(&diff, a, b, err);
	if (r < 0)
		return r;
	r = bounded_text_new(cancelled, found->write, &diff, rows ? rows : found->default_rows,
			     max_bytes, text, size);
	diff_release(&diff);
	return bounded_text_result(r, err);
}
