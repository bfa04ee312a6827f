/*
 * A Batch message under construction. Its parts are allocated here and live until batch_clear.
 * Session thread only.
 */
#ifndef JXPERF_AGENT_STREAM_BATCH_H
#define JXPERF_AGENT_STREAM_BATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "attach/agent/jvm/place_names.h"
#include "attach/agent/method/method_copy.h"
#include "attach/agent/stream/link.h"
#include "proto/jxperf.pb-c.h"

/* Objects of each sort in one Positions message. */
#define BATCH_POSITIONS_MAX 1024u

struct batch {
	Jxp__Batch message;
	size_t bytes; /* estimate of the packed size */
	bool failed;  /* memory ran out: the batch must not be sent */
};

void batch_init(struct batch *b);

/* Frees all parts; the batch is empty again. */
void batch_clear(struct batch *b);

/* Large enough that it should be sent now. */
bool batch_is_full(const struct batch *b);

/* Each adds one zeroed message and returns it, or NULL with b->failed set. Strings are copied. */
Jxp__Transition *batch_transition(struct batch *b);
Jxp__Node *batch_node(struct batch *b);
Jxp__Allocation *batch_allocation(struct batch *b);
Jxp__MemoryAccess *batch_access(struct batch *b);
Jxp__CpuSample *batch_cpu_sample(struct batch *b);
Jxp__LoopReading *batch_reading(struct batch *b);
/* With as many places and counts. */
Jxp__LoopBurst *batch_burst(struct batch *b, unsigned others);
/* With as many values and scalars of either instance, or values of turns; at most
 * LIMIT_TRACE_VALUES and LIMIT_PLAN_SCALARS. */
Jxp__LoopTrace *batch_trace(struct batch *b, const uint8_t counts[2],
			    const uint8_t scalar_counts[2], uint8_t turn_values);
/* With room for BATCH_POSITIONS_MAX objects in moved and address, and as many in died. */
Jxp__Positions *batch_positions(struct batch *b);
bool batch_object_class(struct batch *b, uint32_t id, const char *name);
/* byte_base: of line tables (method_layout.h). */
bool batch_method(struct batch *b, uint32_t id, const struct method_copy *m, uint8_t byte_base);
bool batch_location(struct batch *b, uint32_t id, const struct place_name *n);
bool batch_instruction(struct batch *b, uint32_t id, const char *text);
bool batch_thread(struct batch *b, uint32_t tid, const char *name, bool ended);

/* Packs and sends, then clears. 0, -ENOMEM, or link_send's error. */
int batch_send(struct batch *b, struct link *link);

#endif
