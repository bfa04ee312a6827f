#include "profile/loops/result_sites.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

struct site_search {
	struct result_sites *r;
	const struct loop_values *v;
	const struct liveness *live;
	const struct flow_graph *g;
	const struct native_code *n;
	struct location_set carried; /* what one turn leaves to the next, changed */
	struct location_set
	    kept; /* ... and makes of what it was left, results aside from progress */
	struct location_set used;          /* behind the loop, */
	struct location_set used_at_limit; /* where it was left by its limit */
	bool leaves;                       /* it is, but for traps */
	bool early;                        /* ... by other ways than its limit */
	bool turns;                        /* something goes on from turn to turn */
	bool polls;                        /* it is left by what is loaded from one place */
	bool pauses;
	bool used_fresh; /* what a turn has allocated is */
	bool chosen;     /* a result by a conditional move */
};

static void note(struct site_search *s, uint32_t offset, uint16_t block, enum loop_result result)
{
	struct result_sites *r = s->r;

	if (r->count == RESULT_SITES_MAX) {
		r->doubts |= LOOP_DOUBT_SITES;
		return;
	}
	r->sites[r->count++] =
	    (struct result_site){.offset = offset, .result = result, .block = block};
}

/* ---------------------------------------------------------------- what is left to the next turn */

static const struct value *latch_of(const struct site_search *s, unsigned location)
{
	return &s->v->latch.at[location];
}

static bool is_along_itself(const struct site_search *s, unsigned location)
{
	const struct value *latch = latch_of(s, location);

	return latch->kind == VALUE_CHAIN && latch->location == location &&
	       (!latch->scaled || (latch->flags & VALUE_LOADED));
}

/* Loaded in each turn, by one of several ways: on from what it was, or from where another location
 * leads to. So go iterators over a table of lists. */
static bool is_led(const struct site_search *s, unsigned location)
{
	const struct value *latch = latch_of(s, location);

	if (latch->kind != VALUE_LED || !locations_have(latch->from, location))
		return false;
	for (unsigned i = 0; i < NATIVE_LOCATIONS; i++)
		if (i != location && locations_have(latch->from, i) &&
		    locations_have(s->v->written, i) && !is_along_itself(s, i))
			return false;
	return true;
}

static bool leads_another(const struct site_search *s, unsigned location)
{
	for (unsigned i = 0; i < NATIVE_LOCATIONS; i++)
		if (i != location && locations_have(latch_of(s, i)->from, location) && is_led(s, i))
			return true;
	return false;
}

/* Along a list, or by what does not change: not by what may be any function of it. What only some
 * turns step is a count, unless it leads to something. */
static bool is_list(const struct site_search *s, unsigned location)
{
	return is_along_itself(s, location) &&
	       (!(latch_of(s, location)->flags & VALUE_STAYS) || leads_another(s, location));
}

/* By a constant, or as that. */
static bool goes_on_by_itself(const struct site_search *s, unsigned location)
{
	const struct value *latch = latch_of(s, location);

	return (latch->kind == VALUE_STEP && latch->location == location) || is_list(s, location) ||
	       is_led(s, location);
}

static bool is_counter(const struct site_search *s, unsigned location)
{
	const struct value *latch = latch_of(s, location);

	return latch->kind == VALUE_STEP && latch->location == location && latch->step != 0;
}

/* ... and what these were made of in the turns before. */
static struct location_set with_sources(const struct site_search *s, struct location_set some)
{
	struct location_set before;

	do {
		before = some;
		for (unsigned i = 0; i < NATIVE_LOCATIONS; i++)
			if (locations_have(some, i) && locations_have(s->carried, i))
				some = locations_both(some, latch_of(s, i)->from);
	} while (before.registers != some.registers || before.slots != some.slots);
	return some;
}

/* A location is kept when what is in it is made of what was in it: not what each turn overwrites.
 * An object of this turn that leads to the one of the turn before is told by being new. */
static void find_kept(struct site_search *s)
{
	struct location_set live = s->live->entering[s->v->blocks[0]];

	s->carried.registers = live.registers & s->v->written.registers;
	s->carried.slots = live.slots & s->v->written.slots;
	for (unsigned i = 0; i < NATIVE_LOCATIONS; i++) {
		if (!locations_have(s->carried, i))
			continue;
		if (goes_on_by_itself(s, i)) {
			s->turns |= is_list(s, i) || is_led(s, i) || is_counter(s, i);
			continue;
		}
		if (locations_have(with_sources(s, latch_of(s, i)->from), i) ||
		    (latch_of(s, i)->flags & VALUE_FRESH))
			locations_add(&s->kept, i);
	}
}

/* ---------------------------------------------------------------- exits */

/* The instruction that a block's branch goes by. NULL where it is in none that must come before. */
static const struct native_insn *compared_in(const struct site_search *s, uint16_t b)
{
	for (uint32_t k = s->n->first_insn[b + 1]; k-- > s->n->first_insn[b];)
		if (s->n->insns[k].does.writes & REGISTER_FLAGS)
			return &s->n->insns[k];
	return NULL;
}

static bool is_limit_side(const struct site_search *s, const struct value *value, bool null_test)
{
	bool chain = value->kind == VALUE_CHAIN;
	const struct value *latch;

	if (value->kind != VALUE_STEP && !chain)
		return false;
	latch = latch_of(s, value->location);
	if (is_counter(s, value->location))
		return !(value->flags & VALUE_LOADED);
	return is_list(s, value->location) &&
	       (!chain || latch->step == value->step || (latch->step == 0 && null_test));
}

/* A counter or a list's element compared with what does not change. */
static bool is_limit_test(struct site_search *s, const struct native_insn *compare,
			  const struct value_state *state)
{
	struct location_set sources = native_reads(compare);
	bool limit = false, other = false;

	if (compare->does.code.memory.loads && compare->slot < 0) {
		for (uint64_t bits = sources.registers; bits; bits &= bits - 1)
			other |= !loop_value_same(s->v, &state->at[__builtin_ctzll(bits)]) &&
				 (__builtin_ctzll(bits) == compare->does.code.memory.base ||
				  __builtin_ctzll(bits) == compare->does.code.memory.index);
		s->polls |= !other;
	}
	for (unsigned i = 0; i < NATIVE_LOCATIONS; i++) {
		const struct value *value = &state->at[i];

		if (!locations_have(sources, i) || loop_value_same(s->v, value))
			continue;
		s->polls |= (value->flags & VALUE_STEADY) != 0;
		if (is_limit_side(s, value, compare->does.tests_null))
			limit = true;
		else if (!(value->flags & VALUE_STEADY))
			other = true;
	}
	return limit && !other;
}

/* The state in front of an instruction of the block. */
static void state_before(const struct site_search *s, uint16_t b, const struct native_insn *insn,
			 struct value_state *state)
{
	loop_values_enter(s->v, loop_values_index(s->v, b), state);
	for (const struct native_insn *i = &s->n->insns[s->n->first_insn[b]]; i < insn; i++)
		loop_values_pass(s->v, i, state);
}

/* The only block of the loop that leads to b, or FLOW_NO_BLOCK. */
static uint16_t only_source(const struct site_search *s, uint16_t b)
{
	uint16_t found = FLOW_NO_BLOCK;

	for (unsigned e = s->g->first_edge[b]; e < s->g->first_edge[b + 1]; e++) {
		if (found != FLOW_NO_BLOCK)
			return FLOW_NO_BLOCK;
		found = s->g->edges[e];
	}
	return found != FLOW_NO_BLOCK && loop_values_index(s->v, found) != UINT_MAX ? found
										    : FLOW_NO_BLOCK;
}

static void take_counter(struct site_search *s, const struct native_insn *compare,
			 const struct value_state *state)
{
	struct location_set sources = native_reads(compare);

	for (unsigned i = 0; i < NATIVE_LOCATIONS; i++) {
		const struct value *value = &state->at[i];

		if (!locations_have(sources, i) || value->kind != VALUE_STEP ||
		    !is_counter(s, value->location))
			continue;
		s->r->counter = value->location;
		s->r->counter_step = latch_of(s, value->location)->step;
		return;
	}
}

/* Does the branch at b's end test the loop's limit? One comparison may serve two branches. */
static bool leaves_at_limit(struct site_search *s, uint16_t b)
{
	const struct native_insn *compare = compared_in(s, b);
	struct value_state state;
	bool limit;

	if (!compare && only_source(s, b) != FLOW_NO_BLOCK) {
		b = only_source(s, b);
		compare = compared_in(s, b);
	}
	if (!compare)
		return false;
	state_before(s, b, compare, &state);
	limit = is_limit_test(s, compare, &state);
	if (limit)
		take_counter(s, compare, &state);
	return limit;
}

static bool ends_by_unsigned(const struct site_search *s, uint16_t b)
{
	uint32_t end = s->n->first_insn[b + 1];
	const uint8_t *code = s->n->image->bytes;
	uint32_t at;

	if (end == s->n->first_insn[b])
		return false;
	at = s->n->insns[end - 1].offset;
	/* jb, jae, jbe, ja: a range check. */
	if (code[at] == 0x0f && at + 1 < s->n->image->size)
		return (code[at + 1] & 0xfc) == 0x80 + 4 || (code[at + 1] & 0xfe) == 0x82;
	return (code[at] & 0xfe) == 0x72 || (code[at] & 0xfe) == 0x76;
}

/* What is used where the loop is left to. */
static struct location_set used_behind(struct site_search *s, uint16_t from, uint16_t to)
{
	const struct value_state *state = &s->v->leaving[loop_values_index(s->v, from)];
	struct location_set used = {0};

	for (unsigned i = 0; i < NATIVE_LOCATIONS; i++)
		if (locations_have(s->live->entering[to], i)) {
			used = locations_both(used, state->at[i].from);
			s->used_fresh |= (state->at[i].flags & VALUE_FRESH) != 0;
		}
	return used;
}

static void take_used(struct site_search *s, struct location_set used, bool limit)
{
	s->used = locations_both(s->used, used);
	if (limit)
		s->used_at_limit = locations_both(s->used_at_limit, used);
}

static void take_early(struct site_search *s, uint16_t from, uint16_t to)
{
	struct result_sites *r = s->r;

	s->early = true;
	if (r->exit_count == RESULT_EXITS_MAX)
		r->doubts |= LOOP_DOUBT_SITES;
	else
		r->exits[r->exit_count++] = (struct result_exit){.from = from, .to = to};
}

static void take_exit(struct site_search *s, uint16_t from, uint16_t to)
{
	bool limit = leaves_at_limit(s, from);

	if (s->n->cold[to]) {
		/* What comes behind the loop had not run yet when it was compiled: all that turns
		 * leave is taken for used there. */
		if (limit && !ends_by_unsigned(s, from))
			take_used(s, s->carried, true);
		if (!limit && s->r->pruned_count < RESULT_EXITS_MAX &&
		    native_pruned_branch(s->n, to))
			s->r->pruned[s->r->pruned_count++] = (struct result_exit){from, to};
		return;
	}
	s->leaves = true;
	take_used(s, used_behind(s, from, to), limit);
	if (!limit)
		take_early(s, from, to);
}

static void find_exits(struct site_search *s)
{
	for (unsigned i = 0; i < s->v->block_count; i++) {
		uint16_t b = s->v->blocks[i], next;
		uint32_t cursor = 0;

		while ((next = flow_successor(s->g, b, &cursor)) != FLOW_NO_BLOCK)
			if (loop_values_index(s->v, next) == UINT_MAX)
				take_exit(s, b, next);
	}
	if (!s->leaves)
		s->used = locations_both(s->used, s->carried);
	for (unsigned i = 0; i < NATIVE_LOCATIONS; i++)
		if (s->used_fresh && locations_have(s->kept, i) &&
		    (latch_of(s, i)->flags & VALUE_FRESH))
			locations_add(&s->used, i);
	s->used = with_sources(s, s->used);
	s->used_at_limit = with_sources(s, s->used_at_limit);
}

/* ---------------------------------------------------------------- places */

/* Not to the frame, the thread, memory that is new, or the card table. */
static bool stores_result(struct site_search *s, const struct native_insn *insn,
			  const struct value_state *state)
{
	const struct operand *m = &insn->does.code.memory;
	uint16_t flags = 0;

	if (!m->stores || m->base == RSP || m->base == R15) {
		/* A word of the frame that is not followed may be where a result is. */
		if (m->stores && m->base == RSP && insn->slot < 0 && m->displacement >= 0)
			s->r->doubts |= LOOP_DOUBT_CODE;
		return false;
	}
	if (m->base >= 0)
		flags |= state->at[m->base].flags;
	if (m->index >= 0)
		flags |= state->at[m->index].flags;
	if (flags & VALUE_FRESH)
		return false;
	return !((flags & VALUE_CARD) && m->size == 1);
}

/* Does the instruction make a new value of one that is kept, or put one in its place? */
static bool updates(const struct site_search *s, const struct native_insn *insn,
		    const struct value_state *before, const struct value_state *after)
{
	struct location_set results = {s->kept.registers & s->used.registers,
				       s->kept.slots & s->used.slots};
	struct location_set writes = native_writes(insn);

	for (unsigned i = 0; i < NATIVE_LOCATIONS; i++) {
		const struct value *is = &after->at[i], *was = &before->at[i];

		if (!locations_have(writes, i) || insn->call)
			continue;
		if (insn->does.kind != EFFECT_COPY && locations_meet(is->from, results))
			return true;
		if (locations_have(results, i) && locations_have(was->from, i) &&
		    !locations_meet(is->from, results))
			return true;
	}
	return false;
}

static void look_at(struct site_search *s, const struct native_insn *insn, uint16_t b,
		    const struct value_state *before, const struct value_state *after)
{
	s->pauses |= insn->does.kind == EFFECT_PAUSE;
	if (insn->call == NATIVE_CALL || insn->call == NATIVE_CALL_LEAF) {
		note(s, insn->offset, b, LOOP_RESULT_CALL);
	} else if (!insn->call && stores_result(s, insn, before)) {
		note(s, insn->offset, b, LOOP_RESULT_STORE);
	} else if (updates(s, insn, before, after)) {
		if (insn->does.kind == EFFECT_SELECT)
			s->chosen = true;
		else
			note(s, insn->offset, b, LOOP_RESULT_VALUE);
	}
}

static void find_places(struct site_search *s)
{
	struct value_state before, after;

	for (unsigned i = 0; i < s->v->block_count; i++) {
		uint16_t b = s->v->blocks[i];

		if (s->n->undecoded[b])
			s->r->doubts |= LOOP_DOUBT_CODE;
		loop_values_enter(s->v, i, &before);
		for (uint32_t k = s->n->first_insn[b]; k < s->n->first_insn[b + 1]; k++) {
			after = before;
			loop_values_pass(s->v, &s->n->insns[k], &after);
			look_at(s, &s->n->insns[k], b, &before, &after);
			before = after;
		}
	}
}

/* ---------------------------------------------------------------- type */

/* Does each turn pass the block? */
static bool in_each_turn(const struct site_search *s, uint16_t b)
{
	uint16_t header = s->v->blocks[0];

	for (unsigned e = s->g->first_edge[header]; e < s->g->first_edge[header + 1]; e++) {
		uint16_t from = s->g->edges[e];

		if (s->g->rank[from] != FLOW_NO_BLOCK &&
		    loop_values_index(s->v, from) != UINT_MAX && !flow_dominates(s->g, b, from))
			return false;
	}
	return true;
}

/* On a branch, what makes one result may be several instructions: the first is left. */
static void leave_one_a_branch(struct site_search *s)
{
	struct result_sites *r = s->r;
	unsigned left = 0;

	for (unsigned i = 0; i < r->count; i++) {
		bool passed = false;

		for (unsigned k = 0; k < left && !passed; k++)
			passed = flow_dominates(s->g, r->sites[k].block, r->sites[i].block) &&
				 !in_each_turn(s, r->sites[k].block);
		if (!passed)
			r->sites[left++] = r->sites[i];
	}
	r->count = left;
}

static bool has_site(const struct site_search *s, uint16_t b)
{
	for (unsigned i = 0; i < s->r->count; i++)
		if (s->r->sites[i].block == b)
			return true;
	return false;
}

/* Is there a turn that passes no place? By index of the loop's blocks, which are in an order that
 * inner loops alone run against. */
static int avoids_places(const struct site_search *s, bool *avoids)
{
	const struct loop_values *v = s->v;
	bool *seen = calloc(v->block_count, sizeof(seen[0]));
	uint16_t *work = malloc(v->block_count * sizeof(work[0]));
	unsigned depth = 0;

	*avoids = false;
	if (seen && work && !has_site(s, v->blocks[0]))
		work[depth++] = 0;
	while (depth > 0 && !*avoids) {
		uint16_t b = v->blocks[work[--depth]], next;
		uint32_t cursor = 0;

		while ((next = flow_successor(s->g, b, &cursor)) != FLOW_NO_BLOCK) {
			unsigned i = loop_values_index(v, next);

			*avoids |= i == 0;
			if (i == UINT_MAX || i == 0 || seen[i] || has_site(s, next))
				continue;
			seen[i] = true;
			work[depth++] = (uint16_t)i;
		}
	}
	free(seen);
	free(work);
	return seen && work ? 0 : -1;
}

/* Is the element of a list at which the loop ends used behind it? That is what it was for then: a
 * search by number. */
static bool ends_at_an_element(const struct site_search *s)
{
	for (unsigned i = 0; i < NATIVE_LOCATIONS; i++)
		if (locations_have(s->used, i) && locations_have(s->carried, i) && is_list(s, i))
			return true;
	return false;
}

static int find_type(struct site_search *s)
{
	struct result_sites *r = s->r;
	bool avoids;

	if (r->count > 0) {
		if (avoids_places(s, &avoids) < 0)
			return -1;
		r->type = avoids ? LOOP_SOME : LOOP_EVERY;
	} else if (s->chosen) {
		r->type = LOOP_SOME;
	} else {
		r->type = s->early || ends_at_an_element(s) ? LOOP_LAST : LOOP_NEVER;
	}
	if (s->chosen && r->type == LOOP_SOME)
		r->doubts |= LOOP_DOUBT_CONDITIONAL_MOVE;
	r->waits = s->pauses || (r->count == 0 && !s->turns && s->polls);
	return 0;
}

/* HotSpot polls for safepoints by test [register], eax: the value is nothing to it. */
static bool is_poll(const struct native_code *n, const struct native_insn *insn)
{
	const struct operand *m = &insn->does.code.memory;

	return native_tests_memory(n, insn) && m->base >= 0 && m->index < 0 && m->displacement == 0;
}

/* Copies a value, or what it is and some, and looks at nothing else. */
static bool carries_on(const struct native_insn *insn)
{
	const struct operand *m = &insn->does.code.memory;

	return (insn->does.kind == EFFECT_COPY || insn->does.kind == EFFECT_STEP) && !insn->call &&
	       ((!m->loads && !m->stores) || insn->slot >= 0);
}

/* Does the loop look at what is in the locations, or in copies of it? These are added. */
static bool looks_at(const struct site_search *s, struct location_set *all)
{
	for (unsigned i = 0; i < s->v->block_count; i++) {
		uint16_t b = s->v->blocks[i];

		for (uint32_t k = s->n->first_insn[b]; k < s->n->first_insn[b + 1]; k++) {
			const struct native_insn *insn = &s->n->insns[k];

			if (!locations_meet(native_reads(insn), *all) || is_poll(s->n, insn))
				continue;
			if (!carries_on(insn))
				return true;
			*all = locations_both(*all, native_writes(insn));
		}
	}
	return false;
}

/* Does nothing in the loop look at a location but what makes its next value? */
static bool only_adds_up(const struct site_search *s, unsigned location)
{
	struct location_set all = {0}, before;

	locations_add(&all, location);
	do {
		before = all;
		if (looks_at(s, &all))
			return false;
	} while (before.registers != all.registers || before.slots != all.slots);
	return true;
}

/* Is it stepped by constants, not all turns by the same? */
static bool is_stepped(const struct site_search *s, unsigned location)
{
	return is_list(s, location) && !(latch_of(s, location)->flags & VALUE_LOADED);
}

/* A counter that the loop does not go by, and that is used behind it, is a count: a result of each
 * turn, though it could be told from how far the loop has come. */
static void find_counts(struct site_search *s)
{
	for (unsigned i = 0; i < NATIVE_LOCATIONS; i++)
		if (locations_have(s->used, i) && locations_have(s->carried, i) &&
		    (is_counter(s, i) || is_stepped(s, i)) && only_adds_up(s, i))
			locations_add(&s->kept, i);
}

int result_sites_find(struct result_sites *r, const struct loop_values *v,
		      const struct liveness *live)
{
	struct site_search s = {
	    .r = r, .v = v, .live = live, .g = v->native->graph, .n = v->native};

	*r = (struct result_sites){.counter = -1};
	find_kept(&s);
	find_exits(&s);
	find_counts(&s);
	r->counter_used = r->counter >= 0 && locations_have(s.used, (unsigned)r->counter);
	r->counter_used_at_limit =
	    r->counter >= 0 && locations_have(s.used_at_limit, (unsigned)r->counter);
	find_places(&s);
	leave_one_a_branch(&s);
	return find_type(&s) < 0 ? -ENOMEM : 0;
}
