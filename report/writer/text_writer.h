/*
 * The parts of the text report are written with these. Stream errors are the caller's.
 */
#ifndef JXPERF_REPORT_WRITER_TEXT_WRITER_H
#define JXPERF_REPORT_WRITER_TEXT_WRITER_H

#include <stdint.h>
#include <stdio.h>

#include "profile/profile.h"

/* A line across, with a title in the middle unless it is NULL. */
void report_text_rule(FILE *out, const char *title);

/* Text in lines of at most so many columns, 0 for a readable length, broken at blanks. */
void report_text_wrapped(FILE *out, const char *text, size_t columns);

/* A calling context, root first, one frame a line, the label (unless NULL) before the leaf. Frames
 * above it that are scaffolding (report/content/scaffolding.h) are one line where they
 * follow each other; frames that repeat are written once. So many frames at the root, which are
 * fewer than there are, are left out. */
void report_text_path(FILE *out, const struct profile *p, uint32_t leaf, const char *label,
		      size_t left_out);

/* How many frames at their roots two calling contexts have in common, and the last of them. The
 * frames of the leaves themselves are never among them. */
size_t report_text_common(const struct profile *p, uint32_t leaf, uint32_t other, uint32_t *last);

#endif
