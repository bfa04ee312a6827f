/*
 * What a window costs the target, and the sampling period that keeps it within the user's budget
 * (design.md decision 9).
 *
 * Cost = CPU time inside handlers (measured) + signals x the calibrated kernel cost of one + CPU
 * time of the session thread (measured). A tick and the traps it leads to cost about the same each
 * time, so a thread that gets a tick every `period` of its CPU time spends cost-per-tick / period
 * of it on us.
 *
 * Session thread only.
 */
#ifndef JXPERF_AGENT_BUDGET_H
#define JXPERF_AGENT_BUDGET_H

#include <stdint.h>

struct budget {
	double fraction;       /* of the target's CPU time */
	uint64_t floor_ns;     /* the period asked for: never shorter */
	uint64_t period_ns;    /* in force */
	uint64_t trap_cost_ns; /* kernel part of one signal */
	uint64_t process_start_ns;
	uint64_t session_start_ns;
	uint64_t next_change_ns;
};

struct window_cost {
	uint64_t cpu_ns;      /* CPU time of the whole process since the window began */
	uint64_t overhead_ns; /* of which ours */
	uint64_t session_ns;  /* of which the session thread's */
	uint64_t period_ns;
};

/* A period longer than this yields no samples worth waiting for. */
#define BUDGET_PERIOD_MAX_NS UINT64_C(1000000000)

/* Starts the account of a window; the calling thread is the session thread. */
void budget_start(struct budget *b, double fraction, uint64_t period_ns, uint64_t trap_cost_ns);

/* The cost so far; counters are the window's, COUNTER_MAX of them. */
void budget_cost(const struct budget *b, const uint64_t *counters, struct window_cost *cost);

/* The period from now on. Changes at most about twice a second, and only by a tenth or more. */
uint64_t budget_period(struct budget *b, const uint64_t *counters, const struct window_cost *cost);

/* The period at which ticks of this cost use no more than the given fraction of a thread's time:
 * pure, within [floor_ns, BUDGET_PERIOD_MAX_NS]. */
uint64_t budget_period_for(double tick_cost_ns, double fraction, uint64_t floor_ns);

#endif
