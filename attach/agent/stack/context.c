#include "attach/agent/stack/context.h"

#include "common/mix.h"

static bool claim(struct context_node *node)
{
	uint32_t expected = CONTEXT_EMPTY;

	return atomic_compare_exchange_strong_explicit(&node->state, &expected, CONTEXT_BUSY,
						       memory_order_acquire, memory_order_acquire);
}

/* Probes of the slots behind the parent's: two cache lines. */
#define NEAR_PROBES 8u

/* A path is looked up node by node, from its root: in memory that is cold each would be waited for,
 * were they all over the table. So a node lies behind its parent where there is room. Deep paths
 * fill long runs of slots by that, so where there is none it is anywhere, by steps of its own. */
static uint32_t slot_of(uint32_t parent, uint64_t hash, uint32_t probe)
{
	uint32_t step = (uint32_t)(hash >> 32) | 1;

	return (probe < NEAR_PROBES ? parent + probe : (uint32_t)hash + probe * step) &
	       (CONTEXT_NODES - 1);
}

uint32_t context_intern(struct context_table *table, uint32_t parent, struct call call)
{
	uint32_t complete = parent << CONTEXT_STATE_BITS | CONTEXT_COMPLETE;
	uint64_t hash = mix(call.method ^ mix(((uint64_t)parent << 32) | (uint32_t)call.bci));

	for (uint32_t probe = 0; probe < CONTEXT_MAX_PROBES; probe++) {
		uint32_t slot = slot_of(parent, hash, probe);
		struct context_node *node = &table->nodes[slot];
		uint32_t state = atomic_load_explicit(&node->state, memory_order_acquire);

		if (state == CONTEXT_EMPTY && claim(node)) {
			node->method = call.method;
			node->bci = call.bci;
			atomic_store_explicit(&node->state, complete, memory_order_release);
			return slot + 1;
		}
		/* A node that somebody is writing right now is passed over, not waited for: its
		 * writer may be preempted. At worst this creates a twin. */
		if (atomic_load_explicit(&node->state, memory_order_acquire) == complete &&
		    node->method == call.method && node->bci == call.bci)
			return slot + 1;
	}
	return 0;
}

/* How many of the calls, from the root, are those of last time. */
static unsigned alike(const struct context_path *path, const struct call *calls, unsigned count)
{
	unsigned most = path->count < count ? path->count : count, n = 0;

	while (n < most && path->frames[n].call.method == calls[count - 1 - n].method &&
	       path->frames[n].call.bci == calls[count - 1 - n].bci)
		n++;
	return n;
}

uint32_t context_intern_all(struct context_table *table, struct context_path *path,
			    const struct call *calls, unsigned count)
{
	unsigned known = path ? alike(path, calls, count) : 0;
	uint32_t node = known ? path->frames[known - 1].node : 0;

	if (path)
		path->count = known;
	for (unsigned i = known; i < count; i++) {
		struct call call = calls[count - 1 - i];

		node = context_intern(table, node, call);
		if (node == 0)
			return 0;
		if (path && i < CONTEXT_PATH_MAX) {
			path->frames[i].call = call;
			path->frames[i].node = node;
			path->count = i + 1;
		}
	}
	return node;
}
