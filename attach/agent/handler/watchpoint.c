#include "attach/agent/handler/watchpoint.h"

#include <linux/hw_breakpoint.h>
#include <string.h>

#include "attach/agent/code/safe_read.h"
#include "attach/agent/code/trap.h"
#include "attach/agent/handler/handlers.h"
#include "attach/agent/handler/pair.h"
#include "attach/agent/handler/thread.h"
#include "proto/kinds.h"

static bool set_register(struct thread *t, unsigned reg, uint32_t type, uint64_t address,
			 uint32_t length)
{
	ACCOUNT_AS(t, ACCOUNT_CONTROLS);
	struct perf_event_attr attr;

	perf_attr_breakpoint(&attr, type, address, length,
			     thread_sig_data(t, THREAD_ROLE_REGISTER + reg));
	attr.disabled = 0; /* One ioctl both changes and enables. */
	if (perf_modify(t->register_fd[reg], &attr) == 0)
		return true;
	thread_count(t, JXP__COUNTER__COUNTER_EVENT_ERRORS, 1);
	return false;
}

static void free_register(struct thread *t, unsigned reg)
{
	ACCOUNT_AS(t, ACCOUNT_CONTROLS);

	if (perf_disable(t->register_fd[reg]) < 0)
		thread_count(t, JXP__COUNTER__COUNTER_EVENT_ERRORS, 1);
	t->watchpoints[reg].state = WATCH_FREE;
	reservoir_free(&t->reservoir, reg);
}

/* Has another register its breakpoint there? Two that are hit at once would send two SIGTRAPs, of
 * which the kernel delivers one. */
static bool has_breakpoint(const struct thread *t, unsigned reg, uint64_t ip)
{
	for (unsigned i = 0; i < PERF_DEBUG_REGISTERS; i++) {
		const struct watchpoint *w = &t->watchpoints[i];

		if (i != reg && w->state == WATCH_SEEKING && !w->rides && w->sought == ip)
			return true;
	}
	return false;
}

/* Waits for another register's breakpoint; its own, of an earlier hop, is taken away. */
static bool ride(struct thread *t, unsigned reg)
{
	ACCOUNT_AS(t, ACCOUNT_CONTROLS);
	const struct watchpoint *w = &t->watchpoints[reg];

	if (w->state == WATCH_SEEKING && !w->rides && perf_disable(t->register_fd[reg]) < 0) {
		thread_count(t, JXP__COUNTER__COUNTER_EVENT_ERRORS, 1);
		return false;
	}
	return true;
}

bool watchpoint_seek(struct thread *t, unsigned reg, uint64_t ip)
{
	struct watchpoint *w = &t->watchpoints[reg];
	bool rides = has_breakpoint(t, reg, ip);

	if (!(rides ? ride(t, reg) : set_register(t, reg, HW_BREAKPOINT_X, ip, sizeof(long)))) {
		free_register(t, reg);
		return false;
	}
	w->rides = rides;
	w->sought = ip;
	w->state = WATCH_SEEKING;
	return true;
}

unsigned watchpoint_riders(const struct thread *t, unsigned reg)
{
	unsigned riders = 0;

	for (unsigned i = 0; i < PERF_DEBUG_REGISTERS; i++) {
		const struct watchpoint *w = &t->watchpoints[i];

		if (i != reg && w->state == WATCH_SEEKING && w->rides &&
		    w->sought == t->watchpoints[reg].sought)
			riders |= 1u << i;
	}
	return riders;
}

void watchpoint_hop(struct thread *t, unsigned reg, uint64_t ip)
{
	struct watchpoint *w = &t->watchpoints[reg];
	bool seen = w->hops == WATCHPOINT_MAX_HOPS;

	for (unsigned i = 0; i < w->hops; i++)
		seen |= w->hop[i] == ip && w->hop_skip[i] == w->scope.skip;
	if (!seen) {
		w->hop[w->hops] = ip;
		w->hop_skip[w->hops++] = w->scope.skip;
	}
	if (!seen || walk_come_round(&w->scope, &ip)) {
		thread_count(t, JXP__COUNTER__COUNTER_HOPS, 1);
		if (watchpoint_seek(t, reg, ip))
			return;
	}
	thread_count(t, JXP__COUNTER__COUNTER_SEARCHES_FAILED, 1);
	watchpoint_drop(t, reg, RECORD_ABANDONED);
}

static void record_transition(struct thread *t, unsigned reg, enum record_type type)
{
	struct record r;

	pair_fill_record(&r, &t->watchpoints[reg], reg, type);
	thread_record(t, &r);
}

static Jxp__Counter counter_of(enum record_type why)
{
	switch (why) {
	case RECORD_REPLACED:
		return JXP__COUNTER__COUNTER_REPLACED;
	case RECORD_EXPIRED_GC:
		return JXP__COUNTER__COUNTER_EXPIRED_GC;
	case RECORD_ABANDONED:
		return JXP__COUNTER__COUNTER_ABANDONED;
	default:
		return JXP__COUNTER__COUNTER_EXPIRED_WINDOW;
	}
}

/* Every armed watchpoint is closed exactly once: here, or by the pair it completes. */
static void close_armed(struct thread *t, unsigned reg, enum record_type why)
{
	thread_count(t, counter_of(why), 1);
	record_transition(t, reg, why);
}

void watchpoint_drop(struct thread *t, unsigned reg, enum record_type why)
{
	struct watchpoint *w = &t->watchpoints[reg];

	if (w->state == WATCH_FREE)
		return;
	if (w->state == WATCH_ARMED)
		close_armed(t, reg, why);
	free_register(t, reg);
}

/* Kept with a probability of 1/factor; 0: given up, as samples of other times are kept for it. */
static void keep_or_release(struct thread *t, unsigned reg, double factor)
{
	if (factor > 0) {
		reservoir_reweigh(&t->reservoir, reg, factor);
		return;
	}
	thread_count(t, JXP__COUNTER__COUNTER_RELEASED, 1);
	watchpoint_drop(t, reg, RECORD_REPLACED);
}

void watchpoint_look(struct thread *t)
{
	for (unsigned i = 0; i < t->reservoir.registers; i++) {
		struct watchpoint *w = &t->watchpoints[i];

		if (w->state != WATCH_ARMED || w->looked_at)
			continue;
		w->looked_at = true;
		keep_or_release(t, i, patience_look(&t->patience));
	}
}

void watchpoint_tick(struct thread *t)
{
	double factor;

	watchpoint_look(t);
	factor = patience_tick(&t->patience, &t->random, t->signal_cpu_ns,
			       patience_share(handlers.slowdown_most, t->slowdown.fraction));
	for (unsigned i = 0; i < t->reservoir.registers; i++)
		if (t->watchpoints[i].state == WATCH_ARMED)
			keep_or_release(t, i, factor);
}

bool watchpoint_in_use(const struct thread *t)
{
	for (unsigned i = 0; i < PERF_DEBUG_REGISTERS; i++)
		if (t->watchpoints[i].state != WATCH_FREE)
			return true;
	return false;
}

bool watchpoint_is_undecided(const struct thread *t)
{
	for (unsigned i = 0; i < t->reservoir.registers; i++) {
		const struct watchpoint *w = &t->watchpoints[i];

		if (w->state != WATCH_FREE && w->kind != JXP__KIND__KIND_OBJECTS && !w->looked_at)
			return true;
	}
	return false;
}

void watchpoint_drop_all(struct thread *t, enum record_type why)
{
	for (unsigned i = 0; i < PERF_DEBUG_REGISTERS; i++)
		watchpoint_drop(t, i, why);
	reservoir_clear(&t->reservoir);
}

void watchpoint_expire(struct thread *t, enum record_type why)
{
	for (unsigned i = 0; i < PERF_DEBUG_REGISTERS; i++) {
		if (t->watchpoints[i].state == WATCH_ARMED)
			close_armed(t, i, why);
		t->watchpoints[i].state = WATCH_FREE;
	}
}

static bool watches_data(const struct watchpoint *w)
{
	return w->state == WATCH_ARMED || w->state == WATCH_PENDING;
}

/* The registers that watch some of the same bytes, a bit each. */
static unsigned rivals_of(const struct thread *t, unsigned reg)
{
	const struct watchpoint *w = &t->watchpoints[reg];
	unsigned rivals = 0;

	for (unsigned i = 0; i < t->reservoir.registers; i++) {
		const struct watchpoint *other = &t->watchpoints[i];

		if (i != reg && watches_data(other) &&
		    extent_overlap(w->address, w->length, other->address, other->length))
			rivals |= 1u << i;
	}
	return rivals;
}

/* Only one of what would be set on the same bytes is: as in a reservoir, the n-th of them with a
 * probability of 1/n, and what is kept weighs the inverse of that. False: not this one. */
static bool prevail(struct thread *t, unsigned reg)
{
	unsigned rivals = rivals_of(t, reg);
	uint32_t most = 0;
	bool prevails;

	t->watchpoints[reg].rivals = 1;
	if (!rivals)
		return true;
	thread_count(t, JXP__COUNTER__COUNTER_OVERLAPPED, 1);
	for (unsigned i = 0; i < t->reservoir.registers; i++)
		if (rivals & (1u << i) && most < t->watchpoints[i].rivals)
			most = t->watchpoints[i].rivals;
	prevails = random_below(&t->random, most + 1) == 0;
	for (unsigned i = 0; i < t->reservoir.registers; i++) {
		if (!(rivals & (1u << i)))
			continue;
		if (prevails) {
			watchpoint_drop(t, i, RECORD_REPLACED);
		} else {
			t->watchpoints[i].rivals = most + 1;
			reservoir_reweigh(&t->reservoir, i, 1 + 1.0 / most);
		}
	}
	if (prevails) {
		t->watchpoints[reg].rivals = most + 1;
		reservoir_reweigh(&t->reservoir, reg, most + 1);
	}
	return prevails;
}

static void mark_armed(struct thread *t, unsigned reg)
{
	struct watchpoint *w = &t->watchpoints[reg];

	w->state = WATCH_ARMED;
	thread_count(t, JXP__COUNTER__COUNTER_ARMED, 1);
	record_transition(t, reg, RECORD_ARMED);
}

static uint32_t trap_type(const struct watchpoint *w)
{
	return pair_kind_of(w)->watched == PAIR_STORE ? HW_BREAKPOINT_W : HW_BREAKPOINT_RW;
}

/* Sets the register on what its watchpoint is to watch. */
static bool set_watch(struct thread *t, unsigned reg)
{
	const struct watchpoint *w = &t->watchpoints[reg];

	if (!prevail(t, reg))
		return false;
	return set_register(t, reg, trap_type(w), w->address, w->length);
}

void watchpoint_arm(struct thread *t, unsigned reg, uint8_t kind, const struct sample *s,
		    const ucontext_t *uc)
{
	ACCOUNT_AS(t, ACCOUNT_REST);
	struct watchpoint *w = &t->watchpoints[reg];
	bool loads = sample_access(kind) == ACCESS_LOAD;

	if (!pair_choose_bytes(t, w, kind, &s->insn, &s->extent) ||
	    !pair_describe(t, w, s, uc->uc_mcontext.gregs, uc)) {
		free_register(t, reg);
		return;
	}
	/* What a read-modify-write loads is gone once it has run. */
	if (s->executed || (loads && s->insn.memory.stores)) {
		w->value_taken = safe_read(w->address, w->value, w->length);
		if (!w->value_taken) {
			thread_count(t, JXP__COUNTER__COUNTER_UNDECODED, 1);
			free_register(t, reg);
			return;
		}
	}
	if (!set_watch(t, reg)) {
		free_register(t, reg);
		return;
	}
	if (!s->executed) {
		w->state = WATCH_PENDING;
		return;
	}
	memcpy(w->last_value, w->value, sizeof(w->value));
	mark_armed(t, reg);
}

void watchpoint_foretell(struct thread *t, unsigned reg, const struct walk_access *access)
{
	struct watchpoint *w = &t->watchpoints[reg];

	if (!set_watch(t, reg)) {
		free_register(t, reg);
		return;
	}
	w->foretold_first = true;
	w->first_ip = access->insn.ip;
	w->first_address = access->address;
	w->state = WATCH_PENDING;
	thread_count(t, JXP__COUNTER__COUNTER_PREDICTED, 1);
}

/* What was foretold trapped, if it is what trapped. */
static void take_foretold(struct thread *t, unsigned reg, const ucontext_t *uc)
{
	struct watchpoint *w = &t->watchpoints[reg];
	struct sample s = {.executed = true};

	if ((uint64_t)uc->uc_mcontext.gregs[REG_RIP] != w->after ||
	    !search_fetch(w->first_ip, &s.insn) || w->first_ip + s.insn.length != w->after ||
	    !safe_read(w->address, w->value, w->length)) {
		thread_count(t, JXP__COUNTER__COUNTER_MISPREDICTED, 1);
		free_register(t, reg);
		return;
	}
	s.extent = extent_whole(w->first_address, s.insn.memory.size);
	if (!pair_describe(t, w, &s, uc->uc_mcontext.gregs, uc)) {
		free_register(t, reg);
		return;
	}
	w->value_taken = true;
	memcpy(w->last_value, w->value, sizeof(w->value));
	mark_armed(t, reg);
}

/* The sampled access itself trapped: its value is V1, and the register is armed for the second. */
static void own_access(struct thread *t, unsigned reg, const ucontext_t *uc)
{
	struct watchpoint *w = &t->watchpoints[reg];
	uint64_t ip = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];

	if (w->foretold_first) {
		take_foretold(t, reg, uc);
		return;
	}
	if (w->swaps && !((uint64_t)uc->uc_mcontext.gregs[REG_EFL] & INSN_FLAG_ZERO)) {
		/* What was to be stored was not. */
		thread_count(t, JXP__COUNTER__COUNTER_NOT_STORED, 1);
		free_register(t, reg);
		return;
	}
	if ((ip != w->after && ip != w->again) ||
	    !safe_read(w->address, w->last_value, w->length)) {
		/* Not the access that was foretold, or its memory is gone already. */
		thread_count(t, JXP__COUNTER__COUNTER_UNDECODED, 1);
		free_register(t, reg);
		return;
	}
	/* A read-modify-write loaded something else than it left behind. */
	if (!w->value_taken)
		memcpy(w->value, w->last_value, sizeof(w->value));
	mark_armed(t, reg);
}

/* The trap that a foretold pair was left to: did it come as foretold? */
static void compare(struct thread *t, struct watchpoint *w, const struct trap_access *a)
{
	if (!w->foretold_second)
		return;
	thread_count(t, JXP__COUNTER__COUNTER_FORETOLD_CHECKED, 1);
	if (a->insn.ip != w->foretold_second)
		thread_count(t, JXP__COUNTER__COUNTER_FORETOLD_WRONG, 1);
	w->foretold_second = 0;
}

/* Waits on, in the same register, for what completes the pair of the next kind. */
static void wait_on(struct thread *t, unsigned reg)
{
	const struct watchpoint *w = &t->watchpoints[reg];

	if (!set_register(t, reg, trap_type(w), w->address, w->length))
		watchpoint_drop(t, reg, RECORD_ABANDONED);
}

/* Completes the pair, and those of the next kinds that the same access ends. */
static void complete_pairs(struct thread *t, unsigned reg, const ucontext_t *uc,
			   const struct trap_access *a, const uint8_t *now)
{
	struct watchpoint *w = &t->watchpoints[reg];
	struct pair_end end = {.access = a,
			       .now = now,
			       .regs = uc->uc_mcontext.gregs,
			       .reg = reg,
			       .kept = reservoir_weight(&t->reservoir, reg)};

	compare(t, w, a);
	if (!pair_describe_end(t, w, &end, uc)) {
		watchpoint_drop(t, reg, RECORD_ABANDONED);
		return;
	}
	do {
		pair_complete(t, w, &end);
		thread_count(t, JXP__COUNTER__COUNTER_TRAPS, 1);
		if (!pair_turn(w)) {
			free_register(t, reg);
			return;
		}
		mark_armed(t, reg);
	} while (pair_ends(w, a->reads, a->writes));
	wait_on(t, reg);
}

/* A store while a load is waited for: it may change the value, and it ends nothing. */
static void ignore_access(struct thread *t, unsigned reg, const uint8_t *now)
{
	struct watchpoint *w = &t->watchpoints[reg];

	thread_count(t, JXP__COUNTER__COUNTER_IGNORED_STORES, 1);
	memcpy(w->last_value, now, sizeof(w->last_value));
	if (++w->ignored >= WATCHPOINT_MAX_IGNORED)
		watchpoint_drop(t, reg, RECORD_ABANDONED);
}

static bool explain(struct thread *t, const struct watchpoint *w, const ucontext_t *uc,
		    struct trap_access *out)
{
	ACCOUNT_AS(t, ACCOUNT_CODE);

	return trap_decode(uc, w->address, w->length, out);
}

/* access: NULL when no instruction explains the trap. */
static void second_access(struct thread *t, unsigned reg, const ucontext_t *uc,
			  const struct trap_access *access)
{
	struct watchpoint *w = &t->watchpoints[reg];
	uint8_t now[8] = {0};

	if (!access || !safe_read(w->address, now, w->length)) {
		thread_count(t, JXP__COUNTER__COUNTER_UNDECODED, 1);
		watchpoint_drop(t, reg, RECORD_ABANDONED);
		return;
	}
	if (pair_ends(w, access->reads, access->writes))
		complete_pairs(t, reg, uc, access, now);
	else
		ignore_access(t, reg, now);
}

static void trapped(struct thread *t, unsigned reg, const ucontext_t *uc,
		    const struct trap_access *access)
{
	if (t->watchpoints[reg].state == WATCH_PENDING)
		own_access(t, reg, uc);
	else if (t->watchpoints[reg].state == WATCH_ARMED)
		second_access(t, reg, uc, access);
	else
		free_register(t, reg); /* A late signal of a register that was freed meanwhile. */
}

/* Has the instruction that trapped touched what this register watches, too? */
static bool traps_as_well(const struct watchpoint *w, const struct trap_access *a)
{
	return watches_data(w) && trap_shared(&a->extent, w->address, w->length) &&
	       (a->writes || (a->reads && pair_kind_of(w)->watched != PAIR_STORE));
}

static bool others_watch(const struct thread *t, unsigned reg)
{
	for (unsigned i = 0; i < t->reservoir.registers; i++)
		if (i != reg && watches_data(&t->watchpoints[i]))
			return true;
	return false;
}

void watchpoint_trapped(struct thread *t, unsigned reg, const ucontext_t *uc)
{
	const struct watchpoint *w = &t->watchpoints[reg];
	struct trap_access access, other;
	bool told =
	    (w->state == WATCH_ARMED || (w->state == WATCH_PENDING && others_watch(t, reg))) &&
	    explain(t, w, uc, &access);

	trapped(t, reg, uc, told ? &access : NULL);
	/* One instruction may touch what several registers watch, and of SIGTRAPs that are pending
	 * at once the kernel delivers one. */
	for (unsigned i = 0; told && i < t->reservoir.registers; i++) {
		w = &t->watchpoints[i];
		if (i != reg && traps_as_well(w, &access))
			trapped(t, i, uc, explain(t, w, uc, &other) ? &other : NULL);
	}
}
