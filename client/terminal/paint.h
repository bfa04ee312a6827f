/*
 * A report in text as a terminal shows it: its headings bold, each kind of waste in its colour, and
 * quiet what only says that something is left out; and folded where the terminal's lines end. Its
 * words are not changed.
 */
#ifndef JXPERF_CLIENT_TERMINAL_PAINT_H
#define JXPERF_CLIENT_TERMINAL_PAINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Writes so many bytes. A line of more than width columns is folded between its words. Errors are
 * for the stream's owner. */
void paint_report(FILE *out, const char *text, size_t size, size_t width, bool colour);

#endif
