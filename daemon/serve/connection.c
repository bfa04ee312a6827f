#include "daemon/serve/connection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/cleanup.h"
#include "daemon/engine/attach_request.h"
#include "daemon/questions/inspections.h"
#include "daemon/inspector/inspector.h"
#include "profile/intake/stream.h"
#include "daemon/serve/audit.h"
#include "daemon/serve/listed_jvms.h"
#include "daemon/serve/login.h"
#include "daemon/answer/render.h"
#include "proto/counters.h"
#include "proto/failure.h"
#include "proto/limits.h"

enum state {
	WAITING,     /* for the request */
	IDENTIFYING, /* the request is there; who has logged in is asked */
	ATTACHED,    /* a window runs for this client */
	STARTING,    /* a window that will be nobody's is about to start */
	WATCHING,    /* the end of somebody's window is awaited */
	INSPECTING,
	READING,   /* the store is asked */
	RENDERING, /* its report is being written */
	FINISHING, /* the last reply is on its way */
	CLOSING,
};

struct connection {
	enum state state;
	const struct control_context *context;
	struct window_asker asker;
	const char *action;                    /* what is asked; NULL while that is not known */
	uint32_t asked_pid;                    /* about which process, or 0, */
	char asked_window[WINDOW_LABEL_BYTES]; /* and which window, or "" */
	uv_timer_t timer;
	struct stream *stream;
	void (*closed)(void *arg, struct connection *c);
	void *closed_arg;
	const struct window_result *window; /* ATTACHED and STARTING, once it started; WATCHING */
	int fd;                             /* the stream's */
	Jxp__ControlRequest *request;       /* IDENTIFYING */
	struct login login;                 /* likewise */
	struct inspection *inspection;      /* INSPECTING */
	struct pool_work *reading;          /* READING */
	struct render *render;              /* RENDERING */
	size_t unread_bytes;         /* FINISHING: of the reply, as the user's share has them */
	struct report_wanted wanted; /* ATTACHED */
};

static void on_closed(uv_handle_t *handle)
{
	free(handle->data);
}

/* What is asked of others is wanted no more. */
static void forget_awaited(struct connection *c)
{
	login_forget(&c->login);
	inspection_forget(c->inspection);
	pool_work_cancel(c->reading);
	render_cancel(c->render);
	c->inspection = NULL;
	c->reading = NULL;
	c->render = NULL;
}

void connection_free(struct connection *c)
{
	if (!c || c->state == CLOSING)
		return;
	if (c->state == ATTACHED)
		engine_forget_observer(c->context->engine, c);
	else if (c->state == STARTING || c->state == WATCHING)
		engine_unwatch(c->context->engine, c);
	c->state = CLOSING;
	forget_awaited(c);
	if (c->request)
		jxp__control_request__free_unpacked(c->request, NULL);
	c->request = NULL;
	renders_read(c->context->renders, c->asker.sees, c->unread_bytes);
	stream_free(c->stream);
	uv_close((uv_handle_t *)&c->timer, on_closed);
}

/* The connection is over, for a reason of its own. */
static void close_connection(struct connection *c)
{
	if (c->state == CLOSING)
		return;
	c->closed(c->closed_arg, c);
	connection_free(c);
}

bool connection_is_finishing(const struct connection *c)
{
	return c->state == FINISHING;
}

bool connection_is_waiting(const struct connection *c)
{
	return c->state == WATCHING;
}

bool connection_is_rendering(const struct connection *c)
{
	return c->state == RENDERING;
}

const struct control_context *connection_context(const struct connection *c)
{
	return c->context;
}

const struct window_asker *connection_asker(const struct connection *c)
{
	return &c->asker;
}

void connection_name_request(struct connection *c, const char *action, uint32_t pid,
			     const char *window)
{
	c->action = action;
	c->asked_pid = pid;
	(void)snprintf(c->asked_window, sizeof(c->asked_window), "%s", window); /* May be cut. */
}

static void on_timer(uv_timer_t *timer);

/* Fails only for a NULL callback or a closing handle. */
static void set_timer(struct connection *c, uint64_t after_ms, uint64_t repeat_ms)
{
	(void)uv_timer_start(&c->timer, on_timer, after_ms, repeat_ms);
}

/* ---------------------------------------------------------------- replies */

static int send_reply(struct connection *c, Jxp__ControlReply *reply)
{
	reply->protocol = PROTOCOL_VERSION;
	return stream_send(c->stream, &reply->base, NULL, 0);
}

/* A reply that cannot be queued leaves nothing to say: the timer closes the connection at once. */
static void finish(struct connection *c, int queued)
{
	c->state = FINISHING;
	c->reading = NULL; /* It has answered, or was cancelled. */
	stream_finish(c->stream);
	set_timer(c, queued < 0 ? 0 : CONNECTION_REPLY_TIMEOUT_MS, 0);
}

static void send_failure(struct connection *c, bool usage, const char *message)
{
	struct failure_reply f;

	failure_reply_init(&f, message, usage);
	finish(c, send_reply(c, &f.reply));
}

/* Another's window is as good as none for the asker. The audit tells, of those that are in memory.
 */
static bool is_anothers_window(const struct connection *c)
{
	const struct window_result *w = engine_find_window(c->context->engine, c->asked_window);

	return w && !window_asker_sees(&c->asker, w->owner);
}

void connection_fail(struct connection *c, int error, const char *message)
{
	const struct audit_entry entry = {
	    .action = c->action ? c->action : "connect",
	    .who = &c->asker,
	    .pid = c->asked_pid,
	    .window = c->asked_window,
	    .reason = message,
	    .error = error == ENOENT && is_anothers_window(c) ? EACCES : error};

	c->context->refused(c->context->refused_arg, &entry, !c->action);
	send_failure(c, error == EINVAL, message);
}

void connection_reply(struct connection *c, Jxp__ControlReply__BodyCase what, void *body)
{
	Jxp__ControlReply reply = JXP__CONTROL_REPLY__INIT;
	struct err err;
	size_t bytes;

	reply.body_case = what;
	reply.failure = body; /* All bodies are pointers in one union. */
	bytes = protobuf_c_message_get_packed_size(&reply.base);
	if (bytes > CONNECTION_SMALL_REPLY_BYTES) {
		if (renders_take(c->context->renders, c->asker.sees, bytes, &err) < 0) {
			connection_fail(c, EDQUOT, err.message);
			return;
		}
		c->unread_bytes = bytes;
	}
	finish(c, send_reply(c, &reply));
}

static void on_rendered(void *arg, struct buffer *frame, int error, const char *reason)
{
	struct connection *c = arg;

	c->render = NULL;
	if (!frame) {
		/* The request itself was looked at before. */
		connection_fail(c, error == EINVAL ? ENODATA : error, reason);
		return;
	}
	if (renders_queued(c->context->renders, c->asker.sees, buffer_length(frame)) < 0) {
		connection_fail(c, ENOMEM, "out of memory for the report");
		return;
	}
	c->unread_bytes = buffer_length(frame);
	finish(c, stream_send_packed(c->stream, frame));
}

void connection_send_job(struct connection *c, const struct render_job *job)
{
	if (render_start(&c->render, c->context->renders, c->asker.sees, job, on_rendered, c) < 0) {
		job->release(job->arg);
		connection_fail(c, ENOMEM, "out of memory for the report");
		return;
	}
	c->state = RENDERING;
	set_timer(c, CONNECTION_REPORT_TIMEOUT_MS, 0);
}

void connection_read(struct connection *c, struct pool_work *w, const struct pool_task *task,
		     void *arg)
{
	c->reading = w;
	pool_work_start(w, c->context->loop, task, arg);
	c->state = READING;
	set_timer(c, CONNECTION_REPORT_TIMEOUT_MS, 0);
}

static void send_progress(struct connection *c)
{
	const struct window_result *w = c->window;
	Jxp__Progress progress = JXP__PROGRESS__INIT;
	Jxp__ControlReply reply = JXP__CONTROL_REPLY__INIT;

	progress.window = (char *)w->id;
	progress.elapsed_ns = window_result_elapsed_ns(w);
	progress.duration_ns = w->request.duration_ns;
	progress.samples = window_result_samples(w);
	progress.traps = counters_pairs(w->counters);
	reply.body_case = JXP__CONTROL_REPLY__BODY_PROGRESS;
	reply.progress = &progress;
	/* A client that does not read its progress loses it. */
	if (stream_is_idle(c->stream))
		(void)send_reply(c, &reply);
}

/* ---------------------------------------------------------------- attach and wait */

static void on_started(void *arg, const struct window_result *w)
{
	struct connection *c = arg;

	c->window = w;
	send_progress(c);
	set_timer(c, CONNECTION_PROGRESS_MS, CONNECTION_PROGRESS_MS);
}

static void on_finished(void *arg, const struct window_result *w)
{
	struct connection *c = arg;

	c->context->report(c, w, &c->wanted);
}

static void on_failed(void *arg, const struct window_result *w, int error, const char *message)
{
	(void)w; /* The message says it, and the audit hears of it as a sink. */
	(void)error;
	send_failure(arg, false, message);
}

/* No observer may be forgotten from inside a call: the timer does it when the loop comes round. */
static void on_background_started(void *arg, const struct window_result *w)
{
	struct connection *c = arg;

	c->window = w;
	set_timer(c, 0, 0);
}

static void send_started(struct connection *c, const struct window_result *w)
{
	Jxp__Started started = JXP__STARTED__INIT;

	started.window = (char *)w->id;
	connection_reply(c, JXP__CONTROL_REPLY__BODY_STARTED, &started);
}

static void leave_alone(struct connection *c)
{
	engine_unwatch(c->context->engine, c);
	send_started(c, c->window);
}

/* Over before the timer's turn. */
static void on_background_finished(void *arg, const struct window_result *w)
{
	send_started(arg, w);
}

void connection_send_end(struct connection *c, const struct window_result *w)
{
	Jxp__Document document = JXP__DOCUMENT__INIT;

	if (w->state == WINDOW_FAILED) {
		connection_fail(c, ECANCELED, w->reason);
		return;
	}
	document.window = (char *)w->id;
	render_describe_end(&document, w);
	connection_reply(c, JXP__CONTROL_REPLY__BODY_DOCUMENT, &document);
}

static void on_watched_end(void *arg, const struct window_result *w)
{
	connection_send_end(arg, w);
}

void connection_wait(struct connection *c, const struct window_result *w)
{
	const struct window_sink observer = {
	    .arg = c, .finished = on_watched_end, .failed = on_failed};
	struct err err;

	if (w->finished) {
		connection_send_end(c, w);
	} else if (engine_watch(c->context->engine, w, &observer, &err) < 0) {
		connection_fail(c, EBUSY, err.message);
	} else {
		c->state = WATCHING;
		c->window = w;
		set_timer(c, CONNECTION_ALIVE_MS, CONNECTION_ALIVE_MS);
	}
}

void connection_attach(struct connection *c, const Jxp__AttachRequest *request)
{
	struct window_sink observer = {
	    .arg = c, .started = on_started, .finished = on_finished, .failed = on_failed};
	struct window_request asked;
	struct window_findings findings;
	char id[WINDOW_ID_BYTES];
	struct err err;
	int r = attach_request_check(request, &asked, &err);

	if (r == 0 && !request->background)
		r = report_wanted_set(&c->wanted, request->format, request->pairs, request->view,
				      request->regions, request->n_regions, &err);
	c->wanted.all_frames = request->all_frames;
	c->wanted.columns = request->columns;
	if (r == 0)
		r = window_findings_here(&asked, &findings, &err);
	if (r < 0) {
		connection_fail(c, -r, err.message);
		return;
	}
	if (request->background) {
		observer.started = on_background_started;
		observer.finished = on_background_finished;
	}
	r = engine_attach(c->context->engine, &c->asker, (pid_t)request->pid, &asked, &findings,
			  &observer, id, &err);
	if (r < 0) {
		send_failure(c, false, err.message); /* The audit has heard of it as a sink. */
		return;
	}
	c->state = request->background ? STARTING : ATTACHED;
	(void)uv_timer_stop(&c->timer); /* Cannot fail. The helper has its own deadline. */
}

void connection_make_room(struct connection *c)
{
	struct failure_reply f;

	engine_unwatch(c->context->engine, c);
	failure_reply_init(&f, "connections to the daemon ran short: ask again", false);
	f.failure.again = true;
	finish(c, send_reply(c, &f.reply));
}

/* ---------------------------------------------------------------- list and check */

/* An inspector looks at the asker's processes only, but one that it looked at may have become
 * another user's. */
static void drop_others(const struct window_asker *asker, Jxp__JvmList *list)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->n_jvms; i++) {
		if (window_asker_sees(asker, list->jvms[i]->uid))
			list->jvms[kept++] = list->jvms[i];
		else
			jxp__jvm__free_unpacked(list->jvms[i], NULL);
	}
	list->n_jvms = kept;
}

static void on_inspected(void *arg, Jxp__ControlReply *answer)
{
	struct connection *c = arg;

	c->inspection = NULL;
	if (answer->body_case == JXP__CONTROL_REPLY__BODY_FAILURE) {
		/* Of one process: there is none for who asks. */
		connection_fail(c,
				answer->failure->usage ? EINVAL
				: c->asked_pid         ? ESRCH
						       : EIO,
				answer->failure->message);
		return;
	}
	if (answer->body_case == JXP__CONTROL_REPLY__BODY_JVMS) {
		drop_others(&c->asker, answer->jvms);
		listed_jvms_complete(answer->jvms, c->context->engine, c->context->scheduler);
	}
	connection_reply(c, answer->body_case, answer->jvms);
}

void connection_inspect(struct connection *c, int pid)
{
	const struct broker_request question = {.pid = pid, .owner = c->asker.sees};

	c->state = INSPECTING;
	set_timer(c, INSPECTOR_TIMEOUT_MS + CONNECTION_REQUEST_TIMEOUT_MS, 0);
	if (inspections_ask(&c->inspection, engine_inspections(c->context->engine), c->asker.sees,
			    &question, on_inspected, c) < 0)
		connection_fail(c, ENOMEM, "out of memory");
}

/* ---------------------------------------------------------------- loop callbacks */

static void answer_is_late(struct connection *c)
{
	static const char *const messages[] = {
	    [INSPECTING] = "looking at processes took too long",
	    [READING] = "reading what is kept takes too long",
	    [RENDERING] = "writing the report takes too long: ask for less of it with --pairs",
	};

	forget_awaited(c);
	connection_fail(c, ETIMEDOUT, messages[c->state]);
}

static void handle_request(struct connection *c)
{
	Jxp__ControlRequest *request = c->request;

	c->request = NULL;
	c->state = WAITING;
	c->context->handle(c, request);
	jxp__control_request__free_unpacked(request, NULL);
}

static void on_identified(void *arg, bool known, uid_t uid)
{
	struct connection *c = arg;

	c->asker.logged_in = known;
	c->asker.login = uid;
	set_timer(c, CONNECTION_REQUEST_TIMEOUT_MS, 0);
	handle_request(c);
}

static void on_timer(uv_timer_t *timer)
{
	struct connection *c = timer->data;

	if (c->state == IDENTIFYING) {
		login_forget(&c->login);
		on_identified(c, false, 0);
		return;
	}
	if (c->state == ATTACHED || c->state == WATCHING)
		send_progress(c);
	else if (c->state == STARTING)
		leave_alone(c);
	else if (c->state == WAITING)
		connection_fail(c, EINVAL, "no request came in time");
	else if (c->state == INSPECTING || c->state == READING || c->state == RENDERING)
		answer_is_late(c);
	else
		close_connection(c);
}

static void on_frame(void *arg, const uint8_t *payload, size_t size)
{
	struct connection *c = arg;

	if (c->state != WAITING) {
		close_connection(c); /* One request to a connection: this is no client of ours. */
		return;
	}
	c->request = jxp__control_request__unpack(NULL, size, payload);
	if (!c->request) {
		connection_fail(c, EINVAL,
				"the request is malformed: use the jxperfctl of this version");
		return;
	}
	if (!login_ask(&c->login, c->context->broker, c->fd, &c->asker, on_identified, c)) {
		handle_request(c);
		return;
	}
	c->state = IDENTIFYING;
	set_timer(c, CONNECTION_LOGIN_TIMEOUT_MS, 0);
}

static void on_end(void *arg, const char *reason)
{
	struct connection *c = arg;

	/* A bad length is answered; a client that is gone cannot be. */
	if (reason && c->state == WAITING)
		connection_fail(c, EINVAL, reason);
	else
		close_connection(c);
}

static void on_flushed(void *arg)
{
	close_connection(arg);
}

int connection_new(struct connection **out, const struct control_context *context,
		   const struct window_asker *asker, int fd,
		   void (*closed)(void *arg, struct connection *c), void *arg, struct err *err)
{
	static const struct stream_limits limits = {
	    .in_frame = FRAME_MAX_CONTROL,
	    .out_frame = FRAME_MAX_REPLY,
	    /* A report, behind progress that was not read. */
	    .out_queue = FRAME_MAX_REPLY + FRAME_MAX_CONTROL,
	};
	_cleanup_free_ struct connection *c = calloc(1, sizeof(*c));
	struct stream_callbacks callbacks = {
	    .arg = c, .frame = on_frame, .end = on_end, .flushed = on_flushed};
	int r;

	if (!c)
		return err_set(err, ENOMEM, "out of memory");
	c->context = context;
	c->asker = *asker;
	c->fd = fd;
	c->closed = closed;
	c->closed_arg = arg;
	r = stream_new(&c->stream, context->loop, fd, &limits, &callbacks, err);
	if (r < 0)
		return r;
	(void)uv_timer_init(context->loop, &c->timer); /* Cannot fail. */
	c->timer.data = c;
	set_timer(c, CONNECTION_REQUEST_TIMEOUT_MS, 0);
	*out = TAKE_PTR(c);
	return 0;
}
