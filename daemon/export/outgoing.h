/*
 * What a sender does on a thread of the pool: a batch of windows is read from its source and made
 * into requests, or into files of a directory. Windows are in memory only for so long.
 */
#ifndef JXPERF_DAEMON_EXPORT_OUTGOING_H
#define JXPERF_DAEMON_EXPORT_OUTGOING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/export/credentials.h"
#include "daemon/export/source.h"
#include "export/format.h"

struct sender_settings;

struct outgoing {
	unsigned numbers[2 * SOURCE_WINDOWS_MAX]; /* of windows, then of those unreadable */
	size_t count;
	size_t unreadable;
	bool more; /* others may wait for as long as these */
	struct credentials credentials;
	struct export_batch requests;
	uint64_t bytes; /* of all bodies as they are sent, or files */
};

/* Reads the windows that are wanted. b is zeros before, and to be released in either case. 0;
 * -EMSGSIZE where one window is too large for a request; or -errno with a line. */
int outgoing_make(struct outgoing *b, const struct sender_settings *settings, void *memory,
		  const struct source *source, const struct source_wanted *wanted, bool compress,
		  const atomic_bool *cancelled, struct err *err);

void outgoing_release(struct outgoing *b);

#endif
