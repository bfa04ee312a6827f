#include "profile/loops/load_flow.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "common/array.h"

#define PASSES_MAX 12u

/* Object headers: the mark word, then the class, 4 bytes where it is compressed; with compact
 * headers it is the upper half of the mark word, and fields follow. */
#define MARK_AT          0
#define COMPACT_CLASS_AT 4
#define CLASS_AT         8

/* Collectors' barriers shift addresses by the size of a card, and G1's by that of a region: 1 to 32
 * MiB. */
#define CARD_SHIFT       9
#define REGION_SHIFT_MIN 20
#define REGION_SHIFT_MAX 25

/* Instructions from ZGC's look at a reference to the store in its place. */
#define STORE_BEHIND_MAX 4

/* ---------------------------------------------------------------- loads */

static uint64_t address_registers(const struct native_insn *insn)
{
	const struct operand *m = &insn->does.code.memory;
	uint64_t all = 0;

	if (!m->loads && !m->stores)
		return 0;
	if (m->base >= 0)
		all |= REGISTER_GENERAL(m->base);
	if (m->index >= 0)
		all |= REGISTER_GENERAL(m->index);
	return all;
}

/* A word at so many bytes of what one register leads to, compressed (r12 + 8 * it) or not. */
static bool is_word_at(const struct operand *m, int64_t displacement, unsigned size)
{
	bool compressed = m->base == R12 && m->scale == 8;

	return m->displacement == displacement && m->size == size && (m->index < 0 || compressed);
}

static bool is_header_word(const struct native_code *n, const struct native_insn *insn)
{
	const struct operand *m = &insn->does.code.memory;

	if ((is_word_at(m, MARK_AT, 8) && insn->does.kind == EFFECT_COPY) ||
	    is_word_at(m, COMPACT_CLASS_AT, 4))
		return true;
	return !n->compact_headers && (is_word_at(m, CLASS_AT, 4) || is_word_at(m, CLASS_AT, 8));
}

static bool loads_memory(const struct native_insn *insn)
{
	return insn->does.code.memory.loads && insn->slot < 0 && !insn->call;
}

/* ZGC looks at what color a reference has before it puts another one in its place: at part of it.
 */
static bool is_stored_to_next(const struct native_code *n, const struct native_insn *insn)
{
	const struct operand *m = &insn->does.code.memory;
	const struct native_insn *end = n->insns + n->insn_count;

	if (insn->does.kind != EFFECT_COMPARE || m->size >= 8)
		return false;
	for (const struct native_insn *i = insn + 1; i < end && i <= insn + STORE_BEHIND_MAX; i++) {
		const struct operand *o = &i->does.code.memory;

		if (o->stores && o->size == 8 && o->base == m->base && o->index == m->index &&
		    o->scale == m->scale && o->displacement == m->displacement)
			return true;
	}
	return false;
}

/* ... that registers tell the address of, and whose value may be the program's, all of it. */
static bool is_heap_load(const struct native_code *n, const struct native_insn *insn)
{
	const struct operand *m = &insn->does.code.memory;

	if (!loads_memory(insn) || m->strange || m->rip_relative || m->size == 0 || m->size > 64 ||
	    (m->base < 0 && m->index < 0) || (insn->does.reads & REGISTER_MASKS))
		return false;
	return m->base != RSP && m->base != R15 && !is_header_word(n, insn) &&
	       !native_polls(n, insn) && !is_stored_to_next(n, insn);
}

static bool is_jvm_load(const struct native_code *n, const struct native_insn *insn)
{
	return loads_memory(insn) &&
	       (insn->does.code.memory.base == R15 || is_header_word(n, insn));
}

int load_flow_index(const struct load_flow *f, const struct native_insn *insn)
{
	size_t at = SEARCH_FIRST(i, f->load_count, f->loads[i]->offset >= insn->offset);

	return at < f->load_count && f->loads[at] == insn ? (int)at : -1;
}

/* ... that may give something back. */
static bool is_call(const struct native_code *n, const struct native_insn *insn)
{
	return (insn->call == NATIVE_CALL || insn->call == NATIVE_CALL_LEAF) &&
	       !native_calls_jvm(n, insn);
}

/* ---------------------------------------------------------------- barriers */

/* All 64 bits of a register, to the right. */
static bool shifts_whole(const struct native_insn *insn)
{
	return insn->does.shifts_right && (insn->does.code.rex & OPCODE_REX_W);
}

/* Does the branch that goes by these flags ask for a collector: by a word of the thread, or by what
 * is shifted out of a reference (ZGC's colors)? */
static bool asks_for_collector(const struct native_insn *insn)
{
	if (insn->does.code.memory.loads && insn->does.code.memory.base == R15)
		return !(insn->does.reads & REGISTER_GENERAL(RSP));
	return shifts_whole(insn);
}

/* ... at the end of the block. */
static bool ends_asking(const struct native_code *n, uint16_t b)
{
	for (uint32_t k = n->first_insn[b + 1]; k-- > n->first_insn[b];)
		if (n->insns[k].does.writes & REGISTER_FLAGS)
			return asks_for_collector(&n->insns[k]);
	return false;
}

/* What such a branch alone leads to, and what only that leads to. Its other side goes on with the
 * program: both ways meet there. Where neither does, the shorter one is not known. */
static void find_barriers(struct load_flow *f)
{
	const struct loop_values *v = f->values;
	const struct flow_graph *g = v->native->graph;

	for (unsigned i = 1; i < v->block_count; i++) {
		uint16_t from = native_only_source(v->native, v->blocks[i]), next;
		unsigned at = from == FLOW_NO_BLOCK ? UINT_MAX : loop_values_index(v, from);
		unsigned sides = 0;
		uint32_t cursor = 0;

		if (at == UINT_MAX)
			continue;
		while ((next = flow_successor(g, from, &cursor)) != FLOW_NO_BLOCK)
			sides += native_only_source(v->native, next) == from;
		f->barrier[i] = f->barrier[at] || (sides == 1 && ends_asking(v->native, from));
	}
}

/* ---------------------------------------------------------------- flow */

struct location_set load_flow_value_reads(const struct native_insn *insn)
{
	struct location_set reads = native_reads(insn);
	uint64_t address = address_registers(insn);

	/* What an operation goes on from, and its address beside. */
	if (insn->does.kind != EFFECT_COPY)
		address &= ~insn->does.writes;
	reads.registers &= ~address;
	return reads;
}

static uint64_t all_of(struct location_set where, const struct load_state *state)
{
	uint64_t all = 0;

	for (uint64_t bits = where.registers; bits; bits &= bits - 1)
		all |= state->at[__builtin_ctzll(bits)];
	for (uint64_t bits = where.slots; bits; bits &= bits - 1)
		all |= state->at[NATIVE_REGISTERS + (unsigned)__builtin_ctzll(bits)];
	return all;
}

uint64_t load_flow_address(const struct native_insn *insn, const struct load_state *state)
{
	return all_of((struct location_set){.registers = address_registers(insn)}, state);
}

uint64_t load_flow_values(const struct load_flow *f, const struct native_insn *insn,
			  const struct load_state *state)
{
	uint64_t all = all_of(load_flow_value_reads(insn), state);
	int load = insn->call ? -1 : load_flow_index(f, insn);

	if (insn->does.reads & REGISTER_FLAGS)
		all |= state->flags;
	if (load >= 0 && !(load_flow_address(insn, state) & LOAD_FLOW_JVM))
		all |= UINT64_C(1) << load;
	else if (is_jvm_load(f->values->native, insn) || load >= 0)
		all |= LOAD_FLOW_JVM;
	else if (is_heap_load(f->values->native, insn))
		all |= LOAD_FLOW_OTHER;
	return all;
}

/* A card's or a region's number. */
static bool is_barrier_shift(const struct native_insn *insn)
{
	int64_t by = insn->does.immediate;

	return shifts_whole(insn) &&
	       (by == CARD_SHIFT || (by >= REGION_SHIFT_MIN && by <= REGION_SHIFT_MAX));
}

static uint64_t result_of(const struct load_flow *f, const struct native_insn *insn,
			  const struct load_state *state)
{
	/* What it allocates is as new as what is allocated beside the call. */
	if (insn->call)
		return native_calls_jvm(f->values->native, insn) ? LOAD_FLOW_JVM : LOAD_FLOW_OTHER;
	if (insn->does.kind == EFFECT_CONSTANT)
		return 0;
	if (is_barrier_shift(insn))
		return LOAD_FLOW_JVM;
	return load_flow_values(f, insn, state);
}

/* Results are in rax, or in xmm0. */
static void give_back(const struct load_flow *f, const struct native_insn *call,
		      struct load_state *state)
{
	int index = load_flow_index(f, call);

	if (index < 0)
		return;
	state->at[RAX] = UINT64_C(1) << index;
	state->at[XMM0] |= LOAD_FLOW_FLOAT;
}

void load_flow_pass(const struct load_flow *f, const struct native_insn *insn,
		    struct load_state *state)
{
	struct location_set writes = native_writes(insn);
	uint64_t result = result_of(f, insn, state);

	for (uint64_t bits = writes.registers; bits; bits &= bits - 1)
		state->at[__builtin_ctzll(bits)] = result;
	for (uint64_t bits = writes.slots; bits; bits &= bits - 1)
		state->at[NATIVE_REGISTERS + (unsigned)__builtin_ctzll(bits)] = result;
	if (insn->call)
		give_back(f, insn, state);
	/* Who compares says so itself. */
	if (insn->does.writes & REGISTER_FLAGS)
		state->flags =
		    insn->does.kind == EFFECT_COMPARE || insn->call || asks_for_collector(insn)
			? 0
			: result;
}

static void merge(struct load_state *into, const struct load_state *from)
{
	for (unsigned i = 0; i < NATIVE_LOCATIONS; i++)
		into->at[i] |= from->at[i];
	into->flags |= from->flags;
}

/* Finds what all locations are made of in the turns before: one step, then all (Warshall). */
static void find_sources(struct load_flow *f)
{
	const struct loop_values *v = f->values;

	for (unsigned i = 0; i < NATIVE_LOCATIONS; i++) {
		f->sources[i].registers = v->latch.at[i].from.registers & v->written.registers;
		f->sources[i].slots = v->latch.at[i].from.slots & v->written.slots;
	}
	for (unsigned by = 0; by < NATIVE_LOCATIONS; by++)
		for (unsigned i = 0; i < NATIVE_LOCATIONS; i++)
			if (locations_have(f->sources[i], by))
				f->sources[i] = locations_both(f->sources[i], f->sources[by]);
}

/* A sum, or a pointer along a list, is of all turns before. What a turn has only loaded, or got
 * from a call, for the next one is told by that. */
static bool is_carried(const struct load_flow *f, unsigned location)
{
	const struct loop_values *v = f->values;

	for (unsigned i = 0; i < NATIVE_LOCATIONS; i++) {
		if (!locations_have(f->sources[location], i) || loop_location_stays(v, i))
			continue;
		if (i == location || (!loop_location_counts(v, i) && !loop_location_leads_on(v, i)))
			return true;
	}
	return false;
}

static void find_carried(struct load_flow *f)
{
	find_sources(f);
	for (unsigned i = 0; i < NATIVE_LOCATIONS; i++)
		if (locations_have(f->values->written, i) && is_carried(f, i))
			locations_add(&f->carried, i);
}

static void begin_turn(const struct load_flow *f, struct load_state *state)
{
	for (unsigned i = 0; i < NATIVE_LOCATIONS; i++)
		state->at[i] = locations_have(f->carried, i) ? LOAD_FLOW_OTHER : 0;
	state->flags = 0;
}

void load_flow_enter(const struct load_flow *f, unsigned i, struct load_state *state)
{
	const struct loop_values *v = f->values;
	const struct flow_graph *g = v->native->graph;
	uint16_t block = v->blocks[i];

	if (i == 0)
		begin_turn(f, state);
	else
		*state = (struct load_state){0};
	for (unsigned e = g->first_edge[block]; e < g->first_edge[block + 1]; e++) {
		unsigned from = g->rank[g->edges[e]] == FLOW_NO_BLOCK
				    ? UINT_MAX
				    : loop_values_index(v, g->edges[e]);

		if (from != UINT_MAX)
			merge(state, &f->leaving[from]);
	}
}

static bool same_state(const struct load_state *a, const struct load_state *b)
{
	uint64_t different = a->flags ^ b->flags;

	for (unsigned i = 0; i < NATIVE_LOCATIONS; i++)
		different |= a->at[i] ^ b->at[i];
	return different == 0;
}

/* One pass; true when something is not as before. */
static bool pass(struct load_flow *f)
{
	const struct loop_values *v = f->values;
	const struct native_code *n = v->native;
	bool changed = false;

	for (unsigned i = 0; i < v->block_count; i++) {
		uint16_t b = v->blocks[i];
		struct load_state state;

		load_flow_enter(f, i, &state);
		for (uint32_t k = n->first_insn[b]; k < n->first_insn[b + 1]; k++)
			load_flow_pass(f, &n->insns[k], &state);
		changed |= !same_state(&state, &f->leaving[i]);
		f->leaving[i] = state;
	}
	return changed;
}

static int by_offset(const void *a, const void *b)
{
	const struct native_insn *x = *(const struct native_insn *const *)a;
	const struct native_insn *y = *(const struct native_insn *const *)b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void find_loads(struct load_flow *f)
{
	const struct loop_values *v = f->values;
	const struct native_code *n = v->native;

	for (unsigned i = 0; i < v->block_count; i++) {
		uint16_t b = v->blocks[i];

		if (f->barrier[i] || n->cold[b] || n->graph->loop[b] != v->loop)
			continue;
		for (uint32_t k = n->first_insn[b]; k < n->first_insn[b + 1]; k++) {
			const struct native_insn *insn = &n->insns[k];

			if (!is_heap_load(n, insn) && !is_call(n, insn))
				continue;
			if (f->load_count == LOAD_FLOW_MAX)
				f->cut = true;
			else
				f->loads[f->load_count++] = insn;
		}
	}
	qsort(f->loads, f->load_count, sizeof(f->loads[0]), by_offset);
}

static int make(struct load_flow *f, unsigned *budget)
{
	unsigned count = f->values->block_count;

	f->barrier = calloc(count + 1, sizeof(f->barrier[0]));
	f->leaving = calloc(count + 1, sizeof(f->leaving[0]));
	if (!f->barrier || !f->leaving)
		return -ENOMEM;
	find_barriers(f);
	find_loads(f);
	find_carried(f);
	for (unsigned passes = 0;; passes++) {
		if (passes == PASSES_MAX || *budget < count)
			return -E2BIG;
		*budget -= count;
		if (!pass(f))
			return 0;
	}
}

int load_flow_make(struct load_flow *f, const struct loop_values *v, unsigned *budget)
{
	int rc;

	*f = (struct load_flow){.values = v};
	rc = make(f, budget);
	if (rc < 0)
		load_flow_release(f);
	return rc;
}

void load_flow_release(struct load_flow *f)
{
	free(f->barrier);
	free(f->leaving);
	*f = (struct load_flow){0};
}
