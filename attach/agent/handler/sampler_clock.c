#include "attach/agent/handler/sampler.h"

#include "attach/agent/handler/access.h"
#include "attach/agent/handler/burst.h"
#include "attach/agent/handler/cpu_sample.h"
#include "attach/agent/handler/foretell.h"
#include "attach/agent/handler/handlers.h"
#include "attach/agent/handler/pair.h"
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

	if (!told_afterwards(access, sample_access(kind))) {
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
	switch (extent_of_next(&s->insn, uc, sample_access(kind), &t->random, &s->extent)) {
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

/* Is it known which bytes the access will touch, and will its value still be there once it has run?
 */
static bool is_foreseen(const struct walk_access *a, enum access_type wanted)
{
	return a->predicted && !a->insn.compares_and_swaps &&
	       !(wanted == ACCESS_LOAD && a->insn.memory.writes);
}

/* How far one signal has brought a search. */
struct search {
	struct walk walk;
	struct walk_access access;
	uint64_t stop_ip;
	enum walk_outcome end;
	bool foreseen; /* the bytes are chosen */
};

/* Goes on with what w looks for, from ip, with registers that are exact there. True when that needs
 * no register any more: the pair is complete, or there is none, which is counted. */
static bool is_over(struct thread *t, struct watchpoint *w, double kept, struct search *s,
		    uint64_t ip, const ucontext_t *uc)
{
	struct machine_view view;

	foretell_view(t, (uint64_t)uc->uc_mcontext.gregs[REG_RSP], &view);
	s->foreseen = false;
	s->end =
	    walk_on(&s->walk, &w->scope, &view, ip, uc->uc_mcontext.gregs, &s->access, &s->stop_ip);
	switch (s->end) {
	case WALK_STOP:
		return false;
	case WALK_ACCESS:
		break;
	case WALK_NONE:
		thread_count(t, JXP__COUNTER__COUNTER_NO_ACCESS, 1);
		return true;
	case WALK_UNKNOWN:
		thread_count(t, JXP__COUNTER__COUNTER_LOOPS_UNKNOWN, 1);
		return true;
	case WALK_FAILED:
		thread_count(t, JXP__COUNTER__COUNTER_SEARCHES_FAILED, 1);
		return true;
	}
	if (!is_foreseen(&s->access, sample_access(w->kind)))
		return false;
	const struct extent extent = extent_whole(s->access.address, s->access.insn.memory.size);

	if (!pair_choose_bytes(t, w, w->kind, &s->access.insn, &extent))
		return true;
	s->foreseen = true;
	return foretell_pairs(t, w, kept, &s->walk, &s->access, uc);
}

/* Uses a register for what is not over. */
static void pursue(struct thread *t, unsigned reg, struct search *s, const ucontext_t *uc)
{
	struct watchpoint *w = &t->watchpoints[reg];
	double kept = reservoir_weight(&t->reservoir, reg);

	for (unsigned i = 0; i < NOTHING_MAX; i++) {
		struct sample sample = {.insn = s->access.insn};

		if (s->end == WALK_STOP) {
			watchpoint_hop(t, reg, s->stop_ip);
			return;
		}
		if (s->foreseen) {
			watchpoint_predict(t, reg, &s->access);
			return;
		}
		if (!s->access.here && s->access.plain) {
			await_access(t, reg, w->kind, &s->access.insn);
			return;
		}
		if (!s->access.here) {
			watchpoint_hop(t, reg, s->access.insn.ip);
			return;
		}
		if (reached(t, reg, w->kind, &sample, uc))
			return;
		/* It accesses nothing and changes no register that the search uses. */
		if (is_over(t, w, kept, s, sample.insn.ip + sample.insn.length, uc)) {
			watchpoint_drop(t, reg, RECORD_ABANDONED);
			return;
		}
	}
	search_failed(t, reg);
}

/* Execution has come to where a search stopped. */
static void search(struct thread *t, unsigned reg, const ucontext_t *uc)
{
	ACCOUNT_AS(t, ACCOUNT_CODE);
	struct search s;

	if (is_over(t, &t->watchpoints[reg], reservoir_weight(&t->reservoir, reg), &s,
		    (uint64_t)uc->uc_mcontext.gregs[REG_RIP], uc))
		watchpoint_drop(t, reg, RECORD_ABANDONED);
	else
		pursue(t, reg, &s, uc);
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

/* A tick is for every kind, and stands for the time since the one before: the signal, and what the
 * handler has to bring into the caches, is the larger part of what samples cost. Kinds that sample
 * the same type of access have one sample for all of them; to objects any access counts. */
#define ACCESS_TYPES 2u

/* The types of the accesses that kinds of the window want, of those that the loop at ip makes. */
static unsigned types_at(struct thread *t, uint64_t ip)
{
	ACCOUNT_AS(t, ACCOUNT_CODE);
	unsigned wanted = 0;
	bool known;
	unsigned types = walk_types(ip, &known);

	for (unsigned i = 0; i < handlers.sampling.kind_count; i++)
		wanted |= types & (1u << sample_access(handlers.sampling.kinds[i]));
	if (!known)
		thread_count(t, JXP__COUNTER__COUNTER_LOOPS_UNKNOWN, 1);
	else if (!wanted && handlers.sampling.kind_count > 0)
		thread_count(t, JXP__COUNTER__COUNTER_NO_ACCESS, 1);
	return wanted;
}

/* The window's kinds that sample this type, of which there are two at most. What ends the pairs of
 * the second ends those of the first, so one register waits for both. */
static void set_kinds(struct watchpoint *w, enum access_type type)
{
	w->kind = w->then = JXP__KIND__KIND_NONE;
	for (unsigned i = 0; i < handlers.sampling.kind_count; i++) {
		uint8_t kind = handlers.sampling.kinds[i];

		if (sample_access(kind) != type)
			continue;
		if (pair_kind_find((Jxp__Kind)kind)->ends == PAIR_LOAD_OR_STORE) {
			w->then = w->kind;
			w->kind = kind;
		} else if (w->kind == JXP__KIND__KIND_NONE) {
			w->kind = kind;
		} else {
			w->then = kind;
		}
	}
}

/* A search has a register only once it needs one. Its sample stands for so many ticks. */
static void begin_search(struct thread *t, enum access_type type, unsigned ticks,
			 const ucontext_t *uc)
{
	ACCOUNT_AS(t, ACCOUNT_CODE);
	uint64_t ip = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
	struct watchpoint w = {.weight = handlers.period};
	struct search s;
	int reg;

	set_kinds(&w, type);
	walk_begin(&w.scope, type, random_below(&t->random, SKIP_CHOICES), ip);
	if (is_over(t, &w, ticks, &s, ip, uc))
		return;
	reg = sampler_take_register(t);
	if (reg < 0)
		return;
	reservoir_reweigh(&t->reservoir, (unsigned)reg, ticks);
	t->watchpoints[reg] = w; /* As free as it was. */
	pursue(t, (unsigned)reg, &s, uc);
}

/* What a tick is for: bits 1 << enum access_type, and this one. */
#define FOR_OBJECTS (1u << ACCESS_TYPES)

static void take_samples(struct thread *t, const ucontext_t *uc)
{
	unsigned wanted = types_at(t, (uint64_t)uc->uc_mcontext.gregs[REG_RIP]);
	unsigned ticks = 1;

	if (atomic_load_explicit(&handlers.objects_on, memory_order_relaxed))
		wanted |= FOR_OBJECTS;
	if (!wanted)
		return;
	thread_count(t, JXP__COUNTER__COUNTER_SAMPLES, 1);
	/* A thread that has one register for all of it would never find it free for objects. */
	if (wanted & FOR_OBJECTS && (unsigned)t->access_register < t->reservoir.registers) {
		ticks = (unsigned)__builtin_popcount(wanted);
		wanted = 1u << random_bit(&t->random, wanted);
	}
	for (unsigned type = 0; type < ACCESS_TYPES; type++)
		if (wanted & (1u << type))
			begin_search(t, (enum access_type)type, ticks, uc);
	if (wanted & FOR_OBJECTS)
		access_sample(t, handlers.period * ticks, uc);
}

/* ---------------------------------------------------------------- when the next one comes */

static void set_event(struct thread *t, uint64_t ns)
{
	ACCOUNT_AS(t, ACCOUNT_CONTROLS);

	if (ns == t->event_ns)
		return;
	t->event_ns = ns;
	if (perf_set_period(t->sampling_fd[0], ns) < 0)
		thread_count(t, JXP__COUNTER__COUNTER_EVENT_ERRORS, 1);
}

static void plan_next(struct thread *t)
{
	bool look = patience_is_limited(&t->patience) && watchpoint_is_undecided(t);

	set_event(t,
		  tick_plan_next(&t->ticks, &t->random, handlers.period, t->signal_cpu_ns, look));
}

static void on_quiet(struct thread *t)
{
	if (t->ticks.look)
		set_event(t, tick_plan_end_look(&t->ticks, t->signal_cpu_ns));
}

static void on_refused(struct thread *t)
{
	if (t->ticks.tick_ns)
		set_event(t, tick_plan_refused(&t->ticks, handlers.period));
}

/* ---------------------------------------------------------------- events */

static bool samples_accesses(void)
{
	return handlers.sampling.kind_count > 0 ||
	       atomic_load_explicit(&handlers.objects_on, memory_order_relaxed);
}

static void take_tick(struct thread *t, const ucontext_t *uc)
{
	if (handlers.sampling.cpu) {
		cpu_sample_take(t, handlers.period, uc);
		if (handlers.sampling.loops)
			burst_tick(t, uc);
	}
	if (sampler_admits(t, uc, (uint64_t)uc->uc_mcontext.gregs[REG_RIP]) && samples_accesses()) {
		supersede(t);
		take_samples(t, uc);
	}
}

/* Of a thread that has no registers yet. */
static void ask_for_registers(struct thread *t, const ucontext_t *uc)
{
	if (handlers.sampling.cpu)
		(void)sampler_is_ready(t, uc);
	(void)sampler_admits(t, uc, (uint64_t)uc->uc_mcontext.gregs[REG_RIP]);
}

static void on_tick(struct thread *t, const ucontext_t *uc)
{
	uint32_t state = atomic_load_explicit(&t->state, memory_order_acquire);

	thread_count(t, JXP__COUNTER__COUNTER_TICKS, 1);
	/* What came before a thread has registers is no part of what is looked at. */
	if (state != THREAD_WANTED)
		thread_count(t, JXP__COUNTER__COUNTER_TICK_NS, handlers.period);
	if (state != THREAD_READY) {
		ask_for_registers(t, uc);
		return;
	}
	sampler_note_slowdown(t, uc);
	watchpoint_tick(t);
	take_tick(t, uc);
	plan_next(t);
}

static void on_event(struct thread *t, const ucontext_t *uc)
{
	if (!tick_plan_is_look(&t->ticks, t->signal_cpu_ns)) {
		on_tick(t, uc);
		return;
	}
	watchpoint_look(t);
	set_event(t, tick_plan_end_look(&t->ticks, t->signal_cpu_ns));
}

static void arrived(struct thread *t, unsigned reg, const ucontext_t *uc)
{
	if (t->watchpoints[reg].kind == JXP__KIND__KIND_OBJECTS)
		access_reached(t, reg, uc);
	else if (t->watchpoints[reg].ahead)
		has_run(t, reg, uc);
	else
		search(t, reg, uc);
}

static void on_breakpoint(struct thread *t, unsigned reg, const ucontext_t *uc)
{
	unsigned riders = watchpoint_riders(t, reg);

	arrived(t, reg, uc);
	for (unsigned i = 0; i < PERF_DEBUG_REGISTERS; i++)
		if (riders & (1u << i) && t->watchpoints[i].state == WATCH_SEEKING)
			arrived(t, i, uc);
}

const struct sampler sampler_clock = {
    .on_event = on_event,
    .on_breakpoint = on_breakpoint,
    .on_quiet = on_quiet,
    .on_refused = on_refused,
};
