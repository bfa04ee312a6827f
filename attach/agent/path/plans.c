#include "attach/agent/path/plans.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "common/code/opcode.h"

#define PLAN_WORDS (sizeof(struct loop_plan) / sizeof(uint64_t))

/* Global because handlers get nothing of ours. */
static struct {
	_Atomic uint32_t version; /* odd: it is being replaced */
	_Atomic uint32_t count;
	_Atomic uint64_t words[LIMIT_PLANS][PLAN_WORDS];
} table;

_Static_assert(sizeof(table) <= PLANS_BYTES, "the sum of the agent's tables");

void plans_set(const struct loop_plan *plans, unsigned count)
{
	uint32_t version = atomic_load_explicit(&table.version, memory_order_relaxed);

	atomic_store_explicit(&table.version, version + 1, memory_order_relaxed);
	/* Who reads a word that is stored behind the fence finds the odd number, too. */
	atomic_thread_fence(memory_order_release);
	for (unsigned i = 0; i < count; i++) {
		uint64_t words[PLAN_WORDS];

		memcpy(words, &plans[i], sizeof(words));
		for (unsigned j = 0; j < PLAN_WORDS; j++)
			atomic_store_explicit(&table.words[i][j], words[j], memory_order_relaxed);
	}
	atomic_store_explicit(&table.count, count, memory_order_relaxed);
	atomic_store_explicit(&table.version, version + 2, memory_order_release);
}

void plans_clear(void)
{
	plans_set(NULL, 0);
}

unsigned plans_count(void)
{
	return atomic_load_explicit(&table.count, memory_order_relaxed);
}

bool plans_read(unsigned i, uint64_t code, struct loop_plan *out)
{
	uint32_t version = atomic_load_explicit(&table.version, memory_order_acquire);
	uint64_t words[PLAN_WORDS];

	_Static_assert(offsetof(struct loop_plan, code) == 0, "the first word");
	if (version & 1 || atomic_load_explicit(&table.words[i][0], memory_order_relaxed) != code)
		return false;
	for (unsigned j = 0; j < PLAN_WORDS; j++)
		words[j] = atomic_load_explicit(&table.words[i][j], memory_order_relaxed);
	atomic_thread_fence(memory_order_acquire);
	if (atomic_load_explicit(&table.version, memory_order_relaxed) != version)
		return false;
	memcpy(out, words, sizeof(words));
	return loop_plan_fits(out);
}

bool plan_input_fits(const uint8_t *code, size_t available, uint64_t ip, unsigned bytes,
		     struct insn *out)
{
	struct opcode o;

	if (!opcode_read(code, available, &o) || o.unusual || o.memory.rip_relative ||
	    !o.has_memory || !insn_decode(code, available, ip, out))
		return false;
	return out->has_memory && out->loads && out->memory.loads && !out->string &&
	       !out->unsupported && !insn_is_masked(out) && bytes <= PLAN_INPUT_BYTES_MAX &&
	       out->memory.size == bytes && (out->memory.base >= 0 || out->memory.index >= 0);
}
