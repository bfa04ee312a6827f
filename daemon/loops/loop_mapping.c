#include "daemon/loops/loop_mapping.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "common/mix.h"
#include "daemon/loops/loop_copies.h"

/* A loop that only polls around another one, of the same turns (C2's strip mining). */
#define OUTER_INSNS_MAX 40u
/* Loops that compilers write out for one of their nodes: what fills, compares or searches arrays.
 */
#define FILLING_INSNS_MAX 7u

/* ---------------------------------------------------------------- paths */

static bool same_step(const struct mapped_step *a, const struct mapped_step *b)
{
	return a->method == b->method && a->loop == b->loop && a->calls == b->calls;
}

unsigned loop_path_common(const struct loop_path *a, const struct loop_path *b)
{
	unsigned i = 0;

	while (i < a->length && i < b->length && same_step(&a->steps[i], &b->steps[i]))
		i++;
	return i;
}

/* Loops at a bci, outermost first. */
static void add_loops(struct loop_path *path, const struct bytecode *b,
		      const struct code_frame *frame, uint64_t calls)
{
	uint32_t loops[BYTECODE_DEPTH_MAX];
	unsigned depth = 0;

	for (uint32_t l = bytecode_loop_at(b, frame->bci);
	     l != BYTECODE_NO_LOOP && depth < BYTECODE_DEPTH_MAX; l = b->loops[l].parent)
		loops[depth++] = l;
	while (depth > 0 && path->length < MAPPING_DEPTH_MAX)
		path->steps[path->length++] = (struct mapped_step){
		    .method = frame->method, .loop = loops[--depth], .calls = calls};
}

static void find_path(const struct loop_mapping *m, const struct code_record *record,
		      struct loop_path *path)
{
	const struct code_image *image = m->native->image;
	uint64_t calls = 0;

	path->length = 0;
	for (uint32_t i = record->frame_count; i-- > 0;) {
		const struct code_frame *frame = &image->frames[record->first_frame + i];

		if (frame->method >= image->method_count)
			return;
		add_loops(path, &m->methods[frame->method], frame, calls);
		calls = mix(calls ^ ((uint64_t)frame->method << 32 | (uint32_t)frame->bci));
	}
}

/* ---------------------------------------------------------------- places */

/* What places of a loop have in common. */
struct common {
	struct loop_path path;
	bool any;
};

static void meet(struct common *c, const struct loop_path *path)
{
	if (c->any)
		c->path.length = loop_path_common(&c->path, path);
	else
		c->path = *path;
	c->any = true;
}

/* The block that a record tells of: behind a call it tells of the call. */
static uint16_t block_of(const struct native_code *n, const struct code_record *record)
{
	const struct native_insn *before = native_insn_before(n, record->offset);
	uint32_t offset = before && before->call ? before->offset : record->offset;

	return offset < n->image->size ? flow_block_at(n->graph, offset) : FLOW_ROOT;
}

static bool only_loops_lead_to(const struct flow_graph *g, uint16_t b)
{
	for (unsigned e = g->first_edge[b]; e < g->first_edge[b + 1]; e++)
		if (g->rank[g->edges[e]] != FLOW_NO_BLOCK && g->loop[g->edges[e]] == FLOW_NO_LOOP)
			return false;
	return true;
}

/* A trap that only blocks of loops lead to: its record is behind its call. What others lead to as
 * well may be a trap of what comes behind the loop. */
static const struct loop_path *trap_behind(const struct loop_mapping *m, uint16_t b)
{
	const struct native_code *n = m->native;

	if (!only_loops_lead_to(n->graph, b))
		return NULL;
	for (unsigned steps = 0; steps < 4 && b != FLOW_NO_BLOCK && n->cold[b]; steps++) {
		uint32_t cursor = 0;
		uint16_t next;

		for (uint32_t k = n->first_insn[b]; k < n->first_insn[b + 1]; k++) {
			const struct native_insn *insn = &n->insns[k];

			if (!insn->call)
				continue;
			for (size_t r = 0; r < n->image->record_count; r++)
				if (n->image->records[r].offset == insn->offset + insn->does.length)
					return insn->call == NATIVE_CALL_ENDS ? &m->places[r]
									      : NULL;
			return NULL;
		}
		next = flow_successor(n->graph, b, &cursor);
		b = next != FLOW_NO_BLOCK && flow_successor(n->graph, b, &cursor) == FLOW_NO_BLOCK
			? next
			: FLOW_NO_BLOCK;
	}
	return NULL;
}

/* Traps that the loop's own blocks lead to. */
static void meet_traps(const struct loop_mapping *m, struct common *traps)
{
	const struct flow_graph *g = m->native->graph;

	for (unsigned b = 1; b < g->block_count; b++) {
		uint32_t cursor = 0;
		uint16_t next;

		if (g->rank[b] == FLOW_NO_BLOCK || g->loop[b] == FLOW_NO_LOOP)
			continue;
		while ((next = flow_successor(g, (uint16_t)b, &cursor)) != FLOW_NO_BLOCK) {
			const struct loop_path *path = trap_behind(m, next);

			if (path && path->length > 0)
				meet(&traps[g->loop[b]], path);
		}
	}
}

/* ---------------------------------------------------------------- loops */

/* One loop of several that could be it, or that there are more. */
struct choice {
	struct loop_path path;
	unsigned count;
};

static void choose(struct choice *c, const struct loop_path *path, unsigned length)
{
	const struct mapped_step *is = &path->steps[length - 1];
	const struct mapped_step *was = &c->path.steps[c->path.length ? c->path.length - 1 : 0];

	if (c->count > 0 && is->method == was->method && is->loop == was->loop)
		return;
	c->path = *path;
	c->path.length = length;
	c->count++;
}

/* Loops straight inside the one at the path's end; of an empty path, all. */
static void choose_inside(const struct loop_mapping *m, const struct loop_path *around,
			  struct choice *c)
{
	const struct code_image *image = m->native->image;
	struct loop_path path;

	for (size_t r = 0; r < image->record_count; r++) {
		const struct loop_path *place = &m->places[r];

		if (place->length > around->length &&
		    loop_path_common(around, place) == around->length)
			choose(c, place, around->length + 1);
		for (unsigned l = 2; around->length == 0 && l <= place->length; l++)
			choose(c, place, l);
	}
	path = *around;
	if (path.length == MAPPING_DEPTH_MAX)
		return;
	path.length++;
	if (around->length == 0) {
		for (size_t k = 0; k < image->method_count; k++)
			for (uint32_t l = 0; l < m->methods[k].loop_count; l++) {
				path.steps[0] =
				    (struct mapped_step){.method = (uint32_t)k, .loop = l};
				choose(c, &path, 1);
			}
		return;
	}
	path.steps[around->length] = path.steps[around->length - 1];
	const struct mapped_step *outer = &around->steps[around->length - 1];
	const struct bytecode *b = &m->methods[outer->method];
	for (uint32_t l = 0; l < b->loop_count; l++) {
		path.steps[around->length].loop = l;
		if (b->loops[l].parent == outer->loop)
			choose(c, &path, path.length);
	}
}

/* Of the loops straight inside one. */
struct inside {
	struct common paths;
	unsigned all;   /* but for what compilers write out for one node */
	unsigned count; /* that are known */
	unsigned last;
	unsigned insns; /* of all */
	bool others;    /* that are not known, and are none that it only polls around */
};

/* C2 puts a loop around a long one that does nothing but poll: both have the same turns. */
static bool only_polls(const struct loop_mapping *m, unsigned loop, const struct inside *in)
{
	return in->count == 1 && in->all <= 1 && !in->others &&
	       m->hints[in->last].begins != LOOP_BEGINS_ANEW &&
	       native_loop_insns(m->native, loop) - in->insns <= OUTER_INSNS_MAX;
}

static bool is_innermost(const struct loop_mapping *m, const struct loop_path *path)
{
	struct choice c = {0};

	choose_inside(m, path, &c);
	return c.count == 0;
}

/* A loop around others is not the same as one of them, unless it does next to nothing beside it, or
 * there is no other that it could be. */
static void settle(struct loop_mapping *m, unsigned loop, struct common *own,
		   const struct inside *in)
{
	struct loop_path *path = &m->loops[loop];
	bool told = own->any && own->path.length > 0;

	if (!in->paths.any) {
		*path = own->path;
		/* What tells of it is of a loop in it that has nothing of its own. */
		if (in->others && path->length > 1 && is_innermost(m, path))
			path->length--;
		return;
	}
	meet(own, &in->paths.path);
	*path = own->path;
	if (path->length < in->paths.path.length || path->length == 0)
		return;
	/* It would be the loop that is in it. */
	if (told && (only_polls(m, loop, in) || path->length == 1))
		m->same[loop] = in->last;
	else
		path->length--;
}

static int settle_all(struct loop_mapping *m, struct common *own, const struct common *traps)
{
	const struct native_code *n = m->native;
	const struct flow_graph *g = n->graph;
	struct inside *in = calloc(g->loop_count, sizeof(in[0]));

	for (unsigned loop = 1; in && loop < g->loop_count; loop++) {
		struct inside *around = &in[g->parents[loop]];

		if (traps[loop].any && own[loop].path.length == 0)
			own[loop] = traps[loop];
		else if (traps[loop].any &&
			 loop_path_common(&own[loop].path, &traps[loop].path) > 0)
			meet(&own[loop], &traps[loop].path);
		settle(m, loop, &own[loop], &in[loop]);
		around->insns += native_loop_insns(n, loop);
		around->all += native_loop_insns(n, loop) > FILLING_INSNS_MAX;
		around->others |=
		    m->loops[loop].length == 0 && m->hints[loop].begins != LOOP_BEGINS_AGAIN;
		if (m->loops[loop].length == 0 || g->parents[loop] == FLOW_NO_LOOP)
			continue;
		meet(&around->paths, &m->loops[loop]);
		around->count++;
		around->last = loop;
	}
	free(in);
	return in ? 0 : -ENOMEM;
}

/* ---------------------------------------------------------------- what is left over */

/* How deep loops lie in the loop l of the bytecodes; 0: they branch. */
static unsigned depth_below(const struct bytecode *b, uint32_t l)
{
	uint32_t inner = BYTECODE_NO_LOOP;

	for (uint32_t i = l + 1; i < b->loop_count; i++) {
		if (b->loops[i].parent != l)
			continue;
		if (inner != BYTECODE_NO_LOOP)
			return 0;
		inner = i;
	}
	if (inner == BYTECODE_NO_LOOP)
		return 1;
	return depth_below(b, inner) > 0 ? depth_below(b, inner) + 1 : 0;
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
static void choose_nest(const struct loop_mapping *m, unsigned loop, struct choice *c)
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

static bool is_only_loop(const struct loop_mapping *m)
{
	size_t sum = 0;

	for (size_t i = 0; i < m->native->image->method_count; i++)
		sum += m->methods[i].loop_count;
	return sum == 1;
}

static void infer_one(struct loop_mapping *m, unsigned loop, bool only)
{
	const struct native_code *n = m->native;
	unsigned parent = n->graph->parents[loop];
	const struct loop_path *around = &m->loops[parent];
	struct choice c = {0};
	bool again, fills;

	if (m->loops[loop].length > 0 || (parent != FLOW_NO_LOOP && around->length == 0))
		return;
	choose_inside(m, around, &c);
	if (parent == FLOW_NO_LOOP && c.count != 1)
		choose_nest(m, loop, &c);
	again = parent != FLOW_NO_LOOP && m->hints[loop].begins != LOOP_BEGINS_ANEW &&
		native_loop_insns(n, parent) - native_loop_insns(n, loop) <= OUTER_INSNS_MAX;
	fills = native_loop_insns(n, loop) <= FILLING_INSNS_MAX;
	if (c.count == 1 && !(again && m->hints[loop].begins == LOOP_BEGINS_AGAIN)) {
		m->loops[loop] = c.path;
	} else if ((c.count <= 1 && again) || (only && parent != FLOW_NO_LOOP && !fills)) {
		m->loops[loop] = *around;
		m->same[parent] = loop;
	}
}

/* Loops that nothing tells of, those around others first. */
static void infer(struct loop_mapping *m)
{
	bool only = is_only_loop(m);

	loop_copies_find(m, FLOW_NO_LOOP);
	for (unsigned loop = m->native->graph->loop_count; loop-- > 1;) {
		infer_one(m, loop, only);
		if (m->loops[loop].length > 0 && m->same[loop] == FLOW_NO_LOOP)
			loop_copies_find(m, loop);
	}
}

/* ---------------------------------------------------------------- */

static int read_methods(struct loop_mapping *m)
{
	const struct code_image *image = m->native->image;

	m->methods = calloc(image->method_count + 1, sizeof(m->methods[0]));
	if (!m->methods)
		return -ENOMEM;
	for (size_t i = 0; i < image->method_count; i++) {
		const struct code_method *method = &image->methods[i];
		int rc;

		if (method->bytecode_bytes == 0)
			continue;
		rc = bytecode_read(&m->methods[i], image->bytecodes + method->bytecode,
				   method->bytecode_bytes);
		if (rc == -ENOMEM)
			return rc;
	}
	return 0;
}

static int map(struct loop_mapping *m)
{
	const struct native_code *n = m->native;
	const struct flow_graph *g = n->graph;
	struct common *own = calloc(g->loop_count, sizeof(own[0]));
	struct common *traps = calloc(g->loop_count, sizeof(traps[0]));
	int rc = own && traps ? 0 : -ENOMEM;

	for (size_t r = 0; r < n->image->record_count && rc == 0; r++) {
		const struct code_record *record = &n->image->records[r];
		uint16_t b = block_of(n, record);

		find_path(m, record, &m->places[r]);
		if (g->rank[b] != FLOW_NO_BLOCK && g->loop[b] != FLOW_NO_LOOP)
			meet(&own[g->loop[b]], &m->places[r]);
	}
	if (rc == 0) {
		meet_traps(m, traps);
		rc = settle_all(m, own, traps);
	}
	if (rc == 0)
		infer(m);
	free(own);
	free(traps);
	return rc;
}

int loop_mapping_make(struct loop_mapping *m, const struct native_code *n,
		      const struct loop_hint *hints)
{
	int rc;

	*m = (struct loop_mapping){.native = n, .hints = hints};
	m->places = calloc(n->image->record_count + 1, sizeof(m->places[0]));
	m->loops = calloc(n->graph->loop_count + 1, sizeof(m->loops[0]));
	m->same = calloc(n->graph->loop_count + 1, sizeof(m->same[0]));
	rc = m->places && m->loops && m->same ? read_methods(m) : -ENOMEM;
	if (rc == 0)
		rc = map(m);
	if (rc < 0)
		loop_mapping_release(m);
	return rc;
}

void loop_mapping_release(struct loop_mapping *m)
{
	for (size_t i = 0; m->methods && i < m->native->image->method_count; i++)
		bytecode_release(&m->methods[i]);
	free(m->methods);
	free(m->places);
	free(m->loops);
	free(m->same);
	*m = (struct loop_mapping){0};
}

const struct bytecode_loop *loop_mapping_find(const struct loop_mapping *m, unsigned loop,
					      uint32_t *method)
{
	const struct loop_path *path = &m->loops[loop];
	const struct mapped_step *last;

	if (path->length == 0)
		return NULL;
	last = &path->steps[path->length - 1];
	*method = last->method;
	return &m->methods[last->method].loops[last->loop];
}
