/*
 * What the engine may order or tell at any time of a window, also while the agent waits for another
 * answer of its. Once ordered it stays so.
 */
#ifndef JXPERF_AGENT_WINDOW_ORDERS_H
#define JXPERF_AGENT_WINDOW_ORDERS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

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

/* What is no whole number of plans has one that is cut. */
static inline void orders_note_plans(struct orders *o, const ProtobufCBinaryData *from)
{
	const size_t size = sizeof(o->plans[0]);

	o->plan_count = 0;
	o->plans_cut = from->len % size != 0;
	o->plans_new = true;
	for (size_t at = 0; at + size <= from->len; at += size) {
		struct loop_plan *plan = &o->plans[o->plan_count];

		if (o->plan_count < LIMIT_PLANS) {
			memcpy(plan, from->data + at, size);
			o->plan_count += loop_plan_fits(plan);
			o->plans_cut += !loop_plan_fits(plan);
		} else {
			o->plans_cut++;
		}
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
		orders_note_plans(o, &frame->loop_plans->plans);
}

#endif
