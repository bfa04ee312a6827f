#include "daemon/loops/loop_effect.h"

static bool has_site(const struct result_sites *r, uint32_t offset)
{
	for (unsigned i = 0; i < r->count; i++)
		if (r->sites[i].result == LOOP_RESULT_STORE && r->sites[i].offset == offset)
			return true;
	return false;
}

static bool same_in_all_turns(const struct loop_values *v, int8_t reg,
			      const struct value_state *state)
{
	return reg < 0 || loop_value_same(v, &state->at[reg]) ||
	       (state->at[reg].flags & VALUE_STEADY);
}

static bool stores_in_one_place(const struct loop_values *v, const struct native_insn *insn,
				const struct value_state *state)
{
	const struct effect_memory *m = &insn->does.memory;

	return !m->strange && same_in_all_turns(v, m->base, state) &&
	       same_in_all_turns(v, m->index, state);
}

enum loop_effect loop_effect_find(const struct loop_values *v, const struct result_sites *results)
{
	const struct native_code *n = v->native;
	unsigned stores = 0;

	if (results->type == LOOP_TYPE_UNKNOWN || (results->doubts & LOOP_DOUBT_SITES))
		return LOOP_EFFECT_GROWS;
	for (unsigned i = 0; i < results->count; i++) {
		stores += results->sites[i].result == LOOP_RESULT_STORE;
		if (results->sites[i].result == LOOP_RESULT_CALL)
			return LOOP_EFFECT_GROWS;
	}
	for (unsigned i = 0; i < v->block_count && stores > 0; i++) {
		uint16_t b = v->blocks[i];
		struct value_state state;

		loop_values_enter(v, i, &state);
		for (uint32_t k = n->first_insn[b]; k < n->first_insn[b + 1]; k++) {
			const struct native_insn *insn = &n->insns[k];

			if (insn->does.memory.stores && has_site(results, insn->offset) &&
			    !stores_in_one_place(v, insn, &state))
				return LOOP_EFFECT_GROWS;
			loop_values_pass(v, insn, &state);
		}
	}
	return LOOP_EFFECT_CONSTANT;
}

/* Its callee, or what was inlined between the loop and it. */
static bool is_io_call(const struct native_code *n, uint32_t offset, uint32_t method)
{
	const struct code_image *image = n->image;
	const struct native_insn *insn = native_insn_at(n, offset);
	const struct code_record *r = insn ? native_record_at(n, offset + insn->does.length) : NULL;
	uint32_t callee = native_callee(n, offset);

	if (callee && image->methods[callee - 1].io)
		return true;
	for (uint32_t i = 0; r && i < r->frame_count; i++) {
		uint32_t frame = image->frames[r->first_frame + i].method;

		if (frame == method)
			return false;
		if (image->methods[frame].io)
			return true;
	}
	return false;
}

bool loop_effect_is_io(const struct native_code *n, const struct result_sites *results,
		       uint32_t method)
{
	if (results->type != LOOP_EVERY || results->count == 0 ||
	    (results->doubts & LOOP_DOUBT_SITES))
		return false;
	for (unsigned i = 0; i < results->count; i++)
		if (results->sites[i].result != LOOP_RESULT_CALL ||
		    !is_io_call(n, results->sites[i].offset, method))
			return false;
	return true;
}
