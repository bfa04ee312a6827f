/*
 * Kind loops, the session thread's part: answers the engine's questions for compiled code, one at a
 * time, checks the plans that come of them, and says how many ticks may begin to count a loop's
 * turns (attach/agent/handler/burst.h).
 */
#ifndef JXPERF_AGENT_WINDOW_LOOP_PHASE_H
#define JXPERF_AGENT_WINDOW_LOOP_PHASE_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/agent/jvm/vm.h"
#include "attach/agent/stream/drain.h"
#include "attach/agent/window/orders.h"

struct loop_phase {
	bool wanted;
	bool bytecodes; /* the JVM lets us read them */
	struct orders *orders;
	struct drain *drain;
	uint64_t codes_sent, codes_gone, codes_cut;
};

/* All outlive it. */
void loop_phase_start(struct loop_phase *l, bool wanted, struct vm *vm, struct orders *orders,
		      struct drain *drain);

/* Answers the question that was asked first, if there is one. 0, or -errno when the session cannot
 * go on. */
int loop_phase_answer(struct loop_phase *l);

void loop_phase_counters(const struct loop_phase *l, uint64_t *counters);

#endif
