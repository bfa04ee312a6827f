/*
 * A comparison for people, its verdict in the first line, and for programs.
 */
#ifndef JXPERF_COMPARE_OUTPUT_H
#define JXPERF_COMPARE_OUTPUT_H

#include <jansson.h>
#include <stdio.h>

#include "compare/comparison.h"
#include "compare/gate.h"

#define COMPARE_HEADLINE_BYTES (COMPARE_NAME_MAX + 512)

/* Writes what has become of the CPU time, in one line. */
void compare_headline(const struct comparison *c, char line[COMPARE_HEADLINE_BYTES]);

/* With at most rows rows; gate NULL: none was asked for. Stream errors are the caller's. */
void compare_text_write(FILE *out, const struct comparison *c, const struct compare_gate *gate,
			size_t rows);

/* The same as an object, all rows that are looked at being counted. NULL without memory. */
json_t *compare_json(const struct comparison *c, const struct compare_gate *gate, size_t rows);

/* The tree of both sides, as a page draws it (docs/page.md): {"methods": [name], "parent",
 * "method", "costs": two columns of nanoseconds}. Node N is at N - 1, behind its parent; so is a
 * method. NULL without memory. */
json_t *compare_tree_json(const struct compare_tree *t);

#endif
