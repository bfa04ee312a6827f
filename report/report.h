/*
 * Reports: a window as text, JSON (schema 1), collapsed stacks, a profile for pprof, which is
 * binary, or the data of a page.
 *
 * Pairs are listed in the order of report/pairs/pair_ranking.h and only when something was
 * wasted. A report may be asked for while its window runs. Any thread may write one of a window
 * that nothing changes meanwhile (daemon/answer/render.h). What a format or its size limit leaves
 * out is said in the report itself.
 */
#ifndef JXPERF_REPORT_REPORT_H
#define JXPERF_REPORT_REPORT_H

#include <stdatomic.h>
#include <stddef.h>

#include "common/err.h"
#include "report/content/wanted.h"
#include "profile/window/result.h"
#include "proto/jxperf.pb-c.h"

/* The report of w in *text (to be freed, with a NUL behind size bytes that does not count), with at
 * most wanted->pairs pairs of each kind (0: the format's default), fewer when it would exceed
 * max_bytes; not more than that is ever held of a text. 0; -EOPNOTSUPP for a format that is not
 * there; -ENOMEM; -EMSGSIZE; -ECANCELED when another thread sets *cancelled, which may be NULL. */
int report_new_unless(const atomic_bool *cancelled, const struct window_result *w,
		      const struct report_wanted *wanted, size_t max_bytes, char **text,
		      size_t *size, struct err *err);

/* -EOPNOTSUPP with the reason when reports of this format cannot be had, else 0. */
int report_check_format(Jxp__Format format, struct err *err);

#endif
