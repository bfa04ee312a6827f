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

/* Text in lines of a readable length, broken at blanks. */
void report_text_wrapped(FILE *out, const char *text);

/* A calling context, root first, one frame a line, the label (unless NULL) before the leaf. Frames
 * above it that are scaffolding (report/content/scaffolding.h) are one line where they
 * follow each other; frames that repeat are written once. */
void report_text_path(FILE *out, const struct profile *p, uint32_t leaf, const char *label);

#endif
