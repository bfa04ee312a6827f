/* The entry of the test's own thread, and where its calling contexts go. Included by one file of a
 * program. */
#ifndef TESTS_UNIT_AGENT_OWN_THREAD_H
#define TESTS_UNIT_AGENT_OWN_THREAD_H

#include <stdint.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "attach/agent/handler/handlers.h"
#include "attach/agent/handler/thread.h"

#define MAX_FRAMES 8u

static struct thread *t;
static ucontext_t uc; /* where it is interrupted */

/* What all threads share; once a program. 0 or -1. */
static inline int own_process_init(void)
{
	handlers.contexts = mmap(NULL, sizeof(struct context_table), PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return handlers.contexts == MAP_FAILED || threads_init() < 0 ? -1 : 0;
}

/* A new entry, interrupted with registers that are 0. 0 or -1. */
static inline int own_thread_init(void)
{
	memset(&uc, 0, sizeof(uc));
	t = thread_take(getpid());
	return t && thread_allocate(t, MAX_FRAMES) == 0 ? 0 : -1;
}

static inline uint64_t counted(Jxp__Counter counter)
{
	return atomic_load(&t->counters[counter]);
}

#endif
