/*
 * What a descriptor is that people may look at: does it understand escapes, how wide is it, may
 * there be colour. Nothing here writes.
 */
#ifndef JXPERF_CLIENT_TERMINAL_TERMINAL_H
#define JXPERF_CLIENT_TERMINAL_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/jxperf.pb-c.h"

/* How many columns are taken where the terminal does not say. */
#define TERMINAL_WIDTH_DEFAULT 80

/* How text may be shown: a heading, what matters less, and each kind of waste in its colour. */
enum terminal_style {
	STYLE_PLAIN,
	STYLE_HEADING,
	STYLE_QUIET,
	STYLE_DEAD_STORE,
	STYLE_SILENT_STORE,
	STYLE_SILENT_LOAD,
};

/* Is it a terminal, of a type ($TERM) that moves its cursor? */
bool terminal_understands(int fd);

/* In columns. */
size_t terminal_width(int fd);

/* In lines; 0 where the terminal does not say. */
size_t terminal_height(int fd);

/* May there be colour? Not where nothing understands it, where $NO_COLOR is set (no-color.org), or
 * where JSON was asked for. */
bool terminal_may_colour(int fd, bool json);

/* The sequence (ECMA-48, select graphic rendition) that a style begins with; "" for plain text. All
 * of them end with TERMINAL_PLAIN. */
const char *terminal_sequence(enum terminal_style style);
#define TERMINAL_PLAIN "\033[0m"

/* The style of a kind of pairs; plain for other kinds. */
enum terminal_style terminal_style_of_kind(Jxp__Kind kind);

#endif
