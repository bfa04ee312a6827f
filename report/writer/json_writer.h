/*
 * The parts of the JSON report are written with this: the frames of one document, which its parts
 * share, and how much of them it may hold.
 */
#ifndef JXPERF_REPORT_WRITER_JSON_WRITER_H
#define JXPERF_REPORT_WRITER_JSON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/json.h"
#include "report/content/model.h"

/* What a document with numbered contexts says of each. */
enum json_context_column {
	JSON_CONTEXT_PARENT,
	JSON_CONTEXT_METHOD,
	JSON_CONTEXT_LINE,
	JSON_CONTEXT_BCI,
	JSON_CONTEXT_TIER,
	JSON_CONTEXT_COLUMNS
};

/* One object for each node that was needed. */
struct json_writer {
	const struct report_model *model;
	json_t **frames; /* by node id, NULL until needed */
	size_t frames_left;
	size_t name_bytes_left; /* of those frames, and other names */
	bool numbered; /* contexts are numbers, and report_json_contexts has their frames */
	json_t *columns[JSON_CONTEXT_COLUMNS];
	json_t *methods;          /* the names of each that was needed */
	uint32_t *numbers;        /* by node id, 0 until needed */
	uint32_t *method_numbers; /* by method id, likewise counted from 1 */
};

/* 0 or -ENOMEM; released in either case, after the document. */
int json_writer_init(struct json_writer *writer, const struct report_model *m, bool numbered);
void json_writer_release(struct json_writer *writer);

/* How sure it is that accesses are made at a node: a word; NULL where none is said to be, and for
 * NULL. */
const char *report_json_attribution(const struct cct_node *node);

/* The calling context, leaf first, [] for node 0; or its number, 0 for node 0, where contexts are
 * numbered. A new reference, or NULL without memory. */
json_t *report_json_frames(struct json_writer *writer, uint32_t node);

/* All contexts that have a number, and their callers, as columns: {"methods": [[class, method,
 * file]], "parent", "method", "line", "bci", "tier"}. Number N is at N - 1, behind its parent; so
 * is a method. A new reference, or NULL without memory. */
json_t *report_json_contexts(const struct json_writer *writer);

/* Takes the frames of two calling contexts (0: none), and the bytes of their names, from what the
 * document may hold. False, with nothing taken, when there is not enough left. */
bool report_json_take_contexts(struct json_writer *writer, uint32_t node, uint32_t other);

/* The same of the leaf frames of two contexts. */
bool report_json_take_lines(struct json_writer *writer, uint32_t node, uint32_t other);

/* Takes bytes of names alone. False, with nothing taken, when there are not enough left. */
bool report_json_take_names(struct json_writer *writer, size_t bytes);

#endif
