#include "attach/agent/code/interrupted.h"

#include "attach/agent/code/boundaries.h"
#include "attach/agent/code/codemap.h"
#include "attach/agent/code/loops.h"
#include "attach/agent/code/search.h"

/* The length of the instruction that ends at ip; 0 when there is none, when a jump goes to ip, or
 * when neither is known. */
static unsigned length_before(uint64_t ip)
{
	const struct loop_nest *nest;
	struct code_blob blob;

	if (!codemap_find(ip, &blob))
		return 0;
	nest = loops_of(&blob);
	return nest && loop_block(nest, ip) != ip ? boundaries_length(&blob, ip) : 0;
}

bool interrupted_access(uint64_t ip, struct insn *out)
{
	unsigned length = length_before(ip);

	return length && search_fetch(ip - length, out) && out->length == length &&
	       out->has_memory && out->flow == FLOW_NEXT;
}

static bool string_operand(const struct insn *in, const gregset_t regs, uint64_t *address,
			   uint32_t *size, bool *store)
{
	if (!in->string_reads && !in->string_writes)
		return false;
	*store = in->string_writes;
	*address = (uint64_t)regs[in->string_writes ? REG_RDI : REG_RSI];
	*size = in->string_size;
	return true;
}

bool interrupted_operand(const struct insn *in, bool executed, const gregset_t regs,
			 uint64_t *address, uint32_t *size, bool *store)
{
	const struct operand *m = &in->memory;

	if (in->string && !executed)
		return string_operand(in, regs, address, size, store);
	if (!in->has_memory)
		return false;
	if (executed && insn_overwrites(in, m))
		return false;
	*address = insn_effective_address(in, regs);
	*size = m->size;
	*store = m->stores;
	return true;
}
