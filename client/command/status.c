/* jxperfctl status: the daemon and what it does now. */
#include <inttypes.h>

#include "client/command/command.h"
#include "client/daemon/exchange.h"
#include "client/output/json.h"
#include "client/output/windows.h"
#include "common/clock.h"

static json_t *exports_json(const Jxp__Status *s)
{
	json_t *array = json_array();

	for (size_t i = 0; i < s->n_exports; i++) {
		const Jxp__ExportInfo *e = s->exports[i];
		json_t *object = json_object();

		json_put(&object, "name", json_readable(e->name));
		json_put(&object, "kind", json_readable(e->kind));
		json_put(&object, "waiting", json_integer((json_int_t)e->waiting));
		json_put(&object, "oldest_s", json_real(e->oldest_s));
		json_put(&object, "sent", json_integer((json_int_t)e->sent));
		json_put(&object, "failed", json_integer((json_int_t)e->failed));
		json_put(&object, "dropped", json_integer((json_int_t)e->dropped));
		json_put(&object, "failing", json_readable(e->failing));
		json_put(&object, "last_sent",
			 json_real((double)e->last_unix_ns / (double)NS_PER_S));
		json_put(&object, "set_aside", json_integer((json_int_t)e->set_aside));
		json_push(&array, object);
	}
	return array;
}

/* "to 'house' (clickhouse): 7 sent, 3 wait, the oldest for 41 s, 2 dropped; fails: it answers 503"
 */
static void print_export(const Jxp__ExportInfo *e)
{
	(void)printf("to '%s' (%s): %" PRIu64 " windows sent, %" PRIu64 " wait", e->name, e->kind,
		     e->sent, e->waiting);
	if (e->waiting > 0)
		(void)printf(", the oldest for %.0f s", e->oldest_s);
	if (e->set_aside > 0)
		(void)printf(", %" PRIu64 " of them set aside since they fail by themselves",
			     e->set_aside);
	if (e->dropped > 0)
		(void)printf(", %" PRIu64 " dropped", e->dropped);
	if (e->failing[0])
		(void)printf("; it fails and is tried again: %s", e->failing);
	(void)printf("\n");
}

static int print_json(const Jxp__Status *s, struct err *err)
{
	json_t *object = json_object();

	json_put(&object, "version", json_readable(s->version));
	json_put(&object, "pid", json_integer(s->pid));
	json_put(&object, "uptime_s", json_real((double)s->uptime_ns / (double)NS_PER_S));
	json_put(&object, "http", json_readable(s->http));
	json_put(&object, "windows_total", json_integer((json_int_t)s->windows_total));
	json_put(&object, "attach_failures", json_integer((json_int_t)s->attach_failures));
	json_put(&object, "paused", json_readable(s->paused));
	json_put(&object, "running", windows_json(s->running, s->n_running));
	json_put(&object, "exports", exports_json(s));
	return json_print(object, err);
}

static int print_text(const Jxp__Status *s, struct err *err)
{
	/* What went wrong with stdout is found by main's fflush. */
	(void)printf("jxperfd %s, pid %u, up %.0f s, %s%s\n", s->version, s->pid,
		     (double)s->uptime_ns / (double)NS_PER_S,
		     s->http[0] ? "metrics on " : "no metrics served", s->http);
	(void)printf("%" PRIu64 " windows ended, %zu running, %" PRIu64 " attach failures\n",
		     s->windows_total, s->n_running, s->attach_failures);
	if (s->paused[0])
		(void)printf("%s\n", s->paused);
	for (size_t i = 0; i < s->n_exports; i++)
		print_export(s->exports[i]);
	return s->n_running > 0 ? windows_print(s->running, s->n_running, err) : 0;
}

static int status(struct client *c, struct command_call *call, struct err *err)
{
	Jxp__StatusRequest status = JXP__STATUS_REQUEST__INIT;
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;
	int r = exchange_once(c, JXP__CONTROL_REQUEST__BODY_STATUS, &status, &reply, err);

	(void)call; /* There are no operands. */
	if (r < 0)
		return r;
	return c->json ? print_json(reply->status, err) : print_text(reply->status, err);
}

const struct command cmd_status = {"status", "", "the daemon and what it does now", "",
				   .run = status};
