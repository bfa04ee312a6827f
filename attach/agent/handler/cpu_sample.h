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

#include "attach/agent/ticks/cpu_timer.h"

struct thread;

/* Takes a tick that stands for cpu_ns of the thread's CPU time and found it on t->side; the thread
 * is THREAD_READY. */
void cpu_sample_take(struct thread *t, uint64_t cpu_ns, const ucontext_t *uc);

/* CPU time in the kernel that no tick came in. */
void cpu_sample_take_unseen(struct thread *t, uint64_t cpu_ns);

/* By where a signal interrupted the thread, as far as that tells: a system call that has just
 * returned leaves its mark in two registers (entry_64.S), and anything else counts as the user's.
 */
enum cpu_side cpu_sample_side(const ucontext_t *uc);

#endif
