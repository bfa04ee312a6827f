/* jxperfctl check: what works on this machine or for one JVM. Exit status 1 when something that is
 * needed does not. */
#include <errno.h>
#include <stdbool.h>

#include "common/arguments.h"
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

		json_put(&object, "name", json_text(item->name));
		json_put(&object, "result", json_string(result_name(item->result)));
		json_put(&object, "detail", json_text(item->detail));
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

/* On success *works tells the exit status. */
static int check(struct client *c, const char *target, bool *works, struct err *err)
{
	Jxp__CheckRequest check = JXP__CHECK_REQUEST__INIT;
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;
	struct which_jvm jvm = {0}; /* Without a target: the machine. */
	int r;

	if ((r = client_allow_private(c, err)) < 0 ||
	    (target && (r = which_jvm_find(c, target, &jvm, err)) < 0))
		return r;
	check.pid = jvm.pid;
	r = exchange_once(c, JXP__CONTROL_REQUEST__BODY_CHECK, &check,
			  JXP__CONTROL_REPLY__BODY_CHECK, &reply, err);
	if (r < 0)
		return r;
	client_release(c); /* Printing may take as long as somebody reads. */
	r = c->json ? print_json(reply->check, err) : print_table(reply->check, err);
	if (r == 0)
		*works = all_work(reply->check);
	return r;
}

int cmd_check(struct client *c, int argc, char **argv)
{
	static const struct argument_spec spec = {.program = "jxperfctl", .operands = "[PID|NAME]"};
	const char *target;
	bool works = false;
	struct err err;
	int r = arguments_parse(&spec, argc, argv, NULL, &target, NULL, &err);

	if (r == 0 && target && parse_is_number(target))
		r = parse_pid(target, &(uint32_t){0}, &err);
	if (r == 0)
		r = check(c, target, &works, &err);
	if (r < 0)
		return command_fail(r, &err);
	return works ? EXIT_SUCCESS : EXIT_FAILURE;
}
