/*
 * Kind loops, the session thread's part: answers the engine's questions for compiled code, one at a
 * time, checks the plans that come of them, and says how many ticks may begin to count a loop's
 * turns (attach/agent/handler/burst.h).
 */
#ifndef JXPERF_AGENT_WINDOW_LOOP_PHASE_H
#define JXPERF_AGENT_WINDOW_LOOP_PHASE_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/agent/stream/drain.h"
#include "attach/agent/window/orders.h"
#include "proto/ledger.h"

/* More than a window comes to: code is asked for LIMIT_CODES times. */
#define LOOP_PLANS_KNOWN (16u * LIMIT_PLANS)

struct loop_phase {
	bool wanted;
	struct orders *orders;
	struct drain *drain;
	uint64_t codes_sent, codes_gone, codes_cut;
	uint64_t images_ns; /* CPU time that answering took */
	uint64_t plans_refused;
	unsigned plans_tried; /* times that a handler was in the way of looking at them */
	/* Plans that were taken up or refused once: the engine names all each time. */
	uint32_t plans_known[LOOP_PLANS_KNOWN];
	unsigned plans_known_count;
	/* At the last pace: */
	uint64_t ticks, cpu_ns;
	uint64_t planned_ticks; /* that came in planned loops, */
	double planned_recent;  /* and how many since the one before it */
	bool plans_changed;     /* since then */
};

/* No bursts yet. All outlive it. */
void loop_phase_start(struct loop_phase *l, bool wanted, struct orders *orders,
		      struct drain *drain);

/* Is there a question that was not answered? */
bool loop_phase_is_asked(const struct loop_phase *l);

/* Answers some questions, those that were asked first, in windows of any kind. 0, or -errno when
 * the session cannot go on. */
int loop_phase_answer(struct loop_phase *l);

/* Takes up new plans: those whose code is there, and as they say. */
void loop_phase_plan(struct loop_phase *l);

/* Notes in the ledger what loops have cost, and sets how many ticks may begin a burst, by what is
 * left and what the window's signals cost. */
void loop_phase_pace(struct loop_phase *l, struct ledger *ledger, const uint64_t *counters,
		     uint64_t trap_cost_ns);

/* That many of BURST_CHANCE_ONE, where bursts have left_ns left, at most most_ns are to be spent
 * until the next look, burst_ns each, and so many ticks are expected. Pure. */
uint32_t loop_phase_chance(double left_ns, double most_ns, double burst_ns, double ticks);

void loop_phase_counters(const struct loop_phase *l, uint64_t *counters);

#endif
