#include "attach/agent/code/trap.h"

#include <string.h>

#include "attach/agent/code/boundaries.h"
#include "attach/agent/code/codemap.h"
#include "attach/agent/code/safe_read.h"
#include "attach/agent/code/search.h"

#define STRING_LINE_BYTES 64u

/* The address of a load that overwrote a register of its own operand, told by the value it left
 * behind. False unless exactly one aligned address that overlaps the watched bytes holds it. */
static bool loaded_from(const struct insn *in, const gregset_t regs, uint64_t watched,
			unsigned length, uint64_t *address)
{
	uint64_t size = in->memory.size;
	uint64_t value[1], memory[1];
	unsigned found = 0;

	if (in->loads_register < 0 || size > sizeof(value))
		return false;
	value[0] = register_value(regs, in->loads_register);
	for (uint64_t a = watched & ~(size - 1); a < watched + length; a += size) {
		if (!safe_read(a, memory, size) || memcmp(memory, value, size) != 0)
			continue;
		*address = a;
		found++;
	}
	return found == 1;
}

unsigned trap_shared(const struct extent *extent, uint64_t watched, unsigned length)
{
	unsigned shared = 0;

	for (unsigned i = 0; i < length; i++) {
		uint64_t at = watched + i - extent->address;

		if (at < extent->size && extent->active >> at & 1)
			shared |= 1u << i;
	}
	return shared;
}

/* Could this instruction, which has run already, have accessed the watched bytes? Without trust,
 * only one whose operand still tells its address. */
static bool explains(const struct insn *in, const ucontext_t *uc, uint64_t watched, unsigned length,
		     bool trusted, struct trap_access *out)
{
	const greg_t *regs = uc->uc_mcontext.gregs;
	uint64_t address;

	if (!in->has_memory)
		return false;
	if (!insn_overwrites(in, &in->memory))
		address = insn_effective_address(in, regs);
	else if (!trusted || !loaded_from(in, regs, watched, length, &address))
		return false;
	if (!extent_overlap(address, in->memory.size, watched, length))
		return false;
	*out = (struct trap_access){.insn = *in};
	if (extent_of_operand(in, uc, address, true, &out->extent) == EXTENT_UNKNOWN)
		return false;
	if (trap_shared(&out->extent, watched, length)) {
		out->reads = in->memory.loads;
		out->writes = insn_stored(in, regs);
	}
	return true;
}

/* The element of a string operation that is at position now which covers the watched bytes: the
 * latest one, or, as fast string operations run a cache line's worth of iterations before they
 * report, an earlier one. False when none is sure to have been the first to touch them. */
static bool covering_element(uint64_t position, bool backward, uint64_t size, uint64_t watched,
			     unsigned length, uint64_t *address)
{
	uint64_t latest = backward ? position + size : position - size;

	for (uint64_t run = 0; run <= STRING_LINE_BYTES; run += size) {
		*address = backward ? latest + run : latest - run;
		if (extent_overlap(*address, size, watched, length))
			return run == 0 ||
			       (*address <= watched && *address + size >= watched + length);
	}
	return false;
}

/* String instructions have moved rsi and rdi past the access by the time of the trap. */
static bool explains_string(const struct insn *in, const gregset_t regs, uint64_t watched,
			    unsigned length, struct trap_access *out)
{
	bool backward = (uint64_t)regs[REG_EFL] & INSN_FLAG_DIRECTION;
	uint64_t size = in->string_size;
	uint64_t source = (uint64_t)regs[REG_RSI], destination = (uint64_t)regs[REG_RDI];
	uint64_t address;
	bool writes, reads;

	if (!in->string || size == 0)
		return false;
	writes = in->string_writes &&
		 covering_element(destination, backward, size, watched, length, &address);
	reads = !writes && in->string_reads &&
		(covering_element(source, backward, size, watched, length, &address) ||
		 (!in->string_writes &&
		  covering_element(destination, backward, size, watched, length, &address)));
	if (!writes && !reads)
		return false;
	*out = (struct trap_access){.insn = *in,
				    .reads = reads,
				    .writes = writes,
				    .extent = extent_whole(address, (uint32_t)size)};
	return true;
}

static bool accept(unsigned insn_bytes, const ucontext_t *uc, uint64_t watched, unsigned length,
		   bool trusted, struct trap_access *out)
{
	const greg_t *regs = uc->uc_mcontext.gregs;
	uint64_t after = (uint64_t)regs[REG_RIP];
	struct insn in;

	if (!search_fetch(after - insn_bytes, &in) || in.length != insn_bytes)
		return false;
	return explains(&in, uc, watched, length, trusted, out) ||
	       explains_string(&in, regs, watched, length, out);
}

/* push, call: the word at rsp was just stored. pop, ret: the word below rsp was just loaded. */
static bool implicit_stack(const gregset_t regs, uint64_t watched, unsigned length,
			   struct trap_access *out)
{
	uint64_t rsp = (uint64_t)regs[REG_RSP];
	bool stored = extent_overlap(rsp, 8, watched, length);
	bool loaded = extent_overlap(rsp - 8, 8, watched, length);

	if (!stored && !loaded)
		return false;
	*out = (struct trap_access){
	    .reads = !stored, .writes = stored, .extent = extent_whole(stored ? rsp : rsp - 8, 8)};
	out->insn.ip = (uint64_t)regs[REG_RIP];
	return true;
}

bool trap_decode(const ucontext_t *uc, uint64_t watched, unsigned length, struct trap_access *out)
{
	const greg_t *regs = uc->uc_mcontext.gregs;
	uint64_t after = (uint64_t)regs[REG_RIP];
	struct code_blob blob;
	unsigned known = 0;
	struct insn here;

	if (search_fetch(after, &here) && here.repeats &&
	    explains_string(&here, regs, watched, length, out))
		return true;
	if (codemap_find(after - 1, &blob))
		known = boundaries_length(&blob, after);
	if (known && accept(known, uc, watched, length, true, out))
		return true;
	if (!known)
		for (unsigned n = 1; n <= INSN_MAX_BYTES; n++)
			if (accept(n, uc, watched, length, false, out))
				return true;
	return implicit_stack(regs, watched, length, out);
}
