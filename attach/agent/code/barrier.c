#include "attach/agent/code/barrier.h"

#include <Zydis/Zydis.h>

#include "attach/agent/code/codemap.h"

/* Between the test and the store the new value is coloured: a move, a shift, an or. The compiler
 * may put a few instructions of its own among them. */
#define BARRIER_INSNS 12u

#define REFERENCE_BYTES 8u
#define NARROW_BYTES    4u

/* A global because it is asked for every instruction that handlers decode. */
static bool looked_for;

void barrier_init(bool collector_has_them)
{
	looked_for = collector_has_them;
}

static bool same_operand(const struct operand *a, const struct operand *b)
{
	return a->base == b->base && a->index == b->index && a->scale == b->scale &&
	       a->displacement == b->displacement;
}

static bool decode_next(const struct code_blob *blob, uint64_t ip, struct insn *in)
{
	uint64_t end = blob->start + blob->size;

	return ip < end && insn_decode((const uint8_t *)(uintptr_t)ip, (size_t)(end - ip), ip, in);
}

bool barrier_tests_store(const struct insn *test)
{
	struct code_blob blob;
	struct insn in = *test;

	if (!looked_for || !test->compares_immediate || !test->has_memory ||
	    (test->memory.size != 4 && test->memory.size != 2) || !codemap_find(test->ip, &blob) ||
	    blob.type != CODE_COMPILED)
		return false;
	for (unsigned i = 0; i < BARRIER_INSNS; i++) {
		if (!decode_next(&blob, in.ip + in.length, &in))
			return false;
		if (in.has_memory && in.memory.stores && in.memory.size == REFERENCE_BYTES &&
		    same_operand(&in.memory, &test->memory))
			return true;
		/* The slow path is out of line: the way to the store falls through. */
		if ((in.flow != FLOW_NEXT && in.flow != FLOW_CONDITIONAL) ||
		    insn_overwrites(&in, &test->memory))
			return false;
	}
	return false;
}

/* Behind the store G1 compares where it lies with what was stored (g1_write_barrier_post_c2). */
static bool regions_are_compared(const struct code_blob *blob, const struct insn *store)
{
	struct insn in = *store;

	for (unsigned i = 0; i < BARRIER_INSNS && in.flow == FLOW_NEXT; i++) {
		if (!decode_next(blob, in.ip + in.length, &in))
			return false;
		if (in.mnemonic == ZYDIS_MNEMONIC_XOR && !in.has_memory)
			return true;
	}
	return false;
}

bool barrier_stores_to_field(const struct insn *store)
{
	const struct operand *m = &store->memory;
	struct code_blob blob;

	if (!store->has_memory || !m->stores || m->loads || m->base < 0 || m->index >= 0 ||
	    m->displacement || (m->size != NARROW_BYTES && m->size != REFERENCE_BYTES) ||
	    !codemap_find(store->ip, &blob) || blob.type != CODE_COMPILED)
		return false;
	/* What clears new objects, and makes their first words, stores eight bytes. */
	return m->size == NARROW_BYTES || regions_are_compared(&blob, store);
}
