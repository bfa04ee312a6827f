/*
 * What the engine may order or tell at any time of a window, also while the agent waits for another
 * answer of its. Once ordered it stays so.
 */
#ifndef JXPERF_AGENT_WINDOW_ORDERS_H
#define JXPERF_AGENT_WINDOW_ORDERS_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/agent/path/plans.h"
#include "proto/jxperf.pb-c.h"
#include "proto/limits.h"

/* CodeRequest. */
struct code_order {
	uint64_t code;
	uint32_t method; /* in place of it, where it is not 0 */
};

struct orders {
	bool stop;               /* WindowStop: end the window */
	bool stop_objects;       /* StopObjects: track no objects any more */
	uint64_t accesses;       /* ObjectsMet, the last one: sampled accesses to the heap, */
	uint64_t met;            /* and those of them that went to a tracked object; */
	uint64_t accessed_bytes; /* what most of them are to, or larger; 0: not known */
	/* In the order in which they came; what there is no room for is passed over. Order N is
	 * codes[N % LIMIT_CODES_OPEN]. */
	struct code_order codes[LIMIT_CODES_OPEN];
	unsigned codes_asked, codes_answered;
	/* LoopPlans, the last one. */
	struct loop_plan plans[LIMIT_PLANS]; /* not looked at yet, start not known */
	unsigned plan_count;
	unsigned plans_cut; /* that were beyond a limit */
	bool plans_new;     /* until somebody has looked */
};

/* What a field of a message has no room for becomes what fits no instruction. */
static inline struct plan_input orders_input(const Jxp__LoopInput *from)
{
	return (struct plan_input){
	    .offset = from->offset,
	    .bytes = from->bytes < UINT16_MAX ? (uint16_t)from->bytes : UINT16_MAX,
	    .reg = from->reg < UINT16_MAX ? (uint16_t)from->reg : UINT16_MAX};
}

static inline struct plan_scalar orders_scalar(const Jxp__LoopScalar *from)
{
	return (struct plan_scalar){
	    .displacement = from->displacement,
	    .reg = from->reg < UINT16_MAX ? (uint16_t)from->reg : UINT16_MAX,
	    .bytes = from->bytes < UINT8_MAX ? (uint8_t)from->bytes : UINT8_MAX,
	    .slot = from->slot};
}

/* What is not told is what fits no instruction. */
static inline struct plan_counter_place orders_counter_place(const Jxp__LoopCounterPlace *from)
{
	return from && from->at ? (struct plan_counter_place){.offset = from->offset,
							      .at = orders_scalar(from->at)}
				: (struct plan_counter_place){.offset = UINT32_MAX};
}

/* False when it has more of anything than a plan may. */
static inline bool orders_plan(const Jxp__LoopPlan *from, struct loop_plan *to)
{
	if (from->n_places > LIMIT_PLAN_PLACES || from->ahead > from->n_places ||
	    from->n_loads > LIMIT_PLAN_LOADS || from->n_scalars > LIMIT_PLAN_SCALARS ||
	    from->n_turn_inputs > LIMIT_PLAN_TURN_INPUTS || from->n_ends > LIMIT_PLAN_ENDS)
		return false;
	*to = (struct loop_plan){.plan = from->plan,
				 .code = from->code,
				 .header = from->header,
				 .count = (uint32_t)from->n_places,
				 .ahead = from->ahead,
				 .entry = from->entry,
				 .load_count = (uint8_t)from->n_loads,
				 .scalar_count = (uint8_t)from->n_scalars,
				 .turn_input_count = (uint8_t)from->n_turn_inputs,
				 .end_count = (uint8_t)from->n_ends,
				 .counted = from->counted,
				 .recursion = from->recursion};
	for (uint32_t i = 0; i < to->count; i++)
		to->places[i] = from->places[i];
	for (unsigned i = 0; i < to->load_count; i++)
		to->loads[i] = orders_input(from->loads[i]);
	for (unsigned i = 0; i < to->scalar_count; i++)
		to->scalars[i] = orders_scalar(from->scalars[i]);
	for (unsigned i = 0; i < to->turn_input_count; i++)
		to->turn_inputs[i] = orders_input(from->turn_inputs[i]);
	to->begin = orders_counter_place(from->begin);
	for (unsigned i = 0; i < to->end_count; i++)
		to->ends[i] = orders_counter_place(from->ends[i]);
	return true;
}

static inline void orders_note_plans(struct orders *o, const Jxp__LoopPlans *from)
{
	o->plan_count = o->plans_cut = 0;
	o->plans_new = true;
	for (size_t i = 0; i < from->n_plans; i++) {
		if (o->plan_count < LIMIT_PLANS &&
		    orders_plan(from->plans[i], &o->plans[o->plan_count]))
			o->plan_count++;
		else
			o->plans_cut++;
	}
}

/* Notes a frame that is one of these; others are passed over. */
static inline void orders_note(struct orders *o, const Jxp__EngineFrame *frame)
{
	o->stop |= frame->body_case == JXP__ENGINE_FRAME__BODY_STOP;
	o->stop_objects |= frame->body_case == JXP__ENGINE_FRAME__BODY_STOP_OBJECTS;
	if (frame->body_case == JXP__ENGINE_FRAME__BODY_OBJECTS_MET) {
		o->accesses = frame->objects_met->accesses;
		o->met = frame->objects_met->met;
		o->accessed_bytes = frame->objects_met->accessed_bytes;
	}
	if (frame->body_case == JXP__ENGINE_FRAME__BODY_CODE_REQUEST &&
	    o->codes_asked - o->codes_answered < LIMIT_CODES_OPEN)
		o->codes[o->codes_asked++ % LIMIT_CODES_OPEN] =
		    (struct code_order){frame->code_request->code, frame->code_request->method};
	if (frame->body_case == JXP__ENGINE_FRAME__BODY_LOOP_PLANS)
		orders_note_plans(o, frame->loop_plans);
}

#endif
