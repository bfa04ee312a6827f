#include "daemon/engine/history.h"

#include <string.h>

#include "daemon/shares/makes_way.h"
#include "profile/window/tables.h"

void history_release(struct history *h)
{
	for (size_t i = 0; i < h->count; i++)
		window_result_free(h->windows[i]);
	h->count = 0;
}

static size_t is_failed(const struct window_result *w)
{
	return w->state == WINDOW_FAILED;
}

static size_t is_other(const struct window_result *w)
{
	return w->state != WINDOW_FAILED;
}

/* The newest stays. */
static void keep_to(struct history *h, size_t limit, window_weight_fn *weight)
{
	while (window_weight_sum(h->windows, h->count, weight) > limit) {
		size_t newest = h->count - 1;
		size_t i = window_makes_way(h->windows, h->count, 0, newest, weight);

		if (i == newest)
			return;
		window_result_free(h->windows[i]);
		memmove(h->windows + i, h->windows + i + 1,
			(newest - i) * sizeof(struct window_result *));
		h->count--;
	}
}

void history_add(struct history *h, struct window_result *w)
{
	h->windows[h->count++] = w;
	keep_to(h, HISTORY_FAILED_MAX, is_failed);
	keep_to(h, HISTORY_WINDOWS_MAX, is_other);
	keep_to(h, HISTORY_BYTES_MAX, window_result_memory_bytes);
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
