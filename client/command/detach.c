/* jxperfctl detach: ends a window early; whoever waits for its report gets it. */
#include <stdio.h>

#include "client/command/command.h"
#include "client/command/which_jvm.h"
#include "client/daemon/exchange.h"

static int detach(struct client *c, struct command_call *call, struct err *err)
{
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;
	struct which_jvm jvm;
	int r = which_jvm_find(c, call->operands[0], &jvm, err);

	if (r < 0)
		return r;
	r = exchange_detach(c, jvm.pid, &reply, err);
	if (r == 0)
		(void)puts(reply->done->message); /* Checked by main's fflush. */
	return r;
}

const struct command cmd_detach = {
    "detach",     "PID|NAME", "end a window early", "PID|NAME", .completes = COMPLETES_RUNNING,
    .run = detach};
