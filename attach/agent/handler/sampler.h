/*
 * Samplers: where samples come from. One interface, so that hardware samplers stand beside the
 * clock.
 *
 * A sampler has one event per thread and gets its signals; it offers each sample to the reservoir
 * and hands an access to watchpoint_arm. Everything runs in the SIGTRAP handler.
 */
#ifndef JXPERF_AGENT_HANDLER_SAMPLER_H
#define JXPERF_AGENT_HANDLER_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

struct thread;

struct sampler {
	/* The sampling event fired; true: it has done what it came for, and is no sample. Or NULL.
	 */
	bool (*on_stop)(struct thread *t);
	/* It fired for a sample. */
	void (*on_event)(struct thread *t, const ucontext_t *uc);
	/* An execution breakpoint that the sampler set in a register fired. */
	void (*on_breakpoint)(struct thread *t, unsigned reg, const ucontext_t *uc);
	/* After a signal of a thread that is ready: none of its watchpoints waits for a look. Or
	 * NULL. */
	void (*on_quiet)(struct thread *t);
	/* The sampling event fired and is not to be taken; or NULL. */
	void (*on_refused)(struct thread *t);
};

/* The clock sampler: ticks of CPU time and the search for the next access (docs/agent.md, "A
 * window, seen from one thread"). */
extern const struct sampler sampler_clock;

/* The hardware samplers, PEBS and IBS: precise records of loads and stores (docs/agent.md, "Ticks,
 * and what is held open"). */
extern const struct sampler sampler_hardware;

/* Session thread. Does any kind of the window sample what handlers.sampling.events[event] counts,
 * or do objects, if the window is for them? */
bool sampler_wants_event(unsigned event, bool objects);

/* What the samplers share. */

/* Has the thread, interrupted at uc, what it takes to take samples? Asks for it when it has not. */
bool sampler_is_ready(struct thread *t, const ucontext_t *uc);

/* May the thread, interrupted at uc, take a sample of the code at ip? It has to be ready; what is
 * in the way is counted. */
bool sampler_admits(struct thread *t, const ucontext_t *uc, uint64_t ip);

/* At a tick: what do registers that are on cost this thread? */
void sampler_note_slowdown(struct thread *t, const ucontext_t *uc);

/* Offers a sample to the reservoir. The register it gets, free, or -1. */
int sampler_take_register(struct thread *t);

#endif
