/*
 * A report in text as a terminal shows it: its headings bold, each kind of waste in its colour, and
 * quiet what only says that something is left out. The text is what the daemon wrote; nothing of it
 * is changed but for sequences of colour around it.
 */
#ifndef JXPERF_CLIENT_TERMINAL_PAINT_H
#define JXPERF_CLIENT_TERMINAL_PAINT_H

#include <stddef.h>
#include <stdio.h>

/* Writes so many bytes. Errors are for the stream's owner. */
void paint_report(FILE *out, const char *text, size_t size);

#endif
