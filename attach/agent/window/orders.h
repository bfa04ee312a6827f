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

struct orders {
	bool stop;         /* WindowStop: end the window */
	bool stop_objects; /* StopObjects: track no objects any more */
	uint64_t accesses; /* ObjectsMet, the last one: sampled accesses to the heap, */
	uint64_t met;      /* and those of them that went to a tracked object */
	/* CodeRequest: numbers of compiled code, in the order in which they were asked for; more
	 * than these are passed over. */
	uint64_t codes[LIMIT_CODES];
	unsigned codes_asked, codes_answered;
};

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
		o->codes[o->codes_asked++] = frame->code_request->code;
}

#endif
