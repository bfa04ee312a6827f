#include "attach/agent/stack/frame_table.h"

#include <string.h>

#include "common/mix.h"

/* A probe sequence longer than this means that the table is as good as full. */
#define MAX_PROBES 32u

enum entry_state { ENTRY_EMPTY, ENTRY_BUSY, ENTRY_COMPLETE };

/* Probe i of a key. The tie is no part of it: of a pc there is one blob at a time, and who looks a
 * pc up does not know it yet. */
static uint32_t slot_of(uint64_t key, uint32_t i)
{
	return (uint32_t)(mix(key) + i) & (FRAME_ENTRIES - 1);
}

static uint32_t state_of(const struct frame_entry *e)
{
	return atomic_load_explicit(&e->state, memory_order_acquire);
}

const struct frame_entry *frame_find(const struct frame_table *table, const struct frame_key *key)
{
	for (uint32_t i = 0; i < MAX_PROBES; i++) {
		const struct frame_entry *e = &table->entries[slot_of(key->key, i)];
		uint32_t state = state_of(e);

		if (state == ENTRY_EMPTY)
			break;
		if (state == ENTRY_COMPLETE && e->key == key->key && e->tie == key->tie &&
		    e->id == key->id)
			return e;
	}
	return NULL;
}

/* An empty entry for the key, now the caller's to fill in; NULL when there is no room. */
static struct frame_entry *claim(struct frame_table *table, uint64_t key)
{
	for (uint32_t i = 0; i < MAX_PROBES; i++) {
		struct frame_entry *e = &table->entries[slot_of(key, i)];
		uint32_t expected = ENTRY_EMPTY;

		if (atomic_compare_exchange_strong_explicit(&e->state, &expected, ENTRY_BUSY,
							    memory_order_acquire,
							    memory_order_acquire))
			return e;
	}
	return NULL;
}

/* Room for so many calls; FRAME_CALLS when there is none. */
static uint32_t take_calls(struct frame_table *table, unsigned count)
{
	uint32_t first = atomic_load_explicit(&table->calls_used, memory_order_relaxed);

	do {
		if (count > FRAME_CALLS - first)
			return FRAME_CALLS;
	} while (!atomic_compare_exchange_weak_explicit(
	    &table->calls_used, &first, first + count, memory_order_relaxed, memory_order_relaxed));
	return first;
}

bool frame_learn(struct frame_table *table, const struct frame_key *key, uint16_t words,
		 const struct call *calls, unsigned count)
{
	struct frame_entry *e;
	uint32_t first;

	if (count == 0 || count > FRAME_CALLS_MAX)
		return false;
	first = take_calls(table, count);
	e = first < FRAME_CALLS ? claim(table, key->key) : NULL;
	if (!e)
		return false;
	memcpy(&table->calls[first], calls, count * sizeof(*calls));
	e->key = key->key;
	e->tie = key->tie;
	e->first = first;
	e->count = (uint16_t)count;
	e->words = words;
	e->id = key->id;
	atomic_store_explicit(&e->state, ENTRY_COMPLETE, memory_order_release);
	return true;
}
