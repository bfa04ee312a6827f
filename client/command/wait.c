/* jxperfctl wait: until a window has ended, whoever asked for it; exits as its attach would. */
#include <assert.h>
#include <errno.h>

#include "client/command/command.h"
#include "client/daemon/exchange.h"

/* Progress only says that the daemon is alive. */
static int await_end(struct client *c, const char *window, Jxp__ControlReply **end, struct err *err)
{
	Jxp__WaitRequest wait = JXP__WAIT_REQUEST__INIT;
	_cleanup_exchange_ struct exchange x = EXCHANGE_NONE;
	int r;

	wait.window = (char *)window;
	r = exchange_begin(&x, c, JXP__CONTROL_REQUEST__BODY_WAIT, &wait, err);
	while (r == 0) {
		_cleanup_reply_ Jxp__ControlReply *reply = NULL;

		r = exchange_next(&x, c, EXCHANGE_REPLY_TIMEOUT_MS, &reply, err);
		if (r < 0)
			return r;
		if (reply->body_case == JXP__CONTROL_REPLY__BODY_DOCUMENT) {
			*end = TAKE_PTR(reply);
			return 0;
		}
		if (reply->body_case != JXP__CONTROL_REPLY__BODY_PROGRESS)
			return exchange_unexpected(err);
	}
	return r;
}

static int wait_for(struct client *c, struct command_call *call, struct err *err)
{
	_cleanup_reply_ Jxp__ControlReply *end = NULL;
	int r;

	do {
		r = await_end(c, call->operands[0], &end, err);
	} while (r == -EAGAIN && (r = exchange_wait_for_room(c, UINT64_MAX, err)) == 0);
	if (r == -EINTR)
		return err_set(err, EINTR, "interrupted; window %s goes on", call->operands[0]);
	if (r < 0)
		return r;
	assert(end);
	call->exit_status = command_tell_end(end->document, false);
	return 0;
}

const struct command cmd_wait = {"wait",
				 "WINDOW",
				 "wait until a window has ended",
				 "WINDOW",
				 .completes = COMPLETES_WINDOWS,
				 .run = wait_for};
