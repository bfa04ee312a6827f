/*
 * What the parts of the text report share. Stream errors are the caller's.
 */
#ifndef JXPERF_DAEMON_REPORT_TEXT_H
#define JXPERF_DAEMON_REPORT_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "daemon/window/result.h"

/* A line across, with a title in the middle unless it is NULL. */
void report_text_rule(FILE *out, const char *title);

/* Text in lines of a readable length, broken at blanks. */
void report_text_wrapped(FILE *out, const char *text);

/* "class.method(file:line)" of a node that is not 0. */
void report_text_frame(FILE *out, const struct profile *p, uint32_t id);

/* A calling context, root first, one frame a line, the label (unless NULL) before the leaf. */
void report_text_path(FILE *out, const struct profile *p, uint32_t leaf, const char *label);

/* The part about objects, with at most sites of them. 0 or -ENOMEM. */
int report_text_objects(FILE *out, const struct window_result *w, size_t sites);

/* The part about NUMA. 0 or -ENOMEM. */
int report_text_numa(FILE *out, const struct window_result *w);

#endif
