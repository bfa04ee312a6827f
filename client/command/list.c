/* jxperfctl list: the JVMs of this machine. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "client/command/command.h"
#include "client/command/which_jvm.h"
#include "client/daemon/exchange.h"
#include "client/output/json.h"
#include "client/output/table.h"
#include "common/clock.h"

/* In seconds since 1970, or null. */
static json_t *seconds_or_null(uint64_t unix_ns)
{
	return unix_ns ? json_real((double)unix_ns / (double)NS_PER_S) : json_null();
}

static int print_json(const Jxp__JvmList *list, struct err *err)
{
	json_t *array = json_array();

	for (size_t i = 0; i < list->n_jvms; i++) {
		const Jxp__Jvm *jvm = list->jvms[i];
		json_t *object = json_object();

		json_put(&object, "pid", json_integer(jvm->pid));
		json_put(&object, "user", json_readable(jvm->user));
		json_put(&object, "container", json_readable(jvm->container));
		json_put(&object, "pod", json_readable(jvm->pod_name));
		json_put(&object, "namespace", json_readable(jvm->pod_namespace));
		json_put(&object, "name", json_readable(jvm->name));
		json_put(&object, "jdk", json_readable(jvm->jdk));
		json_put(&object, "gc", json_readable(jvm->gc));
		json_put(&object, "state", json_readable(jvm->state));
		json_put(&object, "agent_version", json_readable(jvm->agent_version));
		json_put(&object, "agent_is_own", json_boolean(jvm->agent_is_own));
		json_put(&object, "by_name", json_boolean(jvm->by_name));
		json_put(&object, "app", json_readable(jvm->app));
		json_put(&object, "schedule", json_readable(jvm->schedule));
		json_put(&object, "probability",
			 jvm->probability > 0 ? json_real(jvm->probability) : json_null());
		json_put(&object, "last_window", json_readable(jvm->last_window));
		json_put(&object, "next_window", seconds_or_null(jvm->next_window_unix_ns));
		json_put(&object, "skipped", json_readable(jvm->skipped_reason));
		json_put(&object, "skipped_until", seconds_or_null(jvm->skipped_until_unix_ns));
		json_push(&array, object);
	}
	return json_print(array, err);
}

static const char *or_dash(const char *text)
{
	return text[0] ? text : "-";
}

/* Its pod where that is known, or else its container. */
static void where_cell(struct table *t, const Jxp__Jvm *jvm)
{
	if (jvm->pod_name[0])
		table_cell(t, "%s/%s", jvm->pod_namespace, jvm->pod_name);
	else
		table_cell(t, "%s", or_dash(jvm->container));
}

#define TIME_BYTES sizeof("2026-11-22 07:42:09")

/* When it is, in local time; with the date where that is not today. "-" where it is not known. */
static const char *time_in_words(uint64_t unix_ns, char text[TIME_BYTES])
{
	time_t at = (time_t)(unix_ns / NS_PER_S), now = time(NULL);
	char today[TIME_BYTES] = "";
	struct tm local;

	strcpy(text, "-");
	if (unix_ns && localtime_r(&at, &local))
		(void)strftime(text, TIME_BYTES, "%Y-%m-%d %H:%M:%S", &local); /* Fits. */
	if (localtime_r(&now, &local))
		(void)strftime(today, TIME_BYTES, "%Y-%m-%d ", &local); /* As above. */
	return text + (strncmp(text, today, strlen(today)) == 0 ? strlen(today) : 0);
}

/* Its state, which agent it has where that is not the daemon's own, and why schedules leave it
 * alone. */
static void state_cell(struct table *t, const Jxp__Jvm *jvm)
{
	bool other = jvm->agent_version[0] && !jvm->agent_is_own;
	const char *state = or_dash(jvm->state), *agent = other ? ", agent " : "";
	const char *version = other ? jvm->agent_version : "";
	char until[TIME_BYTES];

	if (!jvm->skipped[0])
		table_cell(t, "%s%s%s", state, agent, version);
	else if (jvm->skipped_until_unix_ns)
		table_cell(t, "%s%s%s, skipped until %s: %s", state, agent, version,
			   time_in_words(jvm->skipped_until_unix_ns, until), jvm->skipped);
	else
		table_cell(t, "%s%s%s, skipped: %s", state, agent, version, jvm->skipped);
}

/* With the probability of a window in an epoch, where that is set anew each day. */
static void schedule_cell(struct table *t, const Jxp__Jvm *jvm)
{
	if (jvm->probability > 0)
		table_cell(t, "%s (%.3g%%)", jvm->schedule, 100 * jvm->probability);
	else
		table_cell(t, "%s", or_dash(jvm->schedule));
}

static int print_table(const Jxp__JvmList *list, struct err *err)
{
	static const char *const headings[] = {"PID", "USER",  "CONTAINER", "JDK",
					       "GC",  "STATE", "NAME",      NULL};
	static const char *const with_schedules[] = {"PID",  "USER",        "CONTAINER", "JDK",
						     "GC",   "STATE",       "APP",       "SCHEDULE",
						     "LAST", "NEXT WINDOW", "NAME",      NULL};
	_cleanup_(table_release) struct table t;

	table_init(&t, list->schedules ? with_schedules : headings);
	for (size_t i = 0; i < list->n_jvms; i++) {
		const Jxp__Jvm *jvm = list->jvms[i];
		char text[TIME_BYTES];

		table_cell(&t, "%u", jvm->pid);
		table_cell(&t, "%s", or_dash(jvm->user));
		where_cell(&t, jvm);
		table_cell(&t, "%s", or_dash(jvm->jdk));
		table_cell(&t, "%s", or_dash(jvm->gc));
		state_cell(&t, jvm);
		if (list->schedules) {
			table_cell(&t, "%s", or_dash(jvm->app));
			schedule_cell(&t, jvm);
			table_cell(&t, "%s", or_dash(jvm->last_window));
			table_cell(&t, "%s", time_in_words(jvm->next_window_unix_ns, text));
		}
		table_cell(&t, "%s", or_dash(jvm->name));
	}
	return table_print(&t, stdout) < 0 ? err_set(err, ENOMEM, "out of memory") : 0;
}

static int list(struct client *c, struct command_call *call, struct err *err)
{
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;
	int r;

	(void)call; /* There are no operands. */
	if ((r = client_allow_private(c, err)) < 0 || (r = which_jvm_list(c, &reply, err)) < 0)
		return r;
	if (reply->jvms->not_looked_at)
		(void)fprintf(stderr,
			      "jxperfctl: %u processes were not looked at, because too many others "
			      "of their users hang: end those whose STATE says so\n",
			      reply->jvms->not_looked_at);
	if (reply->jvms->left_out)
		(void)fprintf(stderr,
			      "jxperfctl: %u more JVMs are left out: there is room for %zu\n",
			      reply->jvms->left_out, reply->jvms->n_jvms);
	client_release(c); /* Printing may take as long as somebody reads. */
	return c->json ? print_json(reply->jvms, err) : print_table(reply->jvms, err);
}

const struct command cmd_list = {"list", "", "the JVMs of this machine", "", .run = list};
