/*
 * Kind cpu: a tick, wherever it comes, as a sample of where the CPU time goes, with its calling
 * context.
 *
 * In the SIGTRAP handler.
 */
#ifndef JXPERF_AGENT_HANDLER_CPU_SAMPLE_H
#define JXPERF_AGENT_HANDLER_CPU_SAMPLE_H

#include <stdint.h>
#include <ucontext.h>

struct thread;

/* Takes a tick that stands for cpu_ns of the thread's CPU time; the thread is THREAD_READY. */
void cpu_sample_take(struct thread *t, uint64_t cpu_ns, const ucontext_t *uc);

#endif
