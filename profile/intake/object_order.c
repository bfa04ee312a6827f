#include "profile/intake/object_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"

void object_order_init(struct object_order *o, size_t limit)
{
	*o = (struct object_order){.limit = limit};
}

void object_order_release(struct object_order *o)
{
	for (size_t i = 0; i <= ORDER_PASSES_MAX; i++) {
		free(o->passes[i].moves);
		free(o->passes[i].dead);
	}
	free(o->events);
	free(o->heap);
	object_order_init(o, o->limit);
}

/* ---------------------------------------------------------------- events */

/* One comparison of 96 bits: which way it goes is a coin's toss, so it must not be branched on. */
static inline bool earlier(const struct order_entry *a, const struct order_entry *b)
{
	return ((unsigned __int128)a->epoch << 64 | a->time_ns) <
	       ((unsigned __int128)b->epoch << 64 | b->time_ns);
}

static void sift_up(struct order_entry *heap, size_t at, struct order_entry entry)
{
	while (at > 0 && earlier(&entry, &heap[(at - 1) / 2])) {
		heap[at] = heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap[at] = entry;
}

/* entry takes the root's place. Bottom-up (Wegener, "Bottom-up heapsort", Theoretical Computer
 * Science 118, 1993): the hole goes down to a leaf, and entry, which was a leaf, up from there,
 * which is rarely far; so it is compared with few, and no branch on the way down is a guess. */
static void sift_down(struct order_entry *heap, size_t count, struct order_entry entry)
{
	size_t at = 0, child;

	while ((child = 2 * at + 1) + 1 < count) {
		child += earlier(&heap[child + 1], &heap[child]);
		heap[at] = heap[child];
		at = child;
	}
	if (child < count) {
		heap[at] = heap[child];
		at = child;
	}
	sift_up(heap, at, entry);
}

int object_order_add(struct object_order *o, const struct object_event *event)
{
	bool announced = event->type == OBJECT_ALLOCATION && event->address == 0;
	struct order_entry entry = {.epoch = event->epoch};
	int r;

	if (o->heap_count == ORDER_EVENTS_MAX)
		return -ENOSPC;
	r = array_reserve(&o->heap, &o->heap_capacity, o->heap_count + 1, sizeof(*o->heap));
	if (r < 0)
		return r;
	if (!o->free) {
		r = array_reserve(&o->events, &o->event_capacity, o->event_count + 1,
				  sizeof(*o->events));
		if (r < 0)
			return r;
		o->events[o->event_count].node = 0;
		o->free = (uint32_t)++o->event_count;
	}
	entry.event = o->free - 1;
	entry.time_ns = 0;
	if (!announced)
		entry.time_ns = event->time_ns ? event->time_ns : 1;
	o->free = o->events[entry.event].node;
	o->events[entry.event] = *event;
	sift_up(o->heap, o->heap_count++, entry);
	return 0;
}

bool object_order_evict(struct object_order *o, struct object_event *event)
{
	uint32_t taken;

	if (o->heap_count == 0)
		return false;
	taken = o->heap[0].event;
	*event = o->events[taken];
	o->events[taken].node = o->free;
	o->free = taken + 1;
	if (--o->heap_count > 0)
		sift_down(o->heap, o->heap_count, o->heap[o->heap_count]);
	return true;
}

void object_order_settled_until(struct object_order *o, uint64_t settled_ns)
{
	if (settled_ns > o->settled_ns)
		o->settled_ns = settled_ns;
}

/* ---------------------------------------------------------------- passes */

/* The newest epoch that was settled, be it applied or waiting. */
static uint32_t last_epoch(const struct object_order *o)
{
	return o->pass_count ? o->passes[o->pass_count - 1].epoch : o->epoch;
}

/* The pass that gathers what is said of an epoch. NULL for one that was settled, or where as many
 * as may wait do. The epoch that is settled already may be said to be so again, for nothing
 * changed. */
static struct object_pass *gathering(struct object_order *o, uint32_t epoch, uint64_t ready_ns)
{
	struct object_pass *pass = &o->passes[o->pass_count];

	if (epoch < last_epoch(o) || o->pass_count == ORDER_PASSES_MAX)
		return NULL;
	pass->epoch = epoch;
	pass->ready_ns = ready_ns;
	return pass;
}

static int add_move(struct object_pass *pass, const struct event_position *p)
{
	int r = array_reserve(&pass->moves, &pass->move_capacity, pass->move_count + 1,
			      sizeof(*pass->moves));

	if (r == 0)
		pass->moves[pass->move_count++] =
		    (struct object_move){.address = p->address, .object = p->object};
	return r;
}

static int add_dead(struct object_pass *pass, const struct event_position *p)
{
	int r = array_reserve(&pass->dead, &pass->dead_capacity, pass->dead_count + 1,
			      sizeof(*pass->dead));

	if (r == 0)
		pass->dead[pass->dead_count++] = p->object;
	return r;
}

int object_order_position(struct object_order *o, const struct event_position *p, uint64_t ready_ns,
			  bool *taken)
{
	struct object_pass *pass = gathering(o, p->epoch, ready_ns);

	*taken = pass && (p->address ? pass->move_count : pass->dead_count) < o->limit;
	if (!*taken)
		return 0;
	return p->address ? add_move(pass, p) : add_dead(pass, p);
}

bool object_order_settle(struct object_order *o, uint32_t epoch, uint64_t ready_ns)
{
	bool taken = gathering(o, epoch, ready_ns) != NULL;

	o->pass_count += taken;
	return taken;
}

/* The oldest pass leaves; its memory serves a later one. */
static void rotate_passes(struct object_order *o)
{
	struct object_pass first = o->passes[0];

	first.move_count = first.dead_count = 0;
	memmove(o->passes, o->passes + 1, ORDER_PASSES_MAX * sizeof(o->passes[0]));
	o->passes[ORDER_PASSES_MAX] = first;
	o->pass_count--;
}

/* ---------------------------------------------------------------- in order */

static bool before_pass(const struct order_entry *entry, const struct object_pass *pass)
{
	return entry->epoch < pass->epoch || (entry->epoch == pass->epoch && entry->time_ns == 0);
}

static enum order_item take_event(struct object_order *o, struct object_event *event)
{
	enum order_item item = o->heap[0].epoch == o->epoch ? ORDER_SETTLED : ORDER_UNSETTLED;

	(void)object_order_evict(o, event); /* There is one. */
	return item;
}

enum order_item object_order_next(struct object_order *o, bool tracking, struct object_event *event,
				  const struct object_pass **pass)
{
	const struct object_pass *next;
	const struct order_entry *top = o->heap_count ? &o->heap[0] : NULL;
	bool due;

	if (o->taken)
		rotate_passes(o);
	o->taken = false;
	next = o->pass_count ? &o->passes[0] : NULL;
	due = next && (next->ready_ns <= o->settled_ns || o->pass_count == ORDER_PASSES_MAX);
	if (due && (!top || !before_pass(top, next))) {
		o->epoch = next->epoch;
		o->taken = true;
		*pass = next;
		return ORDER_PASS;
	}
	if (!top || (!due && top->time_ns > o->settled_ns))
		return ORDER_NOTHING;
	if (!tracking && top->epoch > o->epoch && (!next || top->epoch <= next->epoch))
		o->epoch = top->epoch;
	return due || top->epoch <= o->epoch ? take_event(o, event) : ORDER_NOTHING;
}

size_t object_order_memory_bytes(const struct object_order *o)
{
	size_t bytes = o->event_capacity * sizeof(*o->events) + o->heap_capacity * sizeof(*o->heap);

	for (size_t i = 0; i <= ORDER_PASSES_MAX; i++)
		bytes += o->passes[i].move_capacity * sizeof(*o->passes[i].moves) +
			 o->passes[i].dead_capacity * sizeof(*o->passes[i].dead);
	return bytes;
}
