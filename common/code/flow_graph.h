/*
 * The flow graph of a compiled method, from its machine code alone, and its loops: HotSpot keeps no
 * record of either.
 *
 * Natural loops, found by dominators (Cooper, Harvey, Kennedy 2001; nesting as Havlak 1997). The
 * copies that C2 makes of a loop (before, main, after; vector and scalar) are loops of their own
 * here. Code that only an exception or a jump through memory leads to hangs on every such jump of
 * the method.
 *
 * Made in memory of the caller's, bounded, about 12 ns a byte, whatever the bytes are: they may be
 * nobody's code. Pure functions; async-signal-safe.
 */
#ifndef JXPERF_COMMON_CODE_FLOW_GRAPH_H
#define JXPERF_COMMON_CODE_FLOW_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

/* Methods that are larger are not looked at. */
#define FLOW_BYTES_MAX  (256u * 1024u)
#define FLOW_BLOCKS_MAX 6000u
#define FLOW_EDGES_MAX  (3u * FLOW_BLOCKS_MAX)
#define FLOW_LOOPS_MAX  1000u

#define FLOW_ROOT     0u /* the block that everything begins at, in no code */
#define FLOW_NO_BLOCK UINT16_MAX

/* No loop. Loops are numbered from 1, inner ones before those around them. */
#define FLOW_NO_LOOP 0u

/* Borrowed while a graph is made. */
struct flow_code {
	const uint8_t *bytes;
	uint32_t size;
	uint64_t start; /* address of the first byte, where it runs */
	/* Does a call of callee not come back? trap_request: the call's block makes one in esi
	 * (flow_is_trap_request). */
	bool (*call_ends)(const void *arg, uint64_t callee, bool trap_request);
	const void *arg;
};

/* The last instruction of a block that does not simply go on. */
struct flow_transfer {
	uint32_t end; /* offset behind it */
	uint32_t target;
	uint8_t ending;
};

/* Others read its fields up to the line. Block 0 is FLOW_ROOT, block i + 1 the i-th of the
 * code. */
struct flow_graph {
	unsigned block_count, loop_count, ordered;
	uint32_t starts[FLOW_BLOCKS_MAX + 1];     /* offset of each, and the size at last */
	uint16_t next[FLOW_BLOCKS_MAX][2];        /* where its own jumps lead, or FLOW_NO_BLOCK */
	uint16_t first_edge[FLOW_BLOCKS_MAX + 2]; /* of the edges that lead to a block */
	uint16_t edges[FLOW_EDGES_MAX];           /* where they come from */
	uint16_t order[FLOW_BLOCKS_MAX];          /* [ordered, block_count): in reverse postorder */
	uint16_t rank[FLOW_BLOCKS_MAX]; /* of a block in it; FLOW_NO_BLOCK: never come to */
	uint16_t dominator[FLOW_BLOCKS_MAX];
	uint16_t loop[FLOW_BLOCKS_MAX];   /* innermost */
	uint16_t headers[FLOW_LOOPS_MAX]; /* block, by loop */
	uint16_t parents[FLOW_LOOPS_MAX]; /* the loop around, by loop */
	bool entered[FLOW_BLOCKS_MAX];    /* from the method's entry, exceptions aside */
	/* ------------------------------------------------------------ */
	uint64_t leads[FLOW_BYTES_MAX / 64]; /* bit per byte of code: a block starts there */
	struct flow_transfer transfers[FLOW_BLOCKS_MAX];
	uint16_t hung_first[FLOW_BLOCKS_MAX]; /* besides, of those that nothing else leads to */
	uint16_t hung_next[FLOW_BLOCKS_MAX];
	uint16_t on[FLOW_BLOCKS_MAX]; /* what a block hangs on if it does */
	uint32_t cursor[FLOW_BLOCKS_MAX];
	uint16_t work[FLOW_EDGES_MAX];
	uint16_t stack[FLOW_BLOCKS_MAX];
	bool indirect[FLOW_BLOCKS_MAX];
	bool reached[FLOW_BLOCKS_MAX];
	unsigned transfer_count;
	unsigned steps; /* left for what is not linear */
};

/* The graph and its loops. False when the method is too large, or takes too long. */
bool flow_graph_make(struct flow_graph *g, const struct flow_code *code);

/* Visits the blocks that b leads to, in turn: *cursor begins at 0. FLOW_NO_BLOCK when there are no
 * more. */
uint16_t flow_successor(const struct flow_graph *g, uint16_t b, uint32_t *cursor);

/* The block that an offset lies in. */
uint16_t flow_block_at(const struct flow_graph *g, uint32_t offset);

/* Does every way to b, exceptions aside, lead through a? Both are come to (rank). */
bool flow_dominates(const struct flow_graph *g, uint16_t a, uint16_t b);

/* C2 passes the uncommon trap stub a request, always negative, in esi (SharedRuntime;
 * Deoptimization::make_trap_request). So it does the first argument of a method. */
bool flow_is_trap_request(const uint8_t *bytes, unsigned length);

#endif
