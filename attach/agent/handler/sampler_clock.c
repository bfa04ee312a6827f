#include "attach/agent/handler/sampler.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

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
	const struct operand *m = &in->memory;

	if (!in->has_memory || in->string || in->unsupported || in->compares_and_swaps ||
	    insn_is_masked(in) || (wanted == ACCESS_LOAD && m->stores))
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
	w->first_ip = access->ip;
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

	if (!search_fetch(w->first_ip, &s.insn) || !s.insn.has_memory ||
	    w->first_ip + s.insn.length != (uint64_t)uc->uc_mcontext.gregs[REG_RIP]) {
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
static bool can_be_foretold(const struct walk_access *a, enum access_type wanted)
{
	return a->foretold && !a->insn.compares_and_swaps &&
	       !(wanted == ACCESS_LOAD && a->insn.memory.stores);
}

/* How far one signal has brought a search. */
struct search {
	struct walk walk;
	struct walk_access access;
	uint64_t stop_ip;
	enum walk_outcome end;
	bool foretold; /* the bytes are chosen */
};

/* Goes on with what w looks for, from ip, with registers that are exact there. True when that needs
 * no register any more: the pair is complete, or there is none, which is counted. */
static bool is_over(struct thread *t, struct watchpoint *w, double kept, struct search *s,
		    uint64_t ip, const ucontext_t *uc)
{
	struct machine_view view;

	foretell_view(t, (uint64_t)uc->uc_mcontext.gregs[REG_RSP], &view);
	s->foretold = false;
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
	if (!can_be_foretold(&s->access, sample_access(w->kind)))
		return false;
	const struct extent extent = extent_whole(s->access.address, s->access.insn.memory.size);

	if (!pair_choose_bytes(t, w, w->kind, &s->access.insn, &extent))
		return true;
	s->foretold = true;
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
		if (s->foretold) {
			watchpoint_foretell(t, reg, &s->access);
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

/* Bytes are counted once for each tick that a sample stands for, and a tick that was drawn with a
 * shorter period than is in force now is one, too. */
static double ticks_in(uint64_t ns)
{
	uint64_t period = handlers.period;

	return ns > period ? (double)ns / (double)period : 1;
}

/* A search has a register only once it needs one. Its sample stands for so much CPU time. */
static void begin_search(struct thread *t, enum access_type type, uint64_t ns, const ucontext_t *uc)
{
	ACCOUNT_AS(t, ACCOUNT_CODE);
	uint64_t ip = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
	double ticks = ticks_in(ns);
	struct watchpoint w = {.weight = (uint64_t)((double)ns / ticks)};
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

/* They stand for so much of the thread's CPU time. */
static void take_samples(struct thread *t, uint64_t ns, const ucontext_t *uc)
{
	unsigned wanted = types_at(t, (uint64_t)uc->uc_mcontext.gregs[REG_RIP]);

	if (atomic_load_explicit(&handlers.objects_on, memory_order_relaxed))
		wanted |= FOR_OBJECTS;
	if (!wanted)
		return;
	thread_count(t, JXP__COUNTER__COUNTER_SAMPLES, 1);
	/* A thread that has one register for all of it would never find it free for objects. */
	if (wanted & FOR_OBJECTS && (unsigned)t->access_register < t->reservoir.registers) {
		ns *= (unsigned)__builtin_popcount(wanted);
		wanted = 1u << random_bit(&t->random, wanted);
	}
	for (unsigned type = 0; type < ACCESS_TYPES; type++)
		if (wanted & (1u << type))
			begin_search(t, (enum access_type)type, ns, uc);
	if (wanted & FOR_OBJECTS)
		access_sample(t, ns, uc);
}

/* ---------------------------------------------------------------- when the next one comes */

/* A perf clock goes on with its period by itself, so where it is nearly in step nothing is set. */
static uint64_t clock_period(const struct thread *t, uint64_t left_ns)
{
	uint64_t length = t->ticks.length_ns;

	if (t->ticks.look)
		return left_ns;
	if (left_ns > length - length / 4 && left_ns < length + length / 4)
		return length;
	return left_ns > PATIENCE_NS || left_ns > length ? left_ns : length;
}

/* The event comes once the thread has used at_ns of CPU time. */
static void set_event(struct thread *t, uint64_t at_ns)
{
	ACCOUNT_AS(t, ACCOUNT_CONTROLS);
	uint64_t left = at_ns > t->signal_cpu_ns ? at_ns - t->signal_cpu_ns : 1;
	int r = 0;

	/* Also of a timer that was switched off for the clock, whose last signal was on its way. */
	atomic_store_explicit(&t->timer_spent, false, memory_order_relaxed);
	if (!t->clock_on) {
		r = cpu_timer_set(t->timer, left);
	} else if (t->event_ns != clock_period(t, left)) {
		t->event_ns = clock_period(t, left);
		r = perf_set_period(t->sampling_fd[0], t->event_ns);
	}
	if (r < 0)
		thread_count(t, JXP__COUNTER__COUNTER_EVENT_ERRORS, 1);
}

/* The timer comes a tick of the scheduler early: on_stop says why. */
static void plan_next(struct thread *t, bool look)
{
	uint64_t at = tick_plan_next(&t->ticks, t->signal_cpu_ns, look);

	if (!t->clock_on && !t->ticks.look && at > handlers.scheduler_tick_ns)
		at -= handlers.scheduler_tick_ns;
	set_event(t, at);
}

static void on_quiet(struct thread *t)
{
	if (t->ticks.look)
		plan_next(t, false);
}

/* A timer that is not set again would never come again. */
static void on_refused(struct thread *t)
{
	if (t->clock_on && t->ticks.length_ns == 0)
		return; /* As it was opened. */
	t->ticks.look = false;
	set_event(t, t->signal_cpu_ns + t->ticks.length_ns);
}

/* Which side the tick found the thread on is told by how far the kernel's counts of ticks have
 * gone, and that is certain only where the one before it was seen, too. To choose those that are by
 * what they are would be to choose by what is measured: so the timer always stops twice. Where
 * signals wait for the end of long system calls there never is just one tick, and most of them have
 * to tell. Of a guest the counts at its last tick are not known. */
#define STOPS_MAX 2u

static bool on_stop(struct thread *t)
{
	struct cpu_sides before = t->sides;
	uint64_t user, kernel;

	t->side = CPU_UNKNOWN;
	if (t->guest || t->clock_on || tick_plan_is_look(&t->ticks, t->signal_cpu_ns))
		return false;
	cpu_timer_sides(&t->sides);
	user = t->sides.user_ns - before.user_ns;
	kernel = t->sides.kernel_ns - before.kernel_ns;
	if (user + kernel > handlers.scheduler_tick_ns * 3 / 2 && t->stops < STOPS_MAX) {
		t->stops++;
		thread_count(t, JXP__COUNTER__COUNTER_SIGNALS_STOPS, 1);
		set_event(t, t->signal_cpu_ns + 1);
		return true;
	}
	t->stops = 0;
	if (kernel > user)
		t->side = CPU_KERNEL;
	else
		t->side = user > 0 ? CPU_USER : CPU_UNKNOWN;
	return false;
}

/* ---------------------------------------------------------------- what the thread does */

/* In the kernel's numbers, what holding events open has cost this thread since the last tick. */
static void note_switches(struct thread *t)
{
	const struct switch_costs *costs = &handlers.switch_costs;
	bool held = atomic_load_explicit(&t->registers, memory_order_relaxed) == REGISTERS_HELD;
	uint64_t kernel_before = t->switching.kernel_ns, switches, count;
	struct rusage usage;

	if (syscall(SYS_getrusage, RUSAGE_THREAD, &usage) < 0)
		return; /* Cannot be. */
	count = (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
	switches = switching_note(&t->switching, count, t->signal_cpu_ns,
				  (uint64_t)usage.ru_stime.tv_sec * NS_PER_S +
				      (uint64_t)usage.ru_stime.tv_usec * NS_PER_US);
	if (t->clock_on && kernel_before && t->switching.kernel_ns > kernel_before)
		t->kernel_owed_ns += t->switching.kernel_ns - kernel_before;
	thread_count(t, JXP__COUNTER__COUNTER_SWITCHES, switches);
	thread_count(t, JXP__COUNTER__COUNTER_SWITCHES_NS,
		     (uint64_t)((double)switches * ((t->clock_on ? costs->clock_ns : 0) +
						    (held ? costs->held_ns : 0))));
	atomic_store_explicit(&t->switches_per_s,
			      (uint32_t)(t->switching.per_ns * (double)NS_PER_S),
			      memory_order_relaxed);
	atomic_store_explicit(&t->kernel_permille, (uint32_t)(t->switching.kernel * 1000),
			      memory_order_relaxed);
}

static bool samples_accesses(void)
{
	return handlers.sampling.kind_count > 0 ||
	       atomic_load_explicit(&handlers.objects_on, memory_order_relaxed);
}

/* Where registers cannot be held, they are asked for now and then. */
static void ask_for_phase(struct thread *t)
{
	uint8_t never = REGISTERS_NONE;

	if (atomic_load_explicit(&t->registers, memory_order_relaxed) != REGISTERS_NONE ||
	    atomic_load_explicit(&t->phase_period, memory_order_relaxed) == 0 ||
	    t->signal_cpu_ns < t->phases.due_ns || t->signal_cpu_ns < t->phase_after_ns)
		return;
	if (atomic_compare_exchange_strong(&t->registers, &never, REGISTERS_ASKED))
		handlers_ask();
}

/* ---------------------------------------------------------------- events */

/* A perf clock has no ticks in the kernel: of its time there what is known is how much it was. */
static uint64_t user_part(struct thread *t, uint64_t ns)
{
	uint64_t kernel = t->kernel_owed_ns < ns ? t->kernel_owed_ns : ns;

	if (!t->clock_on || kernel < handlers.period / 2)
		return ns;
	t->kernel_owed_ns -= kernel;
	cpu_sample_take_unseen(t, kernel);
	return ns - kernel;
}

static void take_cpu(struct thread *t, uint64_t ns, const ucontext_t *uc)
{
	if (ns == 0)
		return;
	thread_count(t, JXP__COUNTER__COUNTER_TICKS, 1);
	thread_count(t, JXP__COUNTER__COUNTER_TICK_NS, ns);
	if (handlers.sampling.cpu)
		ns = user_part(t, ns);
	if (handlers.sampling.cpu && ns > 0)
		cpu_sample_take(t, ns, uc);
}

/* What the access stands for that a tick leads to which stands for ns; 0: for none. */
static uint64_t access_part(struct thread *t, uint64_t ns)
{
	uint8_t watch = atomic_load_explicit(&t->registers, memory_order_relaxed);

	if (watch == REGISTERS_HELD)
		return ns;
	if (watch != REGISTERS_LENT)
		return 0;
	atomic_store(&t->registers, REGISTERS_USED);
	return tick_plan_tick(&t->phases, &t->random,
			      atomic_load_explicit(&t->phase_period, memory_order_relaxed),
			      t->signal_cpu_ns);
}

/* A tick in the kernel is no access of the application's. */
static void take_access(struct thread *t, uint64_t ns, const ucontext_t *uc)
{
	uint64_t ip = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];

	if (ns == 0 || !samples_accesses())
		return;
	if (t->side == CPU_KERNEL)
		thread_count(t, JXP__COUNTER__COUNTER_TICKS_OUTSIDE, 1);
	else if (sampler_admits(t, uc, ip)) {
		supersede(t);
		take_samples(t, ns, uc);
	}
}

/* The thread is not ready: the session is asked for what it lacks. */
static void ask_for_memory(struct thread *t, const ucontext_t *uc)
{
	if (handlers.sampling.cpu)
		(void)sampler_is_ready(t, uc);
	(void)sampler_admits(t, uc, (uint64_t)uc->uc_mcontext.gregs[REG_RIP]);
	if (atomic_load_explicit(&t->state, memory_order_relaxed) == THREAD_CLOCK) {
		/* It runs no Java code, and is told. */
		thread_count(t, JXP__COUNTER__COUNTER_TICKS, 1);
		thread_count(
		    t, JXP__COUNTER__COUNTER_TICK_NS,
		    tick_plan_tick(&t->ticks, &t->random, handlers.period, t->signal_cpu_ns));
	}
	/* What comes before it is ready is told by its first tick then. */
	set_event(t, t->signal_cpu_ns + handlers.period);
}

static void on_tick(struct thread *t, const ucontext_t *uc)
{
	uint64_t ns, access_ns;

	note_switches(t);
	if (!t->clock_on && t->side == CPU_UNKNOWN)
		t->side = cpu_sample_side(uc);
	if (atomic_load_explicit(&t->state, memory_order_acquire) != THREAD_READY) {
		ask_for_memory(t, uc);
		return;
	}
	sampler_note_slowdown(t, uc);
	watchpoint_tick(t);
	ns = tick_plan_tick(&t->ticks, &t->random, handlers.period, t->signal_cpu_ns);
	if (atomic_load_explicit(&t->registers, memory_order_relaxed) == REGISTERS_USED)
		supersede(t);
	take_cpu(t, ns, uc);
	access_ns = access_part(t, ns);
	if (handlers.sampling.loops && t->side != CPU_KERNEL && (ns > 0 || access_ns > 0))
		burst_tick(t, uc);
	take_access(t, access_ns, uc);
	ask_for_phase(t);
	plan_next(t, patience_is_limited(&t->patience) && watchpoint_is_undecided(t));
}

static void on_guest(struct thread *t, const ucontext_t *uc)
{
	t->side = cpu_sample_side(uc);
	take_cpu(t, t->guest_tick_ns, uc);
}

static void on_event(struct thread *t, const ucontext_t *uc)
{
	if (t->guest) {
		on_guest(t, uc);
		return;
	}
	if (!tick_plan_is_look(&t->ticks, t->signal_cpu_ns)) {
		on_tick(t, uc);
		return;
	}
	watchpoint_look(t);
	plan_next(t, false);
}

static void arrived(struct thread *t, unsigned reg, const ucontext_t *uc)
{
	if (t->watchpoints[reg].kind == JXP__KIND__KIND_OBJECTS)
		access_reached(t, reg, uc);
	else if (t->watchpoints[reg].first_ip)
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
    .on_stop = on_stop,
    .on_event = on_event,
    .on_breakpoint = on_breakpoint,
    .on_quiet = on_quiet,
    .on_refused = on_refused,
};
