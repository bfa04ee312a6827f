#include "profile/loops/loop_mapping.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "common/mix.h"

/* ---------------------------------------------------------------- paths */

/* Loops at a bci, outermost first. */
static void add_loops(struct loop_path *path, const struct bytecode *b,
		      const struct code_frame *frame, uint64_t calls)
{
	uint32_t loops[BYTECODE_DEPTH_MAX];
	unsigned depth = 0;

	for (uint32_t l = bytecode_loop_at(b, frame->bci);
	     b->loops && l != BYTECODE_NO_LOOP && depth < BYTECODE_DEPTH_MAX;
	     l = b->loops[l].parent)
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

/* The block that a record tells of: behind a call it tells of the call, and in dense code of what
 * ends there, unless it is a poll's. The branch that ends a block often belongs to no bytecode, and
 * what is said of it is of another loop: nothing, then. */
static uint16_t block_of(const struct native_code *n, const struct code_record *record)
{
	const struct native_insn *before = native_insn_before(n, record->offset);
	const struct native_insn *at = native_insn_at(n, record->offset);
	bool ends = n->dense && !(at && native_polls(n, at));
	bool behind = before && (ends || before->call);
	uint32_t offset = behind ? before->offset : record->offset;
	uint16_t b = offset < n->image->size ? flow_block_at(n->graph, offset) : FLOW_ROOT;

	if (behind && !before->call && flow_block_at(n->graph, record->offset) != b)
		return FLOW_ROOT;
	return b;
}

/* ZGC without barriers of its own kind (JDK 11 to 13) tests what was loaded by a word of the
 * thread; the record of that is of any place. */
static bool is_of_barrier(const struct native_code *n, const struct code_record *record)
{
	const struct native_insn *insn = native_insn_at(n, record->offset);

	return insn && insn->does.code.memory.base == R15 && native_tests_memory(n, insn);
}

static bool only_loops_lead_to(const struct flow_graph *g, uint16_t b)
{
	for (unsigned e = g->first_edge[b]; e < g->first_edge[b + 1]; e++)
		if (g->rank[g->edges[e]] != FLOW_NO_BLOCK && g->loop[g->edges[e]] == FLOW_NO_LOOP)
			return false;
	return true;
}

static const struct loop_path *path_behind(const struct loop_mapping *m,
					   const struct native_insn *call)
{
	const struct code_record *r =
	    native_record_at(m->native, call->offset + call->does.code.length);

	return r ? &m->places[r - m->native->image->records] : NULL;
}

/* A trap that only blocks of loops lead to. What others lead to as well may be a trap of what comes
 * behind the loop. */
static const struct loop_path *trap_behind(const struct loop_mapping *m, uint16_t b)
{
	const struct native_code *n = m->native;

	if (!only_loops_lead_to(n->graph, b))
		return NULL;
	for (unsigned steps = 0; steps < 4 && b != FLOW_NO_BLOCK && n->cold[b]; steps++) {
		for (uint32_t k = n->first_insn[b]; k < n->first_insn[b + 1]; k++) {
			const struct native_insn *insn = &n->insns[k];

			if (insn->call)
				return insn->call == NATIVE_CALL_ENDS ? path_behind(m, insn) : NULL;
		}
		b = native_only_successor(n, b);
	}
	return NULL;
}

/* Traps that the loop's own blocks lead to. */
static void meet_traps(const struct loop_mapping *m, struct loop_common *traps)
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
				loop_common_meet(&traps[g->loop[b]], path);
		}
	}
}

static unsigned back_edges(const struct native_code *n, unsigned loop)
{
	const struct flow_graph *g = n->graph;
	uint16_t header = g->headers[loop];
	unsigned count = 0;

	for (unsigned e = g->first_edge[header]; e < g->first_edge[header + 1]; e++)
		count +=
		    g->rank[g->edges[e]] != FLOW_NO_BLOCK && native_in_loop(n, g->edges[e], loop);
	return count;
}

static bool polls(const struct native_code *n, const struct code_record *record)
{
	const struct native_insn *insn = native_insn_at(n, record->offset);

	return insn && native_tests_memory(n, insn);
}

/* Is it the poll of a loop, where that turns back? */
static bool turns_back(const struct loop_mapping *m, const struct code_record *record)
{
	const struct loop_path *path = &m->places[record - m->native->image->records];
	const struct code_frame *frame = &m->native->image->frames[record->first_frame];
	const struct mapped_step *last = &path->steps[path->length ? path->length - 1 : 0];
	const struct bytecode_loop *loops;

	if (path->length == 0 || last->method != frame->method)
		return false;
	loops = m->methods[last->method].loops;
	return loops && loops[last->loop].latch_bci == frame->bci && polls(m->native, record);
}

/* The loop that alone leads to a block, and lies where that does; FLOW_NO_LOOP: none. */
static unsigned loop_before(const struct flow_graph *g, uint16_t b)
{
	unsigned loop = FLOW_NO_LOOP;

	for (unsigned e = g->first_edge[b]; e < g->first_edge[b + 1]; e++) {
		uint16_t from = g->edges[e];

		if (g->rank[from] == FLOW_NO_BLOCK)
			continue;
		if (g->loop[from] == FLOW_NO_LOOP || g->parents[g->loop[from]] != g->loop[b] ||
		    (loop != FLOW_NO_LOOP && loop != g->loop[from]))
			return FLOW_NO_LOOP;
		loop = g->loop[from];
	}
	return loop;
}

/* What only polls around a loop that is over in one of its turns is no loop: the poll is left, and
 * lies behind. */
static void find_behind(struct loop_mapping *m, const struct code_record *record, uint16_t b)
{
	unsigned loop = loop_before(m->native->graph, b);

	if (loop != FLOW_NO_LOOP && turns_back(m, record))
		m->behind[loop] = m->places[record - m->native->image->records];
}

/* A loop polls where it turns back. Several loops of the bytecodes are one of the graph when they
 * have one header, and what only polls around a loop is one of the graph of its own. */
static void find_turns(struct loop_mapping *m, const struct code_record *record, unsigned loop)
{
	const struct loop_path *path = &m->places[record - m->native->image->records];

	if (path->length > m->turns[loop].length && turns_back(m, record))
		m->turns[loop] = *path;
}

/* ---------------------------------------------------------------- loops */

/* What is known of the loops straight inside one. */
struct inside {
	struct loop_common paths;
	unsigned all;       /* but for what compilers write out for one node */
	unsigned count;     /* that are known */
	unsigned outermost; /* of those: of the bytecodes' loops */
	unsigned insns;     /* of all */
	bool anew;          /* that are not known, and begin anew in each turn */
	bool others;        /* that are not known, and are none that it only polls around */
};

/* C2 puts a loop around a long one that does nothing but poll: both have the same turns. */
static bool only_polls(const struct loop_mapping *m, unsigned loop, const struct inside *in)
{
	return in->count == 1 && in->all <= 1 && !in->others &&
	       m->hints[in->outermost].begins != LOOP_BEGINS_ANEW &&
	       native_loop_insns(m->native, loop) - in->insns <= LOOP_OUTER_INSNS_MAX;
}

static bool is_innermost(struct loop_mapping *m, const struct loop_path *path)
{
	struct loop_choice c = {0};

	loop_choose_inside(m, path, &c);
	return c.count == 0;
}

/* Loops in it are further in than what tells of them, which is the loop around them. */
static void forget_inside(struct loop_mapping *m, unsigned loop)
{
	for (unsigned inner = 1; inner < loop; inner++)
		if (m->native->graph->parents[inner] == loop &&
		    loop_path_same(&m->loops[inner], &m->loops[loop]))
			m->loops[inner].length = 0;
}

/* A loop around others is not the same as one of them, unless it does next to nothing beside it, or
 * there is no other that it could be. */
static void settle(struct loop_mapping *m, unsigned loop, struct loop_common *own,
		   const struct inside *in)
{
	struct loop_path *path = &m->loops[loop];
	bool told = own->any && own->path.length > 0;

	if (!in->paths.any) {
		*path = own->path;
		/* What tells of it may be of a loop in it that has nothing of its own. */
		if (in->others && path->length > 1 && !loop_path_same(path, &m->turns[loop]) &&
		    is_innermost(m, path))
			path->length = in->anew ? path->length - 1 : 0;
		return;
	}
	if (only_polls(m, loop, in) && loop_path_same(&m->turns[loop], &in->paths.path)) {
		*path = in->paths.path;
		m->same[loop] = in->outermost;
		return;
	}
	loop_common_meet(own, &in->paths.path);
	*path = own->path;
	if (path->length < m->loops[in->outermost].length)
		return;
	/* It would be the loop that is in it. */
	if (told && only_polls(m, loop, in))
		m->same[loop] = in->outermost;
	else if (told && loop_path_same(path, &m->turns[loop]))
		forget_inside(m, loop);
	else if (path->length > 1)
		path->length--;
	else if (told && is_innermost(m, path))
		m->same[loop] = in->outermost;
	else
		/* That is one further in, and told by its traps. */
		forget_inside(m, loop);
}

static int settle_all(struct loop_mapping *m, struct loop_common *own,
		      const struct loop_common *traps)
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
			loop_common_meet(&own[loop], &traps[loop].path);
		settle(m, loop, &own[loop], &in[loop]);
		around->insns += native_loop_insns(n, loop);
		around->all += native_loop_insns(n, loop) > LOOP_FILLING_INSNS_MAX;
		around->anew |=
		    m->loops[loop].length == 0 && m->hints[loop].begins == LOOP_BEGINS_ANEW;
		around->others |=
		    m->loops[loop].length == 0 && m->hints[loop].begins != LOOP_BEGINS_AGAIN;
		if (m->loops[loop].length == 0 || g->parents[loop] == FLOW_NO_LOOP)
			continue;
		loop_common_meet(&around->paths, &m->loops[loop]);
		if (around->count++ == 0 ||
		    m->loops[loop].length <= m->loops[around->outermost].length)
			around->outermost = loop;
	}
	for (unsigned loop = 1; loop < g->loop_count; loop++)
		if (back_edges(n, loop) < 2)
			m->turns[loop].length = 0;
	free(in);
	return in ? 0 : -ENOMEM;
}

/* ---------------------------------------------------------------- what is around a loop for it */

/* Meets the records of each block, and of traps straight behind it. */
static void meet_told(const struct loop_mapping *m, struct loop_common *told)
{
	const struct native_code *n = m->native;
	const struct flow_graph *g = n->graph;

	for (size_t r = 0; r < n->image->record_count; r++)
		if (!is_of_barrier(n, &n->image->records[r]))
			loop_common_meet(&told[block_of(n, &n->image->records[r])], &m->places[r]);
	for (unsigned b = 1; b < g->block_count; b++) {
		uint32_t cursor = 0;
		uint16_t next;

		while (g->rank[b] != FLOW_NO_BLOCK &&
		       (next = flow_successor(g, (uint16_t)b, &cursor)) != FLOW_NO_BLOCK) {
			const struct loop_path *path = trap_behind(m, next);

			if (path)
				loop_common_meet(&told[b], path);
		}
	}
}

static int find_work(struct loop_mapping *m)
{
	struct loop_common *told = calloc(m->native->graph->block_count, sizeof(told[0]));

	if (!told)
		return -ENOMEM;
	meet_told(m, told);
	loop_inference_work(m, told);
	free(told);
	return 0;
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
	struct loop_common *own = calloc(g->loop_count, sizeof(own[0]));
	struct loop_common *traps = calloc(g->loop_count, sizeof(traps[0]));
	int rc = own && traps ? 0 : -ENOMEM;

	for (size_t r = 0; r < n->image->record_count && rc == 0; r++) {
		const struct code_record *record = &n->image->records[r];
		uint16_t b = block_of(n, record);

		find_path(m, record, &m->places[r]);
		if (g->rank[b] == FLOW_NO_BLOCK || is_of_barrier(n, record))
			continue;
		find_behind(m, record, b);
		if (g->loop[b] == FLOW_NO_LOOP)
			continue;
		loop_common_meet(&own[g->loop[b]], &m->places[r]);
		find_turns(m, record, g->loop[b]);
	}
	if (rc == 0) {
		meet_traps(m, traps);
		rc = settle_all(m, own, traps);
	}
	free(own);
	free(traps);
	if (rc < 0)
		return rc;
	loop_inference_run(m);
	return find_work(m);
}

int loop_mapping_make(struct loop_mapping *m, const struct native_code *n,
		      const struct loop_hint *hints)
{
	int rc;

	*m = (struct loop_mapping){.native = n, .hints = hints};
	m->places = calloc(n->image->record_count + 1, sizeof(m->places[0]));
	m->loops = calloc(n->graph->loop_count + 1, sizeof(m->loops[0]));
	m->turns = calloc(n->graph->loop_count + 1, sizeof(m->turns[0]));
	m->same = calloc(n->graph->loop_count + 1, sizeof(m->same[0]));
	m->behind = calloc(n->graph->loop_count + 1, sizeof(m->behind[0]));
	m->works_for = calloc(n->graph->block_count + 1, sizeof(m->works_for[0]));
	rc = m->places && m->loops && m->turns && m->behind && m->same && m->works_for
		 ? read_methods(m)
		 : -ENOMEM;
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
	free(m->turns);
	free(m->behind);
	free(m->same);
	free(m->works_for);
	*m = (struct loop_mapping){0};
}
