/*
 * The sinks (profile/window/sink.h) that the engine tells of windows: those of every window, in the
 * order in which they came, and then whoever asked for the one. Loop thread only.
 */
#ifndef JXPERF_DAEMON_ENGINE_SINKS_H
#define JXPERF_DAEMON_ENGINE_SINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/window/sink.h"

/* Sinks of every window; of one each, by whoever asked for it, and by others who want to know its
 * end. */
#define SINKS_OF_ALL_MAX   8
#define SINKS_OF_ONE_MAX   64
#define SINKS_WATCHERS_MAX 256

struct sinks_entry {
	struct window_sink sink;
	const struct window_result *only; /* NULL: every window */
};

/* All zero is an empty list. */
struct sinks {
	struct sinks_entry entries[SINKS_OF_ALL_MAX + SINKS_OF_ONE_MAX + SINKS_WATCHERS_MAX];
	size_t count;
};

/* Adds a sink of all windows, or of only one. There has to be room. */
void sinks_add(struct sinks *s, const struct window_sink *sink, const struct window_result *only);

/* Is there room for one more who only watches a window? Those who ask for one always have theirs.
 */
bool sinks_can_watch(const struct sinks *s);

/* The sinks of this window alone hear nothing any more. */
void sinks_forget_window(struct sinks *s, const struct window_result *only);

/* The sink of one window with this arg hears nothing any more. Its window, or NULL when there is no
 * such sink. */
const struct window_result *sinks_forget(struct sinks *s, const void *arg);

/* Tell whom it concerns. */
void sinks_started(const struct sinks *s, const struct window_result *w);
void sinks_progressed(const struct sinks *s, const struct window_result *w);
void sinks_finished(const struct sinks *s, const struct window_result *w);
void sinks_failed(const struct sinks *s, const struct window_result *w, int error,
		  const char *message);
void sinks_strangers(const struct sinks *s, uint64_t total);

#endif
