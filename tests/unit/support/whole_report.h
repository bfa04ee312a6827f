/*
 * A report of a whole window, in one format, that nobody cancels.
 */
#ifndef JXPERF_TESTS_WHOLE_REPORT_H
#define JXPERF_TESTS_WHOLE_REPORT_H

#include "report/report.h"

static inline int report_new(const struct window_result *w, Jxp__Format format, size_t pairs,
			     size_t max_bytes, char **text, size_t *size, struct err *err)
{
	return report_new_unless(NULL, w, &(struct report_wanted){.format = format, .pairs = pairs},
				 max_bytes, text, size, err);
}

#endif
