#include "profile/loops/code_analysis.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "common/array.h"
#include "common/cleanup.h"
#include "profile/loops/arguments.h"
#include "profile/loops/loop_effect.h"
#include "profile/loops/loop_inputs.h"
#include "profile/loops/loop_mapping.h"
#include "profile/loops/loop_reading.h"
#include "profile/loops/result_sites.h"

/* Blocks that values are followed through, of all loops together; and loads again. */
#define BUDGET_BLOCKS 30000u

/* Turns of one, at most: more is nobody's compiler. */
#define UNROLL_MAX 4096u

struct analysis_builder {
	struct code_analysis *a;
	struct native_code native;
	struct loop_mapping mapping;
	struct liveness live;
	struct result_sites *found; /* by loop of the graph */
	struct loop_hint *hints;    /* ... */
	struct loop_inputs *inputs; /* ... */
	enum loop_effect *effects;  /* ... */
	size_t site_capacity, entry_capacity, part_capacity, input_capacity, scalar_capacity;
};

/* ---------------------------------------------------------------- parts */

static int add_part(struct analysis_builder *m, uint32_t start, uint32_t end, uint32_t loop)
{
	struct code_analysis *a = m->a;
	struct loop_part *last = a->part_count > 0 ? &a->parts[a->part_count - 1] : NULL;
	int rc;

	if (last && last->loop == loop && last->end == start) {
		last->end = end;
		return 0;
	}
	rc = array_reserve(&a->parts, &m->part_capacity, a->part_count + 1, sizeof(a->parts[0]));
	if (rc < 0)
		return rc;
	a->parts[a->part_count++] = (struct loop_part){.start = start, .end = end, .loop = loop};
	return 0;
}

static int find_parts(struct analysis_builder *m)
{
	const struct flow_graph *g = m->native.graph;
	int rc = 0;

	for (unsigned b = 1; b < g->block_count && rc == 0; b++)
		if (g->rank[b] != FLOW_NO_BLOCK && m->mapping.works_for[b] != FLOW_NO_LOOP)
			rc = add_part(m, g->starts[b], g->starts[b + 1],
				      m->mapping.works_for[b] - 1u);
	return rc;
}

/* ---------------------------------------------------------------- entries */

/* Are both the same loop of the bytecodes? One that is not known is nobody's copy. */
static bool are_copies(const struct analysis_builder *m, unsigned a, unsigned b)
{
	uint32_t method;
	const struct bytecode_loop *source = loop_mapping_find(&m->mapping, a, &method);

	return source && source == loop_mapping_find(&m->mapping, b, &method);
}

static bool heads_copy(const struct analysis_builder *m, unsigned loop, uint16_t b)
{
	const struct flow_graph *g = m->native.graph;
	unsigned copy = g->loop[b];

	return copy != loop && copy != FLOW_NO_LOOP && g->headers[copy] == b &&
	       g->parents[copy] == g->parents[loop] && are_copies(m, copy, loop);
}

/* May the block lead into another copy of the loop, straight away or by a branch? What is between
 * aligns the header. */
static bool leads_to_copy(const struct analysis_builder *m, unsigned loop, uint16_t b)
{
	uint32_t cursor = 0;
	uint16_t next = b;

	do {
		uint16_t behind = native_only_successor(&m->native, next);

		if (heads_copy(m, loop, next) ||
		    (behind != FLOW_NO_BLOCK && heads_copy(m, loop, behind)))
			return true;
		next = flow_successor(m->native.graph, b, &cursor);
	} while (next != FLOW_NO_BLOCK);
	return false;
}

/* Is the loop entered wherever the block runs? Where it may be passed by, for the copy that makes
 * the last turns, it is, but not in this copy. */
static bool enters(const struct analysis_builder *m, unsigned loop, uint16_t from)
{
	const struct flow_graph *g = m->native.graph;
	uint16_t header = g->headers[loop], next;
	uint32_t cursor = 0;

	while ((next = flow_successor(g, from, &cursor)) != FLOW_NO_BLOCK)
		if (next != header && !m->native.cold[next] &&
		    (g->loop[from] != g->parents[loop] || !leads_to_copy(m, loop, next)))
			return false;
	return true;
}

/* What leads into the header, and nowhere else, runs once for each time the loop is entered. */
static int find_entries(struct analysis_builder *m, unsigned loop, struct code_loop *l)
{
	const struct native_code *n = &m->native;
	const struct flow_graph *g = n->graph;
	uint16_t header = g->headers[loop];
	struct code_analysis *a = m->a;

	l->first_entry = (uint32_t)a->entry_count;
	for (unsigned e = g->first_edge[header]; e < g->first_edge[header + 1]; e++) {
		uint16_t from = g->edges[e];
		uint32_t end;
		int rc;

		if (g->rank[from] == FLOW_NO_BLOCK || native_in_loop(n, from, loop))
			continue;
		end = n->first_insn[from + 1];
		if (from == FLOW_ROOT || end == n->first_insn[from] || !enters(m, loop, from)) {
			l->doubts |= LOOP_DOUBT_ENTRY;
			continue;
		}
		rc = array_reserve(&a->entries, &m->entry_capacity, a->entry_count + 1,
				   sizeof(a->entries[0]));
		if (rc < 0)
			return rc;
		a->entries[a->entry_count++] = n->insns[end - 1].offset;
	}
	l->entry_count = (uint32_t)a->entry_count - l->first_entry;
	if (l->entry_count == 0)
		l->doubts |= LOOP_DOUBT_ENTRY;
	return 0;
}

/* ---------------------------------------------------------------- sites */

/* What the debug information says of just that instruction. */
static void name_site(const struct native_code *n, struct loop_site *site,
		      const struct native_insn *insn)
{
	const struct code_record *r = native_record_of(n, insn);

	if (!r || r->frame_count == 0)
		return;
	site->method = n->image->frames[r->first_frame].method + 1;
	site->bci = n->image->frames[r->first_frame].bci;
}

/* Does this loop lead to the block, or another copy of it, and not by its limit? */
static bool leaves_early(const struct analysis_builder *m, unsigned loop, struct result_exit exit)
{
	unsigned inner = m->native.graph->loop[exit.from];

	for (; inner != FLOW_NO_LOOP; inner = m->native.graph->parents[inner]) {
		const struct result_sites *r = &m->found[inner];

		if (inner != loop && !are_copies(m, inner, loop))
			continue;
		for (unsigned i = 0; i < r->exit_count; i++)
			if (r->exits[i].from == exit.from && r->exits[i].to == exit.to)
				return true;
	}
	return false;
}

/* Is the block come to by such exits alone? */
static bool countable(const struct analysis_builder *m, unsigned loop, uint16_t to)
{
	const struct flow_graph *g = m->native.graph;

	for (unsigned e = g->first_edge[to]; e < g->first_edge[to + 1]; e++)
		if (g->rank[g->edges[e]] != FLOW_NO_BLOCK &&
		    !leaves_early(m, loop, (struct result_exit){g->edges[e], to}))
			return false;
	return true;
}

/* What a branch that was never taken, and was compiled to a trap, would do to the loop that it is
 * in. */
enum pruned_branch { PRUNED_NOTHING, PRUNED_STAYS, PRUNED_LEAVES };

/* The branch is the loop's own, or one of what it invokes, inlined: the method that says whether
 * something was found. Of such a method only what the loop does with what it gives is told. */
static enum pruned_branch pruned_branch(const struct analysis_builder *m, uint16_t to,
					uint32_t method, const struct bytecode_loop *b)
{
	const struct code_image *image = m->native.image;
	const struct native_insn *trap = native_pruned_branch(&m->native, to);
	const struct code_record *at =
	    native_record_at(&m->native, trap->offset + trap->does.code.length);
	const struct bytecode *code = &m->mapping.methods[method];
	const uint8_t *bytes = image->bytecodes + image->methods[method].bytecode;

	for (uint32_t i = 0; at && i < at->frame_count; i++) {
		const struct code_frame *frame = &image->frames[at->first_frame + i];
		uint32_t inner =
		    frame->method == method ? bytecode_loop_at(code, frame->bci) : BYTECODE_NO_LOOP;

		if (inner == BYTECODE_NO_LOOP || &code->loops[inner] != b)
			continue;
		if (i == 0)
			return bytecode_branch_leaves(code, bytes, frame->bci) ? PRUNED_LEAVES
									       : PRUNED_STAYS;
		return bytecode_invoked_leaves(code, bytes, frame->bci) ? PRUNED_LEAVES
									: PRUNED_NOTHING;
	}
	return PRUNED_NOTHING;
}

/* A loop without results may have them on branches that were not taken yet, and were compiled to
 * traps: it is a search where these leave the loop of the bytecodes, and has results in some turns
 * where they stay in it. */
static void take_pruned(struct analysis_builder *m, unsigned loop)
{
	static const struct {
		enum pruned_branch branch;
		enum loop_type type;
	} found[] = {{PRUNED_LEAVES, LOOP_LAST}, {PRUNED_STAYS, LOOP_SOME}};
	struct result_sites *r = &m->found[loop];
	uint32_t method;
	const struct bytecode_loop *b = loop_mapping_find(&m->mapping, loop, &method);

	for (unsigned k = 0; k < 2 && b && r->type == LOOP_NEVER; k++) {
		for (unsigned i = 0; i < r->pruned_count; i++)
			if (r->exit_count < RESULT_EXITS_MAX &&
			    pruned_branch(m, r->pruned[i].to, method, b) == found[k].branch)
				r->exits[r->exit_count++] = r->pruned[i];
		if (r->exit_count > 0)
			r->type = found[k].type;
	}
}

/* Is where a loop is left to a place that can be counted? At a branch that was never taken there is
 * nothing to count, whoever else leads there: who comes there has the code thrown away. */
static bool is_site(const struct analysis_builder *m, unsigned loop, uint16_t to)
{
	return native_pruned_branch(&m->native, to) || countable(m, loop, to);
}

/* From a counter that is used behind the last of a loop's copies a compiler may have made what the
 * loop adds up in each turn, if that is alike in all that it has seen: then no turn has a result in
 * the machine code. Others go on from each other's counter. */
static bool may_be_folded(const struct analysis_builder *m, unsigned loop)
{
	for (unsigned i = 1; i < m->native.graph->loop_count; i++)
		if (!m->found[i].counter_used && m->found[i].counter >= 0 && are_copies(m, i, loop))
			return false;
	return m->found[loop].counter_used;
}

/* A search's counter may be what it has found; not where it has found nothing, unless another
 * copy goes on from there. */
static bool search_may_be_folded(const struct analysis_builder *m, unsigned loop)
{
	for (unsigned i = 1; i < m->native.graph->loop_count; i++)
		if (i != loop && are_copies(m, i, loop))
			return false;
	return m->found[loop].counter_used_at_limit;
}

/* Where turns change nothing but one variable, by a constant, that is what they are counted by, and
 * they add up nothing. A call may change what the loop is counted by. */
static bool counts_only(const struct analysis_builder *m, unsigned loop)
{
	uint32_t method;
	const struct bytecode_loop *b = loop_mapping_find(&m->mapping, loop, &method);

	return b && b->variable >= 0 && b->step_count == 1 && !b->calls;
}

/* Without results but on branches that were never taken, or where it is left early. */
static void doubt_folded(struct analysis_builder *m, unsigned loop)
{
	struct result_sites *r = &m->found[loop];

	if (r->count > 0 || r->type == LOOP_EVERY || counts_only(m, loop))
		return;
	if (r->type == LOOP_LAST ? search_may_be_folded(m, loop) : may_be_folded(m, loop))
		r->doubts |= LOOP_DOUBT_FOLDED;
}

/* Exits become sites: where they lead to. */
static void take_exits(struct analysis_builder *m, unsigned loop)
{
	struct result_sites *r = &m->found[loop];

	/* Those of branches that were pruned are all that some loops with results in some turns
	 * have. */
	if (r->type != LOOP_LAST && (r->count > 0 || r->doubts & LOOP_DOUBT_CONDITIONAL_MOVE))
		return;
	for (unsigned i = 0; i < r->exit_count; i++) {
		uint16_t to = r->exits[i].to;
		bool seen = false;

		for (unsigned k = 0; k < r->count; k++)
			seen |= r->sites[k].block == to;
		if (seen)
			continue;
		if (r->count == RESULT_SITES_MAX || !is_site(m, loop, to))
			r->doubts |= LOOP_DOUBT_SITES;
		else
			r->sites[r->count++] =
			    (struct result_site){.offset = m->native.graph->starts[to],
						 .result = LOOP_RESULT_EXIT,
						 .block = to};
	}
}

/* What only polls around a loop has the results of that, and is not counted itself. */
static void take_over(struct analysis_builder *m, unsigned loop)
{
	const struct result_sites *from = &m->found[m->mapping.same[loop]];
	struct result_sites *r = &m->found[loop];

	r->type = from->type;
	r->waits = from->waits;
	r->doubts = from->doubts & ~(unsigned)LOOP_DOUBT_SITES;
	r->count = 0;
	r->counter = -1;
}

static int take_sites(struct analysis_builder *m, const struct result_sites *found,
		      struct code_loop *l)
{
	struct code_analysis *a = m->a;
	int rc = array_reserve(&a->sites, &m->site_capacity, a->site_count + found->count,
			       sizeof(a->sites[0]));

	if (rc < 0)
		return rc;
	l->first_site = (uint32_t)a->site_count;
	l->site_count = found->count;
	for (unsigned i = 0; i < found->count; i++) {
		const struct native_insn *insn = native_insn_at(&m->native, found->sites[i].offset);
		struct loop_site *site = &a->sites[a->site_count++];

		*site = (struct loop_site){
		    .offset = found->sites[i].offset, .result = found->sites[i].result, .bci = -1};
		if (insn)
			name_site(&m->native, site, insn);
	}
	return 0;
}

/* ---------------------------------------------------------------- turns */

static uint32_t counter_step(const struct result_sites *found)
{
	return (uint32_t)(found->counter_step < 0 ? -found->counter_step : found->counter_step);
}

/* What the counter of one turn is stepped by where no bytecode of the loop says it, since that is
 * in a method it calls: the least that a copy of the loop does, of several; 0: not known. Those
 * before and behind an unrolled one make one turn at a time. */
static uint32_t step_of_copies(const struct analysis_builder *m, unsigned loop)
{
	uint32_t least = 0, most = 0;

	for (unsigned i = 1; i < m->native.graph->loop_count; i++) {
		uint32_t step = counter_step(&m->found[i]);

		if (m->found[i].counter < 0 || step == 0 || !are_copies(m, i, loop))
			continue;
		least = least == 0 || step < least ? step : least;
		most = step > most ? step : most;
	}
	return least < most ? least : 0;
}

/* How often the bytecodes' loop turns for each time the header of the machine code's is come to: by
 * what their counters are stepped by. Loops without a counter are not unrolled. */
static void find_unroll(struct analysis_builder *m, unsigned loop, struct code_loop *l)
{
	const struct result_sites *found = &m->found[loop];
	const struct bytecode_loop *b;
	uint32_t method, step, turns = 0;

	l->unroll = 1;
	b = loop_mapping_find(&m->mapping, loop, &method);
	if (!b || m->mapping.same[loop]) {
		l->doubts |= LOOP_DOUBT_UNROLL;
		return;
	}
	if (found->counter < 0 || found->counter_step == 1 || found->counter_step == -1)
		return;
	step = counter_step(found);
	for (unsigned i = 0; i < b->step_count; i++) {
		if (step % (uint32_t)b->steps[i] != 0)
			continue;
		if (turns > 0 && turns != step / (uint32_t)b->steps[i])
			l->doubts |= LOOP_DOUBT_UNROLL;
		turns = step / (uint32_t)b->steps[i];
	}
	if (turns == 0) {
		uint32_t of_one = step_of_copies(m, loop);

		turns = of_one > 0 && step % of_one == 0 ? step / of_one : 0;
	}
	if (turns == 0 || turns > UNROLL_MAX)
		l->doubts |= LOOP_DOUBT_UNROLL;
	else if (!(l->doubts & LOOP_DOUBT_UNROLL))
		l->unroll = turns;
}

/* ---------------------------------------------------------------- loops */

/* Is it set in each turn? The header may lie behind where that is. */
static bool set_anew(const struct loop_values *v, const struct value *value)
{
	/* A copy before it has gone on with it. */
	if (value->flags & VALUE_LATER)
		return false;
	if (v->loop == FLOW_NO_LOOP || (value->flags & VALUE_VARIES))
		return value->kind != VALUE_NONE && !(value->flags & VALUE_VARIES);
	for (unsigned i = 0; i < NATIVE_LOCATIONS; i++)
		if (locations_have(value->from, i) && locations_have(v->written, i) &&
		    !loop_value_invariant(v, &v->latch.at[i]))
			return false;
	return true;
}

/* A loop that only polls around another one has the counter of that: whose counter is a loop's? */
static unsigned counting_loop(const struct analysis_builder *m, unsigned loop)
{
	unsigned found = loop;

	for (unsigned inner = 1; inner < loop && m->found[found].counter < 0; inner++)
		if (m->native.graph->parents[inner] == loop)
			found = inner;
	return found;
}

/* Is the counter of a loop set when a turn of the one around it comes to it? */
static void find_begin(struct analysis_builder *m, const struct loop_values *around, unsigned loop)
{
	const struct flow_graph *g = m->native.graph;
	uint16_t header = g->headers[loop];
	int counter = m->found[counting_loop(m, loop)].counter;

	if (counter < 0)
		return;
	for (unsigned e = g->first_edge[header]; e < g->first_edge[header + 1]; e++) {
		uint16_t from = g->edges[e];
		unsigned i =
		    g->rank[from] == FLOW_NO_BLOCK || native_in_loop(&m->native, from, loop)
			? UINT_MAX
			: loop_values_index(around, from);

		if (i == UINT_MAX)
			continue;
		m->hints[loop].begins = set_anew(around, &around->leaving[i].at[counter])
					    ? LOOP_BEGINS_ANEW
					    : LOOP_BEGINS_AGAIN;
	}
}

static void find_begins(struct analysis_builder *m, const struct loop_values *around)
{
	unsigned end = around->loop == FLOW_NO_LOOP ? m->native.graph->loop_count : around->loop;

	for (unsigned loop = 1; around->native && loop < end; loop++)
		if (m->native.graph->parents[loop] == around->loop)
			find_begin(m, around, loop);
}

/* Finds those of the loops that are in no other. Where the code is too large nothing is known of
 * them. */
static int find_outermost_begins(struct analysis_builder *m, unsigned *budget)
{
	struct loop_values all;
	int rc = loop_values_make(&all, &m->native, FLOW_NO_LOOP, budget);

	if (rc == -ENOMEM)
		return rc;
	find_begins(m, &all);
	loop_values_release(&all);
	return 0;
}

static void take_hint(struct analysis_builder *m, unsigned loop)
{
	struct loop_hint *hint = &m->hints[loop];
	const struct result_sites *found = &m->found[loop];
	unsigned inner = counting_loop(m, loop);
	int64_t step = m->found[inner].counter_step;

	hint->counter = m->found[inner].counter;
	hint->step = hint->counter >= 0 ? (uint32_t)(step < 0 ? -step : step) : 0;
	hint->down = hint->counter >= 0 && step < 0;
	for (unsigned i = 0; i < found->count; i++)
		hint->stores |= found->sites[i].result == LOOP_RESULT_STORE;
}

static int find_results(struct analysis_builder *m)
{
	unsigned budget = BUDGET_BLOCKS, load_budget = BUDGET_BLOCKS;

	for (unsigned loop = 1; loop < m->native.graph->loop_count; loop++) {
		struct loop_values values;
		int rc = loop_values_make(&values, &m->native, loop, &budget);

		if (rc == -ENOMEM)
			return rc;
		m->hints[loop].counter = -1;
		m->effects[loop] = LOOP_EFFECT_GROWS;
		if (rc < 0) {
			m->found[loop] =
			    (struct result_sites){.doubts = LOOP_DOUBT_CODE, .counter = -1};
			continue;
		}
		rc = result_sites_find(&m->found[loop], &values, &m->live);
		if (rc == 0) {
			m->effects[loop] = loop_effect_find(&values, &m->found[loop]);
			rc = loop_inputs_find(&m->inputs[loop], &values, &m->live, &m->found[loop],
					      &load_budget);
		}
		take_hint(m, loop);
		find_begins(m, &values);
		loop_values_release(&values);
		if (rc < 0)
			return rc;
	}
	return find_outermost_begins(m, &budget);
}

/* ---------------------------------------------------------------- inputs */

/* What the debug information says of an instruction that may fault, or of a call. */
static void name_input(const struct native_code *n, struct loop_input *input)
{
	const struct native_insn *insn = native_insn_at(n, input->use.offset);
	const struct code_frame *frame;
	const struct code_record *r;

	if (!insn)
		return;
	r = native_record_of(n, insn);
	if (!r || r->frame_count == 0)
		return;
	frame = &n->image->frames[r->first_frame];
	input->method = frame->method + 1;
	input->bci = frame->bci;
}

/* *first: where they are in inputs. */
static int add_inputs(struct analysis_builder *m, const struct loop_input *inputs, unsigned count,
		      uint32_t *first)
{
	struct code_analysis *a = m->a;
	int rc = array_reserve(&a->inputs, &m->input_capacity, a->input_count + count,
			       sizeof(a->inputs[0]));

	if (rc < 0)
		return rc;
	*first = (uint32_t)a->input_count;
	for (unsigned i = 0; i < count; i++) {
		a->inputs[a->input_count] = inputs[i];
		name_input(&m->native, &a->inputs[a->input_count++]);
	}
	return 0;
}

static bool is_named_before(const struct loop_input *a, const struct loop_input *b)
{
	if (!a->method || !b->method)
		return a->method && !b->method;
	return a->method < b->method || (a->method == b->method && a->bci < b->bci);
}

/* What debug information says of a load may be of a place a little before or behind it: copies of
 * one may have several names. The first of these is all of them's. */
static void name_copies(struct loop_input *loads, const struct loop_inputs *in)
{
	for (unsigned i = 0; i < in->load_count; i++) {
		struct loop_input *first = &loads[in->copy_of[i]];

		if (is_named_before(&loads[i], first)) {
			first->method = loads[i].method;
			first->bci = loads[i].bci;
		}
	}
	for (unsigned i = 0; i < in->load_count; i++) {
		loads[i].method = loads[in->copy_of[i]].method;
		loads[i].bci = loads[in->copy_of[i]].bci;
	}
}

static int take_inputs(struct analysis_builder *m, unsigned loop, struct code_loop *l)
{
	const struct loop_inputs *in = &m->inputs[loop];
	unsigned same = m->mapping.same[loop] != FLOW_NO_LOOP ? m->mapping.same[loop] : loop;
	struct code_analysis *a = m->a;
	int rc;

	l->effect = m->effects[same];
	if (l->mapped && loop_effect_is_io(&m->native, &m->found[same], l->method))
		l->effect = LOOP_EFFECT_IO;
	l->load_count = in->load_count;
	rc = add_inputs(m, in->loads, in->load_count, &l->first_load);
	if (rc == 0 && in->load_count > 0)
		name_copies(&a->inputs[l->first_load], in);
	if (rc == 0 && same == loop && l->unroll == 1) {
		l->turn_input_count = in->turn_input_count;
		rc = add_inputs(m, in->turn_inputs, in->turn_input_count, &l->first_turn_input);
	}
	if (rc == 0)
		rc = array_reserve(&a->scalars, &m->scalar_capacity,
				   a->scalar_count + in->scalar_count, sizeof(a->scalars[0]));
	if (rc < 0)
		return rc;
	l->first_scalar = (uint32_t)a->scalar_count;
	l->scalar_count = in->scalar_count;
	for (unsigned i = 0; i < in->scalar_count; i++)
		a->scalars[a->scalar_count++] = in->scalars[i];
	return 0;
}

/* What it was handed, in the order of Java's calling convention (assembler_x86.hpp). What is in
 * vectors cannot be read, and with too many there are none. */
static int take_arguments(struct analysis_builder *m, struct code_loop *l)
{
	static const uint8_t order[] = {RSI, RDX, RCX, 8, 9, RDI};
	struct loop_input inputs[LIMIT_PLAN_TURN_INPUTS];
	uint64_t registers;
	int rc = method_arguments(&m->native, l->header, &registers);

	if (rc < 0 || (registers & ARGUMENTS_VECTOR) ||
	    __builtin_popcountll(registers) > (int)LIMIT_PLAN_TURN_INPUTS)
		return rc;
	for (unsigned i = 0; i < sizeof(order); i++)
		if (registers >> order[i] & 1)
			inputs[l->turn_input_count++] = (struct loop_input){
			    .use = {.offset = l->header, .reg = order[i]}, .bci = -1};
	return add_inputs(m, inputs, l->turn_input_count, &l->first_turn_input);
}

/* The method itself, behind all loops. */
static int take_recursion(struct analysis_builder *m)
{
	struct code_analysis *a = m->a;
	struct code_loop *l = &a->loops[a->loop_count];
	uint32_t entry;

	if (!native_own_entry(&m->native, &entry))
		return 0;
	*l = (struct code_loop){.header = entry,
				.parent = LOOP_NO_PARENT,
				.mapped = true,
				.method = m->native.image->method,
				.latch_bci = -1,
				.unroll = 1,
				.effect = LOOP_EFFECT_GROWS,
				.recursion = true};
	/* Its arguments are compared, and nothing that it loads. */
	if (loop_effect_method_reads(&m->native))
		l->doubts |= LOOP_DOUBT_READS;
	a->loop_count++;
	return take_arguments(m, l);
}

/* Each copy of a loop has the same reading: that of all of them. */
static int take_readings(struct analysis_builder *m)
{
	struct code_analysis *a = m->a;
	_cleanup_free_ uint32_t *unroll = calloc(a->loop_count + 1, sizeof(*unroll));
	const struct loop_reading_code code = {
	    .native = &m->native, .mapping = &m->mapping, .found = m->found, .unroll = unroll};
	unsigned budget = BUDGET_BLOCKS;
	int rc = 0;

	a->readings = calloc(a->loop_count + 1, sizeof(a->readings[0]));
	if (!a->readings || !unroll)
		return -ENOMEM;
	for (size_t i = 0; i < a->loop_count; i++)
		if (!(a->loops[i].doubts & (LOOP_DOUBT_UNROLL | LOOP_DOUBT_CODE)))
			unroll[i + 1] = a->loops[i].unroll;
	for (unsigned loop = 1; loop <= a->loop_count && rc >= 0; loop++) {
		rc = loop_reading_find(&a->readings[a->reading_count], &code, loop, &budget);
		if (rc > 0)
			a->loops[loop - 1].reading = (uint32_t)++a->reading_count;
	}
	return rc < 0 ? rc : 0;
}

/* ---------------------------------------------------------------- */

static int take_loop(struct analysis_builder *m, unsigned loop)
{
	const struct flow_graph *g = m->native.graph;
	struct code_loop *l = &m->a->loops[loop - 1];
	const struct bytecode_loop *b;
	int rc;

	/* A jump to itself, a stub that is to be filled in, is none. */
	if (native_loop_insns(&m->native, loop) < 2) {
		m->mapping.loops[loop].length = 0;
		m->found[loop] = (struct result_sites){.counter = -1};
	}
	if (m->mapping.same[loop] != FLOW_NO_LOOP)
		take_over(m, loop);
	else
		take_exits(m, loop);
	*l = (struct code_loop){.header = g->starts[g->headers[loop]],
				.parent = g->parents[loop] == FLOW_NO_LOOP ? LOOP_NO_PARENT
									   : g->parents[loop] - 1u,
				.type = m->found[loop].type,
				.doubts = m->found[loop].doubts,
				.waits = m->found[loop].waits,
				.header_bci = -1,
				.latch_bci = -1};
	b = loop_mapping_find(&m->mapping, loop, &l->method);
	if (b) {
		l->mapped = true;
		l->header_bci = b->header_bci;
		l->latch_bci = b->latch_bci;
	}
	if (loop_effect_calls_read(&m->native, loop))
		l->doubts |= LOOP_DOUBT_READS;
	find_unroll(m, loop, l);
	rc = take_inputs(m, loop, l);
	if (rc == 0)
		rc = take_sites(m, &m->found[loop], l);
	return rc < 0 ? rc : find_entries(m, loop, l);
}

static int analyse(struct analysis_builder *m, const struct code_image *image)
{
	int rc = native_code_make(&m->native, image);
	unsigned count;

	if (rc < 0)
		return rc;
	count = m->native.graph->loop_count;
	m->found = calloc(count, sizeof(m->found[0]));
	m->hints = calloc(count, sizeof(m->hints[0]));
	m->inputs = calloc(count, sizeof(m->inputs[0]));
	m->effects = calloc(count, sizeof(m->effects[0]));
	m->a->loops = calloc(count, sizeof(m->a->loops[0]));
	rc = m->found && m->hints && m->inputs && m->effects && m->a->loops
		 ? liveness_make(&m->live, &m->native)
		 : -ENOMEM;
	if (rc == 0)
		rc = find_results(m);
	if (rc == 0)
		rc = loop_mapping_make(&m->mapping, &m->native, m->hints);
	m->a->loop_count = rc == 0 ? count - 1 : 0;
	for (unsigned loop = 1; loop < count && rc == 0; loop++) {
		take_pruned(m, loop);
		doubt_folded(m, loop);
	}
	for (unsigned loop = 1; loop < count && rc == 0; loop++)
		rc = take_loop(m, loop);
	if (rc == 0)
		rc = take_readings(m);
	if (rc == 0)
		rc = find_parts(m);
	return rc < 0 ? rc : take_recursion(m);
}

int code_analysis_make(struct code_analysis *a, const struct code_image *image)
{
	struct analysis_builder m = {.a = a};
	int rc;

	*a = (struct code_analysis){0};
	rc = analyse(&m, image);
	if (m.mapping.native)
		loop_mapping_release(&m.mapping);
	liveness_release(&m.live);
	native_code_release(&m.native);
	free(m.found);
	free(m.hints);
	free(m.inputs);
	free(m.effects);
	if (rc < 0)
		code_analysis_release(a);
	return rc;
}

void code_analysis_release(struct code_analysis *a)
{
	free(a->loops);
	free(a->parts);
	free(a->sites);
	free(a->entries);
	free(a->inputs);
	free(a->scalars);
	free(a->readings);
	*a = (struct code_analysis){0};
}

uint32_t code_analysis_loop_at(const struct code_analysis *a, uint32_t offset)
{
	size_t at = SEARCH_FIRST(i, a->part_count, a->parts[i].end > offset);

	return at < a->part_count && a->parts[at].start <= offset ? a->parts[at].loop
								  : LOOP_NO_PARENT;
}

size_t code_analysis_memory_bytes(const struct code_analysis *a)
{
	return a->loop_count * sizeof(a->loops[0]) + a->part_count * sizeof(a->parts[0]) +
	       a->site_count * sizeof(a->sites[0]) + a->entry_count * sizeof(a->entries[0]) +
	       a->input_count * sizeof(a->inputs[0]) + a->scalar_count * sizeof(a->scalars[0]) +
	       (a->readings ? a->loop_count + 1 : 0) * sizeof(a->readings[0]);
}
