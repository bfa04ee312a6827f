/* Debug registers for a thread entry of the test's own thread. */
#ifndef TESTS_UNIT_AGENT_REGISTERS_H
#define TESTS_UNIT_AGENT_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/agent/handler/thread.h"
#include "common/perf/events.h"

/* Opens all of them, disabled; false where there are none. */
static inline bool registers_open(struct thread *t, uint32_t type, const volatile void *address)
{
	for (unsigned i = 0; i < PERF_DEBUG_REGISTERS; i++) {
		struct perf_event_attr attr;

		perf_attr_breakpoint(&attr, type, (uintptr_t)address, 8,
				     thread_sig_data(t, THREAD_ROLE_REGISTER + i));
		t->register_fd[i] = perf_open(&attr, 0);
		if (t->register_fd[i] < 0)
			return false;
	}
	return true;
}

#endif
