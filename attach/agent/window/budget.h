/*
 * What a window costs the target, and the sampling period that keeps it within the user's budget
 * (docs/agent.md, "What a window costs").
 *
 * Cost = CPU time inside handlers (measured) + signals x the calibrated kernel cost of one, by what
 * sends it + hits
 * of breakpoints that are counted x that of one of these + CPU time of the session thread
 * (measured) + what registers that are on cost (estimated by allocations), and events that are open
 * at context switches (counted, times what one was measured to cost). What the window's
 * beginning took is spread over its length, and comes first. A tick and the traps it leads to cost
 * about the same each time, so a thread that gets a tick every `period` of its CPU time spends
 * cost-per-tick / period of it on us. Not all of the process's CPU time brings ticks: the kernel's
 * part does not, nor does that of collectors and compilers. How much does is seen by the ticks that
 * came, and the period shorter by as much: a budget that is left unused is evidence that nobody
 * gets. A hardware sampler's period counts operations, whose rate nobody knows: it is scaled by how
 * far the cost since the last change was from what was allowed.
 *
 * Session thread only.
 */
#ifndef JXPERF_AGENT_WINDOW_BUDGET_H
#define JXPERF_AGENT_WINDOW_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/agent/window/calibrate.h"
#include "proto/ledger.h"

struct budget {
	struct ledger ledger; /* what may be spent, and what was by the last budget_note */
	uint64_t floor;       /* the period asked for, in the sampler's unit: never shorter */
	uint64_t period;      /* in force */
	bool operations;      /* the sampler's unit; otherwise nanoseconds */
	struct signal_costs signal_costs;
	uint64_t process_start_ns, process_end_ns; /* 0: it goes on */
	uint64_t session_start_ns; /* CPU time of the session thread: what the beginning took */
	uint64_t start_ns, end_ns; /* of the window, monotonic */
	uint64_t next_change_ns;
	uint64_t change_cpu_ns;      /* at the last change: CPU time of the process */
	uint64_t change_sampling_ns; /* ... of which ours */
	/* Clock: the ticks there would be, had all CPU time up to due_cpu_ns brought its own. */
	double due;
	uint64_t due_cpu_ns;
	double change_due; /* at the last look */
	uint64_t change_ticks;
};

/* Less of what is due is not made up for: when the program turns to something else, it costs more
 * than it may until that is seen. */
#define BUDGET_DENSITY_MIN 0.25

/* A period longer than this yields no samples worth waiting for. */
#define BUDGET_PERIOD_MAX_NS UINT64_C(1000000000)

/* The same for operations, as a multiple of the period asked for: 5 million become 5 billion, about
 * a second's worth. */
#define BUDGET_OPERATIONS_MAX 1000u

/* One measurement of a short time says only so much. */
#define BUDGET_STEP_MAX 8.0

/* Starts the account of a window that may cost a fraction of the target's CPU time and is to end at
 * end_ns, monotonic; the calling thread is the session thread. */
void budget_start(struct budget *b, double fraction, uint64_t period,
		  const struct signal_costs *signal_costs, bool operations, uint64_t end_ns);

/* The target's CPU time counts from now on, as ticks tell it; and no more. */
void budget_cpu_begins(struct budget *b);
void budget_cpu_ends(struct budget *b);

/* CPU time of the target since the window began, until it ended. */
uint64_t budget_cpu_ns(const struct budget *b);

/* Notes in the ledger what was spent so far; counters are the window's, COUNTER_MAX of them.
 * other_ns was spent by other threads and counts like the session thread's: the sampler's period
 * does not steer it. */
void budget_note(struct budget *b, const uint64_t *counters, uint64_t other_ns);

/* The period from now on, by what the ledger says. Changes at most about twice a second, and only
 * by a tenth or more. */
uint64_t budget_period(struct budget *b, const uint64_t *counters);

/* Which part of what the beginning took is due at now_ns: pure. */
uint64_t budget_setup_due(uint64_t setup_ns, uint64_t start_ns, uint64_t end_ns, uint64_t now_ns);

/* The period at which ticks of this cost use no more than the given fraction of a thread's time:
 * pure, within [floor_ns, BUDGET_PERIOD_MAX_NS]. */
uint64_t budget_period_for(double tick_cost_ns, double fraction, uint64_t floor_ns);

/* Sets the period of the first samples, whose cost is not known yet, and returns it: that which
 * ticks may have where one costs 0.2 ms; of operations the one that was asked for. */
uint64_t budget_first_period(struct budget *b);

/* Which part of the CPU time brings ticks, in [BUDGET_DENSITY_MIN, 1]: pure. The higher of what is
 * seen since the beginning and, beyond chance, since the last look, so that a rise is noticed soon.
 */
double budget_density(double ticks, double due, double recent_ticks, double recent_due);

/* The period in operations after one with which sampling used the given part of the CPU time, where
 * it may use fraction: pure, at most BUDGET_STEP_MAX times as long or short, within [floor, floor *
 * BUDGET_OPERATIONS_MAX]. */
uint64_t budget_operations_for(uint64_t period, double used, double fraction, uint64_t floor);

#endif
