/*
 * The reply that says in one line what is wrong with a request, or why it cannot be answered.
 */
#ifndef JXPERF_PROTO_FAILURE_H
#define JXPERF_PROTO_FAILURE_H

#include <stdbool.h>

#include "proto/jxperf.pb-c.h"

struct failure_reply {
	Jxp__ControlReply reply; /* to be sent; points into the rest: it is not to be moved */
	Jxp__Failure failure;
};

/* The message is borrowed. usage: the request itself was wrong. */
void failure_reply_init(struct failure_reply *f, const char *message, bool usage);

#endif
