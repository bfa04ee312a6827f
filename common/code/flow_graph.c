#include "common/code/flow_graph.h"

#include <string.h>

#include "common/code/opcode.h"

/* Along dominators and loops, which is not linear in what the method has. */
#define STEPS_MAX 300000u

enum ending { ENDS_NEXT, ENDS_BRANCH, ENDS_JUMP, ENDS_INDIRECT, ENDS_NOWHERE };

bool flow_is_trap_request(const uint8_t *bytes, unsigned length)
{
	return length == 5 && bytes[0] == 0xbe && bytes[4] & 0x80;
}

/* ---------------------------------------------------------------- blocks */

static void lead(struct flow_graph *g, uint32_t offset)
{
	g->leads[offset / 64] |= UINT64_C(1) << (offset % 64);
}

static bool leads(const struct flow_graph *g, uint32_t offset)
{
	return g->leads[offset / 64] >> (offset % 64) & 1;
}

static enum ending ending_of(const struct flow_code *code, const struct opcode *o, uint32_t at,
			     bool trap_request)
{
	uint64_t ip = code->start + at;

	switch (opcode_flow(o)) {
	case OPCODE_BRANCH:
		return ENDS_BRANCH;
	case OPCODE_JUMP:
		return ENDS_JUMP;
	case OPCODE_INDIRECT_JUMP:
		return ENDS_INDIRECT;
	case OPCODE_RETURN:
	case OPCODE_TRAP:
		return ENDS_NOWHERE;
	case OPCODE_CALL:
		if (code->call_ends(code->arg, opcode_target(o, ip), trap_request))
			return ENDS_NOWHERE;
		break;
	case OPCODE_INDIRECT_CALL:
	case OPCODE_NEXT:
		break;
	}
	return ENDS_NEXT;
}

/* Passes over the code, and notes where blocks start and how they end. */
static bool find_transfers(struct flow_graph *g, const struct flow_code *code)
{
	bool trap_request = false;
	struct opcode o;

	memset(g->leads, 0, (code->size + 63) / 64 * sizeof(g->leads[0]));
	g->transfer_count = 0;
	lead(g, 0);
	for (uint32_t at = 0; at < code->size; at += o.length) {
		struct flow_transfer *t = &g->transfers[g->transfer_count];
		uint64_t target;

		if (!opcode_read(code->bytes + at, code->size - at, &o))
			return true; /* Data at the method's end. */
		trap_request = leads(g, at) ? false : trap_request;
		trap_request |= flow_is_trap_request(code->bytes + at, o.length);
		t->ending = (uint8_t)ending_of(code, &o, at, trap_request);
		if (t->ending == ENDS_NEXT) {
			trap_request &= opcode_flow(&o) == OPCODE_NEXT;
			continue;
		}
		trap_request = false;
		t->end = at + o.length;
		t->target = UINT32_MAX;
		target = opcode_target(&o, code->start + at) - code->start;
		if ((t->ending == ENDS_BRANCH || t->ending == ENDS_JUMP) && target < code->size) {
			t->target = (uint32_t)target;
			lead(g, t->target);
		}
		if (t->end < code->size)
			lead(g, t->end);
		if (++g->transfer_count == FLOW_BLOCKS_MAX)
			return false;
	}
	return true;
}

/* Block 0 is FLOW_ROOT, block i + 1 the i-th of the code. */
static bool find_blocks(struct flow_graph *g, const struct flow_code *code)
{
	g->block_count = 1;
	for (uint32_t word = 0; word * 64 < code->size; word++) {
		for (uint64_t bits = g->leads[word]; bits; bits &= bits - 1) {
			if (g->block_count == FLOW_BLOCKS_MAX)
				return false;
			g->starts[g->block_count++] = word * 64 + (uint32_t)__builtin_ctzll(bits);
		}
	}
	g->starts[g->block_count] = code->size;
	return true;
}

uint16_t flow_block_at(const struct flow_graph *g, uint32_t offset)
{
	uint32_t low = 1, high = g->block_count;

	while (low + 1 < high) {
		uint32_t middle = (low + high) / 2;

		if (g->starts[middle] <= offset)
			low = middle;
		else
			high = middle;
	}
	return (uint16_t)low;
}

static void connect_forward(struct flow_graph *g)
{
	unsigned t = 0;

	for (unsigned b = 1; b < g->block_count; b++) {
		uint16_t *next = g->next[b];
		bool last = b + 1 == g->block_count;

		next[0] = last ? FLOW_NO_BLOCK : (uint16_t)(b + 1);
		next[1] = FLOW_NO_BLOCK;
		g->indirect[b] = false;
		/* A jump into the middle of an instruction, in what is no code, has a transfer that
		 * ends inside a block: it is passed over. */
		while (t < g->transfer_count && g->transfers[t].end < g->starts[b + 1])
			t++;
		if (t == g->transfer_count || g->transfers[t].end != g->starts[b + 1])
			continue;
		if (g->transfers[t].ending != ENDS_BRANCH)
			next[0] = FLOW_NO_BLOCK;
		if (g->transfers[t].target != UINT32_MAX)
			next[1] = flow_block_at(g, g->transfers[t].target);
		g->indirect[b] = g->transfers[t].ending == ENDS_INDIRECT;
		t++;
	}
}

/* What aligns the code behind it, and does not run. */
static bool is_padding(const struct flow_graph *g, const struct flow_code *code, unsigned b)
{
	struct opcode o;

	for (uint32_t at = g->starts[b]; at < g->starts[b + 1]; at += o.length) {
		if (!opcode_read(code->bytes + at, code->size - at, &o))
			return false;
		if (!(o.map == OPCODE_ONE_BYTE && o.code == 0x90) &&
		    !(o.map == OPCODE_0F && o.code == 0x1f))
			return false;
	}
	return true;
}

/* What no jump of the method leads to hangs on FLOW_ROOT; where there are jumps through memory, on
 * the last one before it: compilers lay out what a table leads to behind the jump. */
static void hang_up(struct flow_graph *g, const struct flow_code *code)
{
	uint16_t under = FLOW_ROOT;

	memset(g->reached, 0, g->block_count * sizeof(g->reached[0]));
	for (unsigned b = 1; b < g->block_count; b++)
		for (unsigned i = 0; i < 2; i++)
			if (g->next[b][i] != FLOW_NO_BLOCK)
				g->reached[g->next[b][i]] = true;
	for (unsigned b = 0; b < g->block_count; b++)
		g->hung_first[b] = FLOW_NO_BLOCK;
	for (unsigned b = 1; b < g->block_count; b++) {
		g->on[b] = b == 1 ? (uint16_t)FLOW_ROOT : under;
		if (g->indirect[b])
			under = (uint16_t)b;
	}
	/* The entry becomes the first below FLOW_ROOT: what it leads to is then in an order of its
	 * own, whatever else leads there (find_dominators). */
	for (unsigned b = g->block_count; b-- > 1;) {
		if (b != 1 && (g->reached[b] || is_padding(g, code, b)))
			continue;
		g->hung_next[b] = g->hung_first[g->on[b]];
		g->hung_first[g->on[b]] = (uint16_t)b;
	}
}

/* Visits the blocks that b leads to, in turn: *cursor begins at 0. FLOW_NO_BLOCK when there are no
 * more.
 */
uint16_t flow_successor(const struct flow_graph *g, uint16_t b, uint32_t *cursor)
{
	while (*cursor < 2) {
		uint16_t next = b == FLOW_ROOT ? FLOW_NO_BLOCK : g->next[b][*cursor];

		++*cursor;
		if (next != FLOW_NO_BLOCK)
			return next;
	}
	/* From here on the cursor is 3 more than the last one given. */
	if (*cursor == 2)
		*cursor = 3u + g->hung_first[b];
	else
		*cursor = 3u + g->hung_next[*cursor - 3];
	return (uint16_t)(*cursor - 3);
}

/* Lists where blocks are come to from. False when there are too many edges. */
static bool connect_backward(struct flow_graph *g)
{
	uint32_t sum = 0;
	uint16_t next;

	memset(g->first_edge, 0, (g->block_count + 2) * sizeof(g->first_edge[0]));
	for (unsigned b = 0; b < g->block_count; b++) {
		uint32_t cursor = 0;

		while ((next = flow_successor(g, (uint16_t)b, &cursor)) != FLOW_NO_BLOCK) {
			g->first_edge[next + 2]++;
			sum++;
		}
	}
	if (sum > FLOW_EDGES_MAX)
		return false;
	for (unsigned i = 2; i < g->block_count + 2; i++)
		g->first_edge[i] = (uint16_t)(g->first_edge[i] + g->first_edge[i - 1]);
	for (unsigned b = 0; b < g->block_count; b++) {
		uint32_t cursor = 0;

		while ((next = flow_successor(g, (uint16_t)b, &cursor)) != FLOW_NO_BLOCK)
			g->edges[g->first_edge[next + 1]++] = (uint16_t)b;
	}
	return true;
}

/* Reverse postorder of what FLOW_ROOT leads to. */
static void put_in_order(struct flow_graph *g)
{
	unsigned depth = 1, left = g->block_count;

	for (unsigned b = 0; b < g->block_count; b++) {
		g->rank[b] = FLOW_NO_BLOCK;
		g->cursor[b] = 0;
	}
	g->stack[0] = FLOW_ROOT;
	g->rank[FLOW_ROOT] = 0; /* Seen; the true rank is set when it is left. */
	while (depth > 0) {
		uint16_t b = g->stack[depth - 1], next = flow_successor(g, b, &g->cursor[b]);

		if (next == FLOW_NO_BLOCK) {
			g->order[--left] = b;
			depth--;
		} else if (g->rank[next] == FLOW_NO_BLOCK) {
			g->rank[next] = 0;
			g->stack[depth++] = next;
		}
	}
	g->ordered = left; /* order[0..left) is unused: blocks that only come from nowhere. */
	for (unsigned i = left; i < g->block_count; i++)
		g->rank[g->order[i]] = (uint16_t)i;
}

static uint16_t common_dominator(struct flow_graph *g, uint16_t a, uint16_t b)
{
	while (a != b && g->steps > 0) {
		for (; g->rank[a] > g->rank[b] && g->steps > 0; g->steps--)
			a = g->dominator[a];
		for (; g->rank[b] > g->rank[a] && g->steps > 0; g->steps--)
			b = g->dominator[b];
	}
	return a;
}

/* An exception's handler may be come to from anywhere. That it goes on in a loop does not make the
 * loop one that is entered in its middle. */
static uint16_t dominator_of(struct flow_graph *g, uint16_t b)
{
	uint16_t found = FLOW_NO_BLOCK;

	for (unsigned e = g->first_edge[b]; e < g->first_edge[b + 1]; e++) {
		uint16_t from = g->edges[e];

		if (g->dominator[from] == FLOW_NO_BLOCK ||
		    (g->entered[b] && b != 1 && !g->entered[from]))
			continue;
		found = found == FLOW_NO_BLOCK ? from : common_dominator(g, from, found);
	}
	return found;
}

static void find_dominators(struct flow_graph *g)
{
	bool changed = true;

	for (unsigned b = 0; b < g->block_count; b++)
		g->dominator[b] = FLOW_NO_BLOCK;
	g->dominator[FLOW_ROOT] = FLOW_ROOT;
	while (changed && g->steps > 0) {
		changed = false;
		for (unsigned i = g->ordered + 1; i < g->block_count; i++) {
			uint16_t b = g->order[i], d = dominator_of(g, b);

			changed |= g->dominator[b] != d;
			g->dominator[b] = d;
		}
	}
}

/* What the method's entry leads to by its own jumps. */
static void find_entered(struct flow_graph *g)
{
	unsigned depth = 1;

	memset(g->entered, 0, g->block_count * sizeof(g->entered[0]));
	g->stack[0] = 1;
	g->entered[1] = true;
	while (depth > 0) {
		uint16_t b = g->stack[--depth], next;
		uint32_t cursor = 0;

		while ((next = flow_successor(g, b, &cursor)) != FLOW_NO_BLOCK) {
			if (g->entered[next])
				continue;
			g->entered[next] = true;
			g->stack[depth++] = next;
		}
	}
}

bool flow_dominates(const struct flow_graph *g, uint16_t a, uint16_t b)
{
	while (g->rank[b] > g->rank[a])
		b = g->dominator[b];
	return a == b;
}

/* ---------------------------------------------------------------- nesting */

/* The outermost loop that block b is in so far. */
static unsigned outermost(struct flow_graph *g, uint16_t b)
{
	unsigned loop = g->loop[b];

	for (; loop != FLOW_NO_LOOP && g->parents[loop] != FLOW_NO_LOOP && g->steps > 0; g->steps--)
		loop = g->parents[loop];
	return loop;
}

/* More than there is room for are more steps than are taken. */
static void push_sources(struct flow_graph *g, uint16_t b, unsigned *depth)
{
	for (unsigned e = g->first_edge[b]; e < g->first_edge[b + 1]; e++) {
		uint16_t from = g->edges[e];

		/* One handler may lead to loops that have nothing to do with each other. */
		if (g->rank[from] == FLOW_NO_BLOCK || (g->entered[b] && !g->entered[from]))
			continue;
		if (*depth == FLOW_EDGES_MAX)
			g->steps = 0;
		else
			g->work[(*depth)++] = from;
	}
}

/* Takes what leads to the header's backward edges into its loop, whole loops with all that is in
 * them. */
static void fill_loop(struct flow_graph *g, unsigned loop, uint16_t header, unsigned depth)
{
	while (depth > 0) {
		uint16_t b = g->work[--depth];
		unsigned inner = outermost(g, b);

		if (b == header || inner == loop || b == FLOW_ROOT)
			continue;
		if (inner == FLOW_NO_LOOP) {
			g->loop[b] = (uint16_t)loop;
			push_sources(g, b, &depth);
		} else {
			g->parents[inner] = (uint16_t)loop;
			push_sources(g, g->headers[inner], &depth);
		}
	}
}

/* Inner loops first: a header comes behind those of the loops around it. */
static bool find_loops(struct flow_graph *g)
{
	memset(g->loop, 0, g->block_count * sizeof(g->loop[0]));
	g->loop_count = 1;
	for (unsigned i = g->block_count; i-- > g->ordered + 1;) {
		uint16_t header = g->order[i];
		unsigned depth = 0, loop = g->loop_count;

		for (unsigned e = g->first_edge[header]; e < g->first_edge[header + 1]; e++) {
			uint16_t from = g->edges[e];

			if (g->rank[from] != FLOW_NO_BLOCK && flow_dominates(g, header, from))
				g->work[depth++] = from;
		}
		if (depth == 0)
			continue;
		if (loop == FLOW_LOOPS_MAX)
			return false;
		g->loop_count++;
		g->headers[loop] = header;
		g->parents[loop] = FLOW_NO_LOOP;
		fill_loop(g, loop, header, depth);
		g->loop[header] = (uint16_t)loop;
	}
	return true;
}

bool flow_graph_make(struct flow_graph *g, const struct flow_code *code)
{
	if (code->size > FLOW_BYTES_MAX || !find_transfers(g, code) || !find_blocks(g, code))
		return false;
	connect_forward(g);
	hang_up(g, code);
	if (!connect_backward(g))
		return false;
	put_in_order(g);
	find_entered(g);
	g->steps = STEPS_MAX;
	find_dominators(g);
	return find_loops(g) && g->steps > 0;
}
