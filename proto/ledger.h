/*
 * Who may spend what of a window's budget.
 *
 * The budget is a fraction of the target's CPU time. Whatever spends of it has an account, a row of
 * one table (ledger.c), which says how much of the budget it may have at most, of whose time,
 * within which other account, and what becomes of it when the budget is short. Controllers ask here
 * what they may spend, each on its own clock; none has a share of its own.
 *
 * Shares are upper bounds, and overlap: an account that leaves its share unused leaves it to the
 * ticks, whose period follows what is left (attach/agent/window/budget.h). When all of them want
 * their shares at once, these hold:
 *
 * 1. What the period does not steer takes at most half of the budget from the ticks. What it spends
 *    beyond shows in the report.
 * 2. Accounts that wait do so while the session thread has spent its share.
 * 3. Ticks yield, but keep a tenth. What is paid with ticks fits beside the other half.
 *
 * No more state than totals of the window: what was spent, and the CPU time that the budget is of.
 * The agent's session thread has one, and the engine one for each answer.
 */
#ifndef JXPERF_PROTO_LEDGER_H
#define JXPERF_PROTO_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

enum ledger_account {
	LEDGER_TICKS,       /* ticks, and what they lead to: handlers and the kernel's part */
	LEDGER_LOOPS,       /* bursts, traces and readings of loops */
	LEDGER_GUESTS,      /* the process's ticks */
	LEDGER_BESIDE,      /* all that the period does not steer */
	LEDGER_SETUP,       /* the window's beginning, as far as it is due */
	LEDGER_SESSION,     /* the session thread, and the JVM's events in other threads */
	LEDGER_SCANS,       /* looks at threads that sleep */
	LEDGER_NEWS,        /* looks for threads that have just started */
	LEDGER_IMAGES,      /* images of code, beyond the first few */
	LEDGER_PASSES,      /* passes over tracked objects */
	LEDGER_ALLOCATIONS, /* sampled allocations, by what they bring */
	LEDGER_OPEN,      /* events that are open at context switches, and registers that are on */
	LEDGER_HELD,      /* switches of a thread with one thing that it keeps open */
	LEDGER_PHASES,    /* phases of a thread without registers */
	LEDGER_REGISTERS, /* registers that are on */
	LEDGER_ACCOUNTS,
};

struct ledger_row {
	double most;  /* share of the budget */
	double least; /* that it has in any case; 0: none */
	enum { LEDGER_OF_PROCESS, LEDGER_OF_THREAD, LEDGER_OF_PROCESSOR } of; /* whose time */
	enum ledger_account within; /* itself: in no other */
	/* LEDGER_BOUND: its share alone bounds it. LEDGER_WAITS: for the session thread's share.
	 * LEDGER_YIELDS: it has what the others leave. */
	enum { LEDGER_BOUND, LEDGER_WAITS, LEDGER_YIELDS } when_short;
};

extern const struct ledger_row ledger_table[LEDGER_ACCOUNTS];

/* What was not spent so far may be spent by ticks from now on, but no more than this part of the
 * budget at a time: a program that turns to something dearer has to be seen first. */
#define LEDGER_UNSPENT_MOST 0.25

/*
 * What things are taken to cost until enough of them have told, or where nothing tells. The
 * machine was noted for none of them. docs/agent.md ("What a window costs") says when each was
 * chosen, and by what it is chosen again.
 */

/* A tick of a thread, with what it leads to. Of the bench's programs, by all of the overhead: 0.11
 * to 1.1 ms. */
#define LEDGER_TICK_NS 200e3

/* A tick of the process, all in all. */
#define LEDGER_GUEST_TICK_NS 25e3

/* The first phase of a thread: the session thread's work, and switches in so much of the thread's
 * CPU time. */
#define LEDGER_PHASE_WORK_NS 200e3
#define LEDGER_PHASE_CPU_NS  10e6

/* What a handler takes for a signal of a trace; a guess. */
#define LEDGER_TRACE_NS UINT64_C(3000)

/* What the JVM does for a sampled allocation around the callback (slow path of the allocation,
 * handles, changes of the thread's state), which does not show in the callback's own time. */
#define LEDGER_ALLOCATION_NS 1000u

struct ledger {
	double budget;                      /* fraction of the target's CPU time, above 0 */
	uint64_t cpu_ns;                    /* of the target, since the window began */
	uint64_t spent_ns[LEDGER_ACCOUNTS]; /* as far as somebody has noted it */
};

/* The fraction of its time (ledger_row.of) that an account may take. */
double ledger_most(const struct ledger *l, enum ledger_account account);

/* What it may have taken of the CPU time so far, and what of that is left: below 0 where it has
 * spent more. */
double ledger_due_ns(const struct ledger *l, enum ledger_account account);
double ledger_left_ns(const struct ledger *l, enum ledger_account account);

/* How far apart things may be that cost so much each, of the account's time. */
double ledger_apart_ns(const struct ledger *l, enum ledger_account account, double cost_ns);

/* All that was spent since the window began; what its beginning took comes on top. */
uint64_t ledger_overhead_ns(const struct ledger *l);

/* False: what the account would spend is put off. So it is before anything was noted. */
bool ledger_affords(const struct ledger *l, enum ledger_account account);

/* The fraction of the CPU time that ticks may take from now on. What was spent too much so far is
 * saved in half the time; what was not spent comes back (LEDGER_UNSPENT_MOST). cpu_ns is not 0. */
double ledger_left_for_ticks(const struct ledger *l);

#endif
