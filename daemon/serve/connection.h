/*
 * One client of the control socket: reads its request, hands it to whoever answers requests, sends
 * the replies and closes. Each of its states has a deadline, so that a client that stalls does not
 * keep a place.
 *
 * Loop thread only.
 */
#ifndef JXPERF_DAEMON_SERVE_CONNECTION_H
#define JXPERF_DAEMON_SERVE_CONNECTION_H

#include <stdbool.h>
#include <uv.h>

#include "daemon/engine/engine.h"
#include "daemon/answer/render.h"
#include "report/report.h"
#include "daemon/serve/audit.h"
#include "daemon/shares/pool_work.h"
#include "profile/window/asker.h"
#include "proto/jxperf.pb-c.h"

/* From connecting to the whole request, and from the reply to its last byte read. */
#define CONNECTION_REQUEST_TIMEOUT_MS 10000
/* A request is handled without knowing who has logged in when the broker does not say it by then.
 */
#define CONNECTION_LOGIN_TIMEOUT_MS 1000
#define CONNECTION_REPLY_TIMEOUT_MS 30000
/* For a report to be written, behind those that wait. */
#define CONNECTION_REPORT_TIMEOUT_MS 50000
/* What is larger counts against its user's share of what is not read (daemon/answer/render.h). */
#define CONNECTION_SMALL_REPLY_BYTES 32768
#define CONNECTION_PROGRESS_MS       1000
/* A client that waits for the end of a window hears so often that it has not come. */
#define CONNECTION_ALIVE_MS 10000

struct connection;
struct exports;
struct reload_answer;
struct scheduler;

/* What every request may need to know; outlives the connections. */
struct control_context {
	/* Answers request on c, or starts what will: request_handle (daemon/serve/request.h). */
	void (*handle)(struct connection *c, const Jxp__ControlRequest *request);
	/* Answers with the report of a window that has ended: reports_send_window
	 * (daemon/serve/reports.h). */
	void (*report)(struct connection *c, const struct window_result *w,
		       const struct report_wanted *wanted);
	/* A request was refused, or a connection that named none. */
	void (*refused)(void *arg, const struct audit_entry *entry, bool connection);
	void *refused_arg;
	uv_loop_t *loop;
	struct broker_client *broker; /* which is asked who has logged in */
	struct engine *engine;
	const struct exports *exports;     /* NULL: windows are sent nowhere */
	const struct scheduler *scheduler; /* NULL: no schedules */
	struct renders *renders;
	const char *store; /* path of the database of windows (daemon/store/database.h), or NULL */
	const char *http;
	uint64_t started_ns; /* CLOCK_MONOTONIC */
	/* as in struct control_settings */
	int (*reload)(void *arg, struct reload_answer *answer, struct err *err);
	void *reload_arg;
};

/* Serves the client that asker says. Takes fd on success. closed(arg, connection) runs once, from
 * the loop, when the connection is over and about to free itself. 0 or -errno. */
int connection_new(struct connection **out, const struct control_context *context,
		   const struct window_asker *asker, int fd,
		   void (*closed)(void *arg, struct connection *c), void *arg, struct err *err);

/* Closes at once, without the closed callback; a window that the client waits for is ended. */
void connection_free(struct connection *c);

/* Its last reply is on its way; the closed callback follows by itself. */
bool connection_is_finishing(const struct connection *c);

/* It waits for the end of a window. */
bool connection_is_waiting(const struct connection *c);

/* One that waits makes room: it is told to ask again, and is finishing. */
void connection_make_room(struct connection *c);

/* Its last reply is a report, which is being written. */
bool connection_is_rendering(const struct connection *c);

/* ---- for whoever handles the request ---- */

const struct control_context *connection_context(const struct connection *c);

/* Who asks, and what there is for it. */
const struct window_asker *connection_asker(const struct connection *c);

/* What the request is, in a word, and which pid (or 0) and window (or "") it is about: from here on
 * a refusal is told to the audit (daemon/serve/audit.h). */
void connection_name_request(struct connection *c, const char *action, uint32_t pid,
			     const char *window);

/* Sends the last reply of the connection, body being the message that what names, or why it cannot
 * be had while others are not read. */
void connection_reply(struct connection *c, Jxp__ControlReply__BodyCase what, void *body);

/* Sends a Failure as the last reply: an errno value above 0, for the audit, and why. EINVAL: the
 * request itself was wrong. */
void connection_fail(struct connection *c, int error, const char *message);

/* Has a job's report written and sends it as the last reply; the job is released in any case. */
void connection_send_job(struct connection *c, const struct render_job *job);

/* Has w ask the store on the pool, and leaves the answer to the task's done; it is not done once
 * the client has left or waited too long. */
void connection_read(struct connection *c, struct pool_work *w, const struct pool_task *task,
		     void *arg);

/* Starts a window whose progress and report go to this client; one in the background is nobody's,
 * and the client hears only that it has started. */
void connection_attach(struct connection *c, const Jxp__AttachRequest *request);

/* Sends how w ended as the last reply, when it has; meanwhile, signs of life. */
void connection_wait(struct connection *c, const struct window_result *w);

/* Sends how w, which has ended, did as the last reply. */
void connection_send_end(struct connection *c, const struct window_result *w);

/* Answers with what an inspector finds: pid, INSPECTOR_MACHINE or INSPECTOR_LIST. */
void connection_inspect(struct connection *c, int pid);

#endif
