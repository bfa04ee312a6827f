/*
 * Where a report goes: stdout, or a file that appears whole or not at all.
 *
 * The file is prepared before the window, so that a path that cannot be written is found out before
 * anything is profiled: a temporary file beside it, renamed on commit. A target that is there and
 * not a regular file (a device, a pipe) is written in place. Nothing changes unless output_commit
 * is reached.
 */
#ifndef JXPERF_CLIENT_OUTPUT_H
#define JXPERF_CLIENT_OUTPUT_H

#include <limits.h>
#include <stddef.h>

#include "common/err.h"

struct output {
	int fd;                   /* -1: stdout */
	char path[PATH_MAX];      /* the file that the user named, links resolved */
	char temporary[PATH_MAX]; /* "" when path is written in place */
};

/* path NULL: stdout. 0 or -errno; the caller releases o whatever came of it. */
int output_open(struct output *o, const char *path, struct err *err);

/* Writes the bytes and puts the file in place. 0 or -errno. */
int output_commit(struct output *o, const void *bytes, size_t size, struct err *err);

/* Removes what was not committed. */
void output_release(struct output *o);

#endif
