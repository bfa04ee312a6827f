#include "attach/agent/crowd/dormant.h"

#include <errno.h>
#include <stdlib.h>

#include "common/clock.h"

void dormant_release(struct dormant *d)
{
	free(d->threads);
	*d = (struct dormant){0};
}

static struct dormant_thread *find(struct dormant *d, pid_t tid)
{
	for (size_t i = 0; i < d->count; i++)
		if (d->threads[i].tid == tid)
			return &d->threads[i];
	return NULL;
}

static int grow(struct dormant *d)
{
	size_t capacity = d->capacity ? d->capacity * 2 : 64;
	struct dormant_thread *grown;

	if (d->count < d->capacity)
		return 0;
	if (d->count >= DORMANT_MAX)
		return -ENOSPC;
	grown = realloc(d->threads, capacity * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	d->threads = grown;
	d->capacity = capacity;
	return 0;
}

int dormant_add(struct dormant *d, pid_t tid, bool whole)
{
	uint64_t cpu_ns;
	int r;

	if (!clock_thread_ns(tid, &cpu_ns))
		return -ESRCH;
	r = grow(d);
	if (r < 0)
		return r;
	d->threads[d->count++] =
	    (struct dormant_thread){.tid = tid, .since_ns = whole ? 0 : cpu_ns, .cpu_ns = cpu_ns};
	return 0;
}

void dormant_remove(struct dormant *d, pid_t tid)
{
	struct dormant_thread *t = find(d, tid);

	if (t)
		*t = d->threads[--d->count];
	d->sorted = 0;
}

static uint64_t used_ns(const struct dormant_thread *t)
{
	/* Less than before: another thread has got its tid. */
	return t->cpu_ns > t->since_ns ? t->cpu_ns - t->since_ns : 0;
}

static int compare_used(const void *a, const void *b)
{
	uint64_t x = used_ns(a), y = used_ns(b);

	return (x < y) - (x > y);
}

size_t dormant_scan(struct dormant *d, uint64_t awake_ns)
{
	size_t awake = 0;

	d->sorted = 0;
	for (size_t i = 0; i < d->count;) {
		struct dormant_thread *t = &d->threads[i];
		struct dormant_thread here;

		if (!clock_thread_ns(t->tid, &t->cpu_ns)) {
			*t = d->threads[--d->count];
			continue;
		}
		i++;
		if (used_ns(t) < awake_ns)
			continue;
		here = *t;
		*t = d->threads[awake];
		d->threads[awake++] = here;
	}
	if (awake > 1)
		qsort(d->threads, awake, sizeof(d->threads[0]), compare_used);
	return awake;
}

void dormant_rebase(struct dormant *d)
{
	for (size_t i = 0; i < d->count; i++)
		d->threads[i].since_ns = d->threads[i].cpu_ns;
}

static int compare_tid(const void *a, const void *b)
{
	const struct dormant_thread *x = a, *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

void dormant_sort(struct dormant *d)
{
	if (d->count > 1)
		qsort(d->threads, d->count, sizeof(d->threads[0]), compare_tid);
	d->sorted = d->count;
}

bool dormant_contains(const struct dormant *d, pid_t tid)
{
	const struct dormant_thread wanted = {.tid = tid};

	return d->sorted > 0 &&
	       bsearch(&wanted, d->threads, d->sorted, sizeof(d->threads[0]), compare_tid) != NULL;
}
