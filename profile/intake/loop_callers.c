#include "profile/intake/loop_session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/cleanup.h"
#include "profile/reach/loop_bodies.h"

/* Before so many ticks contexts say little. */
#define TICKS_MIN 50u

/* What a frame further from the ticks is worth: there are many frames between a thread's first and
 * those that do the work, and all of them call what takes all of the time. */
#define FURTHER 0.75

int loop_session_node(struct loop_session *in, uint32_t node, uint32_t method)
{
	int r;

	if (node <= in->node_method_count) {
		in->node_methods[node - 1] = method;
		return 0;
	}
	r = array_reserve(&in->node_methods, &in->node_method_capacity, node,
			  sizeof(*in->node_methods));
	if (r < 0)
		return r;
	memset(in->node_methods + in->node_method_count, 0,
	       (node - in->node_method_count) * sizeof(*in->node_methods));
	in->node_methods[node - 1] = method;
	in->node_method_count = node;
	return 0;
}

/* ---------------------------------------------------------------- methods to ask for */

struct caller_candidate {
	uint32_t method; /* the agent's id */
	struct cpu_sum called;
	double score;
};

/* One of each method as it was announced. */
struct caller_candidates {
	struct caller_candidate *list;
	struct cpu_sum *all, *near; /* by node */
};

static void candidates_release(struct caller_candidates *c)
{
	free(c->list);
	free(c->all);
	free(c->near);
}

static void add_nodes(const struct loop_session *in, struct caller_candidates *c)
{
	const struct cct *t = &in->result->profile.cct;

	for (size_t i = 0; i < t->node_count && i < in->node_method_count; i++) {
		uint32_t position;

		if (t->nodes[i].tier != JXP__TIER__TIER_JIT || c->all[i].samples == 0 ||
		    !method_intake_find(in->methods, in->node_methods[i], &position))
			continue;
		c->list[position].method = in->node_methods[i];
		cpu_sum_add(&c->list[position].called, &c->all[i], 1);
		c->list[position].score += c->near[i].ns;
	}
}

static bool is_known(const struct loop_session *in, uint32_t method, uint32_t position)
{
	for (size_t i = 0; i < in->caller_count; i++)
		if (in->callers[i].method == method)
			return true;
	for (size_t i = 0; i < in->code_count; i++) {
		const struct loop_code *code = &in->codes[i];

		if (code->names && code->is.announced[code->method] == position)
			return true;
	}
	return false;
}

/* The one with the highest score that may be asked for; NULL: none. */
static struct caller_candidate *best_of(const struct loop_session *in,
					const struct caller_candidates *c)
{
	double all_ns = cpu_profile_all(&in->result->cpu).ns;
	struct caller_candidate *best = NULL;

	for (size_t i = 0; i < in->methods->announced_count; i++) {
		struct caller_candidate *one = &c->list[i];

		if (one->called.samples >= LOOP_HUNT_SAMPLES &&
		    one->called.ns >= LOOP_HUNT_SHARE * all_ns &&
		    (!best || one->score > best->score) && !is_known(in, one->method, (uint32_t)i))
			best = one;
	}
	return best;
}

static bool may_ask(const struct loop_session *in)
{
	return in->caller_count < LOOP_CALLERS_MAX && in->caller_images < LOOP_CALLER_IMAGES_MAX &&
	       in->requests.open < CODES_OPEN_MAX && in->requests.asked < LIMIT_CODES;
}

static int ask(struct loop_session *in, uint32_t methods[CODES_OPEN_MAX])
{
	const struct cct *t = &in->result->profile.cct;
	_cleanup_(candidates_release) struct caller_candidates c = {0};
	struct caller_candidate *best;
	int count = 0;

	c.list = calloc(in->methods->announced_count + 1, sizeof(*c.list));
	c.all = loop_reach_called(t, &in->result->cpu, 1);
	c.near = loop_reach_called(t, &in->result->cpu, FURTHER);
	if (!c.list || !c.all || !c.near)
		return -ENOMEM;
	add_nodes(in, &c);
	while (may_ask(in) && (best = best_of(in, &c))) {
		in->callers[in->caller_count++] = (struct loop_caller){best->method, true};
		methods[count++] = best->method;
		in->requests.asked++;
		in->requests.open++;
	}
	return count;
}

int loop_callers_ask(struct loop_session *in, uint32_t methods[CODES_OPEN_MAX], bool *looked)
{
	uint64_t samples = cpu_profile_all(&in->result->cpu).samples;

	*looked = samples >= TICKS_MIN && samples >= in->callers_next;
	if (!*looked)
		return 0;
	in->callers_next = samples + samples / 4;
	return may_ask(in) ? ask(in, methods) : 0;
}

/* ---------------------------------------------------------------- rows */

/* A loop of code that is known. */
struct native {
	struct loop_code *code;
	uint32_t loop;
};

static int by_number(const void *x, const void *y)
{
	const struct native *a = x, *b = y;

	return ORDER(ASCENDING(a->code->is.number, b->code->is.number),
		     ASCENDING(a->loop, b->loop));
}

/* Those that are mapped, older code first; an array to be freed, NULL without memory. */
static struct native *find_natives(struct loop_session *in, size_t *count)
{
	struct native *list;
	size_t all = 0;

	*count = 0;
	for (size_t i = 0; i < in->code_count; i++)
		if (in->codes[i].is.state == CODE_KNOWN)
			all += in->codes[i].analysis.loop_count;
	list = calloc(all + 1, sizeof(*list));
	for (size_t i = 0; list && i < in->code_count; i++) {
		struct loop_code *code = &in->codes[i];

		for (uint32_t j = 0; code->is.state == CODE_KNOWN && j < code->analysis.loop_count;
		     j++)
			if (code->analysis.loops[j].mapped)
				list[(*count)++] = (struct native){code, j};
	}
	if (list && *count > 0)
		qsort(list, *count, sizeof(*list), by_number);
	return list;
}

/* Where no ticks have come in a loop its type is that of the last code that is known. */
static void set_type(struct loop *row, const struct code_loop *l, double ns)
{
	if (row->within.samples > 0)
		return;
	memset(row->type_ns, 0, sizeof(row->type_ns));
	memset(row->doubt_ns, 0, sizeof(row->doubt_ns));
	row->type_ns[l->type < LOOP_TYPES ? l->type : LOOP_TYPE_UNKNOWN] = ns;
	memset(row->effect_ns, 0, sizeof(row->effect_ns));
	row->effect_ns[l->effect < LOOP_EFFECTS ? l->effect : LOOP_EFFECT_GROWS] = ns;
	for (unsigned i = 0; i < LOOP_DOUBTS; i++)
		if (l->doubts >> i & 1)
			row->doubt_ns[i] = ns;
}

/* By the CPU time in what it calls. */
static int add_row(struct loop_session *in, const struct native *n, const struct cpu_sum *called)
{
	const struct cpu_sum all = cpu_profile_all(&in->result->cpu);
	struct code_loop *loop = &n->code->analysis.loops[n->loop];
	double within = loop->row == LOOP_NO_ROW ? 0 : in->result->loops.rows[loop->row].within.ns;
	uint32_t row;
	int r;

	if (called->samples < LOOP_HUNT_SAMPLES || called->ns - within < LOOP_HUNT_SHARE * all.ns)
		return 0;
	r = loop_session_row(in, n->code, n->loop, &row);
	if (r < 0 || row == LOOP_NO_ROW)
		return r;
	loop->calls = true;
	set_type(&in->result->loops.rows[row], &n->code->analysis.loops[n->loop], called->ns);
	return 0;
}

/* bodies: with indices of natives. */
static int find_bodies(const struct loop_session *in, const struct native *natives, size_t count,
		       struct loop_bodies *bodies)
{
	struct loop_body *list = calloc(count + 1, sizeof(*list));
	size_t named = 0;

	if (!list)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		const struct native *n = &natives[i];
		const struct code_loop *l = &n->code->analysis.loops[n->loop];

		list[named] = (struct loop_body){loop_session_key(in, n->code, l), l->latch_bci, i};
		named += list[named].key.method != 0;
	}
	loop_bodies_init(bodies, list, named);
	return 0;
}

int loop_callers_rows(struct loop_session *in)
{
	size_t count;
	_cleanup_free_ struct native *natives = find_natives(in, &count);
	_cleanup_free_ struct loop_reach *reach = calloc(count + 1, sizeof(*reach));
	_cleanup_(loop_bodies_release) struct loop_bodies bodies = {0};
	int r = natives && reach ? 0 : -ENOMEM;

	if (r < 0 || count == 0)
		return r;
	r = find_bodies(in, natives, count, &bodies);
	if (r == 0)
		r = loop_bodies_reach(&bodies, &in->result->profile.cct, &in->result->cpu, reach);
	for (size_t i = 0; r == 0 && i < bodies.count; i++)
		r = add_row(in, &natives[bodies.bodies[i].id], &reach[i].called);
	return r;
}
