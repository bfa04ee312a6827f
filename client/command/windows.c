/* jxperfctl windows: running windows and those whose reports the daemon still has. */
#include "common/arguments.h"
#include "client/command/command.h"
#include "client/daemon/exchange.h"
#include "client/output/json.h"
#include "client/output/windows.h"

static int windows(struct client *c, struct err *err)
{
	Jxp__WindowsRequest windows = JXP__WINDOWS_REQUEST__INIT;
	Jxp__ControlRequest request = JXP__CONTROL_REQUEST__INIT;
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;
	const Jxp__WindowList *list;
	int r;

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
	static const struct argument_spec spec = {.program = "jxperfctl", .operands = ""};
	struct err err;
	int r = arguments_parse(&spec, argc, argv, NULL, NULL, NULL, &err);

	if (r == 0)
		r = windows(c, &err);
	return r < 0 ? command_fail(r, &err) : EXIT_SUCCESS;
}
