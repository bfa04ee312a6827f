/*
 * The JVM's own sampling of allocations (JVMTI's SampledObjectAlloc), on and off. What is sampled
 * goes to the hook `allocated` (attach/agent/jvmti/vm.h). Session thread, between vm_start and
 * vm_close.
 */
#ifndef JXPERF_AGENT_JVMTI_ALLOC_SAMPLING_H
#define JXPERF_AGENT_JVMTI_ALLOC_SAMPLING_H

#include <stdint.h>

#include "attach/agent/jvmti/vm.h"
#include "common/err.h"

/* Bytes: HotSpot's ThreadHeapSampler::_sampling_interval, in force while nobody sets another. */
#define ALLOC_SAMPLING_DEFAULT (512u * 1024u)

/* Has the JVM tell of an allocation every interval bytes on average. Only one agent of a JVM can
 * have that at a time, and some releases must not be asked (attach/agent/jvmti/jdk_bugs.h): 0 or
 * -errno. */
int alloc_sampling_start(struct vm *vm, uint32_t interval, struct err *err);

/* The interval holds for the whole JVM, and counts from the next sample of each thread. */
void alloc_sampling_set_interval(struct vm *vm, uint32_t interval);

/* Gives the event, the capability and the interval back. */
void alloc_sampling_stop(struct vm *vm);

#endif
