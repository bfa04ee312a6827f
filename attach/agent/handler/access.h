/*
 * Sampled memory accesses for objects: what each tick leads to, and a hardware record that is drawn
 * for KIND_OBJECTS. Nothing is watched; one register finds the access where it has to be waited
 * for.
 *
 * Everything here runs in the SIGTRAP handler of the thread.
 */
#ifndef JXPERF_AGENT_HANDLER_ACCESS_H
#define JXPERF_AGENT_HANDLER_ACCESS_H

#include <stdint.h>
#include <ucontext.h>

#include "attach/agent/handler/watchpoint.h"

struct thread;

/* Records an access that stands for weight (struct event_access) and was made on the
 * processor cpu. When its calling context is not to be had, it is counted and recorded without:
 * it counts for its object all the same. */
void access_record(struct thread *t, const struct sample *s, bool store, uint64_t weight,
		   uint32_t cpu, const ucontext_t *uc);

/* The clock: finds the access that the thread, interrupted at uc, was busy with, or comes to next,
 * and records it as worth weight nanoseconds. */
void access_sample(struct thread *t, uint64_t weight, const ucontext_t *uc);

/* The breakpoint of a search fired. */
void access_reached(struct thread *t, unsigned reg, const ucontext_t *uc);

#endif
