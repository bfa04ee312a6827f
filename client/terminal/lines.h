/*
 * Lines to be shown on a terminal, each in one style. What they say comes from JVMs, too: control
 * characters are shown as '?', and nothing in a line can move the cursor.
 *
 * A failed allocation is remembered in failed; lines are then missing.
 */
#ifndef JXPERF_CLIENT_TERMINAL_LINES_H
#define JXPERF_CLIENT_TERMINAL_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "client/terminal/terminal.h"

/* Most bytes of a line; a longer one is cut at a character's start. */
#define LINES_BYTES_MAX 1024

struct lines_row {
	char *text;
	enum terminal_style style;
};

/* All zero is none. */
struct lines {
	struct lines_row *rows;
	size_t count;
	size_t capacity;
	bool failed;
};

void lines_release(struct lines *l);

/* Appends one line. */
void lines_add(struct lines *l, enum terminal_style style, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Appends text in lines of at most width columns, broken at blanks, also within a word that is
 * longer; those behind the first begin with so many blanks. */
void lines_add_folded(struct lines *l, enum terminal_style style, size_t width, size_t indent,
		      const char *text);

/* Appends each line of the text, which is cut there. */
void lines_add_text(struct lines *l, enum terminal_style style, char *text);

/* Prints them, in plain text. Errors are for the stream's owner. */
void lines_print(const struct lines *l, FILE *out);

#endif
