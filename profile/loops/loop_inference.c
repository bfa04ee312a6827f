#include "profile/loops/loop_mapping.h"

/* How deep loops lie in the loop l of the bytecodes; 0: they branch. */
static unsigned depth_below(const struct bytecode *b, uint32_t l)
{
	uint32_t inner = BYTECODE_NO_LOOP;
	unsigned below;

	for (uint32_t i = l + 1; i < b->loop_count; i++) {
		if (b->loops[i].parent != l)
			continue;
		if (inner != BYTECODE_NO_LOOP)
			return 0;
		inner = i;
	}
	if (inner == BYTECODE_NO_LOOP)
		return 1;
	below = depth_below(b, inner);
	return below > 0 ? below + 1 : 0;
}

static unsigned native_depth_below(const struct flow_graph *g, unsigned loop)
{
	unsigned deepest = 0;

	for (unsigned i = 1; i < loop; i++) {
		unsigned depth = 0, l = i;

		for (; l != FLOW_NO_LOOP && l != loop; l = g->parents[l])
			depth++;
		if (l == loop && depth > deepest)
			deepest = depth;
	}
	return deepest + 1;
}

/* All loops known are one in the other, and so are as many of the machine code: the outermost. */
static void choose_nest(const struct loop_mapping *m, unsigned loop, struct loop_choice *c)
{
	const struct code_image *image = m->native->image;
	const struct bytecode *b;
	uint32_t top = BYTECODE_NO_LOOP;

	if (image->method >= image->method_count)
		return;
	for (size_t i = 0; i < image->method_count; i++)
		if (i != image->method && m->methods[i].loop_count > 0)
			return;
	b = &m->methods[image->method];
	for (uint32_t l = 0; l < b->loop_count; l++) {
		if (b->loops[l].parent != BYTECODE_NO_LOOP)
			continue;
		if (top != BYTECODE_NO_LOOP)
			return;
		top = l;
	}
	if (top == BYTECODE_NO_LOOP ||
	    depth_below(b, top) != native_depth_below(m->native->graph, loop))
		return;
	c->path.length = 1;
	c->path.steps[0] = (struct mapped_step){.method = image->method, .loop = top};
	c->count = 1;
}

/* ... and none of a callee that no record knows of. */
static bool is_only_loop(const struct loop_mapping *m)
{
	size_t sum = 0;

	for (size_t i = 0; i < m->native->image->method_count; i++)
		for (size_t l = 0; l < m->methods[i].loop_count; l++)
			sum += m->methods[i].loops[l].stores ? 2 : 1;
	return sum == 1;
}

/* The only loop between the one around it and those in it. */
static bool is_between(const struct loop_mapping *m, unsigned loop, const struct loop_path *around,
		       struct loop_path *path)
{
	const struct native_code *n = m->native;
	unsigned insns = 0, known = 0;

	for (unsigned inner = 1; inner < loop; inner++) {
		const struct loop_path *in = &m->loops[inner];

		if (n->graph->parents[inner] != loop)
			continue;
		insns += native_loop_insns(n, inner);
		if (in->length == 0)
			continue;
		if (known++ == 0)
			*path = *in;
		else
			path->length = loop_path_common(path, in);
		if (in->length != around->length + 2)
			return false;
	}
	/* What only polls is one of those in it. */
	if (known == 0 || native_loop_insns(n, loop) - insns <= LOOP_OUTER_INSNS_MAX ||
	    loop_path_common(path, around) < around->length || path->length <= around->length)
		return false;
	path->length = around->length + 1;
	return true;
}

/* One counts up and the others down, or fills an array and the others do not, or the other way
 * round. */
static void choose_by_hint(struct loop_mapping *m, unsigned loop, const struct loop_path *around,
			   struct loop_choice *c)
{
	struct loop_choice fitting = {.hint = &m->hints[loop]};
	const struct mapped_step *last;
	const struct bytecode_loop *b;

	if (c->count < 2 || fitting.hint->counter < 0 || fitting.hint->step == 0 ||
	    native_loop_insns(m->native, loop) <= LOOP_FILLING_INSNS_MAX)
		return;
	loop_choose_inside(m, around, &fitting);
	if (fitting.count != 1)
		return;
	last = &fitting.path.steps[fitting.path.length - 1];
	b = &m->methods[last->method].loops[last->loop];
	if ((fitting.hint->down ? b->down : b->up) || (b->fills && fitting.hint->stores))
		*c = fitting;
}

static void infer_one(struct loop_mapping *m, unsigned loop, bool only)
{
	const struct native_code *n = m->native;
	unsigned parent = n->graph->parents[loop];
	const struct loop_path *around;
	struct loop_choice c = {0};
	bool again, fills;

	if (m->loops[loop].length > 0)
		return;
	around = loop_mapping_around(m, parent);
	if (!around)
		return;
	if (parent != FLOW_NO_LOOP && is_between(m, loop, around, &c.path)) {
		m->loops[loop] = c.path;
		return;
	}
	c = (struct loop_choice){0};
	if (m->behind[loop].length > around->length &&
	    loop_path_common(&m->behind[loop], around) == around->length) {
		m->loops[loop] = m->behind[loop];
		return;
	}
	loop_choose_inside(m, around, &c);
	choose_by_hint(m, loop, around, &c);
	if (parent == FLOW_NO_LOOP && c.count != 1)
		choose_nest(m, loop, &c);
	again = around == &m->loops[parent] && parent != FLOW_NO_LOOP &&
		m->hints[loop].begins != LOOP_BEGINS_ANEW && !loop_copies_anew(m, loop) &&
		native_loop_insns(n, parent) - native_loop_insns(n, loop) <= LOOP_OUTER_INSNS_MAX;
	fills = native_loop_insns(n, loop) <= LOOP_FILLING_INSNS_MAX;
	if (c.count == 1 && !(again && m->hints[loop].begins == LOOP_BEGINS_AGAIN)) {
		m->loops[loop] = c.path;
	} else if ((c.count <= 1 && again) || (only && parent != FLOW_NO_LOOP && !fills)) {
		m->loops[loop] = *around;
		m->same[parent] = loop;
	}
}

/* Loops that nothing tells of, those around others first. */
void loop_inference_run(struct loop_mapping *m)
{
	bool only = is_only_loop(m);

	loop_copies_find(m, FLOW_NO_LOOP);
	for (unsigned loop = m->native->graph->loop_count; loop-- > 1;) {
		infer_one(m, loop, only);
		if (m->loops[loop].length > 0 && m->same[loop] == FLOW_NO_LOOP)
			loop_copies_find(m, loop);
	}
	for (unsigned loop = 0; loop < m->native->graph->loop_count; loop++)
		if (m->same[loop] == FLOW_NO_LOOP)
			loop_copies_find(m, loop);
}

/* ---------------------------------------------------------------- what is around a loop for it */

/* The loop straight inside, of the machine code, that all that is known of a block tells of. */
static uint16_t loop_told_of(const struct loop_mapping *m, uint16_t b,
			     const struct loop_common *told)
{
	const struct flow_graph *g = m->native->graph;
	unsigned around = g->loop[b];

	if (!told->any || (around != FLOW_NO_LOOP && g->headers[around] == b))
		return FLOW_NO_LOOP;
	for (unsigned inner = 1; inner < g->loop_count; inner++) {
		const struct loop_path *path = &m->loops[inner];

		if (g->parents[inner] == around && path->length > m->loops[around].length &&
		    loop_path_common(path, &told->path) == path->length)
			return (uint16_t)inner;
	}
	return FLOW_NO_LOOP;
}

/* Does the block work for a loop of that path, or lie in one? */
static bool works_for(const struct loop_mapping *m, uint16_t b, const struct loop_path *path)
{
	unsigned loop = m->works_for[b];

	return loop != FLOW_NO_LOOP && m->loops[loop].length >= path->length &&
	       loop_path_common(&m->loops[loop], path) == path->length;
}

/* The loop straight inside that a block leads to, and makes ready for: it computes, and looks at
 * nothing. */
static uint16_t loop_made_ready_for(const struct loop_mapping *m, uint16_t b)
{
	const struct native_code *n = m->native;
	const struct flow_graph *g = n->graph;
	uint16_t next = native_only_successor(n, b);
	unsigned loop = next == FLOW_NO_BLOCK ? FLOW_NO_LOOP : g->loop[next];

	if (loop == FLOW_NO_LOOP || g->headers[loop] != next || g->parents[loop] != g->loop[b] ||
	    m->loops[loop].length <= m->loops[g->loop[b]].length)
		return FLOW_NO_LOOP;
	for (uint32_t k = n->first_insn[b]; k < n->first_insn[b + 1]; k++) {
		const struct native_insn *insn = &n->insns[k];

		if (insn->call || (insn->slot < 0 &&
				   (insn->does.code.memory.loads || insn->does.code.memory.stores)))
			return FLOW_NO_LOOP;
	}
	return (uint16_t)loop;
}

/* The loop straight inside that all blocks which lead to this one, and it leads to, work for. */
static uint16_t loop_on_both_sides(const struct loop_mapping *m, uint16_t b)
{
	const struct native_code *n = m->native;
	const struct flow_graph *g = n->graph;
	const struct loop_path *path = NULL;
	uint16_t found = FLOW_NO_LOOP, next;
	uint32_t cursor = 0;

	while ((next = flow_successor(g, b, &cursor)) != FLOW_NO_BLOCK) {
		if (n->cold[next])
			continue;
		if (!path && g->parents[m->works_for[next]] == g->loop[b]) {
			found = m->works_for[next];
			path = &m->loops[found];
		}
		if (!path || path->length <= m->loops[g->loop[b]].length ||
		    !works_for(m, next, path))
			return FLOW_NO_LOOP;
	}
	for (unsigned e = g->first_edge[b]; path && e < g->first_edge[b + 1]; e++)
		if (g->rank[g->edges[e]] != FLOW_NO_BLOCK && !works_for(m, g->edges[e], path))
			return FLOW_NO_LOOP;
	return path ? found : (uint16_t)FLOW_NO_LOOP;
}

void loop_inference_work(struct loop_mapping *m, const struct loop_common *told)
{
	const struct flow_graph *g = m->native->graph;

	for (unsigned b = 0; b < g->block_count; b++) {
		uint16_t of = g->rank[b] == FLOW_NO_BLOCK ? (uint16_t)FLOW_NO_LOOP
							  : loop_told_of(m, (uint16_t)b, &told[b]);

		m->works_for[b] = of != FLOW_NO_LOOP ? of : g->loop[b];
	}
	for (unsigned i = g->block_count; i-- > g->ordered;) {
		uint16_t b = g->order[i], of;

		if (told[b].any || (g->loop[b] != FLOW_NO_LOOP && g->headers[g->loop[b]] == b))
			continue;
		of = loop_on_both_sides(m, b);
		/* What a method begins with makes ready for all of it. */
		if (of == FLOW_NO_LOOP && g->loop[b] != FLOW_NO_LOOP)
			of = loop_made_ready_for(m, b);
		if (of != FLOW_NO_LOOP)
			m->works_for[b] = of;
	}
}
