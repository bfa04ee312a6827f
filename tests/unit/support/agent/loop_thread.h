/* A thread entry of the test's own thread whose registers are for loops, and memory for code that
 * it runs. */
#ifndef TESTS_UNIT_AGENT_LOOP_THREAD_H
#define TESTS_UNIT_AGENT_LOOP_THREAD_H

#include <stdint.h>
#include <linux/hw_breakpoint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attach/agent/code/loops.h"
#include "attach/agent/code/safe_read.h"
#include "attach/agent/handler/burst.h"
#include "attach/agent/handler/handlers.h"
#include "attach/agent/handler/sampler.h"
#include "tests/unit/support/agent/own_thread.h"
#include "tests/unit/support/agent/registers.h"

#define AREA_BYTES 4096u

static uint8_t *area;

/* 0, or -1 without memory. */
static inline int loop_area_new(void)
{
	area = mmap(NULL, AREA_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED || safe_read_init() < 0 || loops_init() < 0 || threads_init() < 0)
		return -1;
	return 0;
}

/* Ready, the registers [first, first + count) for bursts, traces and readings; *state is NULL where
 * there are none. -1 when it cannot be had. */
static inline int loop_thread_new(void **state, unsigned first, unsigned count)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	if (own_thread_init() < 0 || signals_install(&sampler_clock) < 0)
		return -1;
	*state = registers_open(t, HW_BREAKPOINT_RW, t) ? t : NULL;
	burst_own(t, first, count);
	t->epoch = atomic_load(&handlers.epoch);
	t->stack_low = here - (1u << 20);
	t->stack_high = here + (1u << 16);
	atomic_store(&t->state, THREAD_READY);
	atomic_store(&handlers.stopping, false);
	return 0;
}

/* Gives both back. 0 or -1. */
static inline int loop_thread_free(void)
{
	registers_close(t);
	safe_read_release();
	(void)munmap(area, AREA_BYTES);
	return registers_take_handler_away();
}

#endif
