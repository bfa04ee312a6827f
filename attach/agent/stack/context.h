/*
 * The calling context tree of the target, built by signal handlers of all its threads.
 *
 * A node is (parent, method, bci); equal contexts get equal ids, so a record carries four bytes for
 * a whole call path. Open addressing in a table of fixed size: insertion is lock-free and never
 * waits. Two threads that insert the same node at the same moment may create it twice; the engine
 * merges such twins, because it identifies nodes by content.
 *
 * Handlers call context_intern; the drain thread reads nodes whose ids it got from a record. A node
 * is immutable once its id is known. The drain thread may call context_clear when no handler runs.
 */
#ifndef JXPERF_AGENT_STACK_CONTEXT_H
#define JXPERF_AGENT_STACK_CONTEXT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "attach/agent/stack/call.h"

/* Nodes of one window: 2^17 x 12 bytes = 1.5 MiB when full, untouched pages cost nothing. */
#define CONTEXT_NODES (1u << 17)

/* A probe sequence longer than this means that the table is as good as full. */
#define CONTEXT_MAX_PROBES 64u

struct context_node {
	_Atomic uint32_t state; /* enum context_state | parent's id (0: root) << 2 */
	int32_t bci;
	uint32_t method; /* call.h */
};

enum context_state { CONTEXT_EMPTY, CONTEXT_BUSY, CONTEXT_COMPLETE };
#define CONTEXT_STATE_BITS 2u

struct context_table {
	struct context_node nodes[CONTEXT_NODES];
	uint32_t sent[CONTEXT_NODES / 32]; /* the drain thread's marks */
};

/* So many of a context's root frames are remembered. */
#define CONTEXT_PATH_MAX 256u

/* The context that a thread had last, from its root: the next one mostly begins with the same
 * frames, whose nodes need not be looked up in a table that is cold by then. All zero is none. Of
 * one table, and of one thread, whose handlers do not interrupt one another while they use it. */
struct context_path {
	uint32_t count;
	struct {
		struct call call;
		uint32_t node;
	} frames[CONTEXT_PATH_MAX];
};

/* The id of the context of these calls, innermost first; 0 when the table is full. path may be
 * NULL. */
uint32_t context_intern_all(struct context_table *table, struct context_path *path,
			    const struct call *calls, unsigned count);

/* The id of the child of parent (0: root) for this call; 0 when the table is full. */
uint32_t context_intern(struct context_table *table, uint32_t parent, struct call call);

/* The node of an id that context_intern returned. */
static inline struct context_node *context_node(struct context_table *table, uint32_t id)
{
	return &table->nodes[id - 1];
}

/* The parent's id of a complete node, 0 for a root. */
static inline uint32_t context_parent(const struct context_node *node)
{
	return atomic_load_explicit(&node->state, memory_order_relaxed) >> CONTEXT_STATE_BITS;
}

/* Drain thread: was context_set_sent called for the id since the last clear? */
static inline bool context_is_sent(const struct context_table *table, uint32_t id)
{
	return table->sent[(id - 1) / 32] >> (id - 1) % 32 & 1;
}

static inline void context_set_sent(struct context_table *table, uint32_t id)
{
	table->sent[(id - 1) / 32] |= UINT32_C(1) << (id - 1) % 32;
}

#endif
