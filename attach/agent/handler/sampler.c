#include "attach/agent/handler/sampler.h"

#include "attach/agent/code/search.h"
#include "attach/agent/handler/handlers.h"
#include "attach/agent/handler/thread.h"
#include "attach/agent/handler/watchpoint.h"

bool sampler_is_ready(struct thread *t, const ucontext_t *uc)
{
	uint32_t state = atomic_load_explicit(&t->state, memory_order_acquire);

	if (state == THREAD_CLOCK) {
		/* The session thread opens the registers and finds the stack by its pointer. */
		atomic_store_explicit(&t->wanted_sp, (uint64_t)uc->uc_mcontext.gregs[REG_RSP],
				      memory_order_relaxed);
		/* Unless the session thread gave the entry up meanwhile. */
		(void)atomic_compare_exchange_strong(&t->state, &state, THREAD_WANTED);
	}
	return state == THREAD_READY;
}

bool sampler_admits(struct thread *t, const ucontext_t *uc, uint64_t ip)
{
	if (search_is_java_code(ip))
		return sampler_is_ready(t, uc);
	thread_count(t, JXP__COUNTER__COUNTER_TICKS_OUTSIDE, 1);
	return false;
}

void sampler_note_slowdown(struct thread *t, const ucontext_t *uc)
{
	const struct slowdown_tick tick = {
	    .costs = &handlers.register_costs,
	    .allocated_offset = handlers.layout.allocated_bytes,
	    .cpu_ns = t->signal_cpu_ns,
	    .switches = t->switching.per_ns * handlers.switch_costs.armed_ns,
	    .on = t->armed_since_ns != 0,
	    .uc = uc,
	};

	slowdown_note(&t->slowdown, &tick);
}

int sampler_take_register(struct thread *t)
{
	bool replaced;
	int reg;

	reg = reservoir_offer(&t->reservoir, &t->random, &replaced);
	if (reg < 0) {
		thread_count(t, JXP__COUNTER__COUNTER_RESERVOIR_KEPT, 1);
		return -1;
	}
	if (replaced) {
		struct reservoir reservoir = t->reservoir;
		uint8_t lost = t->watchpoints[reg].state;

		if (lost == WATCH_SEEKING || lost == WATCH_PENDING)
			thread_count(t, JXP__COUNTER__COUNTER_SEARCHES_SUPERSEDED, 1);
		watchpoint_drop(t, (unsigned)reg, RECORD_REPLACED);
		/* The register changes hands without having been free: its count goes on. */
		t->reservoir = reservoir;
	}
	return reg;
}
