#include "attach/agent/objects/fixed_objects.h"

#include <stdatomic.h>
#include <stddef.h>

enum phase {
	FREE,
	FILLING, /* taken by a callback that keeps the object alive */
	ALIVE,
	DEAD,
};

/* A state is a phase and, above it, how often the entry was taken: a pause that comes between any
 * two instructions of the others never takes one object for the next. */
#define PHASE_BITS 2u
#define PHASE_MASK ((1u << PHASE_BITS) - 1)

struct fixed_object {
	_Atomic uint32_t state;
	_Atomic uint64_t address; /* this and the tag are valid while ALIVE */
	_Atomic(g1_region_tag *) tag;
};

_Static_assert(sizeof(struct fixed_object) == FIXED_OBJECT_BYTES,
	       "what attach/agent/window/modules.c counts");

/* Global because callbacks, and the thread that makes a pause, get nothing of ours. */
static struct fixed_object table[FIXED_OBJECTS_MAX];
static _Atomic uint32_t used;   /* entries that are not free */
static _Atomic uint32_t cursor; /* where a free one is looked for first */

static enum phase phase_of(uint32_t state)
{
	return state & PHASE_MASK;
}

static uint32_t with_phase(uint32_t state, enum phase phase)
{
	return (state & ~PHASE_MASK) | phase;
}

void fixed_objects_clear(void)
{
	for (unsigned i = 0; i < FIXED_OBJECTS_MAX; i++)
		atomic_store(&table[i].state, FREE);
	atomic_store(&used, 0);
}

static bool claim(struct fixed_object *o)
{
	uint32_t state = atomic_load_explicit(&o->state, memory_order_relaxed);

	return phase_of(state) == FREE &&
	       atomic_compare_exchange_strong(&o->state, &state,
					      with_phase(state + (1u << PHASE_BITS), FILLING));
}

static struct fixed_object *claim_any(void)
{
	uint32_t first = atomic_load_explicit(&cursor, memory_order_relaxed);

	for (uint32_t i = 0; i < FIXED_OBJECTS_MAX; i++) {
		struct fixed_object *o = &table[(first + i) % FIXED_OBJECTS_MAX];

		if (!claim(o))
			continue;
		atomic_store_explicit(&cursor, first + i + 1, memory_order_relaxed);
		return o;
	}
	return NULL;
}

static void set_phase(struct fixed_object *o, enum phase phase)
{
	uint32_t state = atomic_load_explicit(&o->state, memory_order_relaxed);

	/* Fails when a pause found it dead meanwhile, and is then done all the same. */
	while (!atomic_compare_exchange_weak(&o->state, &state, with_phase(state, phase)))
		;
}

void *fixed_object_add(uint64_t address, g1_region_tag *tag)
{
	struct fixed_object *o = NULL;

	if (atomic_fetch_add(&used, 1) < FIXED_OBJECTS_MAX)
		o = claim_any();
	if (!o) {
		atomic_fetch_sub(&used, 1);
		return NULL;
	}
	atomic_store_explicit(&o->address, address, memory_order_relaxed);
	atomic_store_explicit(&o->tag, tag, memory_order_relaxed);
	set_phase(o, ALIVE);
	return o;
}

bool fixed_object_is(const void *ref)
{
	return (uintptr_t)ref >= (uintptr_t)table &&
	       (uintptr_t)ref < (uintptr_t)(table + FIXED_OBJECTS_MAX);
}

uint64_t fixed_object_address(const void *ref)
{
	const struct fixed_object *o = ref;

	return phase_of(atomic_load_explicit(&o->state, memory_order_acquire)) == ALIVE
		   ? atomic_load_explicit(&o->address, memory_order_relaxed)
		   : 0;
}

void fixed_object_release(void *ref)
{
	set_phase(ref, FREE);
	atomic_fetch_sub(&used, 1);
}

static void look_at(struct fixed_object *o, uint32_t state)
{
	g1_region_tag *tag = atomic_load_explicit(&o->tag, memory_order_relaxed);

	/* The exchange fails when the tag is not that of the state. */
	if (!g1_tag_is_humongous(tag))
		(void)atomic_compare_exchange_strong(&o->state, &state, with_phase(state, DEAD));
}

void fixed_objects_pause_ends(void)
{
	uint32_t left = atomic_load_explicit(&used, memory_order_acquire);

	for (unsigned i = 0; i < FIXED_OBJECTS_MAX && left > 0; i++) {
		uint32_t state = atomic_load_explicit(&table[i].state, memory_order_acquire);

		if (phase_of(state) == FREE)
			continue;
		left--;
		if (phase_of(state) == ALIVE)
			look_at(&table[i], state);
	}
}
