/* jxperfctl list: the JVMs of this machine. */
#include <errno.h>

#include "client/command/command.h"
#include "client/daemon/exchange.h"
#include "client/output/json.h"
#include "client/output/table.h"

static int print_json(const Jxp__JvmList *list, struct err *err)
{
	json_t *array = json_array();

	for (size_t i = 0; i < list->n_jvms; i++) {
		const Jxp__Jvm *jvm = list->jvms[i];
		json_t *object = json_object();

		json_put(&object, "pid", json_integer(jvm->pid));
		json_put(&object, "user", json_text(jvm->user));
		json_put(&object, "container", json_text(jvm->container));
		json_put(&object, "name", json_text(jvm->name));
		json_put(&object, "jdk", json_text(jvm->jdk));
		json_put(&object, "gc", json_text(jvm->gc));
		json_put(&object, "state", json_text(jvm->state));
		json_put(&object, "by_name", json_boolean(jvm->by_name));
		json_push(&array, object);
	}
	return json_print(array, err);
}

static const char *or_dash(const char *text)
{
	return text[0] ? text : "-";
}

static int print_table(const Jxp__JvmList *list, struct err *err)
{
	static const char *const headings[] = {"PID", "USER",  "CONTAINER", "JDK",
					       "GC",  "STATE", "NAME",      NULL};
	_cleanup_(table_release) struct table t;

	table_init(&t, headings);
	for (size_t i = 0; i < list->n_jvms; i++) {
		const Jxp__Jvm *jvm = list->jvms[i];

		table_cell(&t, "%u", jvm->pid);
		table_cell(&t, "%s", or_dash(jvm->user));
		table_cell(&t, "%s", or_dash(jvm->container));
		table_cell(&t, "%s", or_dash(jvm->jdk));
		table_cell(&t, "%s", or_dash(jvm->gc));
		table_cell(&t, "%s", or_dash(jvm->state));
		table_cell(&t, "%s", or_dash(jvm->name));
	}
	return table_print(&t, stdout) < 0 ? err_set(err, ENOMEM, "out of memory") : 0;
}

static int list(struct client *c, const char *operand, struct err *err)
{
	Jxp__ListRequest list = JXP__LIST_REQUEST__INIT;
	Jxp__ControlRequest request = JXP__CONTROL_REQUEST__INIT;
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;
	int r;

	(void)operand; /* There is none. */
	request.body_case = JXP__CONTROL_REQUEST__BODY_LIST;
	request.list = &list;
	if ((r = client_allow_private(c, err)) < 0 ||
	    (r = exchange_once(c, &request, JXP__CONTROL_REPLY__BODY_JVMS, &reply, err)) < 0)
		return r;
	if (reply->jvms->not_looked_at)
		(void)fprintf(stderr,
			      "jxperfctl: %u processes were not looked at, because too many others "
			      "of their users hang: end those whose STATE says so\n",
			      reply->jvms->not_looked_at);
	client_release(c); /* Printing may take as long as somebody reads. */
	return c->json ? print_json(reply->jvms, err) : print_table(reply->jvms, err);
}

int cmd_list(struct client *c, int argc, char **argv)
{
	return command_run_plain(c, argc, argv, "", list);
}
