#include "daemon/history.h"

#include <string.h>

void history_release(struct history *h)
{
	for (size_t i = 0; i < h->count; i++)
		window_free(h->windows[i]);
	h->count = 0;
}

static size_t memory_bytes(const struct history *h)
{
	size_t sum = 0;

	for (size_t i = 0; i < h->count; i++)
		sum += sizeof(*h->windows[i]) + profile_memory_bytes(&h->windows[i]->profile) +
		       locality_memory_bytes(&h->windows[i]->locality) +
		       numa_profile_memory_bytes(&h->windows[i]->numa);
	return sum;
}

static void drop_oldest(struct history *h)
{
	window_free(h->windows[0]);
	h->count--;
	memmove(h->windows, h->windows + 1, h->count * sizeof(struct window *));
}

void history_add(struct history *h, struct window *w)
{
	if (h->count == HISTORY_WINDOWS_MAX)
		drop_oldest(h);
	h->windows[h->count++] = w;
	while (h->count > 1 && memory_bytes(h) > HISTORY_BYTES_MAX)
		drop_oldest(h);
}
