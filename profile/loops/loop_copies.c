#include "profile/loops/loop_mapping.h"

#include <stdlib.h>
#include <string.h>

#define COPIES_MAX 48u /* loops beside each other; more are not looked at */

struct row {
	unsigned first, end;          /* of loops */
	const struct loop_path *path; /* or NULL */
};

struct beside {
	struct loop_mapping *m;
	unsigned around;
	const struct loop_path *outer;
	uint16_t loops[COPIES_MAX]; /* in the order of their headers */
	unsigned count;
	struct row rows[COPIES_MAX];
	unsigned row_count;
	uint32_t inner[COPIES_MAX]; /* loops of the bytecodes */
	unsigned inner_count;
	uint32_t method; /* whose these are */
	bool broken;     /* what is told already does not fit together */
};

static uint16_t rank_of(const struct beside *s, unsigned loop)
{
	const struct flow_graph *g = s->m->native->graph;

	return g->rank[g->headers[loop]];
}

/* False when there are too many. */
static bool collect(struct beside *s)
{
	const struct flow_graph *g = s->m->native->graph;

	for (unsigned loop = 1; loop < g->loop_count; loop++) {
		unsigned i = s->count;

		/* A jump to itself is a stub that is to be filled in. */
		if (g->parents[loop] != s->around || native_loop_insns(s->m->native, loop) < 2)
			continue;
		if (s->count == COPIES_MAX)
			return false;
		for (; i > 0 && rank_of(s, s->loops[i - 1]) > rank_of(s, loop); i--)
			s->loops[i] = s->loops[i - 1];
		s->loops[i] = (uint16_t)loop;
		s->count++;
	}
	return true;
}

/* A loop that goes on with the counter of the one before it. */
static bool is_copy(const struct beside *s, unsigned before, unsigned loop)
{
	const struct loop_hint *a = &s->m->hints[before], *b = &s->m->hints[loop];

	return b->begins == LOOP_BEGINS_AGAIN && a->counter == b->counter && a->stores == b->stores;
}

static void make_rows(struct beside *s)
{
	for (unsigned i = 0; i < s->count; i++) {
		const struct loop_path *path = &s->m->loops[s->loops[i]];
		struct row *row;

		if (i == 0 || !is_copy(s, s->loops[i - 1], s->loops[i]))
			s->rows[s->row_count++] = (struct row){.first = i};
		row = &s->rows[s->row_count - 1];
		row->end = i + 1;
		if (path->length == 0)
			continue;
		if (row->path && !loop_path_same(row->path, path))
			s->broken = true;
		row->path = path;
	}
}

static void tell(struct beside *s, const struct row *row, const struct loop_path *path)
{
	struct loop_path copy = *path;

	for (unsigned i = row->first; i < row->end; i++)
		if (s->m->loops[s->loops[i]].length == 0)
			s->m->loops[s->loops[i]] = copy;
}

/* ---------------------------------------------------------------- in order */

/* Loops of the bytecodes straight inside, by their header. False where there are others beside
 * them, of inlined methods, or too many. */
static bool collect_inner(struct beside *s)
{
	const struct loop_mapping *m = s->m;
	const struct code_image *image = m->native->image;
	unsigned depth = s->outer->length;
	uint32_t parent = depth > 0 ? s->outer->steps[depth - 1].loop : BYTECODE_NO_LOOP;
	const struct bytecode *b;

	s->method = depth > 0 ? s->outer->steps[depth - 1].method : image->method;
	if (s->method >= image->method_count)
		return false;
	b = &m->methods[s->method];
	for (uint32_t l = 0; l < b->loop_count; l++) {
		unsigned i = s->inner_count;

		if (b->loops[l].parent != parent)
			continue;
		if (s->inner_count == COPIES_MAX)
			return false;
		for (; i > 0 && b->loops[s->inner[i - 1]].header_bci > b->loops[l].header_bci; i--)
			s->inner[i] = s->inner[i - 1];
		s->inner[i] = l;
		s->inner_count++;
	}
	if (!loop_mapping_may_look(s->m))
		return false;
	for (size_t r = 0; r < image->record_count; r++) {
		const struct loop_path *place = &m->places[r];

		if (place->length > depth && loop_path_common(place, s->outer) == depth &&
		    place->steps[depth].method != s->method)
			return false;
	}
	return true;
}

static struct loop_path path_of(const struct beside *s, unsigned i)
{
	struct loop_path path = *s->outer;
	uint64_t calls = path.length > 0 ? path.steps[path.length - 1].calls : 0;

	path.steps[path.length++] =
	    (struct mapped_step){.method = s->method, .loop = s->inner[i], .calls = calls};
	return path;
}

/* Does what the loop of the machine code does speak against it? */
static bool may_be(const struct beside *s, unsigned loop, const struct bytecode_loop *b)
{
	const struct loop_hint *hint = &s->m->hints[loop];
	bool steps = b->step_count == 0 || hint->step == 0;

	for (unsigned i = 0; i < b->step_count; i++)
		steps |= hint->step % (uint32_t)b->steps[i] == 0;
	return steps && (b->fills ? hint->stores : b->stores || !hint->stores);
}

/* Can a run of the code come from one loop to the other, within the loop around them? */
static bool leads_to(const struct beside *s, unsigned from, unsigned to)
{
	const struct flow_graph *g = s->m->native->graph;
	bool *seen = calloc(g->block_count, sizeof(seen[0]));
	uint16_t *work = malloc(g->block_count * sizeof(work[0]));
	uint16_t stop = s->around ? g->headers[s->around] : (uint16_t)FLOW_ROOT;
	unsigned depth = 0;

	if (seen && work) {
		seen[g->headers[from]] = true;
		work[depth++] = g->headers[from];
	}
	while (depth > 0 && !seen[g->headers[to]]) {
		uint16_t b = work[--depth], next;
		uint32_t cursor = 0;

		while ((next = flow_successor(g, b, &cursor)) != FLOW_NO_BLOCK) {
			if (seen[next] || next == stop)
				continue;
			seen[next] = true;
			work[depth++] = next;
		}
	}
	depth = seen && work && seen[g->headers[to]];
	free(seen);
	free(work);
	return depth;
}

static bool fits(const struct beside *s)
{
	const struct bytecode *b = &s->m->methods[s->method];

	for (unsigned i = 0; i < s->row_count; i++) {
		const struct row *row = &s->rows[i];
		struct loop_path path = path_of(s, i);

		if (s->m->hints[s->loops[row->first]].begins != LOOP_BEGINS_ANEW ||
		    (row->path && !loop_path_same(row->path, &path)))
			return false;
		for (unsigned k = row->first; k < row->end; k++)
			if (!may_be(s, s->loops[k], &b->loops[s->inner[i]]))
				return false;
		if (i > 0 && !leads_to(s, s->loops[row->first - 1], s->loops[row->first]))
			return false;
	}
	return true;
}

void loop_copies_find(struct loop_mapping *m, unsigned around)
{
	struct beside s = {.m = m, .around = around};
	bool missing = false;

	if (!collect(&s))
		return;
	for (unsigned i = 0; i < s.count; i++)
		missing |= m->loops[s.loops[i]].length == 0;
	if (!missing)
		return;
	make_rows(&s);
	for (unsigned i = 0; i < s.row_count && !s.broken; i++)
		if (s.rows[i].path)
			tell(&s, &s.rows[i], s.rows[i].path);
	s.outer = loop_mapping_around(m, around);
	if (s.broken || !s.outer || s.outer->length == MAPPING_DEPTH_MAX || !collect_inner(&s) ||
	    s.inner_count != s.row_count || !fits(&s))
		return;
	for (unsigned i = 0; i < s.row_count; i++) {
		struct loop_path path = path_of(&s, i);

		tell(&s, &s.rows[i], &path);
	}
}

bool loop_copies_anew(const struct loop_mapping *m, unsigned loop)
{
	const struct flow_graph *g = m->native->graph;
	const struct loop_hint *hint = &m->hints[loop];

	for (unsigned i = 1; i < g->loop_count; i++)
		if (i != loop && g->parents[i] == g->parents[loop] && hint->counter >= 0 &&
		    m->hints[i].begins == LOOP_BEGINS_ANEW &&
		    m->hints[i].counter == hint->counter && m->hints[i].stores == hint->stores)
			return true;
	return false;
}
