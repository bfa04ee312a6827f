/*
 * The parts of the text report, each in a file of its own. Stream errors are the caller's.
 */
#ifndef JXPERF_DAEMON_REPORT_TEXT_PARTS_H
#define JXPERF_DAEMON_REPORT_TEXT_PARTS_H

#include <stddef.h>
#include <stdio.h>

#include "daemon/window/window.h"

/* With at most sites of them. 0 or -ENOMEM. */
int report_text_objects(FILE *out, const struct window *w, size_t sites);

/* 0 or -ENOMEM. */
int report_text_numa(FILE *out, const struct window *w);

void report_text_quality(FILE *out, const struct window *w);

#endif
