/*
 * Where a sender's windows come from: the queue of the store (daemon/export/store_source.h), or
 * what a measurement makes.
 */
#ifndef JXPERF_DAEMON_EXPORT_SOURCE_H
#define JXPERF_DAEMON_EXPORT_SOURCE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "export/format.h"
#include "profile/window/result.h"

#define SOURCE_WINDOWS_MAX 1000
#define SOURCE_HOST_BYTES  256
#define SOURCE_STORE_BYTES 40

/* At most so many windows that are not wanted may be named. */
#define SOURCE_WITHOUT_MAX 64

/* Which windows to read: the first that wait, but for those of without; or one of them alone. */
struct source_wanted {
	size_t windows; /* at most, */
	size_t bytes;   /* and no more once they take so many bytes of memory */
	unsigned only;  /* 0: none is asked for by its number */
	unsigned without[SOURCE_WITHOUT_MAX];
	size_t without_count;
};

/* Windows that were read, of one host. */
struct source_windows {
	struct window_result *windows[SOURCE_WINDOWS_MAX]; /* the reader's */
	unsigned numbers[SOURCE_WINDOWS_MAX];
	size_t count;
	/* Those that cannot be read any more, and never will. */
	unsigned unreadable[SOURCE_WINDOWS_MAX];
	size_t unreadable_count;
	bool more; /* others may wait, which there was no room for */
	char host[SOURCE_HOST_BYTES];
	char group[SOURCE_HOST_BYTES];
	char store[SOURCE_STORE_BYTES];
};

struct source {
	void *arg;
	/* On a thread of the pool, one at a time: what is wanted of those that wait; the same ones
	 * as long as they have not arrived. out is zeros before, and has the caller's windows in
	 * either case. Nothing waits: 0 without any. */
	int (*read)(void *arg, const struct source_wanted *wanted, const atomic_bool *cancelled,
		    struct source_windows *out, struct err *err);
	/* On the loop, these: how many wait. */
	uint64_t (*waiting)(void *arg);
	/* These are not wanted again. Returns a ticket, 0: cannot be noted now. */
	uint64_t (*arrived)(void *arg, const unsigned *numbers, size_t count);
	/* Has that been noted for good? */
	bool (*has_noted)(void *arg, uint64_t ticket);
	/* Frees arg, when nothing of the above will be called any more. */
	void (*release)(void *arg);
};

#endif
