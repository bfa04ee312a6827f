#include "attach/agent/code/barrier.h"

#include "attach/agent/code/codemap.h"

/* Between the test and the store the new value is coloured: a move, a shift, an or. The compiler
 * may put a few instructions of its own among them. */
#define BARRIER_INSNS 12u

#define REFERENCE_BYTES 8u

/* A global because it is asked for every instruction that handlers decode. */
static bool looked_for;

void barrier_init(bool collector_has_them)
{
	looked_for = collector_has_them;
}

static bool same_operand(const struct insn_memory *a, const struct insn_memory *b)
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
		if (in.has_memory && in.memory.writes && in.memory.size == REFERENCE_BYTES &&
		    same_operand(&in.memory, &test->memory))
			return true;
		/* The slow path is out of line: the way to the store falls through. */
		if ((in.flow != FLOW_NEXT && in.flow != FLOW_CONDITIONAL) ||
		    insn_overwrites(&in, &test->memory))
			return false;
	}
	return false;
}
