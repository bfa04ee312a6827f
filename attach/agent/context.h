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
#ifndef JXPERF_AGENT_CONTEXT_H
#define JXPERF_AGENT_CONTEXT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Nodes of one window: 2^17 x 24 bytes = 3 MiB when full, untouched pages cost nothing. */
#define CONTEXT_NODES (1u << 17)

/* A probe sequence longer than this means that the table is as good as full. */
#define CONTEXT_MAX_PROBES 64u

struct context_node {
	_Atomic uint32_t state; /* 0 empty, 1 being written, 2 complete */
	uint32_t parent;        /* id, 0 for a root */
	uint64_t method;        /* jmethodID as a number; 0 when the JVM gave none */
	int32_t bci;
	bool sent; /* drain thread's mark */
};

struct context_table {
	struct context_node nodes[CONTEXT_NODES];
};

/* The id of the child of parent (0: root) with this method and bci; 0 when the table is full. */
uint32_t context_intern(struct context_table *table, uint32_t parent, uint64_t method, int32_t bci);

/* The node of an id that context_intern returned. */
static inline struct context_node *context_node(struct context_table *table, uint32_t id)
{
	return &table->nodes[id - 1];
}

#endif
