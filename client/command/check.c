/* jxperfctl check: what works on this machine or for one JVM. Exit status 1 when something that is
 * needed does not. */
#include <errno.h>
#include <stdbool.h>

#include "client/command/command.h"
#include "client/command/parse.h"
#include "client/command/which_jvm.h"
#include "client/daemon/exchange.h"
#include "client/output/json.h"
#include "client/output/table.h"

static const char *result_name(Jxp__CheckItem__Result result)
{
	switch (result) {
	case JXP__CHECK_ITEM__RESULT__OK:
		return "ok";
	case JXP__CHECK_ITEM__RESULT__WARNING:
		return "warning";
	default: /* Also what a newer daemon may know. */
		return "failed";
	}
}

static int print_json(const Jxp__CheckResult *result, struct err *err)
{
	json_t *array = json_array();

	for (size_t i = 0; i < result->n_items; i++) {
		const Jxp__CheckItem *item = result->items[i];
		json_t *object = json_object();

		json_put(&object, "name", json_readable(item->name));
		json_put(&object, "result", json_string(result_name(item->result)));
		json_put(&object, "detail", json_readable(item->detail));
		json_push(&array, object);
	}
	return json_print(array, err);
}

static int print_table(const Jxp__CheckResult *result, struct err *err)
{
	static const char *const headings[] = {"CHECK", "RESULT", "DETAIL", NULL};
	_cleanup_(table_release) struct table t;

	table_init(&t, headings);
	for (size_t i = 0; i < result->n_items; i++) {
		const Jxp__CheckItem *item = result->items[i];

		table_cell(&t, "%s", item->name);
		table_cell(&t, "%s", result_name(item->result));
		table_cell(&t, "%s", item->detail);
	}
	return table_print(&t, stdout) < 0 ? err_set(err, ENOMEM, "out of memory") : 0;
}

static bool all_work(const Jxp__CheckResult *result)
{
	for (size_t i = 0; i < result->n_items; i++)
		if (result->items[i]->result != JXP__CHECK_ITEM__RESULT__OK &&
		    result->items[i]->result != JXP__CHECK_ITEM__RESULT__WARNING)
			return false;
	return true;
}

static int check(struct client *c, struct command_call *call, struct err *err)
{
	const char *target = call->operands[0];
	Jxp__CheckRequest check = JXP__CHECK_REQUEST__INIT;
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;
	struct which_jvm jvm = {0}; /* Without a target: the machine. */
	int r;

	/* A number that is no pid is known to be wrong before anything is started. */
	if (target && parse_is_number(target) && (r = parse_pid(target, &jvm.pid, err)) < 0)
		return r;
	if ((r = client_allow_private(c, err)) < 0 ||
	    (target && (r = which_jvm_find(c, target, &jvm, err)) < 0))
		return r;
	check.pid = jvm.pid;
	r = exchange_once(c, JXP__CONTROL_REQUEST__BODY_CHECK, &check, &reply, err);
	if (r < 0)
		return r;
	client_release(c); /* Printing may take as long as somebody reads. */
	r = c->json ? print_json(reply->check, err) : print_table(reply->check, err);
	if (r == 0 && !all_work(reply->check))
		call->exit_status = EXIT_FAILURE;
	return r;
}

const struct command cmd_check = {"check",
				  "[PID|NAME]",
				  "what works on this machine, or for one JVM",
				  "[PID|NAME]",
				  .completes = COMPLETES_JVMS,
				  .run = check};
