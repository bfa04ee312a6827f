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
 * execution is in it and behind the loop. Where neither happens before the trace is too old, the
 * second one would be cut short at a point that has to do with nothing in it, and the trace is
 * dropped and counted (TRACES_LEFT) unless it has all values that it may. An instance without any
 * value is no first one: the next one is. So loops with long times between their entries are seen
 * less than others.
 *
 * Only entries and loads at the stack pointer of the first one count: what is deeper may be in the
 * middle of the instance, which calls itself, and what is not called from there is another
 * activation.
 *
 * Turns. When the loop's header is reached, all inputs are read wherever they come up, as many as
 * fit. It is told however it ends: nothing in it is about where that is. Of a recursion a turn is a
 * call, at any depth.
 *
 * A value may be a reference. Those of a trace are compared only if no pause of the collector lay
 * between them, in or behind which objects move (handlers.epoch); else it is dropped
 * (TRACES_MOVED). What is read is what the instruction at which the thread stands is about to load
 * itself, or its registers, or its frame.
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

struct thread;

/* Does the plan ask for a trace that the thread has registers for? */
bool trace_fits(const struct thread *t, const struct loop_plan *plan);

/* A thread for which that is so begins one, of instances or of turns; it has no burst and no trace.
 */
void trace_begin(struct thread *t, const struct loop_plan *plan);

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
