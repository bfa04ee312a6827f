#include "proto/failure.h"

#include "proto/limits.h"

void failure_reply_init(struct failure_reply *f, const char *message, bool usage)
{
	jxp__failure__init(&f->failure);
	f->failure.message = (char *)message;
	f->failure.usage = usage;
	jxp__control_reply__init(&f->reply);
	f->reply.protocol = PROTOCOL_VERSION;
	f->reply.body_case = JXP__CONTROL_REPLY__BODY_FAILURE;
	f->reply.failure = &f->failure;
}
