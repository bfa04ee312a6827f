/*
 * Tells what a line of a collapsed file is, by itself and among all others: a stack with a count,
 * or none, as a comment, a shell's message, or what a full disk left of one. Two numbers at the end
 * of every line are two counts, of a differential file, unless the first is shown to be part of a
 * name.
 *
 * Any thread; pure.
 */
#ifndef JXPERF_SUBSUME_IMPORT_COLLAPSED_LINE_H
#define JXPERF_SUBSUME_IMPORT_COLLAPSED_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum collapsed_kind {
	COLLAPSED_BLANK,
	COLLAPSED_STACK,
	COLLAPSED_COMMENT,  /* begins with '#' */
	COLLAPSED_NONE,     /* no stack, or no count */
	COLLAPSED_NEGATIVE, /* a stack with a negative count */
};

/* digits * 10^exponent; digits is not a multiple of ten where the exponent is below 0. */
struct collapsed_count {
	uint64_t digits;
	int exponent;
};

struct collapsed_line {
	enum collapsed_kind kind;
	const uint8_t *stack; /* of a STACK: without the count */
	size_t length;
	struct collapsed_count count;
	size_t base_length;           /* the stack without a number at its end */
	struct collapsed_count first; /* that number */
	bool two;                     /* there is one */
};

/* A line without its end; ended is false for one that the file ends in. */
void collapsed_line_read(const uint8_t *line, size_t length, bool ended,
			 struct collapsed_line *out);

/* The count times 10^digits, rounded; false when it is 2^63 or more. */
bool collapsed_count_scaled(const struct collapsed_count *count, unsigned digits, uint64_t *out);

/* All lines of a file. */
struct collapsed_shape {
	uint64_t stacks, none, negative; /* lines */
	uint64_t first_none;             /* its number, from 1; comments are none */
	uint64_t two, first_two;         /* stacks with two numbers */
	bool differential;
	bool last_is_cut;  /* the last line has less than all others */
	bool are_integers; /* all counts */
	unsigned digits;   /* behind the point, as many as can be counted in */
	uint8_t end;       /* of lines: '\n', or '\r' where there is no other */
};

void collapsed_shape_find(const uint8_t *bytes, size_t size, struct collapsed_shape *out);

/* The line at *at, without its end, and *at behind that; false at the end of the file. */
bool collapsed_next_line(const uint8_t **at, const uint8_t *file_end, uint8_t end,
			 const uint8_t **line, size_t *length, bool *ended);

#endif
