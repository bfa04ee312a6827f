#include "attach/agent/code/interrupted.h"

#include <stdatomic.h>

#include "attach/agent/code/codemap.h"
#include "attach/agent/code/search.h"

/* What all threads' handlers have found so far: (part of the blob's serial << 51 | instruction
 * pointer << 4 | length of the instruction before, 0 when it is none that was executed just
 * before). A direct-mapped cache of single words needs no lock. */
#define CACHE_ENTRIES (INTERRUPTED_BYTES / sizeof(uint64_t))
static _Atomic uint64_t cache[CACHE_ENTRIES];

/* A method that is longer is not looked through, in the application's thread: decoding takes about
 * 20 ns an instruction. */
#define METHOD_MAX_BYTES (16u * 1024u)

void interrupted_clear(void)
{
	for (unsigned i = 0; i < CACHE_ENTRIES; i++)
		atomic_store_explicit(&cache[i], 0, memory_order_relaxed);
}

/* The length of the instruction that ends at ip, from a walk through its whole method; 0 when there
 * is none, or when a jump goes to ip. */
static unsigned length_before(const struct code_blob *blob, uint64_t ip)
{
	unsigned before = 0;

	if (blob->size > METHOD_MAX_BYTES)
		return 0;
	for (uint64_t at = blob->start; at < blob->start + blob->size;) {
		const uint8_t *code = (const uint8_t *)(uintptr_t)at;
		unsigned length = insn_length(code, (size_t)(blob->start + blob->size - at));

		if (length == 0) /* Data behind the code. */
			break;
		if (insn_jump_target(code, length, at) == ip)
			return 0;
		if (at + length == ip)
			before = length;
		at += length;
	}
	return before;
}

static unsigned cached_length_before(uint64_t ip)
{
	_Atomic uint64_t *entry = &cache[(ip ^ (ip >> 13)) % CACHE_ENTRIES];
	uint64_t word = atomic_load_explicit(entry, memory_order_relaxed), key;
	struct code_blob blob;
	unsigned length;

	if (!codemap_find(ip, &blob))
		return 0;
	key = (uint64_t)blob.serial << 51 | ip << 4;
	if ((word & ~UINT64_C(15)) == key)
		return (unsigned)(word & 15);
	length = length_before(&blob, ip);
	atomic_store_explicit(entry, key | length, memory_order_relaxed);
	return length;
}

bool interrupted_access(uint64_t ip, struct insn *out)
{
	unsigned length = cached_length_before(ip);

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
	const struct insn_memory *m = &in->memory;

	if (in->string && !executed)
		return string_operand(in, regs, address, size, store);
	if (!in->has_memory)
		return false;
	if (executed && insn_overwrites(in, m))
		return false;
	*address = insn_effective_address(in, regs);
	*size = m->size;
	*store = m->writes;
	return true;
}
