/*
 * The difference of two windows (daemon/combine/diff.h) as text or JSON (schema 1).
 *
 * The first line of the text is the verdict; with ten rows it fits one screen.
 */
#ifndef JXPERF_DAEMON_REPORT_DIFF_DIFF_REPORT_H
#define JXPERF_DAEMON_REPORT_DIFF_DIFF_REPORT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>

#include "common/err.h"
#include "daemon/combine/diff.h"
#include "daemon/window/result.h"
#include "proto/jxperf.pb-c.h"

/* What b has more or less than a, each one window or a merge, in *text (to be freed, with a NUL
 * behind size bytes that does not count), with at most rows rows (0: the format's default), fewer
 * when it would exceed max_bytes. Any thread, when nothing changes a and b meanwhile. 0; -EINVAL
 * when they cannot be compared; -EOPNOTSUPP for a format that is not there; -ENOMEM; -EMSGSIZE. */
int diff_new(const struct window_result *a, const struct window_result *b, Jxp__Format format,
	     size_t rows, size_t max_bytes, char **text, size_t *size, struct err *err);

/* The same; -ECANCELED when another thread has set *cancelled meanwhile, which may be NULL. */
int diff_new_unless(const atomic_bool *cancelled, const struct window_result *a,
		    const struct window_result *b, Jxp__Format format, size_t rows,
		    size_t max_bytes, char **text, size_t *size, struct err *err);

/* 0, or -EOPNOTSUPP for a format that differences are not written in. */
int diff_check_format(Jxp__Format format, struct err *err);

/* With at most rows rows; bounded_write_fn (daemon/report/writer/bounded_text.h) of a struct diff.
 */
int diff_text_write(FILE *out, const void *diff, size_t rows);
int diff_json_write(FILE *out, const void *diff, size_t rows);

#endif
