/* jxperfctl reload: the daemon reads its configuration anew. */
#include <stdio.h>

#include "client/command/command.h"
#include "client/daemon/exchange.h"

static int reload(struct client *c, struct command_call *call, struct err *err)
{
	Jxp__ReloadRequest reload = JXP__RELOAD_REQUEST__INIT;
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;
	int r = exchange_once(c, JXP__CONTROL_REQUEST__BODY_RELOAD, &reload, &reply, err);

	(void)call; /* There are no operands. */
	if (r == 0)
		(void)puts(reply->done->message); /* Checked by main's fflush. */
	return r;
}

const struct command cmd_reload = {"reload", "", "have the daemon read its configuration anew", "",
				   .run = reload};
