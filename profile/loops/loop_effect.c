#include "profile/loops/loop_effect.h"

#include "profile/loops/bytecodes/bytecode.h"

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
	const struct operand *m = &insn->does.code.memory;

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

			if (insn->does.code.memory.stores && has_site(results, insn->offset) &&
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
	const struct code_record *r =
	    insn ? native_record_at(n, offset + insn->does.code.length) : NULL;
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

/* ---------------------------------------------------------------- what calls go by */

/* Calls that are followed, one in the other; and methods looked at for one. */
#define CALLS_DEPTH_MAX 4u
#define CALLS_MAX       32u

/* Methods that are being looked at, the outermost first: one that calls itself goes by no more than
 * it does otherwise. */
struct effect_search {
	const struct code_image *image;
	uint32_t methods[CALLS_DEPTH_MAX];
	unsigned depth;
	unsigned left;
	bool outermost_known; /* of that one's calls those are looked at by others that are not
			       * known of here */
};

static bool method_reads(struct effect_search *r, uint32_t method);

static bool invoked_reads(void *context, uint32_t bci)
{
	struct effect_search *r = context;
	const struct code_reference *to =
	    code_image_reference(r->image, r->methods[r->depth - 1], bci);

	if (!to || to->target_count == 0)
		return !(r->outermost_known && r->depth == 1);
	for (uint32_t i = 0; i < to->target_count; i++)
		if (method_reads(r, r->image->targets[to->first_target + i]))
			return true;
	return false;
}

static bool method_reads(struct effect_search *r, uint32_t method)
{
	const struct code_method *m = &r->image->methods[method];
	bool reads;

	for (unsigned i = 0; i < r->depth; i++)
		if (r->methods[i] == method)
			return false;
	if (r->depth == CALLS_DEPTH_MAX || r->left == 0)
		return true;
	r->left--;
	r->methods[r->depth++] = method;
	reads =
	    bytecode_reads(r->image->bytecodes + m->bytecode, m->bytecode_bytes, invoked_reads, r);
	r->depth--;
	return reads;
}

static bool reads(const struct code_image *image, uint32_t method)
{
	struct effect_search r = {.image = image, .left = CALLS_MAX};

	return method_reads(&r, method);
}

/* Where the call leads is known of the code, or of the bytecode that it was made of. */
static bool call_reads(const struct native_code *n, const struct native_insn *insn)
{
	const struct code_image *image = n->image;
	const struct code_record *at;
	const struct code_frame *frame;
	const struct code_reference *to;
	uint32_t callee = native_callee(n, insn->offset);

	if (callee)
		return reads(image, callee - 1);
	if (native_calls_jvm(n, insn))
		return false; /* Allocates, or locks, whose callers are told by others. */
	at = native_record_at(n, insn->offset + insn->does.code.length);
	if (!at)
		return false; /* Has its own address on the stack; all that may stop has a record.
			       */
	if (at->frame_count == 0)
		return true;
	frame = &image->frames[at->first_frame];
	to = frame->bci < 0 ? NULL
			    : code_image_reference(image, frame->method, (uint32_t)frame->bci);
	if (!to || to->target_count == 0)
		return true;
	for (uint32_t i = 0; i < to->target_count; i++)
		if (reads(image, image->targets[to->first_target + i]))
			return true;
	return false;
}

static bool block_calls_read(const struct native_code *n, unsigned b, bool self)
{
	if (n->graph->rank[b] == FLOW_NO_BLOCK || n->cold[b])
		return false;
	for (uint32_t k = n->first_insn[b]; k < n->first_insn[b + 1]; k++) {
		const struct native_insn *insn = &n->insns[k];

		/* Where a method begins, the collector's may be called. */
		if (!self && native_calls_stub(n, insn))
			return true;
		if (insn->call == NATIVE_CALL &&
		    !(self && native_callee(n, insn->offset) == n->image->method + 1) &&
		    call_reads(n, insn))
			return true;
	}
	return false;
}

bool loop_effect_calls_read(const struct native_code *n, unsigned loop)
{
	for (unsigned b = 1; b < n->graph->block_count; b++)
		if (native_in_loop(n, (uint16_t)b, loop) && block_calls_read(n, b, false))
			return true;
	return false;
}

bool loop_effect_method_reads(const struct native_code *n)
{
	struct effect_search r = {.image = n->image, .left = CALLS_MAX, .outermost_known = true};

	if (method_reads(&r, n->image->method))
		return true;
	for (unsigned b = 1; b < n->graph->block_count; b++)
		if (block_calls_read(n, b, true))
			return true;
	return false;
}
