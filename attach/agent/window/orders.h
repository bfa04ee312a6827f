/*
 * What the engine may order or tell at any time of a window, also while the agent waits for another
 * answer of its. Once ordered it stays so.
 */
#ifndef JXPERF_AGENT_WINDOW_ORDERS_H
#define JXPERF_AGENT_WINDOW_ORDERS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/jxperf.pb-c.h"
#include "proto/limits.h"

/* LoopPlan, not looked at yet. */
struct loop_order {
	uint32_t plan;
	uint32_t header;
	uint64_t code;
	uint32_t count; /* of places, */
	uint32_t ahead; /* of which the last are drawn first */
	uint32_t places[LIMIT_PLAN_PLACES];
};

/* CodeRequest. */
struct code_order {
	uint64_t code;
	uint32_t method; /* in place of it, where it is not 0 */
};

struct orders {
	bool stop;         /* WindowStop: end the window */
	bool stop_objects; /* StopObjects: track no objects any more */
	uint64_t accesses; /* ObjectsMet, the last one: sampled accesses to the heap, */
	uint64_t met;      /* and those of them that went to a tracked object */
	/* In the order in which they came; more than these are passed over. */
	struct code_order codes[LIMIT_CODES];
	unsigned codes_asked, codes_answered;
	/* LoopPlans, the last one. */
	struct loop_order plans[LIMIT_PLANS];
	unsigned plan_count;
	unsigned plans_cut; /* that were beyond a limit */
	bool plans_new;     /* until somebody has looked */
};

static inline void orders_note_plans(struct orders *o, const Jxp__LoopPlans *from)
{
	o->plan_count = o->plans_cut = 0;
	o->plans_new = true;
	for (size_t i = 0; i < from->n_plans; i++) {
		const Jxp__LoopPlan *plan = from->plans[i];
		struct loop_order *to = &o->plans[o->plan_count];

		if (o->plan_count == LIMIT_PLANS || plan->n_places > LIMIT_PLAN_PLACES ||
		    plan->ahead > plan->n_places) {
			o->plans_cut++;
			continue;
		}
		*to = (struct loop_order){.plan = plan->plan,
					  .code = plan->code,
					  .header = plan->header,
					  .count = (uint32_t)plan->n_places,
					  .ahead = plan->ahead};
		for (uint32_t j = 0; j < to->count; j++)
			to->places[j] = plan->places[j];
		o->plan_count++;
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
	}
	if (frame->body_case == JXP__ENGINE_FRAME__BODY_CODE_REQUEST &&
	    o->codes_asked < LIMIT_CODES)
		o->codes[o->codes_asked++] =
		    (struct code_order){frame->code_request->code, frame->code_request->method};
	if (frame->body_case == JXP__ENGINE_FRAME__BODY_LOOP_PLANS)
		orders_note_plans(o, frame->loop_plans);
}

#endif
