#include "attach/agent/sampler.h"

#include "attach/agent/search.h"
#include "attach/agent/thread.h"

/* Handlers need this much of the thread's stack, with room for AsyncGetCallTrace. HotSpot keeps a
 * shadow zone of 20 pages below every Java frame (StackShadowPages), so compiled code has it. */
#define STACK_RESERVE_BYTES (32u * 1024u)

static bool stack_is_low(const struct thread *t, const ucontext_t *uc)
{
	uint64_t sp = (uint64_t)uc->uc_mcontext.gregs[REG_RSP];

	return t->stack_low && sp >= t->stack_low && sp - t->stack_low < STACK_RESERVE_BYTES;
}

bool sampler_admits(struct thread *t, const ucontext_t *uc, uint64_t ip)
{
	uint32_t state = atomic_load_explicit(&t->state, memory_order_acquire);

	if (!search_is_java_code(ip)) {
		thread_count(t, JXP__COUNTER__COUNTER_TICKS_OUTSIDE, 1);
		return false;
	}
	if (state == THREAD_CLOCK) {
		/* The session thread opens the registers and finds the stack by its pointer. */
		atomic_store_explicit(&t->wanted_sp, (uint64_t)uc->uc_mcontext.gregs[REG_RSP],
				      memory_order_relaxed);
		/* Unless the session thread gave the entry up meanwhile. */
		(void)atomic_compare_exchange_strong(&t->state, &state, THREAD_WANTED);
		return false;
	}
	if (state != THREAD_READY)
		return false;
	if (stack_is_low(t, uc)) {
		thread_count(t, JXP__COUNTER__COUNTER_STACK_LOW, 1);
		return false;
	}
	return true;
}

int sampler_take_register(struct thread *t)
{
	bool replaced;
	int reg;

	thread_count(t, JXP__COUNTER__COUNTER_SAMPLES, 1);
	reg = reservoir_offer(&t->reservoir, &t->random, &replaced);
	if (reg < 0) {
		thread_count(t, JXP__COUNTER__COUNTER_RESERVOIR_KEPT, 1);
		return -1;
	}
	if (replaced) {
		uint32_t offered = t->reservoir.offered[reg];

		watchpoint_drop(t, (unsigned)reg, RECORD_REPLACED);
		/* The register changes hands without having been free: its count goes on. */
		t->reservoir.offered[reg] = offered;
	}
	return reg;
}
