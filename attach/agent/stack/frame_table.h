/*
 * What is known of frames on stacks: which calls a frame of compiled code stands for, with what was
 * inlined, or an interpreted one.
 *
 * A frame is known by what cannot mean anything else while the frame is there: a compiled one by
 * program counter, blob and compilation, an interpreted one by Method, bytecode pointer and, where
 * the method's id does not say whose it is, the epoch (handlers.h). Its callers have no part in it.
 *
 * A table of fixed size that only grows while a window runs; lookups and insertions are lock-free
 * and async-signal-safe. Two threads that insert a frame at one moment may insert it twice.
 */
#ifndef JXPERF_AGENT_STACK_FRAME_TABLE_H
#define JXPERF_AGENT_STACK_FRAME_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "attach/agent/stack/call_trace.h"

/* 512 KiB and 384 KiB when full. */
#define FRAME_ENTRIES (1u << 14)
#define FRAME_CALLS   (1u << 15)

/* Of one frame; more are not taken in. */
#define FRAME_CALLS_MAX 255u

struct frame_key {
	uint64_t key; /* compiled: pc << 1 | is it the innermost; interpreted: Method */
	uint64_t tie; /* blob; bytecode pointer */
	uint32_t id;  /* compilation; epoch or 0 */
};

struct frame_entry {
	_Atomic uint32_t state;
	_Atomic uint32_t id;
	uint64_t key;
	uint64_t tie;
	uint32_t first;
	uint16_t count; /* calls, innermost first */
	uint16_t words; /* that the frame takes of the stack; 0: interpreted */
};

/* Unaligned, or it would be a third larger. */
struct frame_call {
	uint32_t method[2];
	int32_t bci;
};

struct frame_table {
	struct frame_entry entries[FRAME_ENTRIES];
	struct frame_call calls[FRAME_CALLS];
	_Atomic uint32_t calls_used;
	_Atomic bool distrusted; /* something in it was wrong: nobody is to look */
};

/* The frame's entry, or NULL. */
const struct frame_entry *frame_find(const struct frame_table *table, const struct frame_key *key);

/* Takes in what a frame stands for: calls[0..count), innermost first. False when it does not fit.
 */
bool frame_learn(struct frame_table *table, const struct frame_key *key, uint16_t words,
		 const struct agct_frame *calls, unsigned count);

/* One of an entry's calls. */
struct agct_frame frame_call(const struct frame_table *table, const struct frame_entry *entry,
			     unsigned i);

#endif
