#include "daemon/serve/request.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/log.h"
#include "daemon/answer/selection.h"
#include "daemon/engine/pause.h"
#include "daemon/export/exports.h"
#include "daemon/inspector/inspector.h"
#include "report/report.h"
#include "daemon/serve/audit.h"
#include "daemon/serve/reload.h"
#include "daemon/serve/reports.h"
#include "daemon/serve/window_list.h"
#include "daemon/store/query.h"
#include "proto/limits.h"

/* ---------------------------------------------------------------- what there is for the asker */

/* Windows of others' JVMs are as good as none, so there is no other way to one than these. */
static bool is_visible(const struct connection *c, const struct window_result *w)
{
	return window_asker_sees(connection_asker(c), w->owner);
}

/* NULL, with the connection answered, when there is none. */
static const struct window_result *find_window(struct connection *c, const char *id)
{
	const struct window_result *w = engine_find_window(connection_context(c)->engine, id);
	struct err err;

	if (w && is_visible(c, w))
		return w;
	(void)window_absent(id, &err); /* Only its text is wanted. */
	connection_fail(c, ENOENT, err.message);
	return NULL;
}

static const struct window_result *find_running(const struct connection *c, uint32_t pid)
{
	const struct window_result *w =
	    engine_find_running(connection_context(c)->engine, (pid_t)pid);

	return w && is_visible(c, w) ? w : NULL;
}

static void fail_not_profiled(struct connection *c, uint32_t pid)
{
	struct err err;

	(void)err_set(&err, ENOENT, "pid %u is not being profiled: see 'jxperfctl status'",
		      pid); /* Only its text is wanted. */
	/* The asker is not told that there is one; the audit is. */
	connection_fail(
	    c, engine_find_running(connection_context(c)->engine, (pid_t)pid) ? EACCES : ENOENT,
	    err.message);
}

/* ---------------------------------------------------------------- requests */

static void handle_attach(struct connection *c, const Jxp__ControlRequest *request)
{
	struct err err;
	int r = report_check_format(request->attach->format, &err);

	connection_name_request(c, "attach", request->attach->pid, "");
	if (r < 0)
		connection_fail(c, -r, err.message);
	else
		connection_attach(c, request->attach);
}

static void handle_detach(struct connection *c, const Jxp__ControlRequest *request)
{
	Jxp__Done done = JXP__DONE__INIT;
	char id[WINDOW_ID_BYTES], message[ERR_MESSAGE_MAX];
	uint32_t pid = request->detach->pid;

	connection_name_request(c, "detach", pid, "");
	if (!find_running(c, pid) || engine_detach(connection_context(c)->engine, (pid_t)pid,
						   "it was detached on request", id, NULL) < 0) {
		fail_not_profiled(c, pid);
		return;
	}
	audit_write(&(struct audit_entry){
	    .action = "detach", .who = connection_asker(c), .pid = pid, .window = id});
	(void)snprintf(message, sizeof(message), "window %s of pid %u is ending", id, pid);
	done.message = message;
	connection_reply(c, JXP__CONTROL_REPLY__BODY_DONE, &done);
}

static void handle_reload(struct connection *c, const Jxp__ControlRequest *request)
{
	const struct control_context *context = connection_context(c);
	Jxp__Done done = JXP__DONE__INIT;
	struct reload_answer answer = {0};
	char words[ERR_MESSAGE_MAX], message[ERR_MESSAGE_MAX + 64];
	struct err err;

	(void)request; /* It has no fields. */
	connection_name_request(c, "configure", 0, "");
	if (connection_asker(c)->sees != PROC_ANY_UID) {
		connection_fail(c, EPERM,
				"only root and the admin group may have the configuration read");
		return;
	}
	if (!context->reload || context->reload(context->reload_arg, &answer, &err) < 0) {
		connection_fail(c, EIO,
				context->reload ? err.message : "this daemon has no configuration");
		return;
	}
	audit_configuration(connection_asker(c), NULL);
	reload_answer_say(&answer, words);
	(void)snprintf(message, sizeof(message), "the configuration was read: %s", words);
	done.message = message;
	done.now = (char **)answer.now.keys; /* Only read, both. */
	done.n_now = answer.now.count;
	done.later = (char **)answer.later.keys;
	done.n_later = answer.later.count;
	connection_reply(c, JXP__CONTROL_REPLY__BODY_DONE, &done);
}

/* NULL, with the connection answered, where it is not for who asks. */
static struct pause *find_pause(struct connection *c)
{
	struct pause *pause = engine_pause(connection_context(c)->engine);

	if (pause && connection_asker(c)->sees == PROC_ANY_UID)
		return pause;
	connection_fail(c, pause ? EPERM : ENOTSUP,
			pause ? "only root and the admin group may pause and resume windows"
			      : "this daemon cannot be paused");
	return NULL;
}

/* given: the reason that was given, or "". */
static void reply_done(struct connection *c, const char *action, const char *given,
		       const char *message)
{
	Jxp__Done done = JXP__DONE__INIT;

	audit_write(
	    &(struct audit_entry){.action = action, .who = connection_asker(c), .given = given});
	done.message = (char *)message;
	connection_reply(c, JXP__CONTROL_REPLY__BODY_DONE, &done);
}

/* Windows that schedules have end at once, being nobody's; those that people asked for go on. */
static void handle_pause(struct connection *c, const Jxp__ControlRequest *request)
{
	const Jxp__PauseRequest *asked = request->pause;
	char message[ERR_MESSAGE_MAX + 64];
	struct pause *pause;
	struct err err;
	size_t others;
	int r;

	connection_name_request(c, "pause", 0, "");
	if (!(pause = find_pause(c)))
		return;
	r = pause_begin(pause, connection_asker(c)->uid, asked->for_ns, asked->reason, &err);
	if (r == -EINVAL) {
		connection_fail(c, EINVAL, err.message);
		return;
	}
	/* Also where it is not kept: it holds until the daemon ends. */
	others = engine_end_scheduled(connection_context(c)->engine, "windows were paused");
	if (r < 0) {
		connection_fail(c, -r, err.message);
		return;
	}
	(void)pause_forbids(pause, &err);
	log_info("%s", err.message);
	(void)snprintf(message, sizeof(message),
		       others ? "%s; %zu that people asked for go on" : "%s", err.message,
		       others); /* Fits. */
	reply_done(c, "pause", pause->reason, message);
}

static void handle_resume(struct connection *c, const Jxp__ControlRequest *request)
{
	char given[PAUSE_REASON_BYTES] = "";
	struct pause *pause;
	struct err err;

	(void)request; /* It has no fields. */
	connection_name_request(c, "resume", 0, "");
	if (!(pause = find_pause(c)))
		return;
	if (pause->on)
		memcpy(given, pause->reason, sizeof(given));
	if (pause_end(pause, &err) < 0)
		connection_fail(c, EIO, err.message);
	else
		reply_done(c, "resume", given, "windows go on");
}

/* As many as can run. */
struct window_infos {
	Jxp__WindowInfo infos[ENGINE_RUNNING_MAX];
	Jxp__WindowInfo *pointers[ENGINE_RUNNING_MAX];
	size_t count;
};

static void collect_running(struct window_infos *all, const struct connection *c)
{
	const struct engine *engine = connection_context(c)->engine;

	all->count = 0;
	for (size_t i = 0; i < engine_window_count(engine); i++) {
		const struct window_result *w = engine_window(engine, i);

		if (!is_visible(c, w) || w->finished)
			continue;
		window_list_describe(&all->infos[all->count], w);
		all->pointers[all->count] = &all->infos[all->count];
		all->count++;
	}
}

/* Where windows are sent, as it stands. */
struct export_infos {
	struct export_state states[QUEUE_DESTINATIONS_MAX];
	Jxp__ExportInfo infos[QUEUE_DESTINATIONS_MAX];
	Jxp__ExportInfo *pointers[QUEUE_DESTINATIONS_MAX];
	size_t count;
};

static uint64_t sum(const uint64_t *counts, size_t count)
{
	uint64_t all = 0;

	for (size_t i = 0; i < count; i++)
		all += counts[i];
	return all;
}

static void describe_exports(const struct exports *exports, struct export_infos *out)
{
	out->count = exports_count(exports);
	for (size_t i = 0; i < out->count; i++) {
		struct export_state *s = &out->states[i];
		Jxp__ExportInfo *info = &out->infos[i];

		exports_state(exports, i, s);
		*info = (Jxp__ExportInfo)JXP__EXPORT_INFO__INIT;
		info->name = (char *)s->name;
		info->kind = (char *)s->kind;
		info->waiting = s->queue.windows;
		info->oldest_s = s->oldest_s;
		info->sent = s->stats.sent;
		info->failed = sum(s->stats.failed, FAILURES);
		info->dropped = sum(s->stats.dropped, DROPS);
		info->failing = s->stats.why;
		info->last_unix_ns = s->stats.last_unix_ns;
		info->set_aside = s->stats.set_aside;
		out->pointers[i] = info;
	}
}

static void handle_status(struct connection *c, const Jxp__ControlRequest *request)
{
	const struct control_context *context = connection_context(c);
	Jxp__Status status = JXP__STATUS__INIT;
	const struct pause *pause = engine_pause(context->engine);
	struct export_infos exports;
	struct window_infos all;
	struct err why;

	(void)request; /* It has no fields. */
	connection_name_request(c, "status", 0, "");
	collect_running(&all, c);
	status.version = (char *)JXPERF_VERSION;
	status.pid = (uint32_t)getpid();
	status.uptime_ns = clock_monotonic_ns() - context->started_ns;
	status.http = (char *)context->http;
	status.running = all.pointers;
	status.n_running = all.count;
	status.windows_total = engine_windows_total(context->engine);
	status.attach_failures = engine_attach_failures(context->engine);
	if (pause && pause_forbids(pause, &why))
		status.paused = why.message;
	describe_exports(context->exports, &exports);
	status.exports = exports.pointers;
	status.n_exports = exports.count;
	connection_reply(c, JXP__CONTROL_REPLY__BODY_STATUS, &status);
}

static void handle_windows(struct connection *c, const Jxp__ControlRequest *request)
{
	connection_name_request(c, "windows", 0, "");
	window_list_answer(c, request->windows);
}

/* What is asked of the store, and where its answer goes. */
struct stored_end {
	struct pool_work work;
	struct connection *connection; /* may have gone when it is on the pool */
	const char *database;
	uid_t owner; /* whose windows there are for the asker */
	unsigned number;
	struct window_result *window; /* what the answer is */
};

/* What is there of a window that could not run, or that cannot be read any more, is its row. */
static int load_stored_end(void *arg, const atomic_bool *cancelled, struct err *err)
{
	struct stored_end *s = arg;
	struct database *db = NULL;
	struct err ignored;
	int r = database_open(s->database, DATABASE_READ, &db, err);

	(void)cancelled; /* It does not take long. */
	if (r == 0 && database_load(db, s->owner, s->number, &s->window, &ignored) < 0)
		r = database_load_row(db, s->owner, s->number, &s->window, err);
	database_close(db);
	return r;
}

static void on_stored_end(void *arg, int result, const char *message)
{
	struct stored_end *s = arg;

	if (result < 0)
		connection_fail(s->connection, -result, message);
	else
		connection_send_end(s->connection, s->window);
}

static void release_stored_end(void *arg)
{
	struct stored_end *s = arg;

	window_result_free(s->window);
	free(s);
}

/* May a window that is not in memory be kept? */
static bool is_stored(const struct connection *c, const char *id)
{
	unsigned number;

	return connection_context(c)->store && selection_number(id, &number) &&
	       !engine_find_window(connection_context(c)->engine, id);
}

static void send_stored_end(struct connection *c, const char *id)
{
	static const struct pool_task task = {
	    .run = load_stored_end, .done = on_stored_end, .release = release_stored_end};
	struct stored_end *s = calloc(1, sizeof(*s));

	if (!s) {
		connection_fail(c, ENOMEM, "out of memory");
		return;
	}
	s->connection = c;
	s->database = connection_context(c)->store;
	s->owner = connection_asker(c)->sees;
	(void)selection_number(id, &s->number); /* It is one: the caller has looked. */
	connection_read(c, &s->work, &task, s);
}

static void handle_wait(struct connection *c, const Jxp__ControlRequest *request)
{
	const char *id = request->wait->window;
	const struct window_result *w;

	connection_name_request(c, "wait", 0, id);
	if (is_stored(c, id)) {
		send_stored_end(c, id);
		return;
	}
	w = find_window(c, id);
	if (w)
		connection_wait(c, w);
}

static void handle_report(struct connection *c, const Jxp__ControlRequest *request)
{
	connection_name_request(c, "report", 0, request->report->window);
	reports_send_report(c, request->report);
}

static void describe_thread(Jxp__ThreadState *state, Jxp__WatchedRegister *registers,
			    Jxp__WatchedRegister **pointers, const struct watched_thread *t)
{
	uint64_t now = clock_monotonic_ns();

	jxp__thread_state__init(state);
	state->tid = t->tid;
	state->name = (char *)t->name;
	state->armed = t->armed;
	state->traps = t->traps;
	state->registers = pointers;
	state->n_registers = PERF_DEBUG_REGISTERS;
	for (uint32_t i = 0; i < PERF_DEBUG_REGISTERS; i++) {
		const struct watched_register *watched = &t->registers[i];

		jxp__watched_register__init(&registers[i]);
		registers[i].reg = i;
		registers[i].kind = watched->kind;
		registers[i].address = watched->address;
		registers[i].length = watched->length_bytes;
		if (watched->kind != JXP__KIND__KIND_NONE && watched->since_ns < now)
			registers[i].age_ns = now - watched->since_ns;
		pointers[i] = &registers[i];
	}
}

/* One thread of the reply with all that it points to. */
struct thread_reply {
	Jxp__ThreadState state;
	Jxp__WatchedRegister registers[PERF_DEBUG_REGISTERS];
	Jxp__WatchedRegister *pointers[PERF_DEBUG_REGISTERS];
};

static void send_threads(struct connection *c, const struct thread_table *table)
{
	Jxp__ThreadList list = JXP__THREAD_LIST__INIT;
	_cleanup_free_ struct thread_reply *threads = calloc(table->count + 1, sizeof(*threads));
	_cleanup_free_ Jxp__ThreadState **states =
	    calloc(table->count + 1, sizeof(Jxp__ThreadState *));

	if (!threads || !states) {
		connection_fail(c, ENOMEM, "out of memory");
		return;
	}
	for (size_t i = 0; i < table->count; i++) {
		struct thread_reply *t = &threads[list.n_threads];

		if (table->threads[i].ended)
			continue;
		describe_thread(&t->state, t->registers, t->pointers, &table->threads[i]);
		states[list.n_threads++] = &t->state;
	}
	list.threads = states;
	connection_reply(c, JXP__CONTROL_REPLY__BODY_THREADS, &list);
}

static void handle_threads(struct connection *c, const Jxp__ControlRequest *request)
{
	uint32_t pid = request->threads->pid;
	const struct window_result *w = find_running(c, pid);

	connection_name_request(c, "threads", pid, "");
	if (w)
		send_threads(c, &w->threads);
	else
		fail_not_profiled(c, pid);
}

static void handle_list(struct connection *c, const Jxp__ControlRequest *request)
{
	(void)request; /* It has no fields. */
	connection_name_request(c, "list", 0, "");
	connection_inspect(c, INSPECTOR_LIST);
}

static void handle_check(struct connection *c, const Jxp__ControlRequest *request)
{
	uint32_t pid = request->check->pid;
	struct err err;

	connection_name_request(c, "check", pid, "");
	if (pid > INT_MAX) {
		(void)err_set(&err, EINVAL, "%u is not a process id: see 'jxperfctl list'",
			      pid); /* Only its text is wanted. */
		connection_fail(c, EINVAL, err.message);
		return;
	}
	connection_inspect(c, pid ? (int)pid : INSPECTOR_MACHINE);
}

void request_handle(struct connection *c, const Jxp__ControlRequest *request)
{
	static void (*const handlers[])(struct connection *, const Jxp__ControlRequest *) = {
	    [JXP__CONTROL_REQUEST__BODY_ATTACH] = handle_attach,
	    [JXP__CONTROL_REQUEST__BODY_DETACH] = handle_detach,
	    [JXP__CONTROL_REQUEST__BODY_STATUS] = handle_status,
	    [JXP__CONTROL_REQUEST__BODY_WINDOWS] = handle_windows,
	    [JXP__CONTROL_REQUEST__BODY_REPORT] = handle_report,
	    [JXP__CONTROL_REQUEST__BODY_THREADS] = handle_threads,
	    [JXP__CONTROL_REQUEST__BODY_LIST] = handle_list,
	    [JXP__CONTROL_REQUEST__BODY_CHECK] = handle_check,
	    [JXP__CONTROL_REQUEST__BODY_RELOAD] = handle_reload,
	    [JXP__CONTROL_REQUEST__BODY_WAIT] = handle_wait,
	    [JXP__CONTROL_REQUEST__BODY_PAUSE] = handle_pause,
	    [JXP__CONTROL_REQUEST__BODY_RESUME] = handle_resume,
	};
	unsigned body = (unsigned)request->body_case;
	struct err err;

	if (request->protocol != PROTOCOL_VERSION) {
		(void)err_set(&err, EPROTO,
			      "the client speaks protocol %u and this daemon %u: use the jxperfctl "
			      "of version %s",
			      request->protocol, PROTOCOL_VERSION,
			      JXPERF_VERSION); /* Only its text is wanted. */
		connection_fail(c, EINVAL, err.message);
		return;
	}
	if (body >= sizeof(handlers) / sizeof(handlers[0]) || !handlers[body]) {
		connection_fail(c, EINVAL,
				"the request is of an unknown kind: use the jxperfctl of "
				"version " JXPERF_VERSION);
		return;
	}
	handlers[body](c, request);
}
