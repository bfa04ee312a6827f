/*
 * The objects of one JVM that are tracked now: by the agent's number, and by address through the
 * interval splay tree.
 *
 * An object is placed (it has an interval), waiting (its address was not known in a settled epoch;
 * the next pass tells it, or confirms the one it had), or lost (a newer interval overlaps where it
 * was said to be; a later pass may place it again). Slots of dead objects are used again. At most
 * limit objects; what the agent says may be contradictory, and is then refused, never believed.
 *
 * One thread.
 */
#ifndef JXPERF_PROFILE_INTAKE_OBJECT_TABLE_H
#define JXPERF_PROFILE_INTAKE_OBJECT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/container/interval_tree.h"
#include "profile/intake/object_order.h"

struct tracked_object {
	uint64_t address; /* last known, 0: none */
	uint64_t size_bytes;
	double weight;     /* how many objects it stands for */
	double metric;     /* of its own sampled accesses, not weighted */
	uint32_t id;       /* the agent's; 0: the slot is free */
	uint32_t site;     /* of the window's object profile */
	uint32_t interval; /* node of the tree, INTERVAL_NONE unless placed */
	uint32_t next_free;
	uint32_t judgement;   /* of the window's object profile when it was allocated */
	uint32_t allocator;   /* the thread that allocated it, */
	uint32_t accessed_by; /* and the one of its last sampled access; before that the same */
	uint8_t alloc_node;   /* NUMA node of the allocating thread, or NUMA_NONE */
};

/* With the id, so that a search reads no object but the one it finds. */
struct object_slot {
	uint32_t id;     /* 0: free */
	uint32_t object; /* position in objects */
};

struct object_table {
	struct interval_tree tree;
	struct tracked_object *objects;
	size_t used; /* slots ever used */
	size_t capacity;
	uint32_t free; /* slot + 1 */
	size_t count;
	size_t limit;
	struct object_slot *slots; /* open addressing by the hash of id */
	size_t slot_capacity;
	uint32_t *waiting; /* ids; some may be dead or placed by now */
	size_t waiting_count;
	size_t waiting_capacity;
	struct interval_move *moves; /* of the pass that is being applied */
	size_t move_capacity;
	uint32_t *dead;
	size_t dead_capacity;
	uint64_t evicted; /* objects whose interval a newer one overlapped */
};

/* Called for every object that dies, before it is forgotten. */
typedef void object_died(void *context, const struct tracked_object *object);

void object_table_init(struct object_table *t, size_t limit);
void object_table_release(struct object_table *t);

/* Adds an object whose numbers are in range; placed at its address at once, or waiting. 0; -EEXIST
 * when the id is known; -ENOSPC when the table is full; -EINVAL when it cannot lie there; -ENOMEM.
 */
int object_table_add(struct object_table *t, const struct tracked_object *object, bool place);

/* Applies one pass. *unknown grows by positions of objects that are not here. 0 or -ENOMEM. */
int object_table_pass(struct object_table *t, const struct object_pass *pass, object_died *died,
		      void *context, uint64_t *unknown);

/* The object that has the byte at address, or NULL. Valid until the next call that changes the
 * table; its metric may be changed. */
struct tracked_object *object_table_find(struct object_table *t, uint64_t address);

size_t object_table_memory_bytes(const struct object_table *t);

#endif
