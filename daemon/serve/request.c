#include "daemon/serve/request.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "daemon/engine/history.h"
#include "daemon/inspector/inspector.h"
#include "daemon/report/report.h"
#include "proto/limits.h"
#include "proto/words.h"

static void handle_attach(struct connection *c, const Jxp__ControlRequest *request)
{
	struct err err;
	int r = report_check_format(request->attach->format, &err);

	if (r < 0)
		connection_fail(c, r == -EINVAL, err.message);
	else
		connection_attach(c, request->attach);
}

static void handle_detach(struct connection *c, const Jxp__ControlRequest *request)
{
	Jxp__Done done = JXP__DONE__INIT;
	Jxp__ControlReply reply = JXP__CONTROL_REPLY__INIT;
	char id[WINDOW_ID_BYTES], message[ERR_MESSAGE_MAX];
	struct err err;

	if (engine_detach(connection_context(c)->engine, (pid_t)request->detach->pid,
			  "it was detached on request", id, &err) < 0) {
		connection_fail(c, false, err.message);
		return;
	}
	(void)snprintf(message, sizeof(message), "window %s of pid %u is ending", id,
		       request->detach->pid);
	done.message = message;
	reply.body_case = JXP__CONTROL_REPLY__BODY_DONE;
	reply.done = &done;
	connection_reply(c, &reply);
}

static void handle_reload(struct connection *c, const Jxp__ControlRequest *request)
{
	const struct control_context *context = connection_context(c);
	Jxp__Done done = JXP__DONE__INIT;
	Jxp__ControlReply reply = JXP__CONTROL_REPLY__INIT;
	struct err err;

	(void)request; /* It has no fields. */
	if (!context->reload || context->reload(context->reload_arg, &err) < 0) {
		connection_fail(c, false,
				context->reload ? err.message : "this daemon has no configuration");
		return;
	}
	done.message = (char *)"the configuration was read";
	reply.body_case = JXP__CONTROL_REPLY__BODY_DONE;
	reply.done = &done;
	connection_reply(c, &reply);
}

static void describe_window(Jxp__WindowInfo *info, const struct window_result *w)
{
	jxp__window_info__init(info);
	info->id = (char *)w->id;
	info->pid = (uint32_t)w->pid;
	info->app = (char *)w->app;
	info->state = (char *)window_result_state_name(w);
	info->sampler = (char *)name_of_sampler(w->findings.sampler);
	info->started_unix_ns = w->start_unix_ns;
	info->elapsed_ns = window_result_elapsed_ns(w);
	info->duration_ns = w->request.duration_ns;
	info->samples = w->counters[JXP__COUNTER__COUNTER_SAMPLES];
	info->traps = w->counters[JXP__COUNTER__COUNTER_TRAPS];
}

/* As many as there can be: running and finished. */
struct window_infos {
	Jxp__WindowInfo infos[ENGINE_RUNNING_MAX + HISTORY_MAX];
	Jxp__WindowInfo *pointers[ENGINE_RUNNING_MAX + HISTORY_MAX];
	size_t count;
};

static void collect_windows(struct window_infos *all, const struct engine *engine, bool finished)
{
	all->count = 0;
	for (size_t i = 0; i < engine_window_count(engine); i++) {
		const struct window_result *w = engine_window(engine, i);

		if (!finished && w->finished)
			continue;
		describe_window(&all->infos[all->count], w);
		all->pointers[all->count] = &all->infos[all->count];
		all->count++;
	}
}

static void handle_status(struct connection *c, const Jxp__ControlRequest *request)
{
	const struct control_context *context = connection_context(c);
	Jxp__Status status = JXP__STATUS__INIT;
	Jxp__ControlReply reply = JXP__CONTROL_REPLY__INIT;
	struct window_infos all;

	(void)request; /* It has no fields. */
	collect_windows(&all, context->engine, false);
	status.version = (char *)JXPERF_VERSION;
	status.pid = (uint32_t)getpid();
	status.uptime_ns = clock_monotonic_ns() - context->started_ns;
	status.http = (char *)context->http;
	status.running = all.pointers;
	status.n_running = all.count;
	status.windows_total = engine_windows_total(context->engine);
	status.attach_failures = engine_attach_failures(context->engine);
	reply.body_case = JXP__CONTROL_REPLY__BODY_STATUS;
	reply.status = &status;
	connection_reply(c, &reply);
}

static void handle_windows(struct connection *c, const Jxp__ControlRequest *request)
{
	Jxp__WindowList list = JXP__WINDOW_LIST__INIT;
	Jxp__ControlReply reply = JXP__CONTROL_REPLY__INIT;
	struct window_infos all;

	(void)request; /* It has no fields. */
	collect_windows(&all, connection_context(c)->engine, true);
	list.windows = all.pointers;
	list.n_windows = all.count;
	reply.body_case = JXP__CONTROL_REPLY__BODY_WINDOWS;
	reply.windows = &list;
	connection_reply(c, &reply);
}

static void handle_report(struct connection *c, const Jxp__ControlRequest *request)
{
	const Jxp__ReportRequest *report = request->report;
	const struct window_result *w =
	    engine_find_window(connection_context(c)->engine, report->window);
	struct err err;

	if (!w) {
		(void)err_set(&err, ENOENT, "no window '%s': see 'jxperfctl windows'",
			      report->window); /* Only its text is wanted. */
		connection_fail(c, false, err.message);
		return;
	}
	if (w->state == WINDOW_FAILED) {
		(void)err_set(&err, ECANCELED,
			      "window %s of pid %d has no report, it could not run: %s", w->id,
			      (int)w->pid, w->reason); /* Only its text is wanted. */
		connection_fail(c, false, err.message);
		return;
	}
	if (report_check_format(report->format, &err) < 0) {
		connection_fail(c, true, err.message);
		return;
	}
	connection_send_report(c, w, report->format, report->pairs);
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
	Jxp__ControlReply reply = JXP__CONTROL_REPLY__INIT;
	_cleanup_free_ struct thread_reply *threads = calloc(table->count + 1, sizeof(*threads));
	_cleanup_free_ Jxp__ThreadState **states =
	    calloc(table->count + 1, sizeof(Jxp__ThreadState *));

	if (!threads || !states) {
		connection_fail(c, false, "out of memory");
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
	reply.body_case = JXP__CONTROL_REPLY__BODY_THREADS;
	reply.threads = &list;
	connection_reply(c, &reply);
}

static void handle_threads(struct connection *c, const Jxp__ControlRequest *request)
{
	const struct thread_table *threads =
	    engine_threads(connection_context(c)->engine, (pid_t)request->threads->pid);
	struct err err;

	if (threads) {
		send_threads(c, threads);
		return;
	}
	(void)err_set(&err, ESRCH, "pid %u is not being profiled: see 'jxperfctl status'",
		      request->threads->pid); /* Only its text is wanted. */
	connection_fail(c, false, err.message);
}

static void handle_list(struct connection *c, const Jxp__ControlRequest *request)
{
	(void)request; /* It has no fields. */
	connection_inspect(c, INSPECTOR_LIST);
}

static void handle_check(struct connection *c, const Jxp__ControlRequest *request)
{
	uint32_t pid = request->check->pid;
	struct err err;

	if (pid > INT_MAX) {
		(void)err_set(&err, EINVAL, "%u is not a process id: see 'jxperfctl list'",
			      pid); /* Only its text is wanted. */
		connection_fail(c, true, err.message);
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
	};
	unsigned body = (unsigned)request->body_case;
	struct err err;

	if (request->protocol != PROTOCOL_VERSION) {
		(void)err_set(&err, EPROTO,
			      "the client speaks protocol %u and this daemon %u: use the jxperfctl "
			      "of version %s",
			      request->protocol, PROTOCOL_VERSION,
			      JXPERF_VERSION); /* Only its text is wanted. */
		connection_fail(c, true, err.message);
		return;
	}
	if (body >= sizeof(handlers) / sizeof(handlers[0]) || !handlers[body]) {
		connection_fail(c, true,
				"the request is of an unknown kind: use the jxperfctl of "
				"version " JXPERF_VERSION);
		return;
	}
	handlers[body](c, request);
}
