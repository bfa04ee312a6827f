#include "profile/loops/values.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "common/array.h"
#include "common/mix.h"

#define PASSES_MAX 12u

/* ---------------------------------------------------------------- instructions */

static unsigned slot_location(const struct native_insn *insn)
{
	return NATIVE_REGISTERS + (unsigned)insn->slot;
}

static bool has_slot(const struct native_insn *insn)
{
	return insn->slot >= 0 && !insn->call;
}

/* Compiled code saves what it needs around calls, but for these (x86_64.ad: the frame pointer is
 * saved by who is called). r12 is where compressed references begin. */
#define CALL_KEEPS                                                               \
	(REGISTER_GENERAL(RSP) | REGISTER_GENERAL(RBP) | REGISTER_GENERAL(R12) | \
	 REGISTER_GENERAL(R15))
/* System V ABI. */
#define LEAF_KEEPS \
	(CALL_KEEPS | REGISTER_GENERAL(RBX) | REGISTER_GENERAL(13) | REGISTER_GENERAL(14))
/* Arguments of both: rcx, rdx, rsi, rdi, r8, r9, and of Java's xmm0 to xmm7. What is called like C
 * for numbers has two at most. */
#define CALL_READS      (UINT64_C(0x3c6))
#define CALL_READS_JAVA (CALL_READS | UINT64_C(0xff) << 16)
#define CALL_READS_LEAF (CALL_READS | UINT64_C(0x3) << 16)

static uint64_t changed_by(const struct native_insn *insn)
{
	switch (insn->call) {
	case NATIVE_CALL:
		return LOCATIONS_REGISTERS & ~CALL_KEEPS;
	case NATIVE_CALL_LEAF:
	case NATIVE_CALL_BARRIER:
		return LOCATIONS_REGISTERS & ~LEAF_KEEPS;
	default:
		return 0;
	}
}

static uint64_t read_by(const struct native_insn *insn)
{
	switch (insn->call) {
	case NATIVE_CALL:
		return CALL_READS_JAVA;
	case NATIVE_CALL_LEAF:
		return CALL_READS_LEAF;
	case NATIVE_CALL_BARRIER:
	case NATIVE_CALL_NOTHING:
		return CALL_READS;
	default:
		return 0;
	}
}

struct location_set native_reads(const struct native_insn *insn)
{
	struct location_set all = {.registers = insn->does.reads & LOCATIONS_REGISTERS};

	all.registers |= read_by(insn);
	if (has_slot(insn) && insn->does.code.memory.loads)
		locations_add(&all, slot_location(insn));
	return all;
}

struct location_set native_writes(const struct native_insn *insn)
{
	struct location_set all = {.registers = insn->does.writes & LOCATIONS_REGISTERS &
						~REGISTER_GENERAL(RSP)};

	all.registers |= changed_by(insn);
	if (has_slot(insn) && insn->does.code.memory.stores)
		locations_add(&all, slot_location(insn));
	return all;
}

/* ---------------------------------------------------------------- values */

/* Others are other values, so that it shows which way one comes. */
static struct value constant(const struct native_insn *insn)
{
	return (struct value){.kind = VALUE_MIX, .step = (int32_t)insn->offset + 1};
}

static bool equal(const struct value *a, const struct value *b)
{
	return a->kind == b->kind && a->location == b->location && a->step == b->step &&
	       a->flags == b->flags && a->scaled == b->scaled &&
	       a->from.registers == b->from.registers && a->from.slots == b->from.slots;
}

bool loop_value_invariant(const struct loop_values *v, const struct value *value)
{
	return !(value->flags & VALUE_VARIES) && !locations_meet(value->from, v->written);
}

static bool goes_on(const struct value *value)
{
	return value->kind == VALUE_CHAIN || (value->kind == VALUE_STEP && value->step != 0);
}

static bool is_led(const struct value *value)
{
	return value->kind == VALUE_LED ||
	       (value->kind == VALUE_CHAIN && (value->flags & VALUE_LOADED));
}

static bool stays(const struct value *value)
{
	return value->kind == VALUE_STEP ? value->step == 0 : (value->flags & VALUE_STAYS) != 0;
}

/* Do both lead on from one location? One of them may still be that. */
static bool along_one(const struct value *a, const struct value *b)
{
	return (goes_on(a) || a->kind == VALUE_STEP) && (goes_on(b) || b->kind == VALUE_STEP) &&
	       a->location == b->location;
}

/* What one way leaves in the same place as another. */
static struct value merge(const struct value *a, const struct value *b)
{
	struct value both = {.kind = VALUE_MIX, .flags = VALUE_VARIES};
	uint16_t fresh = VALUE_FRESH | VALUE_CALLED;

	if (a->kind == VALUE_NONE || equal(a, b))
		return *b;
	if (b->kind == VALUE_NONE)
		return *a;
	both.from = locations_both(a->from, b->from);
	both.flags |= (a->flags | b->flags) & (VALUE_CARD | VALUE_CHOSEN);
	/* What the run time allocates is as fresh as what is allocated beside it. */
	if ((a->flags & fresh) && (b->flags & fresh))
		both.flags |= (a->flags | b->flags) & fresh;
	if (along_one(a, b)) {
		both.kind = VALUE_CHAIN;
		both.scaled = a->scaled || b->scaled;
		both.location = a->location;
		both.flags |= (a->flags | b->flags) & VALUE_LOADED;
		both.flags |= VALUE_LATER;
		if (stays(a) || stays(b))
			both.flags |= VALUE_STAYS;
		else
			both.flags &= (uint16_t)~VALUE_VARIES;
		both.step = a->kind == b->kind && a->step == b->step ? a->step : 0;
	} else if (is_led(a) && is_led(b)) {
		both.kind = VALUE_LED;
	}
	return both;
}

/* What is made of several values; add is another one of them. */
struct derived {
	struct value value;
	const struct value *variant; /* the one that is not invariant */
	unsigned variants;
	bool mixed;
	bool leads; /* to what is loaded */
};

static void add(const struct loop_values *v, struct derived *d, const struct value *source)
{
	d->value.from = locations_both(d->value.from, source->from);
	d->value.flags |= source->flags & (VALUE_VARIES | VALUE_FRESH | VALUE_CARD | VALUE_CHOSEN |
					   VALUE_LOADED | VALUE_STAYS | VALUE_LATER);
	if (loop_value_invariant(v, source))
		return;
	/* The array that an index is of may be loaded anew in each turn. */
	if (d->leads && (source->flags & VALUE_STEADY) && !locations_meet(source->from, v->written))
		return;
	if ((source->kind != VALUE_STEP && source->kind != VALUE_CHAIN) ||
	    (d->variant && d->variant->location != source->location))
		d->mixed = true;
	d->variant = source;
	d->variants++;
}

static void add_all(const struct loop_values *v, struct derived *d, struct location_set sources,
		    const struct value_state *state)
{
	for (uint64_t bits = sources.registers; bits; bits &= bits - 1)
		add(v, d, &state->at[__builtin_ctzll(bits)]);
	for (uint64_t bits = sources.slots; bits; bits &= bits - 1)
		add(v, d, &state->at[NATIVE_REGISTERS + (unsigned)__builtin_ctzll(bits)]);
}

static struct value finish(const struct derived *d)
{
	struct value value = d->value;

	value.kind = VALUE_MIX;
	if (d->variant && !d->mixed) {
		value.kind = VALUE_CHAIN;
		value.location = d->variant->location;
		if (!(value.flags & VALUE_STAYS))
			value.flags &= (uint16_t)~VALUE_VARIES;
		value.step = d->variant->kind == VALUE_CHAIN ? d->variant->step : 0;
		value.scaled = d->variant->scaled || d->variants > 1;
	}
	return value;
}

static bool allocates_from(const struct native_code *n, const struct native_insn *insn)
{
	const struct operand *m = &insn->does.code.memory;

	if (m->base != R15 || m->index >= 0 || m->strange)
		return false;
	for (unsigned i = 0; i < n->thread_count; i++)
		if (n->thread_words[i] == m->displacement)
			return true;
	return false;
}

static bool loads_data(const struct native_insn *insn)
{
	return insn->does.code.memory.loads && !has_slot(insn);
}

static bool scales(const struct effects *e)
{
	bool address = e->code.memory.index >= 0;

	return e->kind == EFFECT_DERIVE &&
	       (e->immediate != 0 || (address && e->code.memory.scale > 1));
}

/* Something else than copies and steps. */
static struct value derive(const struct loop_values *v, const struct native_insn *insn,
			   const struct value_state *state)
{
	const struct effects *e = &insn->does;
	struct derived d = {.leads = loads_data(insn) && insn->does.kind == EFFECT_COPY};
	bool steady;

	add_all(v, &d, native_reads(insn), state);
	steady = !d.variant;
	if (e->kind != EFFECT_DERIVE && e->kind != EFFECT_COPY && e->kind != EFFECT_STEP)
		d.mixed = true;
	/* A sum with something loaded goes on from neither. */
	if (loads_data(insn) && e->kind != EFFECT_COPY)
		d.mixed = true;
	if (d.mixed || loads_data(insn))
		d.value.flags &= (uint16_t)~VALUE_FRESH;
	if (loads_data(insn) || d.mixed || (e->reads & REGISTER_FLAGS))
		d.value.flags |= VALUE_VARIES;
	if (e->kind == EFFECT_COPY && loads_data(insn) && steady)
		d.value.flags |= VALUE_STEADY;
	if (e->kind == EFFECT_COPY && loads_data(insn) && allocates_from(v->native, insn))
		d.value.flags |= VALUE_FRESH;
	if (e->kind == EFFECT_SELECT)
		d.value.flags |= VALUE_CHOSEN;
	if (e->shifts_right && e->immediate == 9)
		d.value.flags |= VALUE_CARD;
	d.value = finish(&d);
	d.value.scaled |= scales(e);
	if (loads_data(insn)) {
		d.value.flags |= VALUE_LOADED;
		d.value.scaled = false;
	}
	if (loads_data(insn) && d.value.kind == VALUE_CHAIN)
		d.value.step = (int32_t)insn->offset + 1;
	return d.value;
}

/* The one location that is read; UINT_MAX: there are more, or none. */
static unsigned only_source(const struct native_insn *insn)
{
	struct location_set sources = native_reads(insn);

	if (has_slot(insn))
		sources.registers &= ~REGISTER_GENERAL(RSP);
	if (!insn->does.code.memory.loads && insn->does.code.memory.stores && !has_slot(insn))
		return UINT_MAX;
	if (__builtin_popcountll(sources.registers) + __builtin_popcountll(sources.slots) != 1)
		return UINT_MAX;
	return sources.registers ? (unsigned)__builtin_ctzll(sources.registers)
				 : NATIVE_REGISTERS + (unsigned)__builtin_ctzll(sources.slots);
}

unsigned native_source(const struct native_insn *insn)
{
	bool moves = insn->does.kind == EFFECT_COPY || insn->does.kind == EFFECT_STEP;

	return moves && !insn->call && !loads_data(insn) ? only_source(insn) : UINT_MAX;
}

static struct value stepped(struct value value, int64_t by)
{
	int64_t sum = value.step + by;

	if (value.kind == VALUE_MIX)
		value.step = (int32_t)mix((uint64_t)sum);
	if (value.kind != VALUE_STEP)
		return value;
	if (sum > INT32_MAX || sum < -INT32_MAX)
		value.kind = VALUE_CHAIN, sum = 0;
	value.step = (int32_t)sum;
	return value;
}

/* A minimum, or a conditional move, of what is along one chain is along it. */
static struct value chosen(const struct native_insn *insn, const struct value_state *state,
			   struct value otherwise)
{
	uint64_t sources = native_reads(insn).registers;
	struct value all = {.kind = VALUE_NONE};

	if (insn->does.code.memory.loads)
		return otherwise;
	for (uint64_t bits = sources; bits; bits &= bits - 1)
		all = merge(&all, &state->at[__builtin_ctzll(bits)]);
	return all.kind == VALUE_CHAIN && !(all.flags & VALUE_STAYS) ? all : otherwise;
}

static struct value result_of(const struct loop_values *v, const struct native_insn *insn,
			      const struct value_state *state)
{
	unsigned source;

	switch (insn->does.kind) {
	case EFFECT_CONSTANT:
		return constant(insn);
	case EFFECT_COPY:
	case EFFECT_STEP:
		source = native_source(insn);
		if (source == UINT_MAX)
			break;
		return insn->does.kind == EFFECT_COPY
			   ? state->at[source]
			   : stepped(state->at[source], insn->does.immediate);
	case EFFECT_SELECT:
		return chosen(insn, state, derive(v, insn, state));
	default:
		break;
	}
	return derive(v, insn, state);
}

static void put(struct value_state *state, struct location_set where, const struct value *value)
{
	for (uint64_t bits = where.registers; bits; bits &= bits - 1)
		state->at[__builtin_ctzll(bits)] = *value;
	for (uint64_t bits = where.slots; bits; bits &= bits - 1)
		state->at[NATIVE_REGISTERS + (unsigned)__builtin_ctzll(bits)] = *value;
}

void loop_values_pass(const struct loop_values *v, const struct native_insn *insn,
		      struct value_state *state)
{
	struct location_set writes = native_writes(insn);
	struct value value;

	if (!writes.registers && !writes.slots)
		return;
	if (insn->call)
		value = (struct value){.kind = VALUE_MIX, .flags = VALUE_VARIES | VALUE_CALLED};
	else
		value = result_of(v, insn, state);
	put(state, writes, &value);
}

bool loop_value_progress(const struct loop_values *v, const struct value *value)
{
	return goes_on(value) || loop_value_invariant(v, value);
}

bool loop_location_stays(const struct loop_values *v, unsigned location)
{
	const struct value *latch = &v->latch.at[location];

	return latch->kind == VALUE_STEP && latch->location == location && latch->step == 0;
}

bool loop_value_same(const struct loop_values *v, const struct value *value)
{
	/* What is loaded through it may be another one each time. */
	if (value->flags & (VALUE_VARIES | VALUE_LOADED))
		return false;
	for (unsigned i = 0; i < NATIVE_LOCATIONS; i++)
		if (locations_have(value->from, i) && locations_have(v->written, i) &&
		    !loop_location_stays(v, i))
			return false;
	return true;
}

bool loop_location_counts(const struct loop_values *v, unsigned location)
{
	const struct value *latch = &v->latch.at[location];

	return latch->kind == VALUE_STEP && latch->location == location && latch->step != 0;
}

bool loop_location_leads_on(const struct loop_values *v, unsigned location)
{
	const struct value *latch = &v->latch.at[location];

	return latch->kind == VALUE_CHAIN && latch->location == location &&
	       (latch->flags & VALUE_LOADED);
}

/* ---------------------------------------------------------------- the loop */

unsigned loop_values_index(const struct loop_values *v, uint16_t block)
{
	const uint16_t *rank = v->native->graph->rank;
	size_t at = SEARCH_FIRST(i, v->block_count, rank[v->blocks[i]] >= rank[block]);

	return at < v->block_count && v->blocks[at] == block ? (unsigned)at : UINT_MAX;
}

static void begin_turn(struct value_state *state)
{
	for (unsigned i = 0; i < NATIVE_LOCATIONS; i++) {
		state->at[i] = (struct value){.kind = VALUE_STEP, .location = (uint8_t)i};
		locations_add(&state->at[i].from, i);
	}
}

static void merge_leaving(const struct loop_values *v, uint16_t block, struct value_state *state)
{
	const struct flow_graph *g = v->native->graph;

	for (unsigned i = 0; i < NATIVE_LOCATIONS; i++)
		state->at[i] = (struct value){.kind = VALUE_NONE};
	for (unsigned e = g->first_edge[block]; e < g->first_edge[block + 1]; e++) {
		unsigned from = g->rank[g->edges[e]] == FLOW_NO_BLOCK
				    ? UINT_MAX
				    : loop_values_index(v, g->edges[e]);

		for (unsigned i = 0; from != UINT_MAX && i < NATIVE_LOCATIONS; i++)
			state->at[i] = merge(&state->at[i], &v->leaving[from].at[i]);
	}
}

void loop_values_enter(const struct loop_values *v, unsigned i, struct value_state *state)
{
	if (i == 0)
		begin_turn(state);
	else
		merge_leaving(v, v->blocks[i], state);
}

static bool same_state(const struct value_state *a, const struct value_state *b)
{
	for (unsigned i = 0; i < NATIVE_LOCATIONS; i++)
		if (!equal(&a->at[i], &b->at[i]))
			return false;
	return true;
}

/* One pass; true when something is not as before. */
static bool pass(struct loop_values *v)
{
	const struct native_code *n = v->native;
	struct value_state state;
	bool changed = false;

	for (unsigned i = 0; i < v->block_count; i++) {
		uint16_t b = v->blocks[i];

		loop_values_enter(v, i, &state);
		for (uint32_t k = n->first_insn[b]; k < n->first_insn[b + 1]; k++)
			loop_values_pass(v, &n->insns[k], &state);
		changed |= !same_state(&state, &v->leaving[i]);
		v->leaving[i] = state;
	}
	return changed;
}

static int collect(struct loop_values *v)
{
	const struct flow_graph *g = v->native->graph;

	v->blocks = calloc(VALUE_BLOCKS_MAX, sizeof(v->blocks[0]));
	if (!v->blocks)
		return -ENOMEM;
	for (unsigned i = g->ordered; i < g->block_count; i++) {
		if (v->loop != FLOW_NO_LOOP && !native_in_loop(v->native, g->order[i], v->loop))
			continue;
		if (v->block_count == VALUE_BLOCKS_MAX)
			return -E2BIG;
		v->blocks[v->block_count++] = g->order[i];
	}
	v->leaving = calloc(v->block_count + 1, sizeof(v->leaving[0]));
	return v->leaving ? 0 : -ENOMEM;
}

static void find_written(struct loop_values *v)
{
	const struct native_code *n = v->native;

	for (unsigned i = 0; i < v->block_count; i++) {
		uint16_t b = v->blocks[i];

		for (uint32_t k = n->first_insn[b]; k < n->first_insn[b + 1]; k++)
			v->written = locations_both(v->written, native_writes(&n->insns[k]));
	}
}

static int make(struct loop_values *v, unsigned *budget)
{
	int rc = collect(v);

	if (rc < 0)
		return rc;
	find_written(v);
	for (unsigned passes = 0;; passes++) {
		if (passes == PASSES_MAX || *budget < v->block_count)
			return -E2BIG;
		*budget -= v->block_count;
		if (!pass(v))
			break;
	}
	if (v->loop != FLOW_NO_LOOP)
		merge_leaving(v, v->blocks[0], &v->latch);
	return 0;
}

int loop_values_make(struct loop_values *v, const struct native_code *n, unsigned loop,
		     unsigned *budget)
{
	int rc;

	*v = (struct loop_values){.native = n, .loop = loop};
	rc = make(v, budget);
	if (rc < 0)
		loop_values_release(v);
	return rc;
}

void loop_values_release(struct loop_values *v)
{
	free(v->blocks);
	free(v->leaving);
	*v = (struct loop_values){0};
}
