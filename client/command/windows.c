/* jxperfctl windows: running windows and those whose reports the daemon still has. */
#include "client/command/command.h"
#include "client/daemon/exchange.h"
#include "client/output/json.h"
#include "client/output/windows.h"

static int windows(struct client *c, const char *operand, struct err *err)
{
	Jxp__WindowsRequest windows = JXP__WINDOWS_REQUEST__INIT;
	Jxp__ControlRequest request = JXP__CONTROL_REQUEST__INIT;
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;
	const Jxp__WindowList *list;
	int r;

	(void)operand; /* There is none. */
	request.body_case = JXP__CONTROL_REQUEST__BODY_WINDOWS;
	request.windows = &windows;
	r = exchange_once(c, &request, JXP__CONTROL_REPLY__BODY_WINDOWS, &reply, err);
	if (r < 0)
		return r;
	list = reply->windows;
	return c->json ? json_print(windows_json(list->windows, list->n_windows), err)
		       : windows_print(list->windows, list->n_windows, err);
}

int cmd_windows(struct client *c, int argc, char **argv)
{
	return command_run_plain(c, argc, argv, "", windows);
}
