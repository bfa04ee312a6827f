/*
 * The constants of one chunk of a flight recording: where each symbol, class, method and stack
 * trace that events refer to by an id lies in it, and what it says.
 *
 * They are in checkpoint events, each of which says how far before it the one before is. Nothing is
 * decoded before it is asked for.
 */
#ifndef JXPERF_SUBSUME_IMPORT_JFR_POOLS_H
#define JXPERF_SUBSUME_IMPORT_JFR_POOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "subsume/import/ids.h"
#include "subsume/import/jfr_types.h"
#include "subsume/import/sink.h"

/* The types that a stack is made of, as the metadata describe them. */
struct jfr_layout {
	const struct jfr_type *trace, *frame, *method, *class, *symbol;
	const struct jfr_field *trace_truncated, *trace_frames;
	const struct jfr_field *frame_method;               /* pooled */
	const struct jfr_field *method_class, *method_name; /* pooled */
	const struct jfr_field *method_descriptor;          /* pooled, or NULL */
	const struct jfr_field *class_name;                 /* pooled */
	const struct jfr_field *symbol_string;
};

struct jfr_pools {
	struct import_sink *sink;
	const uint8_t *file;        /* the whole */
	const uint8_t *begin, *end; /* the chunk */
	const struct jfr_types *types;
	struct jfr_layout layout;
	/* From ids to places in the chunk. */
	struct ids traces, methods, classes, symbols, strings;
	struct ids known; /* from ids of methods to numbers of the tree's */
	char label[SUBSUME_NAME_MAX];
};

void jfr_pools_release(struct jfr_pools *p);

/* Finds what the types of a stack look like; trace is a field that refers to one. 0 or -EBADMSG. */
int jfr_layout_find(struct jfr_pools *p, const struct jfr_field *trace);

/* Finds the constants of the chunk, whose last checkpoint event is so many bytes behind its begin.
 * Replaces what was there. 0, or a negative code with the error set: after -EBADMSG there is what
 * was found before. */
int jfr_pools_read(struct jfr_pools *p, uint64_t last);

struct jfr_stack {
	bool truncated;                   /* or too deep */
	size_t depth;                     /* of the path */
	uint32_t path[SUBSUME_DEPTH_MAX]; /* filled from the end: the innermost frame is first */
};

/* Reads the stack of that id. 0, or a negative code with the error set: -EBADMSG where it, or what
 * it refers to, is not there or damaged. */
int jfr_pools_stack(struct jfr_pools *p, uint64_t id, struct jfr_stack *stack);

/* "at byte ..: what: why" of a cursor with something wrong. */
int jfr_fail(const struct jfr_pools *p, const struct jfr_cursor *c, const char *what);

#endif
