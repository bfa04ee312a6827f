/*
 * A summary as text, as JSON ("subsuming" of the report's schema) and as collapsed stacks: the
 * reduced tree, in which only methods that subsume are left.
 */
#ifndef JXPERF_SUBSUME_OUTPUT_H
#define JXPERF_SUBSUME_OUTPUT_H

#include <jansson.h>
#include <stdio.h>

#include "subsume/summary.h"

/* Stream errors are the caller's. */
void subsume_write_text(FILE *out, const struct subsume_summary *s);

/* A new reference, or NULL without memory. */
json_t *subsume_json(const struct subsume_summary *s);

/* 0 or -ENOMEM; stream errors are the caller's. */
int subsume_write_collapsed(FILE *out, const struct subsume_summary *s);

#endif
