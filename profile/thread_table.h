/*
 * The engine's view of a target's threads: what each debug register of each thread watches, kept
 * from the transitions that the agent reports (docs/agent.md, "A window, seen from one thread"),
 * and the CPU time that its ticks stand for. It answers `jxperfctl threads`; reports have the time.
 *
 * It may lag behind the target by the agent's batching, and it is only as true as the agent. At
 * most LIMIT_THREADS threads are held; the place of an ended thread is not given to another,
 * because the tid may be named again by transitions that were under way.
 */
#ifndef JXPERF_PROFILE_THREAD_TABLE_H
#define JXPERF_PROFILE_THREAD_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/perf/events.h"
#include "profile/container/row_table.h"
#include "profile/cpu_profile.h"
#include "proto/events.h"
#include "proto/jxperf.pb-c.h"

/* Longest thread name kept, with its NUL; Java allows any length. */
#define THREAD_NAME_BYTES 64

/* One debug register; kind KIND_NONE: free. */
struct watched_register {
	Jxp__Kind kind;
	uint32_t length_bytes;
	uint64_t address;
	uint64_t since_ns; /* CLOCK_MONOTONIC, as the agent reports it */
};

struct watched_thread {
	uint32_t tid; /* in the target's pid namespace */
	bool ended;
	char name[THREAD_NAME_BYTES];
	uint64_t armed;
	uint64_t traps;
	struct cpu_sum ticks;
	struct cpu_sum kernel; /* those of them that came in the kernel */
	struct watched_register registers[PERF_DEBUG_REGISTERS];
};

/* All zero is an empty table. */
struct thread_table {
	TABLE_OF(struct watched_thread, threads, count, table);
};

/* The store keeps those that ticks came in, with these alone. */
extern const struct table_layout watched_thread_layout;

void thread_table_release(struct thread_table *t);

/* A thread's name or its end. 0, -ENOSPC above LIMIT_THREADS, or -ENOMEM. */
int thread_table_update(struct thread_table *t, uint32_t tid, const char *name, bool ended);

/* Applies a change of a register whose fields were validated: reg below PERF_DEBUG_REGISTERS.
 * Creates the thread if need be; returns as thread_table_update. */
int thread_table_transition(struct thread_table *t, const struct event_transition *change);

/* A tick of a thread, likewise. */
int thread_table_tick(struct thread_table *t, const struct event_tick *tick);

#endif
