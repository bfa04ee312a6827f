#include "attach/agent/handler/watchpoint.h"

#include <linux/hw_breakpoint.h>
#include <string.h>

#include "attach/agent/code/codemap.h"
#include "attach/agent/code/element.h"
#include "attach/agent/code/safe_read.h"
#include "attach/agent/code/trap.h"
#include "attach/agent/code/value.h"
#include "attach/agent/handler/handlers.h"
#include "attach/agent/handler/placing.h"
#include "attach/agent/handler/thread.h"
#include "common/clock.h"
#include "proto/kinds.h"
#include "proto/limits.h"

#define POLLING_PAGE_BYTES 4096u

/* Only kinds of pairs are armed; the window refuses others when it begins. */
static const struct pair_kind *kind_of(const struct watchpoint *w)
{
	return pair_kind_find((Jxp__Kind)w->kind);
}

enum access_type watchpoint_access(uint8_t kind)
{
	return pair_kind_find((Jxp__Kind)kind)->sampled == PAIR_LOAD ? ACCESS_LOAD : ACCESS_STORE;
}

static bool set_register(struct thread *t, unsigned reg, uint32_t type, uint64_t address,
			 uint32_t length)
{
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
	if (perf_disable(t->register_fd[reg]) < 0)
		thread_count(t, JXP__COUNTER__COUNTER_EVENT_ERRORS, 1);
	t->watchpoints[reg].state = WATCH_FREE;
	reservoir_free(&t->reservoir, reg);
}

bool watchpoint_seek(struct thread *t, unsigned reg, uint64_t ip)
{
	if (!set_register(t, reg, HW_BREAKPOINT_X, ip, sizeof(long))) {
		free_register(t, reg);
		return false;
	}
	t->watchpoints[reg].state = WATCH_SEEKING;
	return true;
}

void watchpoint_hop(struct thread *t, unsigned reg, uint64_t ip)
{
	struct watchpoint *w = &t->watchpoints[reg];
	bool seen = w->hops == WATCHPOINT_MAX_HOPS;

	for (unsigned i = 0; i < w->hops; i++)
		seen |= w->hop[i] == ip && w->hop_skip[i] == w->skip;
	if (!seen) {
		w->hop[w->hops] = ip;
		w->hop_skip[w->hops++] = (uint8_t)w->skip;
		thread_count(t, JXP__COUNTER__COUNTER_HOPS, 1);
		if (watchpoint_seek(t, reg, ip))
			return;
	}
	thread_count(t, JXP__COUNTER__COUNTER_SEARCHES_FAILED, 1);
	watchpoint_drop(t, reg, RECORD_ABANDONED);
}

static void fill_record(struct record *r, const struct watchpoint *w, unsigned reg,
			enum record_type type)
{
	*r = (struct record){.time_ns = clock_monotonic_ns(),
			     .address = w->address,
			     .watch_context = w->context,
			     .watch_code = w->code,
			     .place = w->place,
			     .type = (uint8_t)type,
			     .kind = w->kind,
			     .reg = (uint8_t)reg,
			     .length = w->length,
			     .region = w->region};
}

static void record_transition(struct thread *t, unsigned reg, enum record_type type)
{
	struct record r;

	fill_record(&r, &t->watchpoints[reg], reg, type);
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

void watchpoint_drop_all(struct thread *t, enum record_type why)
{
	for (unsigned i = 0; i < PERF_DEBUG_REGISTERS; i++)
		watchpoint_drop(t, i, why);
	reservoir_clear(&t->reservoir);
}

void watchpoint_expire(struct thread *t)
{
	for (unsigned i = 0; i < PERF_DEBUG_REGISTERS; i++) {
		if (t->watchpoints[i].state == WATCH_ARMED)
			close_armed(t, i, RECORD_EXPIRED_WINDOW);
		t->watchpoints[i].state = WATCH_FREE;
	}
}

unsigned watchpoint_part(const struct extent *extent, uint32_t offset, uint64_t *start)
{
	uint64_t byte = extent->address + offset;

	for (unsigned length = 8; length > 1; length /= 2) {
		*start = byte & ~(uint64_t)(length - 1);
		if (trap_shared(extent, *start, length) == (1u << length) - 1)
			return length;
	}
	*start = byte;
	return 1;
}

/* The offset of an accessed byte, chosen at random. */
static uint32_t random_offset(const struct extent *extent, struct random *random)
{
	uint64_t active = extent->active;

	for (uint32_t n = random_below(random, (uint32_t)__builtin_popcountll(active)); n > 0; n--)
		active &= active - 1;
	return (uint32_t)__builtin_ctzll(active);
}

unsigned watchpoint_weight(unsigned shared, unsigned length, unsigned width, struct random *random)
{
	return (shared * width + random_below(random, length)) / length;
}

/* A loop's safepoint poll reads the first word of a page that the JVM protects to stop threads
 * (SafepointMechanism). */
static bool is_safepoint_poll(const struct sample *s)
{
	return s->insn.tests_memory && s->extent.size == 4 &&
	       s->extent.address % POLLING_PAGE_BYTES == 0;
}

/* Whose memory the access touches. Some things only the instruction tells: stores below the stack
 * pointer are stack banging (the JVM probing its guard pages), and r15 is the JavaThread in
 * compiled code (TLAB pointers, barrier queues, safepoint state). */
int watchpoint_region(const struct thread *t, const struct sample *s, const gregset_t regs)
{
	int region;

	if (s->extent.address >= t->stack_low && s->extent.address < t->stack_high)
		return s->extent.address < (uint64_t)regs[REG_RSP] ? JXP__REGION__REGION_JVM
								   : JXP__REGION__REGION_STACK;
	if (s->insn.has_memory && s->insn.memory.base == REG_R15 && codemap_covers(s->insn.ip))
		return JXP__REGION__REGION_JVM;
	region = region_find(&handlers.regions, s->extent.address);
	if (region == JXP__REGION__REGION_OTHER && is_safepoint_poll(s))
		return JXP__REGION__REGION_JVM;
	return region;
}

/* Another register that watches some of the same bytes would trap in the same instruction, and of
 * two SIGTRAPs pending at once the kernel delivers one. */
static bool overlaps_armed(const struct thread *t, unsigned reg, uint64_t address, uint64_t size)
{
	for (unsigned i = 0; i < t->reservoir.registers; i++) {
		const struct watchpoint *w = &t->watchpoints[i];

		if (i != reg && (w->state == WATCH_ARMED || w->state == WATCH_PENDING) &&
		    w->address < address + size && address < w->address + w->length)
			return true;
	}
	return false;
}

/* Of contexts that are recognised one in so many is walked by the JVM, too. */
static bool is_to_be_checked(const struct thread *t)
{
	unsigned every = handlers.contexts_checked_every;

	return every > 0 &&
	       atomic_load_explicit(&t->counters[JXP__COUNTER__COUNTER_CONTEXTS_RECOGNISED],
				    memory_order_relaxed) %
		       every ==
		   every - 1;
}

bool watchpoint_capture(struct thread *t, const ucontext_t *uc, uint64_t ip, uint32_t *context)
{
	const struct stack_place place = {.uc = uc,
					  .ip = ip,
					  .stack_low = t->stack_low,
					  .stack_high = t->stack_high,
					  .epoch = t->epoch,
					  .max_frames = t->max_frames,
					  .frames = t->memory->frames,
					  .frames_room = THREAD_FRAMES,
					  .check = is_to_be_checked(t)};
	struct stack_outcome outcome;
	enum stack_result result =
	    stack_capture(&handlers.walker, &place, handlers.contexts, &outcome);

	*context = outcome.context;
	thread_count(t,
		     outcome.recognised ? JXP__COUNTER__COUNTER_CONTEXTS_RECOGNISED
					: JXP__COUNTER__COUNTER_CONTEXTS_WALKED,
		     1);
	if (outcome.differs)
		thread_count(t, JXP__COUNTER__COUNTER_CONTEXTS_DIFFER, 1);
	switch (result) {
	case STACK_OK:
		return true;
	case STACK_TRUNCATED:
		thread_count(t, JXP__COUNTER__COUNTER_TRUNCATED, 1);
		return true;
	case STACK_UNWALKABLE:
		thread_count(t, JXP__COUNTER__COUNTER_UNWALKABLE, 1);
		return false;
	case STACK_TABLE_FULL:
		thread_count(t, JXP__COUNTER__COUNTER_CONTEXTS_FULL, 1);
		return false;
	}
	return false;
}

void watchpoint_code(struct code_bytes *to, const struct insn *in)
{
	to->length = in->length;
	memcpy(to->bytes, in->bytes, sizeof(to->bytes));
}

static void mark_armed(struct thread *t, unsigned reg)
{
	struct watchpoint *w = &t->watchpoints[reg];

	w->state = WATCH_ARMED;
	thread_count(t, JXP__COUNTER__COUNTER_ARMED, 1);
	record_transition(t, reg, RECORD_ARMED);
}

/* What an instruction moves, where that counts: an object's class tells better. */
static enum insn_element element_at(const struct place *place, const struct insn *in)
{
	return place->kind == PLACE_OBJECT ? ELEMENT_INTEGER : element_of_access(in);
}

/* Fills in everything about the sample that must be known before the register is set. */
static bool prepare(struct thread *t, unsigned reg, uint8_t kind, const struct sample *s,
		    const ucontext_t *uc)
{
	struct watchpoint *w = &t->watchpoints[reg];
	uint64_t start;

	if (s->extent.address < REGION_LOWEST_ADDRESS || !s->extent.active) {
		thread_count(t, JXP__COUNTER__COUNTER_SEARCHES_FAILED, 1);
		return false;
	}
	if (overlaps_armed(t, reg, s->extent.address, s->extent.size)) {
		thread_count(t, JXP__COUNTER__COUNTER_OVERLAPPED, 1);
		return false;
	}
	if (!watchpoint_capture(t, uc, s->insn.ip, &w->context))
		return false;
	w->kind = kind;
	w->length =
	    (uint8_t)watchpoint_part(&s->extent, random_offset(&s->extent, &t->random), &start);
	w->width = (uint8_t)s->extent.width;
	w->address = start;
	w->region = (uint8_t)watchpoint_region(t, s, uc->uc_mcontext.gregs);
	w->placed = placing_find(t, w->region, start, &s->insn, uc->uc_mcontext.gregs, &w->place);
	w->element = element_at(&w->place, &s->insn);
	w->after = s->insn.ip + s->insn.length;
	w->again = s->insn.repeats ? s->insn.ip : w->after;
	w->ignored = 0;
	w->value_taken = false;
	w->swaps = s->insn.compares_and_swaps && watchpoint_access(kind) == ACCESS_STORE;
	watchpoint_code(&w->code, &s->insn);
	return true;
}

void watchpoint_arm(struct thread *t, unsigned reg, uint8_t kind, const struct sample *s,
		    const ucontext_t *uc)
{
	struct watchpoint *w = &t->watchpoints[reg];
	bool loads = watchpoint_access(kind) == ACCESS_LOAD;

	if (!prepare(t, reg, kind, s, uc)) {
		free_register(t, reg);
		return;
	}
	/* What a read-modify-write loads is gone once it has run. */
	if (s->executed || (loads && s->insn.memory.writes)) {
		w->value_taken = safe_read(w->address, w->value, w->length);
		if (!w->value_taken) {
			thread_count(t, JXP__COUNTER__COUNTER_UNDECODED, 1);
			free_register(t, reg);
			return;
		}
	}
	if (!set_register(t, reg,
			  kind_of(w)->watched == PAIR_STORE ? HW_BREAKPOINT_W : HW_BREAKPOINT_RW,
			  w->address, w->length)) {
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

/* The sampled access itself trapped: its value is V1, and the register is armed for the second. */
static void own_access(struct thread *t, unsigned reg, const ucontext_t *uc)
{
	struct watchpoint *w = &t->watchpoints[reg];
	uint64_t ip = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];

	if (w->swaps && !((uint64_t)uc->uc_mcontext.gregs[REG_EFL] & INSN_FLAG_ZERO)) {
		/* What was to be stored was not. */
		thread_count(t, JXP__COUNTER__COUNTER_NOT_STORED, 1);
		free_register(t, reg);
		return;
	}
	if ((ip != w->after && ip != w->again) ||
	    !safe_read(w->address, w->last_value, w->length)) {
		/* Not the access that was predicted, or its memory is gone already. */
		thread_count(t, JXP__COUNTER__COUNTER_UNDECODED, 1);
		free_register(t, reg);
		return;
	}
	/* A read-modify-write loaded something else than it left behind. */
	if (!w->value_taken)
		memcpy(w->value, w->last_value, sizeof(w->value));
	mark_armed(t, reg);
}

/* Are the shared bytes (bits of a set) of two values the same? Each run of them by itself: the
 * lanes between belong to nobody. */
static bool same_bytes(const uint8_t *first, const uint8_t *second, unsigned shared,
		       enum insn_element element)
{
	while (shared) {
		unsigned from = (unsigned)__builtin_ctz(shared);
		unsigned bytes = (unsigned)__builtin_ctz(~(shared >> from));

		if (!value_same(first + from, second + from, bytes, element))
			return false;
		shared &= ~(((1u << bytes) - 1) << from);
	}
	return true;
}

/* Did the second access load or store the value of the first one, if values of this type lie there?
 */
static bool is_same_value(const struct watchpoint *w, const struct trap_access *a,
			  const uint8_t *now, unsigned shared, enum insn_element element)
{
	const uint8_t *second = now;

	/* A read-modify-write loaded what was there before it. */
	if (kind_of(w)->ends == PAIR_LOAD && a->writes)
		second = w->last_value;
	return same_bytes(w->value, second, shared, element);
}

/* record.wasteful_as */
static uint8_t wasteful_as(const struct watchpoint *w, const struct trap_access *a,
			   const uint8_t *now, unsigned shared)
{
	unsigned as = 0;

	for (unsigned e = ELEMENT_INTEGER; e <= ELEMENT_FLOAT64; e++) {
		bool wasteful = kind_of(w)->waste == PAIR_WASTE_OVERWRITTEN
				    ? a->writes && !a->reads
				    : is_same_value(w, a, now, shared, (enum insn_element)e);

		as |= (unsigned)wasteful << e;
	}
	return (uint8_t)as;
}

/* The second access touches the same bytes in the same epoch, so its registers may tell the object
 * where those of the first did not, or where the first came before the object was made. */
static void place_again(struct thread *t, struct watchpoint *w, const struct trap_access *a,
			const ucontext_t *uc)
{
	struct insn in = a->insn;

	if (w->region != JXP__REGION__REGION_HEAP ||
	    (w->placed == PLACE_FOUND &&
	     place_holds(&handlers.layout, &handlers.regions, w->address, &w->place)))
		return;
	in.has_memory = in.has_memory && !insn_overwrites(&in, &in.memory);
	w->placed = placing_find(t, w->region, w->address, &in, uc->uc_mcontext.gregs, &w->place);
}

/* The CPU time that the pair stands for; its sample stands for less if the second access touched
 * only some of the watched bytes. */
static uint64_t pair_cpu_ns(const struct thread *t, unsigned reg, unsigned shared)
{
	const struct watchpoint *w = &t->watchpoints[reg];

	return (uint64_t)((double)w->weight * reservoir_weight(&t->reservoir, reg) *
			  __builtin_popcount(shared) / w->length);
}

/* bytes times weight, rounded up or down at random, right on average. */
static uint32_t weighted(unsigned bytes, double weight, struct random *random)
{
	double product = bytes * weight + random_next(random) / 4294967296.0;

	return product < LIMIT_PAIR_BYTES ? (uint32_t)product : LIMIT_PAIR_BYTES;
}

static void complete_pair(struct thread *t, unsigned reg, const ucontext_t *uc,
			  const struct trap_access *a, const uint8_t *now)
{
	struct watchpoint *w = &t->watchpoints[reg];
	unsigned shared = trap_shared(&a->extent, w->address, w->length);
	struct record r;

	place_again(t, w, a, uc);
	placing_count(t, w->region, w->placed);
	fill_record(&r, w, reg, RECORD_TRAPPED);
	if (!watchpoint_capture(t, uc, a->insn.ip, &r.trap_context)) {
		if (codemap_covers(a->insn.ip)) {
			watchpoint_drop(t, reg, RECORD_ABANDONED);
			return;
		}
		/* The JVM moved or cleared the object itself: no Java frame made this access. */
		r.trap_context = 0;
		r.jvm_access = true;
	}
	r.checked_bytes = weighted(watchpoint_weight((unsigned)__builtin_popcount(shared),
						     w->length, w->width, &t->random),
				   reservoir_weight(&t->reservoir, reg), &t->random);
	r.wasteful_as = wasteful_as(w, a, now, shared);
	r.element = (uint8_t)w->element;
	if (w->element == ELEMENT_INTEGER)
		r.element = (uint8_t)element_at(&w->place, &a->insn);
	r.cpu_ns = pair_cpu_ns(t, reg, shared);
	watchpoint_code(&r.trap_code, &a->insn);
	free_register(t, reg);
	thread_count(t, JXP__COUNTER__COUNTER_TRAPS, 1);
	thread_record(t, &r);
}

/* Is this access of a type that the kind's pairs end with? */
static bool ends_wait(const struct watchpoint *w, const struct trap_access *a)
{
	unsigned types = (a->reads ? PAIR_LOAD : 0) | (a->writes ? PAIR_STORE : 0);

	return types & kind_of(w)->ends;
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

static void second_access(struct thread *t, unsigned reg, const ucontext_t *uc)
{
	struct watchpoint *w = &t->watchpoints[reg];
	struct trap_access access;
	uint8_t now[8] = {0};

	if (!safe_read(w->address, now, w->length) ||
	    !trap_decode(uc, w->address, w->length, &access)) {
		thread_count(t, JXP__COUNTER__COUNTER_UNDECODED, 1);
		watchpoint_drop(t, reg, RECORD_ABANDONED);
		return;
	}
	if (ends_wait(w, &access))
		complete_pair(t, reg, uc, &access, now);
	else
		ignore_access(t, reg, now);
}

void watchpoint_trapped(struct thread *t, unsigned reg, const ucontext_t *uc)
{
	if (t->watchpoints[reg].state == WATCH_PENDING)
		own_access(t, reg, uc);
	else if (t->watchpoints[reg].state == WATCH_ARMED)
		second_access(t, reg, uc);
	else
		free_register(t, reg); /* A late signal of a register that was freed meanwhile. */
}
