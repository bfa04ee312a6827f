#include "profile/loops/loop_reading.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"

#define PASSES_MAX 8u
#define FRONT_MAX  4u /* blocks, one in front of the other */
#define BEHIND_MAX 4u /* likewise */

/* How far a location is from where the counter stood when the turn began, or: */
#define OTHER INT32_MIN /* it does not hold the counter */

/* At the beginning of a block. */
struct state {
	int32_t at[NATIVE_LOCATIONS];
	bool reached;
	int32_t low, high; /* turns that are made and not in the counter */
};

enum { APART, MEMBER, BETWEEN, EXIT };

struct reading_search {
	const struct loop_reading_code *code;
	const struct native_code *n;
	const struct flow_graph *g;
	unsigned loop;
	unsigned around;  /* the loop that the copies lie in */
	int64_t unit;     /* of the counter, for one turn */
	uint8_t *role;    /* by block: of the above */
	struct state *in; /* by block */
	bool *members;    /* by loop: copies */
	bool broken;
	uint16_t front; /* block that all ways in lead through */
	uint16_t begin; /* that, or one before it: the counter is read in there */
};

/* ---------------------------------------------------------------- copies */

static bool is_copy(const struct reading_search *s, unsigned loop)
{
	const struct loop_path *paths = s->code->mapping->loops;

	return paths[loop].length > 0 && loop_path_same(&paths[loop], &paths[s->loop]);
}

/* The outermost of copies that lie in each other. */
static unsigned outermost(const struct reading_search *s, unsigned loop)
{
	while (s->g->parents[loop] != FLOW_NO_LOOP && is_copy(s, s->g->parents[loop]))
		loop = s->g->parents[loop];
	return loop;
}

/* One that lies around another one only polls, and has that one's counter. */
static unsigned counting(const struct reading_search *s, unsigned loop)
{
	for (unsigned i = 1; i < loop; i++)
		if (s->members[i] && s->g->parents[i] == loop)
			return counting(s, i);
	return loop;
}

static int counter_of(const struct reading_search *s, unsigned loop)
{
	return s->code->found[counting(s, loop)].counter;
}

/* By how much a turn of the machine code's loop steps it. */
static int64_t step_of(const struct reading_search *s, unsigned loop)
{
	return counting(s, loop) == loop ? s->code->found[loop].counter_step : 0;
}

/* Is it stepped by the same for each turn of the bytecodes? */
static bool take_unit(struct reading_search *s, unsigned loop)
{
	const struct result_sites *found = &s->code->found[loop];
	int64_t turns = s->code->unroll[loop];

	if (counting(s, loop) != loop)
		return true;
	if (found->counter < 0 || found->counter_step == 0 || turns == 0 ||
	    found->counter_step % turns != 0)
		return false;
	if (s->unit != 0 && s->unit != found->counter_step / turns)
		return false;
	s->unit = found->counter_step / turns;
	return true;
}

static bool take_members(struct reading_search *s)
{
	s->around = s->g->parents[outermost(s, s->loop)];
	for (unsigned i = 1; i < s->g->loop_count; i++)
		s->members[i] = is_copy(s, i) && s->g->parents[outermost(s, i)] == s->around;
	for (unsigned i = 1; i < s->g->loop_count; i++)
		if (s->members[i] && !take_unit(s, i))
			return false;
	return s->unit != 0 && s->members[s->loop];
}

/* The innermost copy that a block lies in, or FLOW_NO_LOOP. */
static unsigned member_at(const struct reading_search *s, uint16_t b)
{
	unsigned loop = s->g->loop[b];

	while (loop != FLOW_NO_LOOP && !s->members[loop])
		loop = s->g->parents[loop];
	return loop;
}

/* ---------------------------------------------------------------- the region */

static bool is_stop(const struct reading_search *s, uint16_t b)
{
	return s->around != FLOW_NO_LOOP && s->g->headers[s->around] == b;
}

/* What leads from one copy to another. Marks what copies lead to, in order, and takes it back
 * against the order where no copy follows. */
static void find_between(struct reading_search *s)
{
	const struct flow_graph *g = s->g;
	uint16_t next;

	for (unsigned i = g->ordered; i < g->block_count; i++) {
		uint16_t b = g->order[i];
		uint32_t cursor = 0;

		if (s->role[b] == APART || s->n->cold[b])
			continue;
		while ((next = flow_successor(g, b, &cursor)) != FLOW_NO_BLOCK)
			if (s->role[next] == APART && !is_stop(s, next))
				s->role[next] = BETWEEN;
	}
	for (unsigned i = g->block_count; i-- > g->ordered;) {
		uint16_t b = g->order[i];
		uint32_t cursor = 0;
		bool leads = false;

		if (s->role[b] != BETWEEN)
			continue;
		while ((next = flow_successor(g, b, &cursor)) != FLOW_NO_BLOCK)
			leads |= s->role[next] == MEMBER ||
				 (s->role[next] == BETWEEN && g->rank[next] > g->rank[b]);
		if (!leads)
			s->role[b] = APART;
		else if (g->loop[b] != s->around)
			s->broken = true; /* Something else is done between them. */
	}
}

static bool is_inside(const struct reading_search *s, uint16_t b)
{
	return s->role[b] == MEMBER || s->role[b] == BETWEEN;
}

static unsigned find_exits(struct reading_search *s)
{
	unsigned count = 0;

	for (unsigned b = 1; b < s->g->block_count; b++) {
		uint32_t cursor = 0;
		uint16_t next;

		if (s->g->rank[b] == FLOW_NO_BLOCK || !is_inside(s, (uint16_t)b))
			continue;
		while ((next = flow_successor(s->g, (uint16_t)b, &cursor)) != FLOW_NO_BLOCK) {
			if (s->role[next] != APART || s->n->cold[next])
				continue;
			s->role[next] = EXIT;
			count++;
		}
	}
	return count;
}

/* Does the loop alone lead to it, and does it do so little that it may be waited for behind it? */
static bool may_wait_behind(const struct reading_search *s, uint16_t b)
{
	const struct flow_graph *g = s->g;
	uint32_t cursor = 0;

	if (g->loop[b] != s->around || is_stop(s, b) ||
	    flow_successor(g, b, &cursor) == FLOW_NO_BLOCK)
		return false;
	for (unsigned e = g->first_edge[b]; e < g->first_edge[b + 1]; e++)
		if (g->rank[g->edges[e]] != FLOW_NO_BLOCK && !is_inside(s, g->edges[e]))
			return false;
	for (uint32_t k = s->n->first_insn[b]; k < s->n->first_insn[b + 1]; k++)
		if (s->n->insns[k].call)
			return false;
	return true;
}

/* Each turn that an unrolled search may end in has its own way out, and these meet soon: where
 * there are too many of them, they are followed. How many there are then. */
static unsigned find_few_exits(struct reading_search *s)
{
	unsigned count = find_exits(s);

	for (unsigned i = 0; i < BEHIND_MAX && count > LIMIT_PLAN_ENDS; i++) {
		bool taken = false;

		for (unsigned b = 1; b < s->g->block_count; b++)
			if (s->role[b] == EXIT && may_wait_behind(s, (uint16_t)b)) {
				s->role[b] = BETWEEN;
				taken = true;
			}
		for (unsigned b = 1; b < s->g->block_count; b++)
			if (s->role[b] == EXIT)
				s->role[b] = APART;
		if (!taken)
			break;
		count = find_exits(s);
	}
	return count;
}

/* The nearest block, in a turn of the loop around them, that every way in leads through.
 * FLOW_ROOT: there is none. */
static uint16_t in_front(const struct reading_search *s)
{
	const struct flow_graph *g = s->g;
	uint16_t front = FLOW_NO_BLOCK;

	for (unsigned b = 1; b < g->block_count; b++)
		for (unsigned e = g->first_edge[b]; e < g->first_edge[b + 1]; e++) {
			uint16_t from = g->edges[e];

			if (!is_inside(s, (uint16_t)b) || g->rank[b] == FLOW_NO_BLOCK ||
			    g->rank[from] == FLOW_NO_BLOCK || is_inside(s, from))
				continue;
			if (front == FLOW_NO_BLOCK)
				front = from;
			while (!flow_dominates(g, front, from))
				front = g->dominator[front];
		}
	if (front == FLOW_NO_BLOCK)
		return FLOW_ROOT;
	while (front != FLOW_ROOT && g->loop[front] != s->around)
		front = g->dominator[front];
	return is_inside(s, front) ? (uint16_t)FLOW_ROOT : front;
}

/* ---------------------------------------------------------------- the counter */

static void pass(const struct reading_search *s, uint16_t b, struct state *state)
{
	for (uint32_t k = s->n->first_insn[b]; k < s->n->first_insn[b + 1]; k++) {
		const struct native_insn *insn = &s->n->insns[k];
		struct location_set writes = native_writes(insn);
		unsigned source = native_source(insn);
		int64_t value = source == UINT_MAX ? OTHER : state->at[source];

		if (value != OTHER && insn->does.kind == EFFECT_STEP)
			value += insn->does.immediate;
		if (value > INT32_MAX || value < -INT32_MAX)
			value = OTHER;
		for (unsigned i = 0; i < NATIVE_LOCATIONS; i++)
			if (locations_have(writes, i))
				state->at[i] = (int32_t)value;
	}
}

static bool is_early(const struct result_sites *r, uint16_t from, uint16_t to)
{
	for (unsigned i = 0; i < r->exit_count; i++)
		if (r->exits[i].from == from && r->exits[i].to == to)
			return true;
	return false;
}

/* From the end of from, in the copy, to what is not in it. */
static void leave(const struct reading_search *s, unsigned member, uint16_t from, uint16_t to,
		  struct state *state)
{
	int32_t stands = state->at[counter_of(s, member)];
	int64_t step = step_of(s, member), turns = step / s->unit, made;
	bool known = stands != OTHER && stands % s->unit == 0;

	made = known ? stands / s->unit : -1;
	known &= made >= 0 && made <= turns;
	for (unsigned i = 0; i < NATIVE_LOCATIONS; i++)
		state->at[i] = known && state->at[i] == stands ? 0 : OTHER;
	if (!known || step == 0)
		return;
	if (is_early(&s->code->found[member], from, to)) {
		state->low = made < turns;
		state->high = made < turns ? (int32_t)(turns - made) : 1;
	} else {
		state->low = 0;
		state->high = made < turns ? (int32_t)(turns - made - 1) : 0;
	}
}

/* Into the copy: from outside, or by its latch. */
static void enter(struct reading_search *s, unsigned member, bool again, struct state *state)
{
	int counter = counter_of(s, member);

	s->broken |= state->at[counter] != (again ? step_of(s, member) : 0);
	for (unsigned i = 0; i < NATIVE_LOCATIONS; i++)
		state->at[i] = i == (unsigned)counter ? 0 : OTHER;
	state->low = state->high = 0;
}

/* state: at the end of from; then as it is at the beginning of to. */
static void go(struct reading_search *s, uint16_t from, uint16_t to, struct state *state)
{
	unsigned member;

	for (member = member_at(s, from);
	     member != FLOW_NO_LOOP && s->members[member] && !native_in_loop(s->n, to, member);
	     member = s->g->parents[member])
		leave(s, member, from, to, state);
	member = member_at(s, to);
	if (member != FLOW_NO_LOOP && s->g->headers[member] == to)
		enter(s, member, native_in_loop(s->n, from, member), state);
}

/* True where to is not as before. */
static bool meet(struct state *to, const struct state *from)
{
	bool changed = from->low < to->low || from->high > to->high;

	if (!to->reached) {
		*to = *from;
		return true;
	}
	for (unsigned i = 0; i < NATIVE_LOCATIONS; i++)
		if (to->at[i] != from->at[i]) {
			changed |= to->at[i] != OTHER;
			to->at[i] = OTHER;
		}
	to->low = from->low < to->low ? from->low : to->low;
	to->high = from->high > to->high ? from->high : to->high;
	return changed;
}

/* To all that the end of b leads to. True where something there is not as before. */
static bool spread(struct reading_search *s, uint16_t b, const struct state *leaving)
{
	uint32_t cursor = 0;
	bool changed = false;
	uint16_t next;

	while ((next = flow_successor(s->g, b, &cursor)) != FLOW_NO_BLOCK) {
		struct state state = *leaving;

		if (s->n->cold[next] || next == s->begin ||
		    (is_stop(s, next) && s->role[next] != EXIT))
			continue;
		go(s, b, next, &state);
		changed |= meet(&s->in[next], &state);
	}
	return changed;
}

/* From the end of begin, where nothing but location holds the counter, to where the loop is left.
 * False where it does not go on so. */
static bool follow(struct reading_search *s, unsigned location, unsigned *budget)
{
	const struct flow_graph *g = s->g;
	bool changed = true;

	memset(s->in, 0, g->block_count * sizeof(s->in[0]));
	s->broken = false;
	for (unsigned passes = 0; changed && !s->broken; passes++) {
		struct state state = {.reached = true};

		changed = false;
		for (unsigned i = 0; i < NATIVE_LOCATIONS; i++)
			state.at[i] = i == location ? 0 : OTHER;
		changed |= spread(s, s->begin, &state);
		for (unsigned i = g->ordered; i < g->block_count && !s->broken; i++) {
			uint16_t b = g->order[i];

			if (!s->in[b].reached || s->role[b] == EXIT)
				continue;
			if (*budget == 0 || passes == PASSES_MAX)
				return false;
			--*budget;
			state = s->in[b];
			pass(s, b, &state);
			changed |= spread(s, b, &state);
		}
	}
	return !s->broken;
}

/* ---------------------------------------------------------------- places */

static bool can_be_read(unsigned location)
{
	return location >= NATIVE_REGISTERS ||
	       (location < 16 && location != RSP && location != R12 && location != R15);
}

/* The low half is all that is read: no instance makes so many turns while it is waited for. */
static bool scalar_at(const struct reading_search *s, unsigned location, struct plan_scalar *out)
{
	int64_t slot;

	if (!can_be_read(location))
		return false;
	*out = (struct plan_scalar){.reg = (uint16_t)location, .bytes = sizeof(uint32_t)};
	if (location < NATIVE_REGISTERS)
		return true;
	slot = s->n->slots[location - NATIVE_REGISTERS];
	out->reg = RSP;
	out->slot = true;
	out->displacement = (int32_t)slot;
	return slot >= 0 && slot <= INT32_MAX;
}

static bool holds(const struct reading_search *s, unsigned location, uint16_t b,
		  struct plan_scalar *out)
{
	return s->in[b].at[location] == 0 && scalar_at(s, location, out);
}

/* The counter itself before what is as far. */
static bool place_at(const struct reading_search *s, uint16_t b, struct loop_reading_end *end)
{
	*end = (struct loop_reading_end){
	    .place = {.offset = s->g->starts[b]}, .low = s->in[b].low, .high = s->in[b].high};
	for (unsigned i = 1; i < s->g->loop_count; i++)
		if (s->members[i] && holds(s, (unsigned)counter_of(s, i), b, &end->place.at))
			return true;
	for (unsigned i = 0; i < NATIVE_LOCATIONS; i++)
		if (holds(s, i, b, &end->place.at))
			return true;
	return false;
}

static bool take_ends(const struct reading_search *s, struct loop_reading *out)
{
	out->end_count = 0;
	for (unsigned b = 1; b < s->g->block_count; b++) {
		if (s->role[b] != EXIT)
			continue;
		if (out->end_count == LIMIT_PLAN_ENDS || !s->in[b].reached ||
		    s->g->starts[b] == out->begin.offset ||
		    !place_at(s, (uint16_t)b, &out->ends[out->end_count]))
			return false;
		out->end_count++;
	}
	return out->end_count > 0;
}

/* The last instruction of the block at which what the counter is made of, by copies alone, can be
 * read: at the block's end that is in *location, and then in what it is in where the block begins.
 * 1; 0: not in the block; -1: it is made of something else. */
static int begin_in(const struct reading_search *s, uint16_t b, unsigned *location,
		    struct loop_reading *out)
{
	for (uint32_t k = s->n->first_insn[b + 1]; k-- > s->n->first_insn[b];) {
		const struct native_insn *insn = &s->n->insns[k];

		if (locations_have(native_writes(insn), *location)) {
			*location = native_source(insn);
			if (insn->does.kind != EFFECT_COPY || *location == UINT_MAX)
				return -1;
		}
		if (scalar_at(s, *location, &out->begin.at)) {
			out->begin.offset = insn->offset;
			return 1;
		}
	}
	return 0;
}

/* In the block in front, or those that alone lead to it in a turn of the loop around: begin becomes
 * the one where that is, at whose end the counter is in *location. */
static bool take_begin(struct reading_search *s, unsigned *location, struct loop_reading *out)
{
	s->begin = s->front;
	for (unsigned i = 0; i < FRONT_MAX; i++) {
		unsigned at_end = *location;
		int rc = begin_in(s, s->begin, location, out);

		if (rc != 0) {
			*location = at_end;
			return rc > 0;
		}
		if (is_stop(s, s->begin))
			return false;
		s->begin = native_only_source(s->n, s->begin);
		if (s->begin == FLOW_NO_BLOCK || s->begin == FLOW_ROOT ||
		    s->g->loop[s->begin] != s->around || is_inside(s, s->begin))
			return false;
	}
	return false;
}

/* With the counter of one of the copies, which is what it goes on with behind begin. */
static bool read_by(struct reading_search *s, unsigned location, struct loop_reading *out,
		    unsigned *budget)
{
	return take_begin(s, &location, out) && follow(s, location, budget) && take_ends(s, out);
}

static bool search(struct reading_search *s, struct loop_reading *out, unsigned *budget)
{
	unsigned exits;

	if (!take_members(s))
		return false;
	for (unsigned b = 1; b < s->g->block_count; b++)
		if (s->g->rank[b] != FLOW_NO_BLOCK && member_at(s, (uint16_t)b) != FLOW_NO_LOOP)
			s->role[b] = MEMBER;
	find_between(s);
	exits = find_few_exits(s);
	s->front = in_front(s);
	if (s->broken || exits == 0 || exits > LIMIT_PLAN_ENDS || s->front == FLOW_ROOT)
		return false;
	out->step = (int32_t)s->unit;
	for (unsigned i = 1; i < s->g->loop_count; i++)
		if (s->members[i] && read_by(s, (unsigned)counter_of(s, i), out, budget))
			return true;
	return false;
}

int loop_reading_find(struct loop_reading *out, const struct loop_reading_code *code, unsigned loop,
		      unsigned *budget)
{
	const struct flow_graph *g = code->native->graph;
	_cleanup_free_ uint8_t *role = calloc(g->block_count, sizeof(*role));
	_cleanup_free_ struct state *in = calloc(g->block_count, sizeof(*in));
	_cleanup_free_ bool *members = calloc(g->loop_count, sizeof(*members));
	struct reading_search s = {.code = code,
				   .n = code->native,
				   .g = g,
				   .loop = loop,
				   .role = role,
				   .in = in,
				   .members = members};

	if (!role || !in || !members)
		return -ENOMEM;
	if (code->mapping->loops[loop].length == 0)
		return 0;
	return search(&s, out, budget);
}
