/*
 * Where a report goes: stdout, or a file that appears whole or not at all.
 *
 * The file is prepared before the window, so that a path that cannot be written is found out before
 * anything is profiled: a file without a name where the file system has such, else one beside it
 * that is renamed on commit. Its mode is what the umask leaves of 0666, whatever was there before.
 * What is there and not a regular file (a device, a pipe) is written in place. Nothing changes
 * unless output_commit is reached, and nothing stays behind when we are killed, but for a file
 * beside it on file systems that need one. client/output/place.h says whose links and files are not
 * touched.
 */
#ifndef JXPERF_CLIENT_OUTPUT_OUTPUT_H
#define JXPERF_CLIENT_OUTPUT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "client/output/place.h"
#include "common/err.h"
#include "proto/jxperf.pb-c.h"

#define OUTPUT_TEMPORARY_BYTES sizeof(".jxperf-0123456789abcdef")

struct output {
	int fd;           /* -1: stdout */
	const char *path; /* as the user gave it; borrowed */
	struct output_place place;
	char *page;                             /* what a report is put into, or NULL */
	size_t columns;                         /* of the terminal that a text goes to, or 0 */
	bool in_place;                          /* else the file gets its name on commit */
	char temporary[OUTPUT_TEMPORARY_BYTES]; /* "" without one */
};

#define OUTPUT_NONE                           \
	{                                     \
		.fd = -1, .place = PLACE_NONE \
	}

/* path NULL or "-": stdout. 0 or -errno; the caller releases o whatever came of it. */
int output_open(struct output *o, const char *path, struct err *err);

/* The same for a report. As HTML, the bytes that are committed are the data of a page
 * (client/output/page.h): -ENOENT where there is none. As text, a terminal shows it in colour and
 * as wide as it is. -EINVAL where the format is binary and o is a terminal. */
int output_open_report(struct output *o, const char *path, Jxp__Format format, struct err *err);

/* Writes the bytes and puts the file in place. 0 or -errno. */
int output_commit(struct output *o, const void *bytes, size_t size, struct err *err);

/* Removes what was not committed. Safe on OUTPUT_NONE. */
void output_release(struct output *o);

#endif
