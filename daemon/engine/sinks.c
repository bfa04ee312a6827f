#include "daemon/engine/sinks.h"

#include <assert.h>
#include <string.h>

void sinks_add(struct sinks *s, const struct window_sink *sink, const struct window_result *only)
{
	assert(s->count < sizeof(s->entries) / sizeof(s->entries[0]));
	s->entries[s->count++] = (struct sinks_entry){.sink = *sink, .only = only};
}

bool sinks_can_watch(const struct sinks *s)
{
	return s->count < SINKS_OF_ALL_MAX + SINKS_WATCHERS_MAX;
}

static void drop(struct sinks *s, size_t i)
{
	s->count--;
	memmove(s->entries + i, s->entries + i + 1, (s->count - i) * sizeof(s->entries[0]));
}

void sinks_forget_window(struct sinks *s, const struct window_result *only)
{
	for (size_t i = s->count; i-- > 0;)
		if (s->entries[i].only == only)
			drop(s, i);
}

const struct window_result *sinks_forget(struct sinks *s, const void *arg)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct window_result *only = s->entries[i].only;

		if (!only || s->entries[i].sink.arg != arg)
			continue;
		drop(s, i);
		return only;
	}
	return NULL;
}

static bool concerns(const struct sinks_entry *entry, const struct window_result *w)
{
	return !entry->only || entry->only == w;
}

void sinks_started(const struct sinks *s, const struct window_result *w)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct window_sink *sink = &s->entries[i].sink;

		if (sink->started && concerns(&s->entries[i], w))
			sink->started(sink->arg, w);
	}
}

void sinks_progressed(const struct sinks *s, const struct window_result *w)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct window_sink *sink = &s->entries[i].sink;

		if (sink->progressed && concerns(&s->entries[i], w))
			sink->progressed(sink->arg, w);
	}
}

void sinks_finished(const struct sinks *s, const struct window_result *w)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct window_sink *sink = &s->entries[i].sink;

		if (sink->finished && concerns(&s->entries[i], w))
			sink->finished(sink->arg, w);
	}
}

void sinks_failed(const struct sinks *s, const struct window_result *w, int error,
		  const char *message)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct window_sink *sink = &s->entries[i].sink;

		if (sink->failed && concerns(&s->entries[i], w))
			sink->failed(sink->arg, w, error, message);
	}
}

void sinks_strangers(const struct sinks *s, uint64_t total)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct window_sink *sink = &s->entries[i].sink;

		if (sink->strangers && !s->entries[i].only)
			sink->strangers(sink->arg, total);
	}
}
