/*
 * Readings: how far a planned loop's counter (plans.h) goes in one instance. Siblings of bursts
 * (burst.h) and traces (trace.h), in the same registers of a thread, one of them at a time.
 *
 * A breakpoint waits in front of the loop, where all that enters it comes by: there the counter is
 * read, and others are put where the loop is left. At the first of them that is hit it is read
 * again; the difference is what is told. Two signals, and exact, however long the instance is:
 * turns by entries, as bursts count them, hardly meet an entry where an instance has thousands of
 * turns.
 *
 * The instance is the next one that begins after a tick in the loop, by the same thread. So it is
 * not drawn by its own length, as the one that the tick came in is: long ones are met no more often
 * than short ones, unless the lengths of neighbours go together.
 *
 * Only what has the stack pointer of the beginning is the same instance. The place in front stays
 * on: where it is come to again, in that frame or one that it was called from, the instance was
 * left in a way that was not foretold (an exception, an uncommon trap), and the next one is read.
 * Deeper ones are passed over. One that comes to no end in time is dropped, and counted
 * (READINGS_LEFT); of those that had begun the engine is told, since the longest are among them.
 *
 * Async-signal-safe; in the SIGTRAP handler, but for what says session thread.
 */
#ifndef JXPERF_AGENT_HANDLER_READING_H
#define JXPERF_AGENT_HANDLER_READING_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "attach/agent/path/plans.h"

/* One of so many ticks that may begin a burst or a trace begins a reading. */
#define READING_TICKS 2u

/* Those of deeper activations among them. */
#define READING_SIGNALS_MAX 16u

/* As for traces. */
#define READING_WAIT_MAX_NS  UINT64_C(250000000)
#define READING_AGE_MAX_NS   UINT64_C(1000000000)
#define READING_HALVINGS_MAX 5u

struct thread;

/* Does the plan ask for one, and has the thread the registers? */
bool reading_fits(const struct thread *t, const struct loop_plan *plan);

/* A thread for which that is so begins one; it has no burst, trace or reading. False when it does
 * not, because the last ones were in vain. */
bool reading_begin(struct thread *t, const struct loop_plan *plan);

/* A breakpoint of the reading was hit; there is one. */
void reading_hit(struct thread *t, const ucontext_t *uc);

/* A tick while there is one: drops it when it comes to no end. */
void reading_tick(struct thread *t, const ucontext_t *uc);

/* Drops what there is. */
void reading_give_up(struct thread *t);

/* Session thread, when the events are closed and no handler runs: drops what was going on. */
void reading_expire(struct thread *t);

#endif
