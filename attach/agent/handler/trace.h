/*
 * Traces: what some turns of a planned loop (plans.h) go by, read where the code is about to use
 * it. Siblings of bursts (burst.h), in the same registers of a thread, one or the other at a time:
 * here each hit of a breakpoint is a signal, so a trace has few values, and no more than
 * TRACE_NS_MAX of CPU time. What is kept of a value is a hash, whose key is drawn for the window.
 *
 * Instances. One breakpoint waits where the loop is entered; from there on another one is on a
 * load, drawn at random, until it has brought so many values, and one more, which tells that the
 * instance went on. The same from the next entry on. The second instance is over when the loop is
 * entered a third time, or a tick finds that the thread has left it: its frame is gone, or
 * execution is in it and behind the loop. Where nothing tells in time, nobody knows what the second
 * one would still have had: the trace is dropped and counted (TRACES_LEFT), unless it has all the
 * values that it may. So loops with long times between their entries are seen less than others; of
 * what is seen, nothing depends on the values. An instance without any value is no first one: the
 * next one is.
 *
 * Only entries and loads with the stack pointer of the first one count. What is deeper may be
 * called from the middle of the instance, and is passed over, each time for a signal: an instance
 * with much below it is given up. So the two are of callers at one depth.
 *
 * Turns. When the loop's header is reached, all inputs are read wherever they come up, as many as
 * fit. Such a trace is told however it ends: where that is has to do with no value. Of a recursion
 * a turn is a call, at any depth. The time that it took is the thread's CPU time, with that of its
 * signals: turns take less.
 *
 * A value may be a reference. Those of a trace are compared only if no pause of the collector lay
 * between them, in or behind which objects move (handlers.epoch); else it is dropped
 * (TRACES_MOVED). While a concurrent collector moves objects, one may be met by its old address and
 * by the new one: then what is alike looks different, and never the other way round.
 *
 * What is read is what the instruction at which the thread stands is about to load itself, or its
 * registers, or its frame.
 *
 * Async-signal-safe; in the SIGTRAP handler, but for what says session thread.
 */
#ifndef JXPERF_AGENT_HANDLER_TRACE_H
#define JXPERF_AGENT_HANDLER_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "attach/agent/path/plans.h"

/* CPU time that one trace may take. */
#define TRACE_NS_MAX UINT64_C(1000000)

/* Signals of one trace: enough for all values, and as many again at another depth; and no fewer
 * than for TRACE_VALUES_MIN values of each of two instances, whatever they take. */
#define TRACE_SIGNALS_MAX 128u
#define TRACE_SIGNALS_MIN 13u
#define TRACE_VALUES_MIN  4u

/* A trace that has not begun after so long leaves the registers to others; nor is one that has
 * begun waited for for ever. */
#define TRACE_WAIT_MAX_NS UINT64_C(250000000)
#define TRACE_AGE_MAX_NS  UINT64_C(1000000000)

/* A loop that is entered once in a while, or once for all, would keep the registers from others:
 * each trace that came to nothing halves the chance of the next one, so often at most. */
#define TRACE_HALVINGS_MAX 5u

struct thread;

/* Does the plan ask for a trace that the thread has registers for? */
bool trace_fits(const struct thread *t, const struct loop_plan *plan);

/* A thread for which that is so begins one, of instances or of turns; it has no burst and no trace.
 * False when it does not, because the last ones of that sort were in vain. */
bool trace_begin(struct thread *t, const struct loop_plan *plan);

/* A breakpoint of the trace was hit; there is one. */
void trace_hit(struct thread *t, const ucontext_t *uc);

/* A tick while there is one: closes it when it is over. */
void trace_tick(struct thread *t, const ucontext_t *uc);

/* Closes what there is. */
void trace_give_up(struct thread *t);

/* Session thread, when the events are closed and no handler runs: closes what was going on. */
void trace_expire(struct thread *t);

/* How many signals of signal_ns each a trace may have, and how many values each of two instances
 * that share them. */
unsigned trace_signals_max(uint64_t signal_ns);
unsigned trace_values_max(unsigned signals);

#endif
