/*
 * Bursts: the turns of a planned loop (plans.h) counted by the kernel, some hundred of them.
 *
 * At a tick inside the loop a breakpoint waits for its header: a signal. From there on a thread's
 * registers that are kept for this are counters, execution breakpoints on the header and on places
 * of the plan, drawn at random, each with a period. The kernel counts what comes to them
 * without a signal until one has as many; that one's signal ends the burst. So no more hits than
 * that are paid for, BURST_NS_MAX together. Most are for the header, since results are few where
 * they matter; where they are not, a burst ends with them, and the ratio of sums is still that of
 * the loop (Wald's identity). A burst begins at a point of time, wherever in an instance of the
 * loop that is, and holds whole turns: the header that it begins at does not count itself, since
 * the processor does not stop twice for an instruction (RF), and the last one ends it before its
 * turn. A place that ends it does so within a turn, which counts.
 *
 * A thread that has left the loop before is found by a later tick, or by the end of the window, and
 * the burst closed with what it has: the turn that it began with counts, too, then. The events'
 * counts only rise; a burst is the difference.
 *
 * A breakpoint's period is changed while it is off: one that is on goes on with what is left of the
 * old one. Its attributes are changed with the period in force, or the kernel refuses. Events are
 * never rearmed by PERF_EVENT_IOC_REFRESH: it stops one of several for good (Linux 6.18), or hangs
 * machines with events of the CPU clock (6.16, 6.17).
 *
 * Async-signal-safe; in the SIGTRAP handler, but for what says session thread.
 */
#ifndef JXPERF_AGENT_HANDLER_BURST_H
#define JXPERF_AGENT_HANDLER_BURST_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* CPU time that the hits of one burst may take. */
#define BURST_NS_MAX UINT64_C(1000000)

/* One burst takes so many. */
#define BURST_SIGNALS 2u

/* Turns in one burst: no more than give a rate its interval in some bursts, and at least so many
 * that its two signals are the smaller part of it. */
#define BURST_PERIOD_MAX 256u
#define BURST_PERIOD_MIN 8u

/* A burst of a loop whose turns take so long is closed unfinished: the registers are of use
 * elsewhere. */
#define BURST_AGE_MAX_NS UINT64_C(1000000000)

/* handlers.burst_chance of a tick that begins one if it can. */
#define BURST_CHANCE_ONE (1u << 16)

struct thread;

/* A tick of a thread that is ready: closes the burst or the trace (trace.h) that it has left, or
 * may begin one. */
void burst_tick(struct thread *t, const ucontext_t *uc);

/* Is it one of the registers that are kept for bursts and traces? Any number may be asked about. */
bool burst_owns(const struct thread *t, unsigned reg);

/* One of them has counted its period, or reached the header. */
void burst_is_full(struct thread *t, unsigned reg);

/* Closes what there is. */
void burst_give_up(struct thread *t);

/* Session thread. The registers [first, first + count) of an entry are for bursts, their events
 * open. */
void burst_own(struct thread *t, unsigned first, unsigned count);

/* Session thread, when the events are off and before they are closed: notes their counts. */
void burst_note_counts(struct thread *t);

/* Session thread, when the events are closed and no handler runs: closes what was going on. */
void burst_expire(struct thread *t);

/* How many hits one burst counts at most, of hit_ns each: of the header, and of each of so many
 * other places. */
struct burst_periods {
	uint32_t header, others;
};
struct burst_periods burst_periods(uint64_t hit_ns, unsigned others);

#endif
