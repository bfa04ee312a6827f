/*
 * Text in memory that never grows beyond what may be sent: where it would, it is written again with
 * fewer rows.
 */
#ifndef JXPERF_DAEMON_REPORT_WRITER_BOUNDED_TEXT_H
#define JXPERF_DAEMON_REPORT_WRITER_BOUNDED_TEXT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>

#include "common/err.h"

/* Writes what down with at most so many rows. 0 or -ENOMEM; one that meets a stream error (the text
 * is too long) stops soon. */
typedef int bounded_write_fn(FILE *out, const void *what, size_t rows);

/* The text, to be freed, with a NUL behind size bytes that does not count; of at most rows rows,
 * half as many each time that it would have more than max_bytes. 0; -EMSGSIZE when it does not fit
 * without rows; -ECANCELED when another thread has set *cancelled (which may be NULL); -ENOMEM. */
int bounded_text_new(const atomic_bool *cancelled, bounded_write_fn *write, const void *what,
		     size_t rows, size_t max_bytes, char **text, size_t *size);

/* r as it is, with the reason in words. */
int bounded_text_result(int r, struct err *err);

#endif
