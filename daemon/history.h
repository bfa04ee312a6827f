/*
 * Finished windows, oldest first. Bounded in number and in memory: when a limit is reached the
 * oldest goes; the newest always stays.
 */
#ifndef JXPERF_DAEMON_HISTORY_H
#define JXPERF_DAEMON_HISTORY_H

#include <stddef.h>

#include "daemon/window.h"

#define HISTORY_WINDOWS_MAX 64
#define HISTORY_BYTES_MAX   (256u << 20)

/* All zero is an empty history. */
struct history {
	struct window *windows[HISTORY_WINDOWS_MAX];
	size_t count;
};

void history_release(struct history *h);

/* Takes ownership of w. */
void history_add(struct history *h, struct window *w);

#endif
