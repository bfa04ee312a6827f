/*
 * A destination that is a directory: each window is a profile that pprof reads, in a file
 * APP-TIME-WINDOW.pb.gz that is there whole or not at all. The same window has the same name, so
 * one that is written twice is there once. What is beyond the directory's own limits goes, the
 * oldest first.
 *
 * Any thread. Of two writers at a time in one directory the second is refused.
 */
#ifndef JXPERF_DAEMON_EXPORT_DIRECTORY_H
#define JXPERF_DAEMON_EXPORT_DIRECTORY_H

#include <stdint.h>

#include "common/err.h"

struct sender_settings;
struct source_windows;

/* Writes them all, and adds what they take to *bytes. 0, or -errno with a line: some may be there
 * then. */
int directory_write(const struct sender_settings *to, const struct source_windows *from,
		    uint64_t *bytes, struct err *err);

#endif
