#include "attach/agent/handler/access.h"

#include <sched.h>

#include "attach/agent/code/codemap.h"
#include "attach/agent/code/interrupted.h"
#include "attach/agent/handler/handlers.h"
#include "attach/agent/handler/placing.h"
#include "attach/agent/handler/thread.h"
#include "common/clock.h"

/* glibc reads it from the thread's rseq area or through the vDSO: no system call, no lock. */
static uint32_t current_cpu(void)
{
	int cpu = sched_getcpu();

	return cpu >= 0 ? (uint32_t)cpu : 0;
}

void access_record(struct thread *t, const struct sample *s, bool store, uint64_t weight,
		   uint32_t cpu, const ucontext_t *uc)
{
	ACCOUNT_AS(t, ACCOUNT_REST);
	struct record r = {.time_ns = clock_monotonic_ns(), .type = RECORD_ACCESS};
	struct sample_maker maker;

	if (s->extent.address < REGION_LOWEST_ADDRESS || s->extent.size == 0 ||
	    s->extent.size > 64) {
		thread_count(t, JXP__COUNTER__COUNTER_SEARCHES_FAILED, 1);
		return;
	}
	if (sample_capture(t, uc, s->insn.ip, &maker))
		r.watch_context = maker.context;
	r.address = region_canonical(&handlers.regions, s->extent.address);
	r.length = (uint8_t)s->extent.size;
	r.region = (uint8_t)sample_region(t, s, uc->uc_mcontext.gregs);
	placing_count(t, r.region,
		      placing_find(t, r.region, s->extent.address, &s->insn, uc->uc_mcontext.gregs,
				   &r.place));
	r.access_at = maker.at;
	r.access_calls = maker.calls;
	sample_code(&r.watch_code, &s->insn);
	r.store = store;
	r.cpu = (uint16_t)cpu;
	/* The thread is in Java code, so no pause begins or ends before the handler returns. */
	r.epoch = handlers_epoch();
	r.weight = weight;
	thread_count(t, JXP__COUNTER__COUNTER_ACCESSES, 1);
	thread_record(t, &r);
}

static void record(struct thread *t, const struct insn *in, uint64_t address, uint32_t size,
		   bool store, uint64_t weight, const ucontext_t *uc)
{
	const struct sample s = {.insn = *in, .extent = extent_whole(address, size)};

	access_record(t, &s, store, weight, current_cpu(), uc);
}

/* Waits in the register for execution to come to ip. */
static void wait_at(struct thread *t, int reg, uint64_t ip, uint64_t weight)
{
	struct watchpoint *w;

	if (reg < 0 || t->watchpoints[reg].state != WATCH_FREE) {
		thread_count(t, JXP__COUNTER__COUNTER_SEARCHES_FAILED, 1);
		return;
	}
	w = &t->watchpoints[reg];
	*w = (struct watchpoint){.kind = JXP__KIND__KIND_OBJECTS, .weight = weight};
	watchpoint_hop(t, (unsigned)reg, ip);
}

/* Looks for the next access from where the thread is. Gives the place to wait at, or 0 when there
 * is nothing to wait for. */
static uint64_t look_for_next(struct thread *t, uint64_t weight, const ucontext_t *uc)
{
	const greg_t *regs = uc->uc_mcontext.gregs;
	struct insn in;
	uint64_t address, stop_ip;
	uint32_t size;
	bool store;

	switch (search_access((uint64_t)regs[REG_RIP], regs, &in, &stop_ip)) {
	case SEARCH_HERE:
		if (interrupted_operand(&in, false, regs, &address, &size, &store))
			record(t, &in, address, size, store, weight, uc);
		return 0;
	case SEARCH_BREAK:
		return stop_ip;
	case SEARCH_FAILED:
		break;
	}
	thread_count(t, JXP__COUNTER__COUNTER_SEARCHES_FAILED, 1);
	return 0;
}

void access_sample(struct thread *t, uint64_t weight, const ucontext_t *uc)
{
	ACCOUNT_AS(t, ACCOUNT_CODE);
	const greg_t *regs = uc->uc_mcontext.gregs;
	struct insn in;
	uint64_t address, wait;
	uint32_t size;
	bool store;

	if (!interrupted_access((uint64_t)regs[REG_RIP], &in)) {
		wait = look_for_next(t, weight, uc);
		if (wait)
			wait_at(t, t->access_register, wait, weight);
	} else if (interrupted_operand(&in, true, regs, &address, &size, &store)) {
		record(t, &in, address, size, store, weight, uc);
	} else {
		/* What it accessed cannot be told any more. Where one execution of it waits, others
		 * do: the next one stands for it. */
		wait_at(t, t->access_register, in.ip, weight);
	}
}

void access_reached(struct thread *t, unsigned reg, const ucontext_t *uc)
{
	ACCOUNT_AS(t, ACCOUNT_CODE);
	struct watchpoint *w = &t->watchpoints[reg];
	uint64_t wait = look_for_next(t, w->weight, uc);

	if (wait)
		watchpoint_hop(t, reg, wait);
	else
		watchpoint_drop(t, reg, RECORD_ABANDONED);
}
