/*
 * What is known of frames of compiled code on stacks: which calls each stands for, with what was
 * inlined.
 *
 * A frame is known by what cannot mean anything else while the frame is there: program counter,
 * blob and compilation. Its callers have no part in it.
 *
 * A table of fixed size that only grows while a window runs; lookups and insertions are lock-free
 * and async-signal-safe. Two threads that insert a frame at one moment may insert it twice.
 */
#ifndef JXPERF_AGENT_STACK_FRAME_TABLE_H
#define JXPERF_AGENT_STACK_FRAME_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "attach/agent/stack/call.h"

/* 512 KiB and 256 KiB when full. */
#define FRAME_ENTRIES (1u << 14)
#define FRAME_CALLS   (1u << 15)

/* One frame stands for no more; others are not taken in. */
#define FRAME_CALLS_MAX 255u

struct frame_key {
	uint64_t key; /* pc << 1 | is it the innermost */
	uint64_t tie; /* blob */
	uint32_t id;  /* compilation */
};

struct frame_entry {
	_Atomic uint32_t state;
	uint32_t id;
	uint64_t key;
	uint64_t tie;
	uint32_t first;
	uint16_t count; /* calls, innermost first */
	uint16_t words; /* that the frame takes of the stack */
};

struct frame_table {
	struct frame_entry entries[FRAME_ENTRIES];
	struct call calls[FRAME_CALLS];
	_Atomic uint32_t calls_used;
};

/* The frame's entry, or NULL. */
const struct frame_entry *frame_find(const struct frame_table *table, const struct frame_key *key);

/* Takes in what a frame stands for: calls[0..count), innermost first. False when it does not fit.
 */
bool frame_learn(struct frame_table *table, const struct frame_key *key, uint16_t words,
		 const struct call *calls, unsigned count);

/* An entry's calls, innermost first. */
static inline const struct call *frame_calls(const struct frame_table *table,
					     const struct frame_entry *entry)
{
	return &table->calls[entry->first];
}

#endif
