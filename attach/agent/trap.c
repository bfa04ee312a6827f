#include "attach/agent/trap.h"

#include <stdatomic.h>
#include <string.h>

#include "attach/agent/codemap.h"
#include "attach/agent/safe_read.h"
#include "attach/agent/search.h"

/* Boundaries found so far: (instruction pointer after the access << 4 | length of the instruction).
 * A direct-mapped cache of single words needs no lock; what a collision evicts is decoded again. */
#define CACHE_ENTRIES 8192u
static _Atomic uint64_t cache[CACHE_ENTRIES];

/* A method whose start lies further back than this is searched backward instead: decoding takes
 * about 20 ns an instruction and happens in the application's thread. */
#define FORWARD_MAX_BYTES (64u * 1024u)

void trap_cache_clear(void)
{
	for (unsigned i = 0; i < CACHE_ENTRIES; i++)
		atomic_store_explicit(&cache[i], 0, memory_order_relaxed);
}

static _Atomic uint64_t *cache_entry(uint64_t after)
{
	return &cache[(after ^ (after >> 13)) % CACHE_ENTRIES];
}

static unsigned cached_length(uint64_t after)
{
	uint64_t word = atomic_load_explicit(cache_entry(after), memory_order_relaxed);

	return word >> 4 == after ? (unsigned)(word & 15) : 0;
}

static bool overlaps(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
	return a < b + b_size && b < a + a_size;
}

/* The length of the instruction that ends at after, decoding from its method's first byte; 0 when
 * the method is unknown, too long, or the boundaries do not meet after. */
static unsigned forward_length(uint64_t after)
{
	struct code_blob blob;
	uint64_t ip;

	if (!codemap_find(after - 1, &blob) || after - blob.start > FORWARD_MAX_BYTES)
		return 0;
	for (ip = blob.start; ip < after;) {
		unsigned length = insn_length((const uint8_t *)(uintptr_t)ip,
					      (size_t)(blob.start + blob.size - ip));

		if (length == 0)
			return 0;
		if (ip + length == after)
			return length;
		ip += length;
	}
	return 0;
}

/* Could this instruction, which has run already, have accessed the watched bytes? An operand whose
 * registers the instruction itself overwrote cannot be evaluated any more and is given the benefit
 * of the doubt, if allowed. */
static bool explains(const struct insn *in, const gregset_t regs, uint64_t watched, unsigned length,
		     bool allow_doubt, struct trap_access *out)
{
	const struct insn_memory *m = &in->memory;
	bool evaluable;
	uint64_t ea;

	if (!in->has_memory)
		return false;
	evaluable = (m->base < 0 || !(in->written_registers & (1u << m->base))) &&
		    (m->index < 0 || !(in->written_registers & (1u << m->index)));
	ea = insn_effective_address(in, regs);
	if (evaluable ? !overlaps(ea, m->size, watched, length) : !allow_doubt)
		return false;
	*out = (struct trap_access){.insn = *in,
				    .reads = m->reads,
				    .writes = m->writes,
				    .range_known = evaluable,
				    .address = ea,
				    .size = m->size,
				    .element = m->element};
	return true;
}

/* String instructions have moved rsi and rdi one element past the access by the time of the trap.
 */
static bool explains_string(const struct insn *in, const gregset_t regs, uint64_t watched,
			    unsigned length, struct trap_access *out)
{
	bool backward = regs[REG_EFL] & 0x400;
	uint64_t size = in->string_size;
	uint64_t step = backward ? (uint64_t)-size : size;
	uint64_t source = (uint64_t)regs[REG_RSI] - step;
	uint64_t destination = (uint64_t)regs[REG_RDI] - step;
	bool writes, reads;

	if (!in->string || size == 0)
		return false;
	/* Fast string operations run a cache line's worth of iterations before they report. */
	writes = in->string_writes && overlaps(destination - 64, 128, watched, length);
	reads = in->string_reads && !writes && overlaps(source - 64, 128, watched, length);
	if (!writes && !reads)
		return false;
	*out = (struct trap_access){
	    .insn = *in, .reads = reads, .writes = writes, .size = (uint32_t)size};
	return true;
}

static bool accept(unsigned insn_bytes, const gregset_t regs, uint64_t watched, unsigned length,
		   bool allow_doubt, struct trap_access *out)
{
	uint64_t after = (uint64_t)regs[REG_RIP];
	struct insn in;

	if (!search_fetch(after - insn_bytes, &in) || in.length != insn_bytes)
		return false;
	return explains(&in, regs, watched, length, allow_doubt, out) ||
	       explains_string(&in, regs, watched, length, out);
}

/* push, call: the word at rsp was just stored. pop, ret: the word below rsp was just loaded. */
static bool implicit_stack(const gregset_t regs, uint64_t watched, unsigned length,
			   struct trap_access *out)
{
	uint64_t rsp = (uint64_t)regs[REG_RSP];
	bool stored = overlaps(rsp, 8, watched, length);
	bool loaded = overlaps(rsp - 8, 8, watched, length);

	if (!stored && !loaded)
		return false;
	*out = (struct trap_access){.reads = !stored,
				    .writes = stored,
				    .range_known = true,
				    .address = stored ? rsp : rsp - 8,
				    .size = 8};
	out->insn.ip = (uint64_t)regs[REG_RIP];
	return true;
}

bool trap_decode(const gregset_t regs, uint64_t watched, unsigned length, struct trap_access *out)
{
	uint64_t after = (uint64_t)regs[REG_RIP];
	unsigned known = cached_length(after);
	struct insn here;

	if (known && accept(known, regs, watched, length, true, out))
		return true;
	if (search_fetch(after, &here) && here.repeats &&
	    explains_string(&here, regs, watched, length, out))
		return true;
	known = forward_length(after);
	if (known && accept(known, regs, watched, length, true, out)) {
		atomic_store_explicit(cache_entry(after), after << 4 | known, memory_order_relaxed);
		return true;
	}
	if (!known)
		for (unsigned n = 1; n <= INSN_MAX_BYTES; n++)
			if (accept(n, regs, watched, length, false, out))
				return true;
	return implicit_stack(regs, watched, length, out);
}
