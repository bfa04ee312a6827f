#include "daemon/schedule/newcomers.h"

#include <string.h>

#include "common/clock.h"

void newcomers_set(struct newcomers *d, bool works)
{
	d->works = works;
	d->behind = false;
	d->count = 0;
}

void newcomers_have_broker(struct newcomers *d)
{
	d->lost = 0;
}

static void forget(struct newcomers *d, pid_t pid)
{
	for (size_t i = 0; i < d->count; i++)
		if (d->pids[i] == pid)
			d->pids[i--] = d->pids[--d->count];
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void add(struct newcomers *d, pid_t pid, uint64_t now_ns)
{
	forget(d, pid);
	if (d->count == BROKER_PIDS_MAX) {
		d->missed++;
		d->behind = true;
		return;
	}
	if (d->count == 0)
		d->due_ns = later(now_ns + NEWCOMERS_WAIT_MS * NS_PER_MS,
				  d->last_ns + NEWCOMERS_PACE_MS * NS_PER_MS);
	d->pids[d->count++] = pid;
}

static void miss(struct newcomers *d, uint64_t count)
{
	d->missed += count;
	d->behind |= count > 0;
}

void newcomers_take(struct newcomers *d, const struct broker_event *event, bool is_known,
		    uint64_t now_ns)
{
	if (event->lost > d->lost)
		miss(d, event->lost - d->lost);
	d->lost = event->lost;
	switch (event->kind) {
	case BROKER_EVENT_STARTED:
		d->started += event->count == 0;
		/* A known one that has just begun to run a program may be none any more. */
		if (event->count == 0 || !is_known)
			add(d, event->pid, now_ns);
		break;
	case BROKER_EVENT_ENDED:
		d->ended++;
		forget(d, event->pid);
		break;
	case BROKER_EVENT_MISSED:
		miss(d, event->count);
		break;
	default:
		break;
	}
}

size_t newcomers_begin_look(struct newcomers *d, pid_t *pids, uint64_t now_ns)
{
	size_t count = d->count;

	memcpy(pids, d->pids, count * sizeof(*pids));
	d->count = 0;
	d->last_ns = now_ns;
	d->looks++;
	return count;
}

uint64_t newcomers_due_ns(const struct newcomers *d)
{
	return d->count > 0 ? d->due_ns : UINT64_MAX;
}

void newcomers_begin_round(struct newcomers *d)
{
	d->behind = false;
	d->rounds++;
}

void newcomers_look_failed(struct newcomers *d)
{
	d->behind = true;
}
