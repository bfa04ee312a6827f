/*
 * A single-producer single-consumer ring of records.
 *
 * Producer: the signal handler of one thread. Consumer: the drain thread. Neither ever waits: a
 * full ring refuses the record and the caller counts it.
 */
#ifndef JXPERF_AGENT_RECORD_RING_H
#define JXPERF_AGENT_RECORD_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "attach/agent/record/record.h"

/* A thread makes at most a few transitions per period of milliseconds; the drain thread comes every
 * tens of milliseconds. A power of two. */
#define RING_RECORDS 256u

struct ring {
	_Atomic uint32_t head; /* records ever written; producer */
	_Atomic uint32_t tail; /* records ever read; consumer */
	struct record records[RING_RECORDS];
};

static inline void ring_init(struct ring *ring)
{
	atomic_store_explicit(&ring->head, 0, memory_order_relaxed);
	atomic_store_explicit(&ring->tail, 0, memory_order_relaxed);
}

/* All of them or, when the ring has no room for so many, false and none; whoever finds the first
 * finds the others behind it. */
static inline bool ring_push_all(struct ring *ring, const struct record *records, uint32_t count)
{
	uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	/* Acquire: the consumer has finished reading a slot before it is written again. */
	uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);

	if (RING_RECORDS - (head - tail) < count)
		return false;
	for (uint32_t i = 0; i < count; i++)
		ring->records[(head + i) % RING_RECORDS] = records[i];
	/* Release: the records, and the context nodes they name, are visible before they are. */
	atomic_store_explicit(&ring->head, head + count, memory_order_release);
	return true;
}

/* False when the ring is full; nothing is stored then. */
static inline bool ring_push(struct ring *ring, const struct record *record)
{
	return ring_push_all(ring, record, 1);
}

/* Records that wait to be read; consumer. */
static inline uint32_t ring_used(const struct ring *ring)
{
	return atomic_load_explicit(&ring->head, memory_order_acquire) -
	       atomic_load_explicit(&ring->tail, memory_order_relaxed);
}

/* False when the ring is empty. */
static inline bool ring_pop(struct ring *ring, struct record *record)
{
	uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

	if (tail == atomic_load_explicit(&ring->head, memory_order_acquire))
		return false;
	*record = ring->records[tail % RING_RECORDS];
	atomic_store_explicit(&ring->tail, tail + 1, memory_order_release);
	return true;
}

#endif
