/* jxperfctl reload: the daemon reads its configuration anew. */
#include <stdio.h>

#include "client/command/command.h"
#include "client/daemon/exchange.h"
#include "client/output/json.h"

static json_t *keys_json(char *const *keys, size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		json_push(&list, json_readable(keys[i]));
	return list;
}

static int print_json(const Jxp__Done *done, struct err *err)
{
	json_t *object = json_object();

	json_put(&object, "changed", keys_json(done->now, done->n_now));
	json_put(&object, "needs_restart", keys_json(done->later, done->n_later));
	return json_print(object, err);
}

static int reload(struct client *c, struct command_call *call, struct err *err)
{
	Jxp__ReloadRequest reload = JXP__RELOAD_REQUEST__INIT;
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;
	int r = exchange_once(c, JXP__CONTROL_REQUEST__BODY_RELOAD, &reload, &reply, err);

	(void)call; /* There are no operands. */
	if (r < 0)
		return r;
	if (c->json)
		return print_json(reply->done, err);
	(void)puts(reply->done->message); /* Checked by main's fflush. */
	return 0;
}

const struct command cmd_reload = {"reload", "", "have the daemon read its configuration anew", "",
				   .run = reload};
