#include "profile/attribution/nearby.h"

#include <stdlib.h>
#include <string.h>

/* Blocks that lead to a trap's call have no branches; more than so many in a row are no stub. */
#define STUB_BLOCKS_MAX 4u

static bool place_of_record(const struct native_code *n, const struct instances *s, uint32_t offset,
			    struct instance_place *place)
{
	const struct code_record *r = native_record_at(n, offset);

	if (!r)
		return false;
	*place = s->records[r - n->image->records];
	return place->instance != INSTANCE_NONE;
}

static uint32_t end_of(const struct native_insn *insn)
{
	return insn->offset + insn->does.code.length;
}

/* The call of the uncommon trap that block b leads to for good, and its request; NULL: to none. */
static const struct native_insn *trap_of(const struct native_code *n, uint16_t b, int32_t *request)
{
	*request = 0;
	for (unsigned steps = 0; steps < STUB_BLOCKS_MAX && b != FLOW_NO_BLOCK && n->cold[b];
	     steps++) {
		for (uint32_t k = n->first_insn[b]; k < n->first_insn[b + 1]; k++) {
			const struct native_insn *insn = &n->insns[k];
			const uint8_t *bytes = n->image->bytes + insn->offset;

			if (flow_is_trap_request(bytes, insn->does.code.length))
				memcpy(request, bytes + 1, sizeof(*request));
			if (insn->call)
				return insn->call == NATIVE_CALL_ENDS ? insn : NULL;
		}
		b = native_only_successor(n, b);
	}
	return NULL;
}

/* Its request has the reason behind the action's three bits, inverted. */
static bool is_for_loop(const struct code_image *image, int32_t request)
{
	unsigned reason = (unsigned)(~request >> 3) & 31;

	return request < 0 && (image->loop_traps >> reason & 1);
}

/* The place of the branch that ends block b is that of the trap that it guards. */
static bool place_of_guard(const struct native_code *n, const struct instances *s, uint16_t b,
			   struct instance_place *place)
{
	uint32_t cursor = 0;
	uint16_t next;

	while ((next = flow_successor(n->graph, b, &cursor)) != FLOW_NO_BLOCK) {
		int32_t request;
		const struct native_insn *call = trap_of(n, next, &request);

		if (call && !is_for_loop(n->image, request) &&
		    place_of_record(n, s, end_of(call), place))
			return true;
	}
	return false;
}

bool nearby_null_check(const struct native_code *n, const struct instances *s, uint32_t offset,
		       struct instance_place *place)
{
	const struct code_null_check *check = code_image_null_check(n->image, offset);
	const struct native_insn *call;
	int32_t request;

	if (!check)
		return false;
	call = trap_of(n, flow_block_at(n->graph, check->continuation), &request);
	return call && call->offset >= check->continuation &&
	       place_of_record(n, s, end_of(call), place);
}

/* Where an instruction polls it has a record of its own. */
static bool is_poll(const struct native_code *n, const struct native_insn *insn)
{
	return !insn->call && native_tests_memory(n, insn);
}

static bool point_of(const struct native_code *n, const struct instances *s, uint16_t b, size_t at,
		     struct instance_place *place)
{
	const struct native_insn *insn = &n->insns[at];

	if (insn->call)
		return insn->call != NATIVE_CALL_ENDS && place_of_record(n, s, end_of(insn), place);
	if (is_poll(n, insn) && place_of_record(n, s, insn->offset, place))
		return true;
	if (insn->branches)
		return place_of_guard(n, s, b, place);
	return nearby_null_check(n, s, insn->offset, place);
}

void nearby_records(const struct native_code *n, bool safepoints_only, bool *usable, bool *called)
{
	for (size_t i = 0; i < n->image->record_count; i++) {
		uint32_t offset = n->image->records[i].offset;
		const struct native_insn *before = native_insn_before(n, offset);
		const struct native_insn *at = native_insn_at(n, offset);

		called[i] = before && before->call == NATIVE_CALL;
		usable[i] = !safepoints_only || !n->dense || (before && before->call) ||
			    (at && is_poll(n, at));
	}
}

/* ---------------------------------------------------------------- on the way */

/* Breadth first, an instruction at a time. */
struct nearby_search {
	const struct native_code *n;
	const struct instances *s;
	uint16_t *blocks;              /* by instruction: whose it is */
	struct instance_place *points; /* likewise: what it is; INSTANCE_NONE: no point */
	bool cold;                     /* it begins in what leads out */
	uint32_t turn;
	uint32_t queue[NEARBY_STEPS_MAX];
	unsigned head, tail;
	uint32_t seen[]; /* by instruction: in this turn, the last time */
};

static void find_points(struct nearby_search *w)
{
	const struct native_code *n = w->n;

	for (size_t i = 0; i < n->insn_count; i++) {
		w->blocks[i] = flow_block_at(n->graph, n->insns[i].offset);
		if (!point_of(n, w->s, w->blocks[i], i, &w->points[i]))
			w->points[i].instance = INSTANCE_NONE;
	}
}

struct nearby_search *nearby_search_new(const struct native_code *n, const struct instances *s)
{
	struct nearby_search *w = calloc(1, sizeof(*w) + n->insn_count * sizeof(w->seen[0]));

	if (!w)
		return NULL;
	*w = (struct nearby_search){.n = n, .s = s};
	w->blocks = calloc(n->insn_count + 1, sizeof(*w->blocks));
	w->points = calloc(n->insn_count + 1, sizeof(*w->points));
	if (!w->blocks || !w->points) {
		nearby_search_free(w);
		return NULL;
	}
	find_points(w);
	return w;
}

void nearby_search_free(struct nearby_search *w)
{
	if (!w)
		return;
	free(w->blocks);
	free(w->points);
	free(w);
}

static void go_to(struct nearby_search *w, uint32_t at)
{
	if (w->seen[at] == w->turn || w->tail == NEARBY_STEPS_MAX)
		return;
	w->seen[at] = w->turn;
	w->queue[w->tail++] = at;
}

static bool is_way(const struct nearby_search *w, uint16_t b)
{
	const struct native_code *n = w->n;

	return b != FLOW_ROOT && n->graph->rank[b] != FLOW_NO_BLOCK && (w->cold || !n->cold[b]) &&
	       n->first_insn[b + 1] > n->first_insn[b];
}

static void go_back(struct nearby_search *w, uint16_t b, uint32_t at)
{
	const struct flow_graph *g = w->n->graph;

	if (at > w->n->first_insn[b]) {
		go_to(w, at - 1);
		return;
	}
	for (unsigned e = g->first_edge[b]; e < g->first_edge[b + 1]; e++)
		if (is_way(w, g->edges[e]))
			go_to(w, w->n->first_insn[g->edges[e] + 1] - 1);
}

static void go_on(struct nearby_search *w, uint16_t b, uint32_t at)
{
	uint32_t cursor = 0;
	uint16_t next;

	if (at + 1 < w->n->first_insn[b + 1]) {
		go_to(w, at + 1);
		return;
	}
	while ((next = flow_successor(w->n->graph, b, &cursor)) != FLOW_NO_BLOCK)
		if (is_way(w, next))
			go_to(w, w->n->first_insn[next]);
}

static void search(struct nearby_search *w, size_t from, struct nearby_points *found,
		   void (*step)(struct nearby_search *, uint16_t, uint32_t))
{
	w->head = w->tail = 0;
	w->seen[from] = ++w->turn;
	step(w, w->blocks[from], (uint32_t)from);
	while (w->head < w->tail && found->count < NEARBY_POINTS) {
		uint32_t at = w->queue[w->head++];

		if (w->points[at].instance != INSTANCE_NONE)
			found->points[found->count++] = w->points[at];
		step(w, w->blocks[at], at);
	}
}

void nearby_find(struct nearby_search *w, size_t at, struct nearby_points *before,
		 struct nearby_points *behind)
{
	uint32_t offset = w->n->insns[at].offset;

	w->cold = w->n->cold[w->blocks[at]];
	*before = *behind = (struct nearby_points){0};
	if (nearby_null_check(w->n, w->s, offset, &before->points[0]))
		before->count++;
	search(w, at, before, go_back);
	search(w, at, behind, go_on);
}
