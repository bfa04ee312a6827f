#include "profile/loops/loop_inputs.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "profile/loops/arguments.h"
#include "profile/loops/load_flow.h"
#include "profile/loops/turn_inputs.h"

/* Words that the loop keeps in memory, and stores to in each turn or some. */
#define KEPT_MAX 32u

/* Where an operand is. */
struct address {
	struct value base, index;
	uint8_t scale;
	int64_t displacement;
};

struct input_search {
	struct loop_inputs *in;
	const struct loop_values *v;
	const struct native_code *n;
	const struct load_flow *f;
	const struct liveness *live;
	/* Sets of loads, by what becomes of their values: */
	uint64_t data;    /* they are compared or computed with, stored, handed to calls */
	uint64_t weak;    /* ... or led to others, and that was all */
	uint64_t handed;  /* ... to calls, with what the turn before left */
	uint64_t address; /* they are part of addresses */
	uint64_t lengths; /* they are lengths of arrays */
	struct address loaded_from[LOAD_FLOW_MAX];
	bool steady[LOAD_FLOW_MAX]; /* that does not change */
	struct address kept[KEPT_MAX];
	uint64_t put[KEPT_MAX]; /* what is stored there */
	unsigned kept_count;
	uint8_t slot_bytes[NATIVE_SLOTS]; /* as the loop reads them */
	bool counted;  /* something goes by a counter, or by what the turn before has made */
	bool unread;   /* a scalar is where it cannot be read */
	uint64_t read; /* registers, by the loop itself */
};

/* What is looked at: an instruction, and what holds before it. */
struct insn_state {
	const struct native_insn *insn;
	uint16_t block;
	uint32_t k;
	struct value_state values;
	struct load_state loads;
};

/* ---------------------------------------------------------------- values */

/* Says how far the loop is: a counter, what is made of one, or the element of a list itself, not
 * what that leads to. */
static bool is_progress(const struct input_search *s, const struct value *value)
{
	if (value->kind == VALUE_STEP)
		return loop_location_counts(s->v, value->location) ||
		       loop_location_leads_on(s->v, value->location);
	if (value->kind != VALUE_CHAIN)
		return false;
	return !(value->flags & VALUE_LOADED) ||
	       (loop_location_leads_on(s->v, value->location) &&
		s->v->latch.at[value->location].step == value->step);
}

static bool is_vector(unsigned location)
{
	return location < NATIVE_REGISTERS && REGISTER_VECTORS >> location & 1;
}

/* By traces. */
static bool can_be_read(unsigned location)
{
	return location >= NATIVE_REGISTERS ||
	       (location < 16 && location != RSP && location != R12 && location != R15);
}

/* The location that holds the value in all turns: a general register, a vector, which no trace
 * reads, or a word of the frame. UINT_MAX: none. */
static unsigned scalar_location(const struct input_search *s, const struct value *value)
{
	unsigned at = value->location;

	if (value->kind != VALUE_STEP || value->step != 0 || locations_have(s->v->written, at))
		return UINT_MAX;
	return is_vector(at) || can_be_read(at) ? at : UINT_MAX;
}

static void add_scalar(struct input_search *s, unsigned location, unsigned bytes)
{
	struct plan_scalar scalar = {.reg = (uint16_t)location, .bytes = (uint8_t)bytes};

	if (location >= NATIVE_REGISTERS) {
		unsigned slot = location - NATIVE_REGISTERS;
		int64_t at = s->n->slots[slot];

		if (at > INT32_MAX || s->slot_bytes[slot] == 0 || s->slot_bytes[slot] > 8)
			return;
		scalar = (struct plan_scalar){.reg = RSP,
					      .slot = true,
					      .displacement = (int32_t)at,
					      .bytes = s->slot_bytes[slot]};
	}
	for (unsigned i = 0; i < s->in->scalar_count; i++) {
		struct plan_scalar *known = &s->in->scalars[i];

		if (known->reg != scalar.reg || known->slot != scalar.slot ||
		    known->displacement != scalar.displacement)
			continue;
		known->bytes = known->bytes < scalar.bytes ? known->bytes : scalar.bytes;
		return;
	}
	if (s->in->scalar_count < LOOP_SCALARS_MAX)
		s->in->scalars[s->in->scalar_count++] = scalar;
}

/* Bytes of the registers that an instruction uses. */
static unsigned operand_bytes(const struct native_insn *insn)
{
	const struct opcode *o = &insn->does.code;

	if (o->memory.loads || o->memory.stores)
		return o->memory.size <= 8 ? o->memory.size : 8;
	return o->rex & OPCODE_REX_W ? 8 : 4;
}

/* Copies and the like that are followed to a constant, and blocks on the way. */
#define SOURCES_MAX 4u
#define BLOCKS_MAX  64u

/* The last instruction that sets a register before *k of block *b, on the way that all take there:
 * these are brought to it. NULL where none is seen. */
static const struct native_insn *set_before(const struct native_code *n, unsigned reg, uint16_t *b,
					    uint32_t *k)
{
	for (unsigned i = 0; i < BLOCKS_MAX && *b != FLOW_ROOT; i++) {
		while (*k > n->first_insn[*b])
			if (n->insns[--*k].does.writes >> reg & 1)
				return &n->insns[*k];
		*b = n->graph->dominator[*b];
		*k = n->first_insn[*b + 1];
	}
	return NULL;
}

/* Is what the loop finds in a register a constant of the code, as a multiplier for all elements of
 * a vector? */
static bool is_constant(const struct input_search *s, unsigned reg)
{
	uint16_t b = s->v->blocks[0];
	uint32_t k = s->n->first_insn[b];

	for (unsigned i = 0; i < SOURCES_MAX; i++) {
		const struct native_insn *insn = set_before(s->n, reg, &b, &k);
		uint64_t reads = insn ? insn->does.reads : 0;

		if (!insn || insn->call)
			return false;
		if (insn->does.kind == EFFECT_CONSTANT)
			return true;
		if (insn->does.code.memory.loads || !reads || (reads & (reads - 1)))
			return false;
		reg = (unsigned)__builtin_ctzll(reads);
	}
	return false;
}

static void add_scalars(struct input_search *s, const struct insn_state *p,
			struct location_set sources)
{
	for (unsigned i = 0; i < NATIVE_LOCATIONS; i++) {
		const struct value *value = &p->values.at[i];
		unsigned at = locations_have(sources, i) ? scalar_location(s, value) : UINT_MAX;

		if (at == UINT_MAX)
			continue;
		if (!is_vector(at))
			add_scalar(s, at, operand_bytes(p->insn));
		else if (!is_constant(s, at))
			s->unread = true;
	}
}

/* ---------------------------------------------------------------- comparisons */

/* The instruction that a block's branch goes by. */
static bool decides(const struct input_search *s, const struct insn_state *p)
{
	uint32_t end = s->n->first_insn[p->block + 1];

	if (!s->n->insns[end - 1].branches)
		return false;
	for (uint32_t k = end; k-- > p->k + 1;)
		if (s->n->insns[k].does.writes & REGISTER_FLAGS)
			return false;
	return true;
}

static bool leads_to_a_trap(const struct input_search *s, uint16_t b)
{
	uint32_t cursor = 0;
	uint16_t next;

	while ((next = flow_successor(s->n->graph, b, &cursor)) != FLOW_NO_BLOCK)
		if (s->n->cold[next])
			return true;
	return false;
}

/* jb, jae, jbe, ja */
static bool is_unsigned(const struct input_search *s, const struct native_insn *branch)
{
	const uint8_t *code = s->n->image->bytes + branch->offset;

	if (code[0] == 0x0f && branch->does.code.length > 1)
		return (code[1] & 0xfe) == 0x82 || (code[1] & 0xfe) == 0x86;
	return (code[0] & 0xfe) == 0x72 || (code[0] & 0xfe) == 0x76;
}

/* An index and the length of an array; the other way leads out of the code. */
static bool is_bounds_check(const struct input_search *s, const struct insn_state *p)
{
	return decides(s, p) && is_unsigned(s, &s->n->insns[s->n->first_insn[p->block + 1] - 1]) &&
	       leads_to_a_trap(s, p->block);
}

/* What else than counters and the like a comparison is of, and what of: */
struct sides {
	bool progress;
	bool element; /* of a list, itself */
	bool carried; /* what is neither, of the turn before */
	unsigned others;
};

static struct sides sides_of(const struct input_search *s, const struct insn_state *p)
{
	struct location_set sources = load_flow_value_reads(p->insn);
	struct sides sides = {.others = load_flow_index(s->f, p->insn) >= 0};

	for (unsigned i = 0; i < NATIVE_LOCATIONS; i++) {
		if (!locations_have(sources, i))
			continue;
		if (!is_progress(s, &p->values.at[i])) {
			sides.others++;
			sides.carried |= (p->loads.at[i] & LOAD_FLOW_OTHER) != 0;
			continue;
		}
		sides.progress = true;
		sides.element |= (p->loads.at[i] & LOAD_FLOW_LOADS) != 0;
	}
	return sides;
}

/* What the turn before has made, and is compared with what this one loads: so an instance goes by
 * what it began with. The first turn that is read tells. */
static void add_carried(struct input_search *s, const struct insn_state *p)
{
	struct location_set sources = load_flow_value_reads(p->insn);
	unsigned bytes = operand_bytes(p->insn);

	for (unsigned i = 0; i < NATIVE_LOCATIONS; i++) {
		if (!locations_have(sources, i) || !(p->loads.at[i] & LOAD_FLOW_OTHER) ||
		    is_progress(s, &p->values.at[i]))
			continue;
		for (unsigned at = 0; at < NATIVE_LOCATIONS; at++)
			if (locations_have(p->values.at[i].from, at) &&
			    locations_have(s->v->written, at) && can_be_read(at) &&
			    !is_progress(s, &s->v->latch.at[at]))
				add_scalar(s, at, bytes);
	}
}

static void look_at_comparison(struct input_search *s, const struct insn_state *p)
{
	struct sides sides = sides_of(s, p);
	uint64_t loads = load_flow_values(s->f, p->insn, &p->loads);

	/* A collector asks, by a word of the thread. */
	if (p->insn->does.code.memory.loads && p->insn->does.code.memory.base == R15)
		return;
	if (is_bounds_check(s, p)) {
		if (sides.others == 1)
			s->lengths |= loads;
		return;
	}
	if (p->insn->does.tests_null) {
		s->weak |= loads;
		return;
	}
	/* A counter and its limit; but which element of a list it is, the program asks. */
	if (sides.progress && !sides.element) {
		s->counted = true;
		return;
	}
	s->data |= loads;
	s->counted |= sides.carried;
	if (sides.carried)
		add_carried(s, p);
	if (!sides.progress && (loads & ~LOAD_FLOW_JVM))
		add_scalars(s, p, load_flow_value_reads(p->insn));
}

/* ---------------------------------------------------------------- other instructions */

static bool same_value(const struct value *a, const struct value *b)
{
	return a->kind == b->kind && a->location == b->location && a->step == b->step &&
	       a->from.registers == b->from.registers && a->from.slots == b->from.slots;
}

static bool same_address(const struct address *a, const struct address *b)
{
	return a->scale == b->scale && a->displacement == b->displacement &&
	       same_value(&a->base, &b->base) && same_value(&a->index, &b->index);
}

/* The same in all turns; or one of several constants, as where profiles are kept. */
static bool stays(const struct input_search *s, const struct value *value)
{
	return loop_value_same(s->v, value) ||
	       (value->kind == VALUE_MIX && !value->from.registers && !value->from.slots &&
		!(value->flags & (VALUE_CALLED | VALUE_LOADED | VALUE_FRESH)));
}

/* Where its operand is; false where that changes from turn to turn. */
static bool take_address(const struct input_search *s, const struct insn_state *p,
			 struct address *a)
{
	const struct operand *m = &p->insn->does.code.memory;

	*a = (struct address){.scale = m->index >= 0 ? m->scale : 0,
			      .displacement = m->displacement};
	if (m->base >= 0)
		a->base = p->values.at[m->base];
	if (m->index >= 0)
		a->index = p->values.at[m->index];
	/* Where an object ends and a field's place in it begins is the compiler's. */
	if (a->base.kind == VALUE_STEP) {
		a->displacement += a->base.step;
		a->base.step = 0;
	}
	return (stays(s, &a->base) || a->base.flags & VALUE_STEADY) && stays(s, &a->index);
}

static bool is_heap_store(const struct native_insn *insn)
{
	const struct operand *m = &insn->does.code.memory;

	return m->stores && !insn->call && m->base != RSP && m->base != R15;
}

/* Is one of the sources a counter, and no list's element? */
static bool has_counter(const struct input_search *s, const struct insn_state *p,
			struct location_set sources)
{
	for (unsigned i = 0; i < NATIVE_LOCATIONS; i++)
		if (locations_have(sources, i) && is_progress(s, &p->values.at[i]) &&
		    !(p->loads.at[i] & (LOAD_FLOW_LOADS | LOAD_FLOW_JVM)))
			return true;
	return false;
}

static void look_at_store(struct input_search *s, const struct insn_state *p)
{
	const struct operand *m = &p->insn->does.code.memory;
	uint64_t stored = load_flow_values(s->f, p->insn, &p->loads);
	struct address to;

	/* Which element it goes to; r12 is where compressed references begin. */
	if (m->index >= 0 && m->scale > 1 && m->base != R12)
		s->data |= p->loads.at[m->index];
	/* A list's element may be how far the loop has come, in memory: a queue's first. */
	if (take_address(s, p, &to)) {
		s->weak |= stored;
		if (s->kept_count < KEPT_MAX) {
			s->put[s->kept_count] = stored;
			s->kept[s->kept_count++] = to;
		}
	} else {
		s->data |= stored;
		s->counted |= has_counter(s, p, load_flow_value_reads(p->insn));
	}
	add_scalars(s, p, load_flow_value_reads(p->insn));
}

static void look_at_call(struct input_search *s, const struct insn_state *p, uint64_t arguments)
{
	for (uint64_t bits = arguments; bits; bits &= bits - 1) {
		unsigned reg = (unsigned)__builtin_ctzll(bits);
		unsigned at = scalar_location(s, &p->values.at[reg]);

		*(p->loads.at[reg] & LOAD_FLOW_OTHER ? &s->handed : &s->data) |= p->loads.at[reg];
		if (at != UINT_MAX && !is_vector(at))
			add_scalar(s, at, 8);
	}
}

static bool is_lea(const struct native_insn *insn)
{
	const struct operand *m = &insn->does.code.memory;

	return insn->does.kind == EFFECT_DERIVE && !m->loads && !m->stores &&
	       (m->base >= 0 || m->index >= 0);
}

/* What is computed with something that is loaded, or changes otherwise, is a scalar; addresses are
 * told by being sums of 64 bits. A counter in its place tells all turns apart. */
static void look_at_arithmetic(struct input_search *s, const struct insn_state *p)
{
	struct location_set sources = load_flow_value_reads(p->insn);
	uint64_t loads = load_flow_values(s->f, p->insn, &p->loads);
	bool changes = (loads & LOAD_FLOW_LOADS) != 0;

	if (is_lea(p->insn))
		return;
	if (p->insn->does.kind != EFFECT_DERIVE || operand_bytes(p->insn) <= 4)
		for (unsigned i = 0; i < NATIVE_LOCATIONS; i++)
			changes |= locations_have(sources, i) &&
				   !loop_value_progress(s->v, &p->values.at[i]);
	if (!changes)
		return;
	add_scalars(s, p, sources);
	s->counted |= has_counter(s, p, sources);
}

static void look_at_load(struct input_search *s, const struct insn_state *p, unsigned load)
{
	s->steady[load] = take_address(s, p, &s->loaded_from[load]);
}

static void look_at(struct input_search *s, const struct insn_state *p, uint64_t arguments)
{
	const struct native_insn *insn = p->insn;
	int load = load_flow_index(s->f, insn);

	s->address |= load_flow_address(insn, &p->loads);
	if (load >= 0 && !insn->call)
		look_at_load(s, p, (unsigned)load);
	if (insn->branches)
		s->data |= p->loads.flags;
	else if (insn->call)
		look_at_call(s, p, arguments);
	else if (is_heap_store(insn))
		look_at_store(s, p);
	else if (native_polls(s->n, insn))
		return;
	else if (insn->does.kind == EFFECT_COMPARE)
		look_at_comparison(s, p);
	else if (insn->does.kind == EFFECT_DERIVE || insn->does.kind == EFFECT_SELECT ||
		 (insn->does.kind == EFFECT_OTHER && insn->does.writes))
		look_at_arithmetic(s, p);
}

/* ---------------------------------------------------------------- the loop */

/* What is used where the loop is left to, or in the next turn, and does not say how far it is. */
static void leave_for(struct input_search *s, const struct load_state *loads,
		      const struct value_state *values, uint16_t to)
{
	struct location_set used = s->live->entering[to];

	/* Calls read what may be arguments, and returns xmm0, for want of better knowledge. */
	used.registers &= s->read | (to == s->v->blocks[0] ? 0 : REGISTER_GENERALS);
	for (unsigned i = 0; i < NATIVE_LOCATIONS; i++)
		if (locations_have(used, i) && !is_progress(s, &values->at[i]))
			s->weak |= loads->at[i];
}

static void look_at_ways(struct input_search *s, unsigned i)
{
	uint32_t cursor = 0;
	uint16_t next;

	while ((next = flow_successor(s->n->graph, s->v->blocks[i], &cursor)) != FLOW_NO_BLOCK)
		if (!s->n->cold[next] &&
		    (next == s->v->blocks[0] || loop_values_index(s->v, next) == UINT_MAX))
			leave_for(s, &s->f->leaving[i], &s->v->leaving[i], next);
}

static bool is_real_call(const struct native_insn *insn)
{
	return insn->call == NATIVE_CALL || insn->call == NATIVE_CALL_LEAF;
}

static void look_at_block(struct input_search *s, unsigned i, struct turn_inputs *turns)
{
	struct insn_state p = {.block = s->v->blocks[i]};

	loop_values_enter(s->v, i, &p.values);
	load_flow_enter(s->f, i, &p.loads);
	for (p.k = s->n->first_insn[p.block]; p.k < s->n->first_insn[p.block + 1]; p.k++) {
		uint64_t arguments;

		p.insn = &s->n->insns[p.k];
		arguments = is_real_call(p.insn) ? call_arguments(s->n, p.block, p.k) : 0;
		look_at(s, &p, arguments);
		turn_inputs_look(turns, p.insn, arguments, &p.values, &p.loads);
		loop_values_pass(s->v, p.insn, &p.values);
		load_flow_pass(s->f, p.insn, &p.loads);
	}
}

static void find_read(struct input_search *s)
{
	for (unsigned i = 0; i < s->v->block_count; i++) {
		uint16_t b = s->v->blocks[i];

		for (uint32_t k = s->n->first_insn[b]; k < s->n->first_insn[b + 1]; k++) {
			const struct native_insn *insn = &s->n->insns[k];
			uint16_t size = insn->does.code.memory.size;

			s->read |= insn->does.reads;
			if (insn->slot < 0 || !insn->does.code.memory.loads || size > 64)
				continue;
			if (s->slot_bytes[insn->slot] == 0 || size < s->slot_bytes[insn->slot])
				s->slot_bytes[insn->slot] = (uint8_t)size;
		}
	}
}

/* Does the loop store where this is loaded from, the same place in all turns? What it leaves there
 * leads on where what it finds there does. */
static bool is_kept(struct input_search *s, unsigned load)
{
	bool kept = false;

	for (unsigned i = 0; i < s->kept_count && s->steady[load]; i++) {
		if (!same_address(&s->kept[i], &s->loaded_from[load]))
			continue;
		kept = true;
		if (s->address >> load & 1)
			s->address |= s->put[i];
	}
	return kept;
}

/* May both be copies of one load, which a compiler made as it unrolled a loop? They go from the
 * same values, some steps further. */
static bool look_alike(const struct input_search *s, unsigned a, unsigned b)
{
	const struct address *x = &s->loaded_from[a], *y = &s->loaded_from[b];
	bool indexed = s->f->loads[a]->does.code.memory.index >= 0;

	return s->f->loads[a]->does.code.memory.size == s->f->loads[b]->does.code.memory.size &&
	       x->scale == y->scale && (indexed || x->displacement == y->displacement) &&
	       x->base.kind == y->base.kind && x->base.location == y->base.location &&
	       (x->base.flags & VALUE_LOADED) == (y->base.flags & VALUE_LOADED) &&
	       x->index.location == y->index.location &&
	       (x->index.flags & VALUE_LOADED) == (y->index.flags & VALUE_LOADED);
}

/* A word where arrays have their length, with compact headers, compressed classes and neither. */
static bool is_length(const struct native_insn *insn)
{
	const struct operand *m = &insn->does.code.memory;

	return m->size == 4 &&
	       (m->displacement == 8 || m->displacement == 12 || m->displacement == 16) &&
	       (m->index < 0 || m->base == R12);
}

static void take_load(struct input_search *s, unsigned load, unsigned *taken)
{
	const struct native_insn *insn = s->f->loads[load];
	struct loop_inputs *in = s->in;
	unsigned at = in->load_count++, like = 0;

	taken[at] = load;
	while (!look_alike(s, taken[like], load))
		like++;
	in->copy_of[at] = (uint8_t)like;
	in->loads[at] = (struct loop_input){
	    .use = {.offset = insn->offset, .bytes = insn->does.code.memory.size}, .bci = -1};
}

/* Those that the loop keeps for itself, or that are lengths, are none. */
static uint64_t find_none(struct input_search *s)
{
	uint64_t none = 0;

	for (unsigned i = 0; i < s->f->load_count; i++) {
		bool length = (s->lengths >> i & 1) && is_length(s->f->loads[i]);

		none |= (uint64_t)(is_kept(s, i) || length) << i;
	}
	return none;
}

/* Gives those, and calls, that turns are told by. */
static uint64_t take_loads(struct input_search *s)
{
	uint64_t none = find_none(s);
	uint64_t data = (s->data | (s->weak & ~s->address)) & ~none;
	unsigned taken[LOOP_LOADS_MAX];

	for (unsigned i = 0; i < s->f->load_count; i++)
		if (((data | (s->handed & ~none)) >> i & 1) && !s->f->loads[i]->call &&
		    s->in->load_count < LOOP_LOADS_MAX)
			take_load(s, i, taken);
	return data;
}

static void find(struct input_search *s, const struct result_sites *results)
{
	struct turn_inputs turns;

	turn_inputs_begin(&turns, s->f, results);
	find_read(s);
	for (unsigned i = 0; i < s->v->block_count; i++) {
		if (s->f->barrier[i] || s->n->cold[s->v->blocks[i]])
			continue;
		if (s->n->graph->loop[s->v->blocks[i]] == s->v->loop)
			look_at_block(s, i, &turns);
		look_at_ways(s, i);
	}
	turns.none |= s->counted;
	turn_inputs_end(&turns, take_loads(s));
	s->in->turn_input_count = turns.count;
	memcpy(s->in->turn_inputs, turns.inputs, sizeof(turns.inputs));
	if (s->unread)
		s->in->load_count = 0;
	if (s->in->load_count == 0)
		s->in->scalar_count = 0;
}

int loop_inputs_find(struct loop_inputs *in, const struct loop_values *v,
		     const struct liveness *live, const struct result_sites *results,
		     unsigned *budget)
{
	struct load_flow flow;
	struct input_search s = {.in = in, .v = v, .n = v->native, .f = &flow, .live = live};
	int rc = load_flow_make(&flow, v, budget);

	*in = (struct loop_inputs){0};
	if (rc < 0)
		return rc == -ENOMEM ? rc : 0;
	find(&s, results);
	load_flow_release(&flow);
	return 0;
}
