/*
 * What a sender does on a thread of the pool: a batch of windows is read from its source and made
 * into requests, or into files of a directory. Windows are in memory only for so long.
 */
#ifndef JXPERF_DAEMON_EXPORT_BATCH_H
#define JXPERF_DAEMON_EXPORT_BATCH_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/export/credentials.h"
#include "daemon/export/source.h"
#include "export/format.h"

struct sender_settings;

struct batch {
	unsigned numbers[2 * SOURCE_WINDOWS_MAX]; /* of windows, then of those unreadable */
	size_t count;
	size_t unreadable;
	struct credentials credentials;
	struct export_batch requests;
	uint64_t bytes; /* of all bodies, or files */
};

/* Reads at most so many windows. b is zeros before, and to be released in either case. 0;
 * -EMSGSIZE where one window is too large for a request; or -errno with a line. */
int batch_make(struct batch *b, const struct sender_settings *settings, void *memory,
	       const struct source *source, size_t windows, const atomic_bool *cancelled,
	       struct err *err);

void batch_release(struct batch *b);

#endif
