/* Debug registers for a thread entry of the test's own thread. */
#ifndef TESTS_UNIT_AGENT_REGISTERS_H
#define TESTS_UNIT_AGENT_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

#include <sys/types.h>

#include "attach/agent/handler/signals.h"
#include "attach/agent/handler/thread.h"
#include "common/fd.h"
#include "common/perf/events.h"

/* Opens all of them, disabled; false where there are none. */
static inline bool registers_open(struct thread *thread, uint32_t type,
				  const volatile void *address)
{
	for (unsigned i = 0; i < PERF_DEBUG_REGISTERS; i++) {
		struct perf_event_attr attr;

		perf_attr_breakpoint(&attr, type, (uintptr_t)address, 8,
				     thread_sig_data(thread, THREAD_ROLE_REGISTER + i));
		thread->register_fd[i] = perf_open(&attr, 0);
		if (thread->register_fd[i] < 0)
			return false;
	}
	return true;
}

/* A set-up that leaves *state NULL found none. */
static inline void need_registers(void **state)
{
	if (*state)
		return;
	print_message("this machine has no breakpoint events\n");
	skip();
}

/* Closes them, and gives the entry back. */
static inline void registers_close(struct thread *thread)
{
	fd_close_all(thread->register_fd, PERF_DEBUG_REGISTERS);
	thread_recycle(thread);
}

static inline bool registers_spare_nobody(const void *arg, pid_t tid)
{
	(void)arg;
	(void)tid;
	return false;
}

/* Takes the handler away that signals_install has set. 0 or -1. */
static inline int registers_take_handler_away(void)
{
	const struct signals_untouched all_touched = {registers_spare_nobody, NULL};

	return signals_remove(2000, &all_touched) ? 0 : -1;
}

#endif
