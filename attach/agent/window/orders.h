/*
 * What the engine may order at any time of a window, also while the agent waits for another answer
 * of its. Once ordered it stays so.
 */
#ifndef JXPERF_AGENT_WINDOW_ORDERS_H
#define JXPERF_AGENT_WINDOW_ORDERS_H

#include <stdbool.h>

#include "proto/jxperf.pb-c.h"

struct orders {
	bool stop;         /* WindowStop: end the window */
	bool stop_objects; /* StopObjects: track no objects any more */
};

/* Notes a frame that is an order; others are passed over. */
static inline void orders_note(struct orders *o, const Jxp__EngineFrame *frame)
{
	o->stop |= frame->body_case == JXP__ENGINE_FRAME__BODY_STOP;
	o->stop_objects |= frame->body_case == JXP__ENGINE_FRAME__BODY_STOP_OBJECTS;
}

#endif
