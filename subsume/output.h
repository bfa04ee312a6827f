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

/* The tree itself, as a page draws it (docs/page.md): {"methods": [label], "parent", "method",
 * "costs": one column, in the tree's unit}. Node N is at N - 1, behind its parent, and a method
 * likewise; the virtual root is number 0. What has less than a twenty thousandth of all cost is
 * part of its caller, or of a method "(others)" where it has none. A new reference, or NULL without
 * memory. */
json_t *subsume_tree_json(const struct subsume_tree *t);

/* 0 or -ENOMEM; stream errors are the caller's. */
int subsume_write_collapsed(FILE *out, const struct subsume_summary *s);

#endif
