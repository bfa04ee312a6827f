/* jxperfctl reload: the daemon reads its configuration anew. */
#include <stdio.h>

#include "client/command/command.h"
#include "client/daemon/exchange.h"

static int reload(struct client *c, const char *operand, struct err *err)
{
	Jxp__ReloadRequest reload = JXP__RELOAD_REQUEST__INIT;
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;
	int r = exchange_once(c, JXP__CONTROL_REQUEST__BODY_RELOAD, &reload,
			      JXP__CONTROL_REPLY__BODY_DONE, &reply, err);

	(void)operand; /* There is none. */
	if (r == 0)
		(void)puts(reply->done->message); /* Checked by main's fflush. */
	return r;
}

int cmd_reload(struct client *c, int argc, char **argv)
{
	return command_run_plain(c, argc, argv, "", reload);
}
