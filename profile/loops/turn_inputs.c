#include "profile/loops/turn_inputs.h"

#include "profile/loops/arguments.h"

/* A turn that calls nothing and divides nothing must compute for so long that its result would be
 * worth keeping: looking one up takes a hash, a comparison and a load at least. Below it are sums,
 * counts and comparisons of what few different values there are, all over a program. */
#define WORK_LEAST 24u

/* It goes on by a constant in each turn, or is made of what does, or did in the turns before. */
static bool is_counted(const struct load_flow *f, const struct value *value)
{
	const struct loop_values *v = f->values;
	struct location_set from = {.registers = value->from.registers & v->written.registers,
				    .slots = value->from.slots & v->written.slots};

	for (unsigned i = 0; i < NATIVE_LOCATIONS; i++)
		if (locations_have(value->from, i))
			from = locations_both(from, f->sources[i]);
	for (unsigned i = 0; i < NATIVE_LOCATIONS; i++)
		if (locations_have(from, i) && loop_location_counts(v, i))
			return true;
	return false;
}

/* A field, an element: no word of the frame, of the thread or of the code, and no poll. */
static bool loads_data(const struct native_code *n, const struct native_insn *insn)
{
	const struct operand *m = &insn->does.code.memory;

	return m->loads && m->base != RSP && m->base != R15 && (m->base >= 0 || m->index >= 0) &&
	       !native_polls(n, insn);
}

/* How often an inner loop reads what is not one of few inputs of a turn. One that reads nothing
 * goes by what the turn has loaded before. */
static bool inner_loops_read(const struct loop_values *v)
{
	const struct native_code *n = v->native;

	for (unsigned i = 0; i < v->block_count; i++) {
		uint16_t b = v->blocks[i];

		if (n->graph->loop[b] == v->loop || n->cold[b])
			continue;
		for (uint32_t k = n->first_insn[b]; k < n->first_insn[b + 1]; k++) {
			const struct native_insn *insn = &n->insns[k];

			if (insn->call == NATIVE_CALL || insn->call == NATIVE_CALL_LEAF ||
			    loads_data(n, insn))
				return true;
		}
	}
	return false;
}

static bool has_inner_loops(const struct loop_values *v)
{
	for (unsigned i = 0; i < v->block_count; i++)
		if (v->native->graph->loop[v->blocks[i]] != v->loop)
			return true;
	return false;
}

void turn_inputs_begin(struct turn_inputs *t, const struct load_flow *f,
		       const struct result_sites *results)
{
	*t = (struct turn_inputs){.flow = f};
	t->none = results->counter >= 0 || results->waits || f->cut ||
		  (results->doubts & LOOP_DOUBT_CODE) || inner_loops_read(f->values);
	t->calls = has_inner_loops(f->values); /* It takes as long. */
}

/* div, idiv; their vector kind, and square roots. */
static bool divides(const struct native_insn *insn)
{
	const struct opcode *o = &insn->does.code;

	if (o->map == OPCODE_ONE_BYTE)
		return (o->code == 0xf6 || o->code == 0xf7) && opcode_group(o) >= 6;
	return o->map == OPCODE_0F && (o->code == 0x5e || o->code == 0x51);
}

static bool is_work(const struct turn_inputs *t, const struct native_insn *insn,
		    const struct value_state *values)
{
	const struct loop_values *v = t->flow->values;
	struct location_set writes = native_writes(insn);
	struct value_state after;

	if (insn->branches || insn->does.kind == EFFECT_COPY ||
	    insn->does.kind == EFFECT_CONSTANT || insn->does.kind == EFFECT_PAUSE)
		return false;
	if (!insn->does.writes && !insn->does.code.memory.stores)
		return false;
	if (!writes.registers && !writes.slots)
		return true;
	after = *values;
	loop_values_pass(v, insn, &after);
	for (unsigned i = 0; i < NATIVE_LOCATIONS; i++)
		if (locations_have(writes, i) && !loop_value_progress(v, &after.at[i]))
			return true;
	return false;
}

static void look_at_address(struct turn_inputs *t, unsigned load, const struct native_insn *insn,
			    const struct value_state *values)
{
	const struct loop_values *v = t->flow->values;
	const struct operand *m = &insn->does.code.memory;
	const int8_t registers[] = {m->base, m->index};

	t->steady[load] = true;
	for (unsigned i = 0; i < 2; i++) {
		if (registers[i] < 0)
			continue;
		t->counted[load] |= is_counted(t->flow, &values->at[registers[i]]);
		t->steady[load] &= loop_value_same(v, &values->at[registers[i]]);
	}
}

/* Does the call get what is another one in each turn? */
static bool add_argument(struct turn_inputs *t, const struct native_insn *call, unsigned reg,
			 const struct value_state *values, const struct load_state *loads)
{
	const struct value *value = &values->at[reg];

	/* What is new is told by what is stored there. */
	if (loop_value_same(t->flow->values, value) || (loads->at[reg] & LOAD_FLOW_JVM))
		return false;
	if (!(loads->at[reg] & LOAD_FLOW_OTHER) && (loads->at[reg] & LOAD_FLOW_LOADS))
		return true; /* These loads are inputs. */
	if (t->argument_count == TURN_ARGUMENTS_MAX || reg >= 16 || is_counted(t->flow, value)) {
		t->none = true;
		return true;
	}
	t->arguments[t->argument_count++] =
	    (struct turn_argument){.call = call->offset, .reg = (uint8_t)reg};
	return true;
}

static void look_at_call(struct turn_inputs *t, const struct native_insn *call, int index,
			 uint64_t arguments, const struct value_state *values,
			 const struct load_state *loads)
{
	bool changes = false;

	t->calls = true;
	for (uint64_t bits = arguments; bits; bits &= bits - 1)
		changes |= add_argument(t, call, (unsigned)__builtin_ctzll(bits), values, loads);
	if (!changes && index >= 0)
		t->asking |= UINT64_C(1) << index;
}

void turn_inputs_look(struct turn_inputs *t, const struct native_insn *insn, uint64_t arguments,
		      const struct value_state *values, const struct load_state *loads)
{
	int load = load_flow_index(t->flow, insn);

	if (t->none)
		return;
	if (load >= 0 && !insn->call)
		look_at_address(t, (unsigned)load, insn, values);
	if (insn->call == NATIVE_CALL || insn->call == NATIVE_CALL_LEAF) {
		look_at_call(t, insn, load, arguments, values, loads);
	} else if (!insn->call) {
		t->calls |= divides(insn);
		t->work += is_work(t, insn, values);
	}
}

static bool add(struct turn_inputs *t, uint32_t offset, unsigned bytes, unsigned reg)
{
	if (t->count == LIMIT_PLAN_TURN_INPUTS)
		return false;
	t->inputs[t->count++] = (struct loop_input){
	    .use = {.offset = offset, .bytes = (uint16_t)bytes, .reg = (uint16_t)reg}, .bci = -1};
	return true;
}

static bool add_source(struct turn_inputs *t, const struct native_insn *insn)
{
	if (insn->call)
		return add(t, insn->offset + insn->does.code.length, 0, RAX);
	return add(t, insn->offset, insn->does.code.memory.size, 0);
}

static bool add_all(struct turn_inputs *t, uint64_t sources)
{
	const struct load_flow *f = t->flow;

	t->count = 0;
	for (unsigned i = 0; i < f->load_count; i++)
		if ((sources >> i & 1) && !add_source(t, f->loads[i]))
			return false;
	for (unsigned i = 0; i < t->argument_count; i++)
		if (!add(t, t->arguments[i].call, 0, t->arguments[i].reg))
			return false;
	return true;
}

void turn_inputs_end(struct turn_inputs *t, uint64_t data)
{
	uint64_t steady = 0, told = 0;

	/* What other calls give is taken for told by what they are handed. */
	for (unsigned i = 0; i < t->flow->load_count; i++) {
		told |= (uint64_t)(t->flow->loads[i]->call && !(t->asking >> i & 1)) << i;
		steady |= (uint64_t)t->steady[i] << i;
		t->none |= (data >> i & 1) && t->counted[i];
	}
	if (t->none || (t->asking && (data & LOAD_FLOW_FLOAT)) ||
	    (!t->calls && t->work < WORK_LEAST))
		return;
	data &= LOAD_FLOW_LOADS & ~told;
	/* What is read at one place again and again is what differs least. */
	if (!add_all(t, data) && !add_all(t, data & ~steady))
		t->count = 0;
}
