/* jxperfctl wait: until a window has ended, whoever asked for it; exits as its attach would. */
#include <assert.h>
#include <errno.h>
#include <poll.h>

#include "common/arguments.h"
#include "client/command/command.h"
#include "client/daemon/exchange.h"

/* The daemon had no room for one that waits, which is asked again so long after. */
#define AGAIN_MS 2000

/* 0, or -EINTR. */
static int pause_before_asking_again(const struct client *c, const char *window, struct err *err)
{
	struct pollfd fd = {.fd = c->interrupt.fd, .events = POLLIN};

	return poll(&fd, 1, AGAIN_MS) > 0
		   ? err_set(err, EINTR, "interrupted; window %s goes on", window)
		   : 0;
}

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
		if (r == -EINTR)
			return err_set(err, EINTR, "interrupted; window %s goes on", window);
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

int cmd_wait(struct client *c, int argc, char **argv)
{
	static const struct argument_spec spec = {.program = "jxperfctl", .operands = "WINDOW"};
	_cleanup_reply_ Jxp__ControlReply *end = NULL;
	const char *window;
	struct err err;
	int r = arguments_parse(&spec, argc, argv, NULL, &window, NULL, &err);

	if (r == 0)
		r = await_end(c, window, &end, &err);
	while (r == -EAGAIN) {
		r = pause_before_asking_again(c, window, &err);
		if (r == 0)
			r = await_end(c, window, &end, &err);
	}
	if (r < 0)
		return command_fail(r, &err);
	assert(end);
	return command_tell_end(end->document, false);
}
