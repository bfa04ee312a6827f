/*
 * Where a signal's time goes: what a handler did, in parts that add up to no more than its CPU
 * time.
 *
 * A handler is in one part at a time. Whoever begins another names it, and when his scope ends the
 * part before it goes on; so parts may nest, and no time counts twice. What nobody names is the
 * rest: it has no counter, HANDLER_NS less the parts is what is left for it.
 *
 * A part is measured in cycles of the time-stamp counter, since the clock of a thread's CPU time is
 * a system call and would cost more than most parts take. That counter goes on while a thread is
 * preempted, so cycles say only how a signal's CPU time is divided among its parts: a preemption
 * moves what one signal took to one part of it, and adds nothing.
 *
 * Async-signal-safe; belongs to the handler of one thread.
 */
#ifndef JXPERF_AGENT_HANDLER_ACCOUNT_H
#define JXPERF_AGENT_HANDLER_ACCOUNT_H

#include <stdint.h>
#include <x86intrin.h>

#include "common/cleanup.h"

enum account_part {
	ACCOUNT_REST,
	ACCOUNT_CONTEXTS, /* calling contexts */
	ACCOUNT_CONTROLS, /* system calls that set, move and close events */
	ACCOUNT_CODE,     /* decoding instructions, and walking along them */
	ACCOUNT_PLACES,   /* the object that an access touches */
	ACCOUNT_PARTS,
};

struct account {
	enum account_part part; /* now */
	uint64_t since;         /* time-stamp counter */
	uint64_t cycles[ACCOUNT_PARTS];
};

struct account_scope {
	struct account *account;
	enum account_part before;
};

/* Counters of different processors may differ by a little: time never runs backward. */
static inline void account_turn_to(struct account *a, enum account_part part)
{
	uint64_t now = __rdtsc();

	a->cycles[a->part] += now > a->since ? now - a->since : 0;
	a->since = now;
	a->part = part;
}

static inline void account_leave(const struct account_scope *scope)
{
	account_turn_to(scope->account, scope->before);
}

static inline struct account_scope account_enter(struct account *a, enum account_part part)
{
	struct account_scope scope = {.account = a, .before = a->part};

	account_turn_to(a, part);
	return scope;
}

/* From here to the end of the scope the handler of a struct thread is in a part. */
#define ACCOUNT_AS(thread, part)                                                               \
	_cleanup_(account_leave) __attribute__((unused)) struct account_scope account_scope_ = \
	    account_enter(&(thread)->account, part)

static inline void account_begin(struct account *a)
{
	*a = (struct account){.since = __rdtsc()};
}

/* Divides what the handler took among its parts: ns[ACCOUNT_PARTS], the sum at most cpu_ns. */
static inline void account_end(struct account *a, uint64_t cpu_ns, uint64_t *ns)
{
	uint64_t all = 0;
	double scale;

	account_turn_to(a, ACCOUNT_REST);
	for (unsigned i = 0; i < ACCOUNT_PARTS; i++)
		all += a->cycles[i];
	scale = all ? (double)cpu_ns / (double)all : 0;
	for (unsigned i = 0; i < ACCOUNT_PARTS; i++)
		ns[i] = (uint64_t)((double)a->cycles[i] * scale);
}

#endif
