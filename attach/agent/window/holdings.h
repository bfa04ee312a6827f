/*
 * What is held open on a profiled thread: what brings its ticks, and its debug registers.
 *
 * What is open costs a thread something at each context switch (attach/agent/slowdown/switching.h),
 * so it depends on what the thread does. Ticks come from a timer on its CPU clock, which costs
 * nothing there. A thread that seldom switches, and is seldom in the kernel, gets a perf clock
 * instead, which comes at any moment and not at the scheduler's tick, and holds its registers open.
 * One that switches more often holds registers alone; one that does little else holds nothing, and
 * is lent registers now and then, for the next tick: a phase. Phases are as far apart, by the
 * thread's CPU time, as the budget demands of what they cost, and the sample stands for the time
 * since the one before.
 *
 * Changes are made while the thread is held (thread_hold): what its handlers find is whole.
 *
 * Session thread only.
 */
#ifndef JXPERF_AGENT_WINDOW_HOLDINGS_H
#define JXPERF_AGENT_WINDOW_HOLDINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/agent/handler/sampling_gate.h"
#include "attach/agent/handler/thread.h"
#include "attach/agent/window/opener.h"
#include "attach/agent/window/settings.h"
#include "proto/ledger.h"

struct holdings {
	const struct settings *settings;
	const struct ledger *ledger;
	bool objects; /* the window is for objects, too: threads get what that takes */
	struct opener *opener;
	const struct sampling_gate *gate; /* which perf sampling events get */
	unsigned fds_left;                /* descriptors that may still be taken from the target */
	unsigned timers_left;             /* likewise of its user's */
	bool registers_refused;           /* breakpoints cannot be had in this JVM */
	bool clocks_refused;              /* nor perf clocks */
	unsigned phases;                  /* that are going on */
	bool put_off;     /* one was asked for, and its thread's handler was still at work */
	uint64_t *totals; /* counters of the window */
};

/* Descriptors that a thread takes at the least: those of the hardware samplers' events, and one for
 * a register. The clock's threads do without. */
unsigned holdings_least(const struct holdings *h);

/* Starts the ticks of a new entry, whose CPU time is told from from_ns on. On failure -errno, and
 * some may be open. */
int holdings_begin(struct holdings *h, struct thread *t, uint64_t from_ns);

/* Gives an entry whose memory is allocated and which is no longer THREAD_CLOCK its registers, if it
 * is to hold some. 0 or -errno. */
int holdings_give(struct holdings *h, struct thread *t);

/* Follows what one does that is THREAD_READY. 0, or -errno when the session cannot go on. */
int holdings_follow(struct holdings *h, struct thread *t);

/* Sets a timer of any other again, where it was spent on a handler that could not. */
void holdings_mend(struct holdings *h, struct thread *t);

/* Begins and ends the phases of one that is THREAD_READY. */
int holdings_phase(struct holdings *h, struct thread *t);

/* Has the thread ended, whoever has its number now? As far as a timer tells, which stays its own.
 */
bool holdings_is_gone(struct thread *t);

/* The sampling events get handlers.period, where handlers do not set it themselves. */
void holdings_set_period(struct holdings *h, struct thread *t);

/* No new signal arises after it, also when another process has a copy of the descriptors. */
void holdings_disable(const struct thread *t);

/* Closes all, after that. */
void holdings_end(struct holdings *h, struct thread *t);

#endif
