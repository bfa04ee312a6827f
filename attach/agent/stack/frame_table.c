#include "attach/agent/stack/frame_table.h"

#include <string.h>

#include "common/mix.h"

/* A probe sequence longer than this means that the table is as good as full. */
#define MAX_PROBES 32u

enum entry_state { ENTRY_EMPTY, ENTRY_BUSY, ENTRY_COMPLETE };

/* Probe i of a key. An interpreted method has many places, which the tie tells. */
static uint32_t slot_of(const struct frame_key *key, uint32_t i)
{
	return (uint32_t)(mix(key->key ^ mix(key->tie)) + i) & (FRAME_ENTRIES - 1);
}

static uint32_t state_of(const struct frame_entry *e)
{
	return atomic_load_explicit(&e->state, memory_order_acquire);
}

/* The next entry of the key, of whatever compilation or epoch, from the one after (NULL: from the
 * first) on; NULL when there is no more. */
static const struct frame_entry *next_of(const struct frame_table *table,
					 const struct frame_key *key,
					 const struct frame_entry *after)
{
	uint32_t first = slot_of(key, 0);
	uint32_t i = after ? ((uint32_t)(after - table->entries) - first + 1) % FRAME_ENTRIES : 0;

	for (; i < MAX_PROBES; i++) {
		const struct frame_entry *e = &table->entries[slot_of(key, i)];
		uint32_t state = state_of(e);

		if (state == ENTRY_EMPTY)
			return NULL;
		if (state == ENTRY_COMPLETE && e->key == key->key && e->tie == key->tie)
			return e;
	}
	return NULL;
}

const struct frame_entry *frame_find(const struct frame_table *table, const struct frame_key *key)
{
	const struct frame_entry *e = NULL;

	while ((e = next_of(table, key, e)))
		if (atomic_load_explicit(&e->id, memory_order_acquire) == key->id)
			return e;
	return NULL;
}

struct agct_frame frame_call(const struct frame_table *table, const struct frame_entry *entry,
			     unsigned i)
{
	const struct frame_call *call = &table->calls[entry->first + i];
	struct agct_frame frame = {.bci = call->bci};

	memcpy(&frame.method, call->method, sizeof(frame.method));
	return frame;
}

static bool stands_for(const struct frame_table *table, const struct frame_entry *e,
		       const struct agct_frame *calls, unsigned count)
{
	if (e->count != count)
		return false;
	for (unsigned i = 0; i < count; i++) {
		struct agct_frame call = frame_call(table, e, i);

		if (call.method != calls[i].method || call.bci != calls[i].bci)
			return false;
	}
	return true;
}

/* An interpreted frame that was known in another epoch, and is what it was. */
static bool renew(struct frame_table *table, const struct frame_key *key,
		  const struct agct_frame *calls, unsigned count)
{
	const struct frame_entry *e = NULL;

	while ((e = next_of(table, key, e))) {
		struct frame_entry *own = &table->entries[e - table->entries];

		if (e->words == 0 && stands_for(table, e, calls, count)) {
			atomic_store_explicit(&own->id, key->id, memory_order_release);
			return true;
		}
	}
	return false;
}

/* An empty entry for the key, now the caller's to fill in; NULL when there is no room. */
static struct frame_entry *claim(struct frame_table *table, const struct frame_key *key)
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
		 const struct agct_frame *calls, unsigned count)
{
	struct frame_entry *e;
	uint32_t first;

	if (count == 0 || count > FRAME_CALLS_MAX)
		return false;
	if (words == 0 && renew(table, key, calls, count))
		return true;
	first = take_calls(table, count);
	e = first < FRAME_CALLS ? claim(table, key) : NULL;
	if (!e)
		return false;
	for (unsigned i = 0; i < count; i++) {
		struct frame_call *call = &table->calls[first + i];

		memcpy(call->method, &calls[i].method, sizeof(call->method));
		call->bci = calls[i].bci;
	}
	e->key = key->key;
	e->tie = key->tie;
	e->first = first;
	e->count = (uint16_t)count;
	e->words = words;
	atomic_store_explicit(&e->id, key->id, memory_order_relaxed);
	atomic_store_explicit(&e->state, ENTRY_COMPLETE, memory_order_release);
	return true;
}
