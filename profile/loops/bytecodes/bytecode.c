#include "profile/loops/bytecodes/bytecode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/code/java_op.h"

/* Bytes looked at for the loops of one method: their number is not linear in what it has. */
#define SCANNED_MAX (1u << 22)

/* One node for each byte that an instruction begins at; the others are in none. */
struct graph {
	const uint8_t *code;
	uint32_t size;
	uint8_t *begins;      /* by bci: an instruction does */
	uint32_t *edges;      /* all instructions' targets, one after the other */
	uint32_t *first_edge; /* by bci, and one more */
	uint32_t edge_count, edge_capacity;
	uint8_t *reached; /* from the beginning */
	/* For the search for components. */
	uint32_t *index, *low, *stack, *work, *cursor, *level;
	/* By loop: bytes that it lies in, and where it is come to from outside. */
	struct span {
		uint32_t first, last, entry;
	} spans[BYTECODE_LOOPS_MAX];
	uint32_t scanned; /* bytes, of all passes */
};

static int32_t s8(uint8_t byte)
{
	return byte < 0x80 ? byte : byte - 0x100;
}

static int add_edge(struct graph *g, int64_t target)
{
	if (target < 0 || target >= (int64_t)g->size || !g->begins[target])
		return -EBADMSG;
	if (g->edge_count == g->edge_capacity) {
		uint32_t capacity = g->edge_capacity * 2 + 64;
		uint32_t *edges = realloc(g->edges, capacity * sizeof(edges[0]));

		if (!edges)
			return -ENOMEM;
		g->edges = edges;
		g->edge_capacity = capacity;
	}
	g->edges[g->edge_count++] = (uint32_t)target;
	return 0;
}

/* What a jsr leads to is no part of the loops that it is in. */
static int add_edges(struct graph *g, uint32_t bci, uint32_t length)
{
	uint8_t op = g->code[bci];
	uint32_t count = java_op_is_jsr(op) ? 0 : java_op_targets(g->code, g->size, bci);
	int rc = 0;

	for (uint32_t i = 0; i < count && rc == 0; i++)
		rc = add_edge(g, java_op_target(g->code, bci, i));
	if (rc == 0 && !java_op_ends(op))
		rc = add_edge(g, (int64_t)bci + length);
	return rc;
}

static int connect(struct graph *g)
{
	for (uint32_t bci = 0; bci < g->size;) {
		uint32_t length = java_op_length(g->code, g->size, bci);

		if (length == 0)
			return -EBADMSG;
		g->begins[bci] = 1;
		bci += length;
	}
	for (uint32_t bci = 0; bci < g->size; bci++) {
		int rc;

		g->first_edge[bci] = g->edge_count;
		if (!g->begins[bci])
			continue;
		rc = add_edges(g, bci, java_op_length(g->code, g->size, bci));
		if (rc < 0)
			return rc;
	}
	g->first_edge[g->size] = g->edge_count;
	return 0;
}

static void reach(struct graph *g)
{
	uint32_t depth = 1;

	g->work[0] = 0;
	g->reached[0] = 1;
	while (depth > 0) {
		uint32_t bci = g->work[--depth];

		for (uint32_t e = g->first_edge[bci]; e < g->first_edge[bci + 1]; e++) {
			if (g->reached[g->edges[e]])
				continue;
			g->reached[g->edges[e]] = 1;
			g->work[depth++] = g->edges[e];
		}
	}
}

/* ---------------------------------------------------------------- loops */

/* One pass finds the strongly connected parts of one loop, or of the method, that do not lead
 * through its entry: the loops in it. Nodes of loop l have loop_at l until they are in one deeper.
 */
struct component_search {
	struct graph *g;
	struct bytecode *b;
	uint32_t loop;  /* whose nodes are looked at */
	uint32_t entry; /* which is left out; UINT32_MAX: none */
	uint32_t next_index, depth, on_stack;
};

static bool takes_part(const struct component_search *p, uint32_t bci)
{
	return p->g->begins[bci] && p->g->reached[bci] && p->b->loop_at[bci] == p->loop &&
	       bci != p->entry;
}

static bool leads_to_itself(const struct graph *g, uint32_t bci)
{
	for (uint32_t e = g->first_edge[bci]; e < g->first_edge[bci + 1]; e++)
		if (g->edges[e] == bci)
			return true;
	return false;
}

/* The part is stack[from, on_stack). */
static int take_part(struct component_search *p, uint32_t from)
{
	struct bytecode *b = p->b;

	if (p->on_stack == from + 1 && !leads_to_itself(p->g, p->g->stack[from]))
		return 0;
	if (b->loop_count == BYTECODE_LOOPS_MAX)
		return -E2BIG;
	struct span *span = &p->g->spans[b->loop_count];
	*span = (struct span){.first = UINT32_MAX, .entry = p->g->stack[from]};
	for (uint32_t i = from; i < p->on_stack; i++) {
		uint32_t bci = p->g->stack[i];

		b->loop_at[bci] = (uint32_t)b->loop_count;
		span->first = bci < span->first ? bci : span->first;
		span->last = bci > span->last ? bci : span->last;
	}
	b->loops[b->loop_count++] =
	    (struct bytecode_loop){.parent = p->loop, .header_bci = -1, .latch_bci = -1};
	return 0;
}

static void visit(struct component_search *p, uint32_t bci)
{
	struct graph *g = p->g;

	g->index[bci] = g->low[bci] = p->next_index++;
	g->cursor[bci] = g->first_edge[bci];
	g->stack[p->on_stack++] = bci;
	g->work[p->depth++] = bci;
}

/* Where a part was taken, its nodes are in it, or on no stack. */
static int leave(struct component_search *p, uint32_t bci)
{
	struct graph *g = p->g;
	uint32_t from = p->on_stack;
	int rc;

	if (--p->depth > 0) {
		uint32_t under = g->work[p->depth - 1];

		if (g->low[bci] < g->low[under])
			g->low[under] = g->low[bci];
	}
	if (g->low[bci] != g->index[bci])
		return 0;
	do
		from--;
	while (g->stack[from] != bci);
	rc = take_part(p, from);
	for (uint32_t i = from; i < p->on_stack; i++)
		g->low[g->stack[i]] = UINT32_MAX; /* Done. */
	p->on_stack = from;
	return rc;
}

/* Tarjan 1972, without recursion. */
static int find_parts_from(struct component_search *p, uint32_t start)
{
	struct graph *g = p->g;
	int rc = 0;

	visit(p, start);
	while (p->depth > 0 && rc == 0) {
		uint32_t bci = g->work[p->depth - 1];

		if (g->cursor[bci] == g->first_edge[bci + 1]) {
			rc = leave(p, bci);
			continue;
		}
		uint32_t to = g->edges[g->cursor[bci]++];
		if (g->index[to] == UINT32_MAX && takes_part(p, to))
			visit(p, to);
		else if (g->index[to] != UINT32_MAX && g->low[to] != UINT32_MAX &&
			 g->index[to] < g->low[bci])
			g->low[bci] = g->index[to];
	}
	return rc;
}

/* Begins with what the entry leads to, so that the first of a part that is visited is where it is
 * entered. Members of a pass have no index at first; others look as if they were done. */
static int find_parts(struct graph *g, struct bytecode *b, uint32_t loop)
{
	bool all = loop == BYTECODE_NO_LOOP;
	struct span span = all ? (struct span){.last = g->size - 1} : g->spans[loop];
	struct component_search p = {
	    .g = g, .b = b, .loop = loop, .entry = all ? UINT32_MAX : span.entry};
	int rc = 0;

	g->scanned += span.last - span.first;
	if (g->scanned > SCANNED_MAX)
		return -E2BIG;
	for (uint32_t bci = span.first; bci <= span.last; bci++) {
		g->index[bci] = takes_part(&p, bci) ? UINT32_MAX : 0;
		g->low[bci] = UINT32_MAX;
	}
	if (all)
		return find_parts_from(&p, 0);
	for (uint32_t e = g->first_edge[span.entry]; e < g->first_edge[span.entry + 1] && rc == 0;
	     e++)
		if (takes_part(&p, g->edges[e]) && g->index[g->edges[e]] == UINT32_MAX)
			rc = find_parts_from(&p, g->edges[e]);
	return rc;
}

static bool is_in(const struct bytecode *b, uint32_t bci, uint32_t loop)
{
	uint32_t inner = b->loop_at[bci];

	while (inner != BYTECODE_NO_LOOP && inner > loop)
		inner = b->loops[inner].parent;
	return inner == loop;
}

/* Header and latch, by the jumps back among those that are not of a loop inside. */
static void name_loop(const struct graph *g, struct bytecode *b, uint32_t loop)
{
	struct bytecode_loop *l = &b->loops[loop];

	for (uint32_t bci = g->spans[loop].first; bci <= g->spans[loop].last; bci++) {
		if (!g->begins[bci] || !g->reached[bci] || !is_in(b, bci, loop))
			continue;
		for (uint32_t e = g->first_edge[bci]; e < g->first_edge[bci + 1]; e++) {
			uint32_t to = g->edges[e];

			if (to > bci || !is_in(b, to, loop))
				continue;
			if (l->header_bci < 0 || (int32_t)to <= l->header_bci) {
				l->header_bci = (int32_t)to;
				l->latch_bci = (int32_t)bci;
			}
		}
	}
}

static int find_loops(struct graph *g, struct bytecode *b)
{
	int rc = find_parts(g, b, BYTECODE_NO_LOOP);

	for (uint32_t loop = 0; loop < b->loop_count && rc == 0; loop++) {
		unsigned depth = 0;

		for (uint32_t l = loop; l != BYTECODE_NO_LOOP; l = b->loops[l].parent)
			if (++depth > BYTECODE_DEPTH_MAX)
				return -E2BIG;
		name_loop(g, b, loop);
		rc = find_parts(g, b, loop);
	}
	return rc;
}

/* An instruction's other bytes belong to it, and what nothing leads to, most likely an exception's
 * handler, to the innermost loop that it lies in. */
static void spread(const struct graph *g, struct bytecode *b)
{
	for (uint32_t bci = 0; bci < g->size; bci++) {
		if (!g->begins[bci]) {
			b->loop_at[bci] = b->loop_at[bci - 1];
			continue;
		}
		for (uint32_t l = 0; l < b->loop_count && !g->reached[bci]; l++)
			if ((int32_t)bci >= b->loops[l].header_bci &&
			    (int32_t)bci <= b->loops[l].latch_bci)
				b->loop_at[bci] = l;
	}
}

/* ---------------------------------------------------------------- steps */

static bool constant_int(const uint8_t *code, int32_t *value, uint32_t *length)
{
	*length = 1;
	if (code[0] >= 0x02 && code[0] <= 0x08)
		*value = code[0] - 0x03;
	else if (code[0] == 0x09 || code[0] == 0x0a)
		*value = code[0] - 0x09;
	else if (code[0] == 0x10)
		*value = s8(code[1]), *length = 2;
	else if (code[0] == 0x11)
		*value = java_s16(code + 1), *length = 3;
	else
		return false;
	return true;
}

/* The variable that an iload or lload pushes, or istore and lstore take, from the first of its
 * short forms on; -1: it is none. */
static int variable_of(const uint8_t *code, uint8_t plain, uint8_t shorts, uint32_t *length)
{
	*length = 1;
	if (code[0] >= shorts && code[0] < shorts + 4)
		return code[0] - shorts;
	*length = 2;
	return code[0] == plain ? code[1] : -1;
}

/* v = v + c, of ints or longs. */
static bool is_addition(const uint8_t *code, uint32_t available, bool wide, int32_t *by)
{
	uint32_t length, at = 0;
	int v;

	if (available < 8)
		return false;
	v = variable_of(code, wide ? 0x16 : 0x15, wide ? 0x1e : 0x1a, &length);
	at += length;
	if (v < 0 || !constant_int(code + at, by, &length))
		return false;
	at += length;
	if (code[at] == (wide ? 0x65 : 0x64))
		*by = -*by;
	else if (code[at] != (wide ? 0x61 : 0x60))
		return false;
	return variable_of(code + at + 1, wide ? 0x37 : 0x36, wide ? 0x3f : 0x3b, &length) == v;
}

/* What the instructions that begin here add to a variable; 0: none do. */
static int32_t step_at(const struct graph *g, uint32_t bci)
{
	const uint8_t *code = g->code + bci;
	int32_t by = 0;

	if (code[0] == JAVA_IINC)
		by = s8(code[2]);
	else if (code[0] == JAVA_WIDE && code[1] == JAVA_IINC)
		by = java_s16(code + 4);
	else if (!is_addition(code, g->size - bci, false, &by) &&
		 !is_addition(code, g->size - bci, true, &by))
		by = 0;
	return by;
}

/* Does each turn run what is at bci? Not when the loop comes round without it. */
static bool in_each_turn(struct graph *g, const struct bytecode *b, uint32_t loop, uint32_t bci)
{
	uint32_t header = (uint32_t)b->loops[loop].header_bci, depth = 0;

	if (bci == header)
		return true;
	memset(g->level, 0, g->size * sizeof(g->level[0]));
	g->work[depth++] = header;
	while (depth > 0) {
		uint32_t at = g->work[--depth];

		for (uint32_t e = g->first_edge[at]; e < g->first_edge[at + 1]; e++) {
			uint32_t to = g->edges[e];

			if (to == header)
				return false;
			if (to == bci || g->level[to] || !is_in(b, to, loop))
				continue;
			g->level[to] = 1;
			g->work[depth++] = to;
		}
	}
	return true;
}

static void find_leaving(const struct graph *g, struct bytecode *b)
{
	for (uint32_t bci = 0; bci < g->size; bci++) {
		uint32_t loop = b->loop_at[bci];

		for (uint32_t e = g->first_edge[bci];
		     e < g->first_edge[bci + 1] && loop != BYTECODE_NO_LOOP; e++)
			b->leaves[bci] |= !is_in(b, g->edges[e], loop);
	}
}

#define STEPS_LOOKED_AT_MAX 64u

static void find_steps(struct graph *g, struct bytecode *b)
{
	unsigned looked_at = 0;

	for (uint32_t bci = 0; bci < g->size; bci++) {
		uint32_t loop = b->loop_at[bci];
		int32_t by = g->begins[bci] && g->reached[bci] && loop != BYTECODE_NO_LOOP
				 ? step_at(g, bci)
				 : 0;
		struct bytecode_loop *l = by != 0 ? &b->loops[loop] : NULL;
		bool seen = false;

		if (l)
			*(by > 0 ? &l->up : &l->down) = true;
		by = by < 0 ? -by : by;
		for (unsigned i = 0; l && i < l->step_count; i++)
			seen |= l->steps[i] == by;
		if (!l || seen || l->step_count == BYTECODE_STEPS_MAX ||
		    looked_at++ >= STEPS_LOOKED_AT_MAX || !in_each_turn(g, b, loop, bci))
			continue;
		l->steps[l->step_count++] = by;
	}
}

/* iinc, and istore to astore, of whatever form; BYTECODE_NO_VARIABLE: none of these. */
static int32_t variable_changed(const struct graph *g, uint32_t bci)
{
	const uint8_t *code = g->code + bci;
	uint32_t left = g->size - bci;
	bool wide = code[0] == JAVA_WIDE;
	uint8_t op = wide && left > 1 ? code[1] : code[0];

	if (op >= 0x3b && op <= 0x4e)
		return (op - 0x3b) % 4;
	if (op != JAVA_IINC && (op < 0x36 || op > 0x3a))
		return BYTECODE_NO_VARIABLE;
	if (wide)
		return left > 3 ? code[2] << 8 | code[3] : BYTECODE_MANY_VARIABLES;
	return left > 1 ? code[1] : BYTECODE_MANY_VARIABLES;
}

static void find_variables(const struct graph *g, struct bytecode *b)
{
	for (uint32_t l = 0; l < b->loop_count; l++)
		b->loops[l].variable = BYTECODE_NO_VARIABLE;
	for (uint32_t bci = 0; bci < g->size; bci++) {
		uint32_t l = b->loop_at[bci];
		int32_t changed;

		if (!g->begins[bci] || l == BYTECODE_NO_LOOP)
			continue;
		changed = variable_changed(g, bci);
		for (; l != BYTECODE_NO_LOOP; l = b->loops[l].parent) {
			struct bytecode_loop *loop = &b->loops[l];

			loop->calls |= java_op_calls(g->code[bci]);
			if (changed == BYTECODE_NO_VARIABLE || changed == loop->variable)
				continue;
			loop->variable = loop->variable == BYTECODE_NO_VARIABLE
					     ? changed
					     : BYTECODE_MANY_VARIABLES;
		}
	}
}

/* putstatic, putfield, and all invocations, which may. */
static bool may_store(uint8_t op)
{
	return java_op_stores_element(op) || op == JAVA_PUTSTATIC || op == JAVA_PUTFIELD ||
	       java_op_calls(op);
}

static void find_stores(struct graph *g, struct bytecode *b)
{
	unsigned looked_at = 0;

	for (uint32_t bci = 0; bci < g->size; bci++) {
		uint32_t loop = b->loop_at[bci];

		if (!g->begins[bci] || !may_store(g->code[bci]) || loop == BYTECODE_NO_LOOP)
			continue;
		if (java_op_stores_element(g->code[bci]) && !b->loops[loop].fills &&
		    looked_at++ < STEPS_LOOKED_AT_MAX)
			b->loops[loop].fills = in_each_turn(g, b, loop, bci);
		for (uint32_t l = loop; l != BYTECODE_NO_LOOP; l = b->loops[l].parent)
			b->loops[l].stores = true;
	}
}

/* ---------------------------------------------------------------- */

static void graph_release(struct graph *g)
{
	free(g->begins);
	free(g->edges);
	free(g->first_edge);
	free(g->reached);
	free(g->index);
}

static int graph_init(struct graph *g, const uint8_t *code, uint32_t size)
{
	*g = (struct graph){.code = code, .size = size};
	g->begins = calloc(size, 1);
	g->reached = calloc(size, 1);
	g->first_edge = calloc(size + 1, sizeof(g->first_edge[0]));
	g->index = calloc((size_t)size * 6, sizeof(g->index[0]));
	if (!g->begins || !g->reached || !g->first_edge || !g->index)
		return -ENOMEM;
	g->low = g->index + size;
	g->stack = g->low + size;
	g->work = g->stack + size;
	g->cursor = g->work + size;
	g->level = g->cursor + size;
	return 0;
}

static int read_loops(struct bytecode *b, const uint8_t *code, size_t size)
{
	struct graph g;
	int rc = graph_init(&g, code, (uint32_t)size);

	b->size = size;
	b->loops = calloc(BYTECODE_LOOPS_MAX, sizeof(b->loops[0]));
	b->loop_at = malloc(size * sizeof(b->loop_at[0]));
	b->leaves = calloc(size, sizeof(b->leaves[0]));
	if (rc == 0 && (!b->loops || !b->loop_at || !b->leaves))
		rc = -ENOMEM;
	if (rc == 0)
		rc = connect(&g);
	if (rc == 0) {
		reach(&g);
		memset(b->loop_at, 0xff, size * sizeof(b->loop_at[0]));
		rc = find_loops(&g, b);
	}
	if (rc == 0) {
		find_steps(&g, b);
		find_variables(&g, b);
		find_stores(&g, b);
		find_leaving(&g, b);
		spread(&g, b);
		b->begins = g.begins;
		g.begins = NULL;
	}
	graph_release(&g);
	return rc;
}

int bytecode_read(struct bytecode *b, const uint8_t *code, size_t size)
{
	int rc;

	*b = (struct bytecode){0};
	if (size == 0 || size > BYTECODE_BYTES_MAX)
		return size == 0 ? -EBADMSG : -E2BIG;
	rc = read_loops(b, code, size);
	if (rc < 0)
		bytecode_release(b);
	return rc;
}

void bytecode_release(struct bytecode *b)
{
	free(b->loops);
	free(b->loop_at);
	free(b->leaves);
	free(b->begins);
	*b = (struct bytecode){0};
}

uint32_t bytecode_loop_at(const struct bytecode *b, int32_t bci)
{
	return bci >= 0 && (size_t)bci < b->size ? b->loop_at[bci] : BYTECODE_NO_LOOP;
}

/* ---------------------------------------------------------------- branches that leave */

/* Instructions and branches that are followed from one, and the code that is gone through. */
#define WALK_STEPS_MAX    64u
#define WALK_BRANCHES_MAX 6u

/* On one way behind a branch: the last variable that was set to a constant, and what was pushed
 * last. */
struct branch_path {
	uint32_t at;
	int32_t variable, value; /* -1: none is known */
	enum { PUSHED_OTHER, PUSHED_CONSTANT, PUSHED_VARIABLE } pushed;
	int32_t constant;
	unsigned branches;
};

struct branch_walk {
	const struct bytecode *b;
	const uint8_t *code;
	uint32_t loop, start;
	unsigned steps;
};

static bool is_if(uint8_t op)
{
	return (op >= JAVA_IFEQ && op < JAVA_GOTO) || op == JAVA_IFNULL || op == JAVA_IFNONNULL;
}

/* Does it end a call of the method? */
static bool is_last(uint8_t op)
{
	return java_op_ends(op) && op != JAVA_GOTO && op != JAVA_GOTO_W;
}

static bool leads_out(struct branch_walk *w, struct branch_path way);

static void pass_by(const struct branch_walk *w, struct branch_path *way)
{
	const uint8_t *code = w->code + way->at;
	const struct graph g = {.code = w->code, .size = (uint32_t)w->b->size};
	uint32_t length;
	int32_t changed = variable_changed(&g, way->at);

	if (changed != BYTECODE_NO_VARIABLE && way->pushed == PUSHED_CONSTANT &&
	    variable_of(code, 0x36, 0x3b, &length) == changed) {
		way->variable = changed;
		way->value = way->constant;
	} else if (changed == way->variable || changed == BYTECODE_MANY_VARIABLES) {
		way->variable = -1;
	}
	way->pushed = PUSHED_OTHER;
	if (constant_int(code, &way->constant, &length))
		way->pushed = PUSHED_CONSTANT;
	else if (way->variable >= 0 && variable_of(code, 0x15, 0x1a, &length) == way->variable)
		way->pushed = PUSHED_VARIABLE;
	way->at += java_op_length(w->code, (uint32_t)w->b->size, way->at);
}

/* ifeq and ifne of the variable go one way, others both. */
static bool branch_leads_out(struct branch_walk *w, struct branch_path way)
{
	uint8_t op = w->code[way.at];
	struct branch_path taken = way, passed = way;

	taken.at = (uint32_t)((int32_t)way.at + java_s16(w->code + way.at + 1));
	passed.at = way.at + 3;
	taken.branches = passed.branches = way.branches + 1;
	taken.pushed = passed.pushed = PUSHED_OTHER;
	if (way.pushed == PUSHED_VARIABLE && (op == JAVA_IFEQ || op == JAVA_IFNE))
		return leads_out(w, (op == JAVA_IFEQ) == (way.value == 0) ? taken : passed);
	return way.branches < WALK_BRANCHES_MAX && leads_out(w, taken) && leads_out(w, passed);
}

static bool leads_out(struct branch_walk *w, struct branch_path way)
{
	while (w->steps-- > 0 && way.at < w->b->size) {
		uint8_t op = w->code[way.at];

		if (!is_in(w->b, way.at, w->loop) || is_last(op))
			return true;
		if (way.at == w->start || op == JAVA_TABLESWITCH || op == JAVA_LOOKUPSWITCH ||
		    op == JAVA_GOTO_W)
			break;
		if (is_if(op))
			return branch_leads_out(w, way);
		if (op == JAVA_GOTO)
			way.at = (uint32_t)((int32_t)way.at + java_s16(w->code + way.at + 1));
		else
			pass_by(w, &way);
	}
	w->steps = 0;
	return false;
}

bool bytecode_branch_leaves(const struct bytecode *b, const uint8_t *code, int32_t bci)
{
	uint32_t loop = bytecode_loop_at(b, bci), at = (uint32_t)bci;

	if (loop == BYTECODE_NO_LOOP || !b->begins[at])
		return false;
	if (b->leaves[at] || !is_if(code[at]))
		return b->leaves[at];
	for (unsigned side = 0; side < 2; side++) {
		struct branch_walk w = {b, code, loop, at, WALK_STEPS_MAX};
		struct branch_path way = {.at = side ? at + 3
						     : (uint32_t)(bci + java_s16(code + at + 1)),
					  .variable = -1};

		if (leads_out(&w, way))
			return true;
	}
	return false;
}

/* ---------------------------------------------------------------- what is invoked */

/* Between an invocation and the branch on what it gave: stored, loaded again, compared. */
#define TESTED_WITHIN 6u

static bool has_other_way_out(const struct bytecode *b, uint32_t loop, uint32_t branch)
{
	for (uint32_t bci = 0; bci < b->size; bci++)
		if (bci != branch && b->leaves[bci] && is_in(b, bci, loop))
			return true;
	return false;
}

bool bytecode_invoked_leaves(const struct bytecode *b, const uint8_t *code, int32_t bci)
{
	uint32_t loop = bytecode_loop_at(b, bci), at = (uint32_t)bci;

	if (loop == BYTECODE_NO_LOOP || !b->begins[at] || !java_op_calls(code[at]))
		return false;
	for (unsigned i = 0; i < TESTED_WITHIN; i++) {
		at += java_op_length(code, (uint32_t)b->size, at);
		if (at >= b->size || java_op_calls(code[at]) || may_store(code[at]) ||
		    java_op_ends(code[at]))
			return false;
		if (is_if(code[at]))
			return bytecode_loop_at(b, (int32_t)at) == loop &&
			       bytecode_branch_leaves(b, code, (int32_t)at) &&
			       has_other_way_out(b, loop, at);
	}
	return false;
}

/* ---------------------------------------------------------------- what it gives depends on */

static bool loads_what_changes(uint8_t op)
{
	return op == JAVA_GETSTATIC || op == JAVA_GETFIELD || java_op_loads_element(op);
}

bool bytecode_reads(const uint8_t *code, size_t size, bytecode_invoked_reads *invoked,
		    void *context)
{
	if (size == 0 || size > BYTECODE_BYTES_MAX)
		return true;
	for (uint32_t bci = 0; bci < size;) {
		uint32_t length = java_op_length(code, (uint32_t)size, bci);

		if (length == 0 || loads_what_changes(code[bci]) ||
		    code[bci] == JAVA_MONITORENTER ||
		    (java_op_calls(code[bci]) && invoked(context, bci)))
			return true;
		bci += length;
	}
	return false;
}
