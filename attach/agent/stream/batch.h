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
#include "common/buffer.h"
#include "proto/events.h"
#include "proto/jxperf.pb-c.h"

struct batch {
	Jxp__Batch message;
	struct buffer events; /* of the message, which gets them when it is sent */
	size_t bytes;         /* estimate of the packed size */
	bool failed;          /* memory ran out: the batch must not be sent */
};

void batch_init(struct batch *b);

/* Frees all parts; the batch is empty again. */
void batch_clear(struct batch *b);

/* Large enough that it should be sent now. */
bool batch_is_full(const struct batch *b);

/* Adds a whole record, or sets b->failed. */
void batch_add(struct batch *b, const struct event_head *event);

/* Each adds one zeroed message and returns it, or NULL with b->failed set. Strings are copied. */
Jxp__Node *batch_node(struct batch *b);
bool batch_object_class(struct batch *b, uint32_t id, const char *name);
/* byte_base: of line tables (method_layout.h). */
bool batch_method(struct batch *b, uint32_t id, const struct method_copy *m, uint8_t byte_base);
bool batch_location(struct batch *b, uint32_t id, const struct place_name *n);
bool batch_instruction(struct batch *b, uint32_t id, const char *text);
bool batch_thread(struct batch *b, uint32_t tid, const char *name, bool ended);

/* Packs and sends, then clears. 0, -ENOMEM, or link_send's error. */
int batch_send(struct batch *b, struct link *link);

#endif
