#include "attach/agent/code/extent.h"

#include "attach/agent/code/xstate.h"
#include "proto/limits.h"

static uint64_t low_bits(uint32_t count)
{
	return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

struct extent extent_whole(uint64_t address, uint32_t size)
{
	return (struct extent){
	    .address = address, .active = low_bits(size), .size = size, .width = size};
}

/* Bit i: lane i is active. */
static bool read_lanes(const struct insn_lanes *m, const ucontext_t *uc, uint64_t *active)
{
	uint8_t vector[XSTATE_VECTOR_BYTES];

	if (m->opmask > 0)
		return xstate_opmask(uc, (unsigned)m->opmask, active);
	if (!xstate_vector(uc, (unsigned)m->mask_vector, vector))
		return false;
	/* The highest bit of each lane of the mask counts. */
	*active = 0;
	for (unsigned i = 0; (i + 1u) * m->bytes <= XSTATE_VECTOR_BYTES; i++)
		if (vector[(i + 1) * m->bytes - 1] & 0x80)
			*active |= UINT64_C(1) << i;
	return true;
}

enum extent_result extent_of_operand(const struct insn *insn, const ucontext_t *uc,
				     uint64_t address, bool after, struct extent *out)
{
	const struct insn_lanes *lanes = &insn->lanes;
	uint64_t active;

	if (!insn->has_memory)
		return EXTENT_UNKNOWN;
	*out = extent_whole(address, insn->memory.size);
	if (!insn_is_masked(insn))
		return EXTENT_KNOWN;
	if ((after && lanes->mask_overwritten) || !read_lanes(lanes, uc, &active))
		return EXTENT_UNKNOWN;
	out->active = 0;
	for (unsigned i = 0; i * lanes->bytes < insn->memory.size; i++)
		if (active & UINT64_C(1) << i)
			out->active |= low_bits(lanes->bytes) << (i * lanes->bytes);
	out->width = (uint32_t)__builtin_popcountll(out->active);
	return out->active ? EXTENT_KNOWN : EXTENT_NOTHING;
}

static enum extent_result extent_of_string(const struct insn *insn, const gregset_t regs,
					   enum access_type type, struct random *random,
					   struct extent *out)
{
	uint64_t size = insn->string_size, index = 0;
	uint64_t left = insn->repeats ? (uint64_t)regs[REG_RCX] : 1;
	bool source = insn->string_source && (type == ACCESS_LOAD);
	uint64_t first = (uint64_t)regs[source ? REG_RSI : REG_RDI];

	if (size == 0)
		return EXTENT_UNKNOWN;
	if (left == 0)
		return EXTENT_NOTHING;
	/* Comparisons may end at any element, but not before the first. */
	if (!insn->string_compares)
		index = random_below(random, left < UINT32_MAX ? (uint32_t)left : UINT32_MAX);
	*out = extent_whole((uint64_t)regs[REG_EFL] & INSN_FLAG_DIRECTION ? first - index * size
									  : first + index * size,
			    (uint32_t)size);
	out->width =
	    left < LIMIT_ACCESS_BYTES / size ? (uint32_t)(left * size) : LIMIT_ACCESS_BYTES;
	return EXTENT_KNOWN;
}

enum extent_result extent_of_next(const struct insn *insn, const ucontext_t *uc,
				  enum access_type type, struct random *random, struct extent *out)
{
	const greg_t *regs = uc->uc_mcontext.gregs;

	if (insn->string)
		return extent_of_string(insn, regs, type, random, out);
	if (!insn->has_memory)
		return EXTENT_UNKNOWN;
	return extent_of_operand(insn, uc, insn_effective_address(insn, regs), false, out);
}
