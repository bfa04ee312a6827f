#include "attach/agent/handler/sampler.h"

#include "attach/agent/handler/access.h"
#include "attach/agent/handler/handlers.h"
#include "attach/agent/handler/thread.h"
#include "attach/agent/handler/watchpoint.h"
#include "attach/agent/path/walk.h"
#include "proto/kinds.h"

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

/* The access is not reached yet. */
static void look_forward(struct thread *t, unsigned reg, uint8_t kind, const struct walk_access *a)
{
	bool swaps = a->insn.compares_and_swaps;
	/* What a read-modify-write loads is gone once it has run. */
	bool lost = watchpoint_access(kind) == ACCESS_LOAD && a->insn.memory.writes;

	if (a->predicted && !swaps && !lost)
		watchpoint_predict(t, reg, kind, a);
	else if (a->plain)
		await_access(t, reg, kind, &a->insn);
	else
		watchpoint_hop(t, reg, a->insn.ip);
}

static void search_ended(struct thread *t, unsigned reg, Jxp__Counter counter)
{
	thread_count(t, counter, 1);
	watchpoint_drop(t, reg, RECORD_ABANDONED);
}

/* From ip on, with registers that are exact there. */
static void search_from(struct thread *t, unsigned reg, uint8_t kind, uint64_t ip,
			const ucontext_t *uc)
{
	const greg_t *regs = uc->uc_mcontext.gregs;
	struct walk_scope *scope = &t->watchpoints[reg].scope;

	for (unsigned i = 0; i < NOTHING_MAX; i++) {
		struct walk_access access;
		struct sample s = {0};
		uint64_t stop_ip;

		switch (walk_on(scope, ip, regs, &access, &stop_ip)) {
		case WALK_ACCESS:
			if (!access.here) {
				look_forward(t, reg, kind, &access);
				return;
			}
			s.insn = access.insn;
			if (reached(t, reg, kind, &s, uc))
				return;
			/* It accesses nothing and changes no register that the search uses. */
			ip = s.insn.ip + s.insn.length;
			break;
		case WALK_STOP:
			watchpoint_hop(t, reg, stop_ip);
			return;
		case WALK_NONE:
			search_ended(t, reg, JXP__COUNTER__COUNTER_NO_ACCESS);
			return;
		case WALK_UNKNOWN:
			search_ended(t, reg, JXP__COUNTER__COUNTER_LOOPS_UNKNOWN);
			return;
		case WALK_FAILED:
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

/* A tick is for one of the kinds that it can be for, drawn at random; it stands for the time since
 * the one before it, and for all of these. OBJECTS is the last of them. */
#define OBJECTS JXP__KIND__KIND_OBJECTS

/* The kinds that a tick at ip can be for: those whose type of access its loop makes. */
static unsigned kinds_at(struct thread *t, uint64_t ip, uint8_t *kinds)
{
	ACCOUNT_AS(t, ACCOUNT_CODE);
	unsigned count = 0;
	bool known;
	unsigned types = walk_types(ip, &known);

	for (unsigned i = 0; i < handlers.sampling.kind_count; i++)
		if (types & (1u << watchpoint_access(handlers.sampling.kinds[i])))
			kinds[count++] = handlers.sampling.kinds[i];
	if (atomic_load_explicit(&handlers.objects_on, memory_order_relaxed))
		kinds[count++] = OBJECTS;
	if (!known)
		thread_count(t, JXP__COUNTER__COUNTER_LOOPS_UNKNOWN, 1);
	else if (count == 0 && handlers.sampling.kind_count > 0)
		thread_count(t, JXP__COUNTER__COUNTER_NO_ACCESS, 1);
	return count;
}

static void begin_search(struct thread *t, uint8_t kind, unsigned share, const ucontext_t *uc)
{
	struct watchpoint *w;
	int reg = sampler_take_register(t);

	if (reg < 0)
		return;
	w = &t->watchpoints[reg];
	w->kind = kind;
	w->share = (uint8_t)share;
	w->weight = handlers.period * share;
	w->hops = 0;
	w->ahead = 0;
	walk_begin(&w->scope, watchpoint_access(kind), random_below(&t->random, SKIP_CHOICES),
		   (uint64_t)uc->uc_mcontext.gregs[REG_RIP]);
	search(t, (unsigned)reg, kind, uc);
}

static void take_sample(struct thread *t, const ucontext_t *uc)
{
	uint8_t kinds[PAIR_KINDS + 1];
	unsigned count = kinds_at(t, (uint64_t)uc->uc_mcontext.gregs[REG_RIP], kinds);
	uint8_t kind;

	if (count == 0)
		return;
	kind = kinds[random_below(&t->random, count)];
	if (kind == OBJECTS)
		access_sample(t, handlers.period * count, uc);
	else
		begin_search(t, kind, count, uc);
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
