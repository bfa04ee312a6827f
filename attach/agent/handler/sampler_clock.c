#include "attach/agent/handler/sampler.h"

#include "attach/agent/code/ahead.h"
#include "attach/agent/handler/access.h"
#include "attach/agent/handler/handlers.h"
#include "attach/agent/handler/thread.h"
#include "attach/agent/handler/watchpoint.h"

/* 0 to 3 accesses are passed over, at random: an instruction that waits for memory is where ticks
 * land, and what follows it at once would be sampled out of proportion. */
#define SKIP_CHOICES 4u

/* So many instructions in a row may turn out to access nothing (masked, without an active lane;
 * repeated, with nothing left to do) before a search gives up. */
#define NOTHING_MAX 8u

static void search_failed(struct thread *t, unsigned reg)
{
	thread_count(t, JXP__COUNTER__COUNTER_SEARCHES_FAILED, 1);
	watchpoint_drop(t, reg, RECORD_ABANDONED);
}

/* Can the access be sampled once it has run? Its operand must still be known then, and the value it
 * loaded still be in memory. */
static bool told_afterwards(const struct insn *in, enum access_type wanted)
{
	const struct insn_memory *m = &in->memory;

	if (!in->has_memory || in->string || in->unsupported || in->compares_and_swaps ||
	    insn_is_masked(in) || (wanted == ACCESS_LOAD && m->writes))
		return false;
	return !insn_overwrites(in, m);
}

/* Waits for the access that comes next for sure. Behind it, where possible: stopping before it and
 * then again at its own trap would be one signal more. */
static void await_access(struct thread *t, unsigned reg, uint8_t kind, const struct insn *access)
{
	struct watchpoint *w = &t->watchpoints[reg];

	if (!told_afterwards(access, watchpoint_access(kind))) {
		watchpoint_hop(t, reg, access->ip);
		return;
	}
	w->ahead = access->ip;
	thread_count(t, JXP__COUNTER__COUNTER_HOPS, 1);
	if (!watchpoint_seek(t, reg, access->ip + access->length))
		search_failed(t, reg);
}

/* The access that was waited for has run. */
static void has_run(struct thread *t, unsigned reg, const ucontext_t *uc)
{
	ACCOUNT_AS(t, ACCOUNT_CODE);
	struct watchpoint *w = &t->watchpoints[reg];
	struct sample s = {.executed = true};

	if (!search_fetch(w->ahead, &s.insn) || !s.insn.has_memory ||
	    w->ahead + s.insn.length != (uint64_t)uc->uc_mcontext.gregs[REG_RIP]) {
		search_failed(t, reg); /* The code was replaced meanwhile. */
		return;
	}
	s.extent = extent_whole(insn_effective_address(&s.insn, uc->uc_mcontext.gregs),
				s.insn.memory.size);
	watchpoint_arm(t, reg, w->kind, &s, uc);
}

/* The access at the point of execution is reached. False when it turns out to be none. */
static bool reached(struct thread *t, unsigned reg, uint8_t kind, struct sample *s,
		    const ucontext_t *uc)
{
	switch (extent_of_next(&s->insn, uc, watchpoint_access(kind), &t->random, &s->extent)) {
	case EXTENT_KNOWN:
		watchpoint_arm(t, reg, kind, s, uc);
		return true;
	case EXTENT_UNKNOWN:
		thread_count(t, JXP__COUNTER__COUNTER_UNSUPPORTED, 1);
		watchpoint_drop(t, reg, RECORD_ABANDONED);
		return true;
	case EXTENT_NOTHING:
		break;
	}
	return false;
}

/* From ip on, with registers that are exact there. */
static void search_from(struct thread *t, unsigned reg, uint8_t kind, uint64_t ip,
			const ucontext_t *uc)
{
	const greg_t *regs = uc->uc_mcontext.gregs;

	for (unsigned i = 0; i < NOTHING_MAX; i++) {
		struct sample s = {0};
		uint64_t stop_ip;

		switch (search_walk(ip, regs, watchpoint_access(kind), &t->watchpoints[reg].skip,
				    &s.insn, &stop_ip)) {
		case SEARCH_HERE:
			if (reached(t, reg, kind, &s, uc))
				return;
			/* It accesses nothing and changes no register that the search uses. */
			ip = s.insn.ip + s.insn.length;
			break;
		case SEARCH_BREAK:
			/* Where the branches do not matter, there is no need to stop at them. */
			(void)ahead_find(stop_ip, watchpoint_access(kind), &stop_ip);
			watchpoint_hop(t, reg, stop_ip);
			return;
		case SEARCH_AHEAD:
			await_access(t, reg, kind, &s.insn);
			return;
		case SEARCH_FAILED:
			search_failed(t, reg);
			return;
		}
	}
	search_failed(t, reg);
}

static void search(struct thread *t, unsigned reg, uint8_t kind, const ucontext_t *uc)
{
	ACCOUNT_AS(t, ACCOUNT_CODE);

	search_from(t, reg, kind, (uint64_t)uc->uc_mcontext.gregs[REG_RIP], uc);
}

/* A search that the next tick overtakes has its register given back: it looks for an access after a
 * point of time that has passed. */
static void supersede(struct thread *t)
{
	for (unsigned i = 0; i < PERF_DEBUG_REGISTERS; i++) {
		if (t->watchpoints[i].state == WATCH_SEEKING ||
		    t->watchpoints[i].state == WATCH_PENDING) {
			thread_count(t, JXP__COUNTER__COUNTER_SEARCHES_SUPERSEDED, 1);
			watchpoint_drop(t, i, RECORD_ABANDONED);
		}
	}
}

static void take_sample(struct thread *t, const ucontext_t *uc)
{
	unsigned kinds = handlers.sampling.kind_count +
			 atomic_load_explicit(&handlers.objects_on, memory_order_relaxed);
	unsigned choice;
	uint8_t kind;
	int reg;

	if (kinds == 0)
		return; /* For objects alone, which have not begun. */
	choice = random_below(&t->random, kinds);
	if (choice == handlers.sampling.kind_count) {
		/* A tick stands for the time since the one before it. Only one in `kinds` of
		 * them is drawn for objects, and stands for all of these. */
		access_sample(t, handlers.period * kinds, uc);
		return;
	}
	kind = handlers.sampling.kinds[choice];
	reg = sampler_take_register(t);
	if (reg < 0)
		return;
	t->watchpoints[reg].kind = kind;
	t->watchpoints[reg].weight = handlers.period * kinds;
	t->watchpoints[reg].hops = 0;
	t->watchpoints[reg].ahead = 0;
	t->watchpoints[reg].skip = random_below(&t->random, SKIP_CHOICES);
	search(t, (unsigned)reg, kind, uc);
}

/* The next tick comes after half to one and a half periods, at random: a program that goes round in
 * step with the ticks would be seen at the same places every time. */
static void vary_period(struct thread *t)
{
	ACCOUNT_AS(t, ACCOUNT_CONTROLS);
	uint64_t period = atomic_load_explicit(&handlers.period, memory_order_relaxed);
	uint64_t part = period * random_below(&t->random, 1u << 16) >> 16;

	if (perf_set_period(t->sampling_fd[0], period / 2 + part) < 0)
		thread_count(t, JXP__COUNTER__COUNTER_EVENT_ERRORS, 1);
}

static void on_tick(struct thread *t, const ucontext_t *uc)
{
	thread_count(t, JXP__COUNTER__COUNTER_TICKS, 1);
	/* What came before a thread has registers is no part of what is looked at. */
	if (atomic_load_explicit(&t->state, memory_order_acquire) != THREAD_WANTED)
		thread_count(t, JXP__COUNTER__COUNTER_TICK_NS, handlers.period);
	if (!sampler_admits(t, uc, (uint64_t)uc->uc_mcontext.gregs[REG_RIP]))
		return;
	vary_period(t);
	supersede(t);
	take_sample(t, uc);
}

static void on_breakpoint(struct thread *t, unsigned reg, const ucontext_t *uc)
{
	if (t->watchpoints[reg].kind == JXP__KIND__KIND_OBJECTS)
		access_reached(t, reg, uc);
	else if (t->watchpoints[reg].ahead)
		has_run(t, reg, uc);
	else
		search(t, reg, t->watchpoints[reg].kind, uc);
}

const struct sampler sampler_clock = {
    .on_event = on_tick,
    .on_breakpoint = on_breakpoint,
};
