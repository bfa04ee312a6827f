#include "profile/intake/object_table.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "common/array.h"
#include "profile/container/hash.h"

#define FIRST_SLOTS 64

/* The tree evicts what a newer interval overlaps: the object is lost until a pass finds it again.
 */
static void on_evicted(void *context, uint32_t object)
{
	struct object_table *t = context;

	t->objects[object].interval = INTERVAL_NONE;
	t->evicted++;
}

void object_table_init(struct object_table *t, size_t limit)
{
	*t = (struct object_table){.limit = limit};
	interval_tree_init(&t->tree, (uint32_t)limit, on_evicted, t);
}

void object_table_release(struct object_table *t)
{
	interval_tree_release(&t->tree);
	free(t->objects);
	free(t->slots);
	free(t->waiting);
	free(t->moves);
	free(t->dead);
	object_table_init(t, t->limit);
}

/* ---------------------------------------------------------------- by number */

static size_t home(const struct object_table *t, uint32_t id)
{
	return hash_ids(&id, 1) & (t->slot_capacity - 1);
}

/* Where id is, or the free place where it would be. slot_capacity must not be 0. */
static size_t probe(const struct object_table *t, uint32_t id)
{
	size_t at = home(t, id);

	while (t->slots[at].id && t->slots[at].id != id)
		at = (at + 1) & (t->slot_capacity - 1);
	return at;
}

static struct tracked_object *find_id(const struct object_table *t, uint32_t id)
{
	size_t at;

	if (t->slot_capacity == 0 || id == 0)
		return NULL;
	at = probe(t, id);
	return t->slots[at].id ? &t->objects[t->slots[at].object] : NULL;
}

/* Keeps at least half of the places free. */
static int reserve_slots(struct object_table *t)
{
	size_t capacity = t->slot_capacity ? 2 * t->slot_capacity : FIRST_SLOTS;
	struct object_slot *slots;

	if ((t->count + 1) * 2 <= t->slot_capacity)
		return 0;
	slots = calloc(capacity, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(t->slots);
	t->slots = slots;
	t->slot_capacity = capacity;
	assert(t->objects || t->used == 0);
	for (uint32_t i = 0; i < t->used; i++)
		if (t->objects[i].id)
			t->slots[probe(t, t->objects[i].id)] =
			    (struct object_slot){.id = t->objects[i].id, .object = i};
	return 0;
}

/* Closes the gap, so that no search ends before its object (Knuth, volume 3, 6.4, algorithm R). */
static void remove_id(struct object_table *t, uint32_t id)
{
	size_t mask = t->slot_capacity - 1, gap = probe(t, id);

	for (size_t at = (gap + 1) & mask; t->slots[at].id; at = (at + 1) & mask) {
		size_t wanted = home(t, t->slots[at].id);

		if (((at - wanted) & mask) < ((at - gap) & mask))
			continue;
		t->slots[gap] = t->slots[at];
		gap = at;
	}
	t->slots[gap].id = 0;
}

/* ---------------------------------------------------------------- objects */

static int take_slot(struct object_table *t, uint32_t *slot)
{
	int r;

	if (t->free) {
		assert(t->objects);
		*slot = t->free - 1;
		t->free = t->objects[*slot].next_free;
		return 0;
	}
	r = array_reserve(&t->objects, &t->capacity, t->used + 1, sizeof(*t->objects));
	if (r < 0)
		return r;
	*slot = (uint32_t)t->used++;
	t->objects[*slot].id = 0;
	return 0;
}

static void free_slot(struct object_table *t, uint32_t slot)
{
	t->objects[slot].id = 0;
	t->objects[slot].next_free = t->free;
	t->free = slot + 1;
}

static int add_waiting(struct object_table *t, uint32_t id)
{
	int r = array_reserve(&t->waiting, &t->waiting_capacity, t->waiting_count + 1,
			      sizeof(*t->waiting));

	if (r == 0)
		t->waiting[t->waiting_count++] = id;
	return r;
}

int object_table_add(struct object_table *t, const struct tracked_object *object, bool place)
{
	uint32_t slot, interval = INTERVAL_NONE;
	int r;

	if (find_id(t, object->id))
		return -EEXIST;
	if (t->count >= t->limit)
		return -ENOSPC;
	if (object->address > UINT64_MAX - (object->size_bytes - 1))
		return -EINVAL;
	if ((r = reserve_slots(t)) < 0 || (r = take_slot(t, &slot)) < 0)
		return r;
	if (place && object->address)
		r = interval_tree_insert(&t->tree, object->address, object->size_bytes, slot,
					 &interval);
	else
		r = add_waiting(t, object->id);
	if (r < 0) {
		free_slot(t, slot);
		return r;
	}
	t->objects[slot] = *object;
	t->objects[slot].interval = interval;
	t->slots[probe(t, object->id)] = (struct object_slot){.id = object->id, .object = slot};
	t->count++;
	return 0;
}

static void forget(struct object_table *t, struct tracked_object *object)
{
	remove_id(t, object->id);
	free_slot(t, (uint32_t)(object - t->objects));
	t->count--;
}

struct tracked_object *object_table_find(struct object_table *t, uint64_t address)
{
	const struct interval_node *node = interval_tree_stab(&t->tree, address);

	return node ? &t->objects[node->object] : NULL;
}

/* ---------------------------------------------------------------- passes */

/* The dead leave; the intervals of those that were placed are noted for the tree. */
static size_t bury(struct object_table *t, const struct object_pass *pass, object_died *died,
		   void *context, uint64_t *unknown)
{
	size_t count = 0;

	for (size_t i = 0; i < pass->dead_count; i++) {
		struct tracked_object *object = find_id(t, pass->dead[i]);

		if (!object) {
			(*unknown)++;
			continue;
		}
		if (object->interval != INTERVAL_NONE)
			t->dead[count++] = object->interval;
		died(context, object);
		forget(t, object);
	}
	return count;
}

/* Notes the new address; the tree moves what is placed, all at once. */
static size_t note_moves(struct object_table *t, const struct object_pass *pass, uint64_t *unknown)
{
	size_t count = 0;

	for (size_t i = 0; i < pass->move_count; i++) {
		struct tracked_object *object = find_id(t, pass->moves[i].object);

		if (!object) {
			(*unknown)++;
			continue;
		}
		object->address = pass->moves[i].address;
		if (object->interval != INTERVAL_NONE)
			t->moves[count++] = (struct interval_move){.start = object->address,
								   .node = object->interval};
	}
	return count;
}

/* Places what has an address now and no interval. A place where it cannot be leaves it lost. */
static int place(struct object_table *t, uint32_t id)
{
	struct tracked_object *object = find_id(t, id);
	int r;

	if (!object || object->interval != INTERVAL_NONE || object->address == 0)
		return 0;
	r = interval_tree_insert(&t->tree, object->address, object->size_bytes,
				 (uint32_t)(object - t->objects), &object->interval);
	return r == -ENOMEM ? r : 0;
}

int object_table_pass(struct object_table *t, const struct object_pass *pass, object_died *died,
		      void *context, uint64_t *unknown)
{
	size_t dead, moved;
	int r;

	if ((r = array_reserve(&t->dead, &t->dead_capacity, pass->dead_count, sizeof(*t->dead))) <
		0 ||
	    (r = array_reserve(&t->moves, &t->move_capacity, pass->move_count, sizeof(*t->moves))) <
		0)
		return r;
	dead = bury(t, pass, died, context, unknown);
	moved = note_moves(t, pass, unknown);
	interval_tree_relocate(&t->tree, t->moves, (uint32_t)moved, t->dead, (uint32_t)dead);
	for (size_t i = 0; r == 0 && i < pass->move_count; i++)
		r = place(t, pass->moves[i].object);
	for (size_t i = 0; r == 0 && i < t->waiting_count; i++)
		r = place(t, t->waiting[i]);
	t->waiting_count = 0;
	return r;
}

size_t object_table_memory_bytes(const struct object_table *t)
{
	return interval_tree_memory_bytes(&t->tree) + t->capacity * sizeof(*t->objects) +
	       t->slot_capacity * sizeof(*t->slots) + t->waiting_capacity * sizeof(*t->waiting) +
	       t->move_capacity * sizeof(*t->moves) + t->dead_capacity * sizeof(*t->dead);
}
