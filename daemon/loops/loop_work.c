#include "daemon/loops/loop_work.h"

#include "daemon/loops/loop_path.h"

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

		if (insn->call ||
		    (insn->slot < 0 && (insn->does.memory.loads || insn->does.memory.stores)))
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

void loop_work_find(struct loop_mapping *m, const struct loop_common *told)
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
