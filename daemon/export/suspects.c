#include "daemon/export/suspects.h"

/* One that was set aside waits for a third of the patience (of 15 minutes, 5), then twice as long
 * each time, up to four times the patience (an hour). */
#define WAIT_FIRST(patience_ms) ((patience_ms) / 3)
#define WAIT_LAST(patience_ms)  (4 * (patience_ms))

static void set_aside(struct suspects *s, unsigned number, uint64_t patience_ms, uint64_t now_ms)
{
	s->windows[s->count++] = (struct suspect){.number = number,
						  .wait_ms = WAIT_FIRST(patience_ms),
						  .due_ms = now_ms + WAIT_FIRST(patience_ms),
						  .taken = s->taken};
	s->searching = false;
	s->tries = 0;
	s->alone = 0;
}

/* Has it failed often enough, for long enough? */
static bool has_tried_enough(const struct suspects *s, uint64_t patience_ms, uint64_t now_ms)
{
	return s->tries >= SUSPECTS_TRIES && now_ms - s->since_ms >= patience_ms;
}

enum suspects_verdict suspects_failed(struct suspects *s, size_t windows, unsigned number,
				      uint64_t patience_ms, uint64_t now_ms)
{
	if (s->tries++ == 0)
		s->since_ms = now_ms;
	if (s->count == SUSPECTS_MAX)
		return SUSPECTS_TRY_AGAIN;
	s->searching |= has_tried_enough(s, patience_ms, now_ms);
	if (!s->searching)
		return SUSPECTS_TRY_AGAIN;
	if (windows > 1) {
		s->alone = 0;
		return SUSPECTS_HALVE;
	}
	if (++s->alone < SUSPECTS_ALONE)
		return SUSPECTS_TRY_AGAIN;
	set_aside(s, number, patience_ms, now_ms);
	return SUSPECTS_SET_ASIDE;
}

uint64_t suspects_wait_max_ms(const struct suspects *s, uint64_t patience_ms)
{
	return s->count < SUSPECTS_MAX ? patience_ms / SUSPECTS_TRIES : UINT64_MAX;
}

void suspects_taken(struct suspects *s, size_t windows, bool more)
{
	s->taken += windows;
	s->tries = 0;
	s->alone = 0;
	s->searching &= more;
}

unsigned suspects_due(const struct suspects *s, uint64_t now_ms)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->windows[i].due_ms <= now_ms)
			return s->windows[i].number;
	return 0;
}

uint64_t suspects_next_ms(const struct suspects *s, uint64_t now_ms)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < s->count; i++) {
		uint64_t due_ms = s->windows[i].due_ms;
		uint64_t left_ms = due_ms > now_ms ? due_ms - now_ms : 0;

		if (left_ms < least)
			least = left_ms;
	}
	return least;
}

static struct suspect *find(struct suspects *s, unsigned number)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->windows[i].number == number)
			return &s->windows[i];
	return NULL;
}

bool suspects_postpone(struct suspects *s, unsigned number, bool counts, uint64_t patience_ms,
		       uint64_t now_ms)
{
	struct suspect *w = find(s, number);

	if (!w)
		return false;
	/* What failed while nothing else was taken says nothing of the window. */
	if (counts && s->taken > w->taken) {
		w->failures++;
		w->taken = s->taken;
	}
	w->wait_ms *= 2;
	if (w->wait_ms > WAIT_LAST(patience_ms))
		w->wait_ms = WAIT_LAST(patience_ms);
	w->due_ms = now_ms + w->wait_ms;
	return w->failures >= SUSPECTS_AGAIN;
}

void suspects_forget(struct suspects *s, unsigned number)
{
	struct suspect *w = find(s, number);

	if (w)
		*w = s->windows[--s->count];
}
