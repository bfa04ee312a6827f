/*
 * A Batch message under construction. Its parts are allocated here and live until batch_clear.
 * Session thread only.
 */
#ifndef JXPERF_AGENT_BATCH_H
#define JXPERF_AGENT_BATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "attach/agent/link.h"
#include "attach/agent/vm.h"
#include "proto/jxperf.pb-c.h"

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
bool batch_method(struct batch *b, uint32_t id, const struct vm_method *m);
bool batch_instruction(struct batch *b, uint32_t id, const char *text);
bool batch_thread(struct batch *b, uint32_t tid, const char *name, bool ended);

/* Packs and sends, then clears. 0, -ENOMEM, or link_send's error. */
int batch_send(struct batch *b, struct link *link);

#endif
