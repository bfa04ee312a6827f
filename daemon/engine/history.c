#include "daemon/engine/history.h"

#include <string.h>

void history_release(struct history *h)
{
	for (size_t i = 0; i < h->count; i++)
		window_result_free(h->windows[i]);
	h->count = 0;
}

static size_t memory_bytes(const struct history *h)
{
	size_t sum = 0;

	for (size_t i = 0; i < h->count; i++)
		sum += window_result_memory_bytes(h->windows[i]);
	return sum;
}

static void drop(struct history *h, size_t i)
{
	window_result_free(h->windows[i]);
	h->count--;
	memmove(h->windows + i, h->windows + i + 1,
		(h->count - i) * sizeof(struct window_result *));
}

/* Makes room for one more that failed, or of the others. */
static void make_room(struct history *h, bool failed)
{
	size_t limit = failed ? HISTORY_FAILED_MAX : HISTORY_WINDOWS_MAX;
	size_t oldest = 0, count = 0;

	for (size_t i = h->count; i-- > 0;)
		if ((h->windows[i]->state == WINDOW_FAILED) == failed) {
			oldest = i;
			count++;
		}
	if (count == limit)
		drop(h, oldest);
}

void history_add(struct history *h, struct window_result *w)
{
	make_room(h, w->state == WINDOW_FAILED);
	h->windows[h->count++] = w;
	while (h->count > 1 && memory_bytes(h) > HISTORY_BYTES_MAX)
		drop(h, 0);
}

static void on_finished(void *arg, const struct window_result *w)
{
	history_add(arg, window_result_keep(w));
}

/* What was given no number is not remembered. */
static void on_failed(void *arg, const struct window_result *w, int error, const char *message)
{
	(void)error; /* The window has its reason. */
	(void)message;
	if (w && w->id[0])
		history_add(arg, window_result_keep(w));
}

struct window_sink history_sink(struct history *h)
{
	return (struct window_sink){.arg = h, .finished = on_finished, .failed = on_failed};
}
