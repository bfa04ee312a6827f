/*
 * Finished windows, oldest first, and those that could not run, so that a number which was given
 * out is not denied later. Bounded in number, each sort by itself, and in memory: when a limit is
 * reached the oldest goes of the owner who has most; the newest always stays. Whoever keeps one
 * (window_result_keep) has it longer.
 */
#ifndef JXPERF_DAEMON_ENGINE_HISTORY_H
#define JXPERF_DAEMON_ENGINE_HISTORY_H

#include <stddef.h>

#include "profile/window/sink.h"
#include "profile/window/result.h"

#define HISTORY_WINDOWS_MAX 64
#define HISTORY_FAILED_MAX  16
#define HISTORY_MAX         (HISTORY_WINDOWS_MAX + HISTORY_FAILED_MAX)
#define HISTORY_BYTES_MAX   WINDOW_BYTES_MAX /* older ones are in the store */

/* All zero is an empty history. */
struct history {
	struct window_result *windows[HISTORY_MAX + 1]; /* with one that is being added */
	size_t count;
};

/* Has every result that it hears of. h has to stay where it is. */
struct window_sink history_sink(struct history *h);

void history_release(struct history *h);

/* Takes ownership of w, which has ended. */
void history_add(struct history *h, struct window_result *w);

#endif
