/*
 * A window's samples as profiles have them, whatever their format: series of one sort each (a kind
 * of pairs, allocation sites, ticks), whose samples are a stack, one value or two, and labels.
 *
 * Of each kind of pairs the values are wasteful bytes and, where the sampler is the clock, the CPU
 * time at wasteful accesses; of allocation sites what accesses to their objects cost, and the bytes
 * allocated; of the clock's ticks (kind cpu) their number, and the CPU time that they stand for.
 *
 * A pair is two contexts: the wasteful access is the leaf, so that its line is blamed, and its
 * context is below the other's, with a frame between them that says what the one has to do with the
 * other. Of a dead store that is the first access, else the second one.
 *
 * Functions of their arguments; the model is borrowed, and texts are its own or constant, but for
 * those that a row holds.
 */
#ifndef JXPERF_REPORT_CONTENT_SAMPLE_SERIES_H
#define JXPERF_REPORT_CONTENT_SAMPLE_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/limits.h"
#include "report/content/model.h"

#define SAMPLE_SERIES_MAX    (PAIR_KINDS + 2)
#define SAMPLE_SERIES_VALUES 2
#define SAMPLE_LABELS_MAX    4
/* Two whole contexts, and a frame between them. */
#define SAMPLE_FRAMES_MAX (2 * MAX_FRAMES_LIMIT + 1)

/* Between two samples of a thread. */
struct sample_period {
	const char *type, *unit; /* "cpu", "nanoseconds" */
	uint64_t period;         /* 0: not known */
};

struct sample_value {
	char type[64];    /* "dead_store_bytes" */
	const char *unit; /* "bytes" */
	struct sample_period period;
};

struct sample_series {
	const char *kind; /* of all its samples: "dead_store", "objects", "cpu" */
	char of[64];      /* what rows are, to people: "pairs of dead stores" */
	struct sample_value values[SAMPLE_SERIES_VALUES];
	size_t value_count;
	size_t rows;                       /* in the order of the model's ranking; */
	size_t rows_beside;                /* behind them, of threads without a context */
	const struct report_kind *of_kind; /* NULL: it is not of pairs */
};

struct sample_label {
	const char *key, *text;
};

/* Either a frame by itself, or one context, or two with a frame between them. */
struct sample_stack {
	const char *frame;   /* NULL: there are contexts */
	uint32_t leaf;       /* node of the tree; 0: one that nobody knows */
	const char *between; /* NULL: there is one context */
	uint32_t outer;
};

struct series_sample {
	struct sample_stack stack;
	int64_t values[SAMPLE_SERIES_VALUES]; /* never negative */
	struct sample_label labels[SAMPLE_LABELS_MAX];
	size_t label_count;
};

/* What one row of a series comes to; it may not be moved. */
struct series_row {
	struct series_sample samples[CPU_CODES];
	size_t count;
	char field[2 * LIMIT_STRING_BYTES + 64];
};

/* A sample by its place, and one of its values. */
struct series_pick {
	uint32_t row;
	uint32_t sample; /* of the row's */
	int64_t value;
};

/* The window's series, also those without a row. How many there are. */
size_t sample_series_list(const struct report_model *m,
			  struct sample_series series[SAMPLE_SERIES_MAX]);

/* The row's samples; row is below rows + rows_beside. */
void sample_series_row(const struct report_model *m, const struct sample_series *s, size_t row,
		       struct series_row *out);

/* How many frames the sample's stack has. */
size_t sample_stack_frames(const struct report_model *m, const struct sample_stack *stack);

/* Is there any sample that has something of the value? */
bool sample_series_has(const struct report_model *m, const struct sample_series *s, size_t value);

/* The samples that have something of a value, the heaviest first, in *picks (to be freed; NULL
 * where there are none). 0 or -ENOMEM. */
int sample_series_heaviest(const struct report_model *m, const struct sample_series *s,
			   size_t value, struct series_pick **picks, size_t *count);

/* What a sample of the window is, whatever of. */
struct sample_period sample_period_of(const struct report_model *m);

#endif
