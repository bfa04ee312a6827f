#include "daemon/engine/engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "daemon/engine/app_name.h"
#include "daemon/engine/gate_control.h"
#include "daemon/engine/guard.h"
#include "daemon/engine/history.h"
#include "daemon/engine/numa_query.h"
#include "daemon/engine/session.h"
#include "daemon/engine/sinks.h"

/* One target from the request to the end of its window:
 *
 *   the broker attaches ──▶ opens the gate ──▶ session ──▶ the broker removes the gate
 *
 * While the broker is at work there is a deadline, answer_by_ns, for what may never come. A stop
 * before the session is there is remembered (stop_reason) and the answer ends the attachment; after
 * the session it changes nothing, since the window is over. */
struct attachment {
	struct engine *engine;
	struct window *window;
	struct session *session; /* NULL while the helper is at work */
	int agent_fd;            /* connection to the agent until there is a session, or -1 */
	struct gate_control gate;
	int attach_request; /* ids of open requests to the broker, or 0 */
	int perf_request;
	uint32_t perf_tid;
	uint64_t answer_by_ns; /* at which the broker is given up on; 0: not waited for */
	bool leaving;          /* the session is over, the gate's last counts are awaited */
	char stop_reason[WINDOW_REASON_BYTES]; /* set: it is to end before it began */
	struct numa_query numa;
	struct guard *guard; /* NULL: nothing is seen of side effects */
};

struct engine {
	uv_loop_t *loop;
	uv_timer_t patience; /* until the first answer_by_ns */
	uint64_t patience_ns;
	struct broker_client *broker;
	struct sinks sinks;
	struct attachment *running[ENGINE_RUNNING_MAX]; /* oldest first */
	size_t running_count;
	struct history history;
	unsigned windows_numbered;
	uint64_t windows_total;
	uint64_t attach_failures;
	bool stopping;
	void (*stopped)(void *arg);
	void *stopped_arg;
};

_Static_assert(SINKS_OF_ONE_MAX >= ENGINE_RUNNING_MAX, "every window may have an observer");

int engine_new(struct engine **out, uv_loop_t *loop, struct broker_client *broker, struct err *err)
{
	struct window_sink history;
	struct engine *e = calloc(1, sizeof(*e));

	if (!e)
		return err_set(err, ENOMEM, "out of memory");
	e->loop = loop;
	e->broker = broker;
	e->patience_ns = ENGINE_PATIENCE_MS * NS_PER_MS;
	(void)uv_timer_init(loop, &e->patience); /* Cannot fail. */
	e->patience.data = e;
	history = history_sink(&e->history);
	engine_add_sink(e, &history);
	*out = e;
	return 0;
}

void engine_add_sink(struct engine *e, const struct window_sink *sink)
{
	sinks_add(&e->sinks, sink, NULL);
}

static struct attachment *find_attachment(const struct engine *e, pid_t pid)
{
	for (size_t i = 0; i < e->running_count; i++)
		if (e->running[i]->window->pid == pid)
			return e->running[i];
	return NULL;
}

/* Takes the attachment out of the list and frees it, with its window unless a sink has kept that.
 */
static void remove_attachment(struct attachment *a)
{
	struct engine *e = a->engine;
	size_t i = 0;

	while (e->running[i] != a)
		i++;
	e->running_count--;
	memmove(e->running + i, e->running + i + 1,
		(e->running_count - i) * sizeof(struct attachment *));
	if (a->attach_request > 0)
		broker_client_forget(e->broker, a->attach_request);
	if (a->perf_request > 0)
		broker_client_forget(e->broker, a->perf_request);
	numa_query_release(&a->numa);
	gate_control_release(&a->gate);
	guard_free(a->guard);
	fd_close_all(&a->agent_fd, 1);
	session_free(a->session);
	sinks_forget_window(&e->sinks, a->window);
	window_free(a->window);
	free(a);
}

static void on_closed(uv_handle_t *handle)
{
	free(handle->data);
}

void engine_free(struct engine *e)
{
	if (!e)
		return;
	while (e->running_count > 0)
		remove_attachment(e->running[0]);
	history_release(&e->history);
	uv_close((uv_handle_t *)&e->patience, on_closed);
}

static void stop_attachment(struct attachment *a, const char *reason);

static void report_if_stopped(struct engine *e)
{
	void (*stopped)(void *) = e->stopped;

	if (!e->stopping || e->running_count > 0 || !stopped)
		return;
	e->stopped = NULL;
	stopped(e->stopped_arg);
}

/* The target is not ours any more: tell the broker. It answers nothing; if it is dead, the engine
 * hears of that elsewhere. */
static void release_target(struct attachment *a)
{
	(void)broker_client_release(a->engine->broker, a->window->pid);
}

static void attachment_failed(struct attachment *a, int error, const char *message)
{
	struct engine *e = a->engine;

	e->attach_failures++;
	log_info("window %s: pid %d: %s", a->window->id, (int)a->window->pid, message);
	release_target(a);
	window_fail(a->window, message);
	a->window->finished = true;
	sinks_failed(&e->sinks, a->window, error, message);
	remove_attachment(a);
	report_if_stopped(e);
}

/* ---------------------------------------------------------------- waiting for the broker */

static void on_impatience(uv_timer_t *timer);

/* Has the timer run until the first deadline that there is. */
static void set_patience_timer(struct engine *e)
{
	uint64_t now_ns = clock_monotonic_ns(), first_ns = UINT64_MAX;

	for (size_t i = 0; i < e->running_count; i++)
		if (e->running[i]->answer_by_ns && e->running[i]->answer_by_ns < first_ns)
			first_ns = e->running[i]->answer_by_ns;
	/* Both fail only for a NULL callback or a closing handle. */
	if (first_ns == UINT64_MAX)
		(void)uv_timer_stop(&e->patience);
	else
		(void)uv_timer_start(&e->patience, on_impatience,
				     first_ns > now_ns ? (first_ns - now_ns) / NS_PER_MS + 1 : 0,
				     0);
}

static void await_broker(struct attachment *a)
{
	a->answer_by_ns = clock_monotonic_ns() + a->engine->patience_ns;
	set_patience_timer(a->engine);
}

void engine_set_patience(struct engine *e, uint64_t ms)
{
	e->patience_ns = ms * NS_PER_MS;
	for (size_t i = 0; i < e->running_count; i++)
		if (e->running[i]->answer_by_ns)
			e->running[i]->answer_by_ns = clock_monotonic_ns() + e->patience_ns;
	set_patience_timer(e);
}

static void end_window(void *arg);

/* The window is what it is without the gate's last counts; one that has not begun fails. */
static void give_up_on_broker(struct attachment *a)
{
	log_warn("window %s: the privileged half of jxperfd does not answer", a->window->id);
	a->answer_by_ns = 0;
	if (a->leaving)
		end_window(a);
	else
		attachment_failed(a, ETIMEDOUT,
				  a->stop_reason[0] ? a->stop_reason
						    : "the privileged half of jxperfd does not "
						      "answer: see the daemon's log");
}

static void on_impatience(uv_timer_t *timer)
{
	struct engine *e = timer->data;
	uint64_t now_ns = clock_monotonic_ns();

	/* Backwards: those that are given up leave the list. */
	for (size_t i = e->running_count; i-- > 0;)
		if (i < e->running_count && e->running[i]->answer_by_ns &&
		    e->running[i]->answer_by_ns <= now_ns)
			give_up_on_broker(e->running[i]);
	set_patience_timer(e);
}

/* ---------------------------------------------------------------- session callbacks */

static void on_started(void *arg)
{
	struct attachment *a = arg;

	log_info("window %s: profiling pid %d (%s)", a->window->id, (int)a->window->pid,
		 a->window->app);
	gate_control_follow(&a->gate);
	sinks_started(&a->engine->sinks, a->window);
}

static void on_progressed(void *arg)
{
	struct attachment *a = arg;

	numa_query_pump(&a->numa);
	gate_control_follow(&a->gate);
	sinks_progressed(&a->engine->sinks, a->window);
	sinks_strangers(&a->engine->sinks, a->gate.strangers);
}

/* A window for objects alone has nothing left to do. */
static void on_alarm(void *arg, const char *line)
{
	struct attachment *a = arg;
	struct window *w = a->window;

	window_switch_off_objects(w, line);
	log_info("window %s: %s", w->id, w->objects_refused);
	if (window_samples_pairs(w))
		session_stop_objects(a->session);
	else
		stop_attachment(a, w->objects_refused);
}

static void end_window(void *arg)
{
	struct attachment *a = arg;
	struct engine *e = a->engine;
	struct window *w = a->window;

	if (w->state == WINDOW_FAILED) {
		attachment_failed(a, ECONNABORTED, w->reason);
		return;
	}
	log_info("window %s: %s%s%s", w->id, window_state_name(w), w->reason[0] ? ": " : "",
		 w->reason);
	release_target(a);
	numa_query_release(&a->numa);
	numa_profile_finish(&w->numa);
	e->windows_total++;
	sinks_strangers(&e->sinks, a->gate.strangers);
	w->finished = true;
	sinks_finished(&e->sinks, w);
	remove_attachment(a);
	report_if_stopped(e);
}

/* The gate's last counts belong to the window. */
static void on_ended(void *arg)
{
	struct attachment *a = arg;

	a->leaving = true;
	if (gate_control_close(&a->gate, end_window, a) < 0)
		end_window(a);
	else
		await_broker(a);
}

static void on_perf_reply(void *arg, const struct broker_reply *reply, int *fds)
{
	struct attachment *a = arg;
	size_t count = reply->error ? 0 : reply->fds;

	a->perf_request = 0;
	if (reply->error)
		log_debug("window %s: events for thread %u: %s", a->window->id, a->perf_tid,
			  reply->message);
	session_perf_opened(a->session, a->perf_tid, reply->error, fds, count);
	for (size_t i = 0; i < count; i++)
		fds[i] = -1; /* The session owns them. */
}

static void on_perf_open(void *arg, const Jxp__PerfOpenRequest *request)
{
	struct attachment *a = arg;

	int r =
	    broker_client_perf_open(a->engine->broker, a->window->pid, request, on_perf_reply, a);

	if (r < 0) {
		session_perf_opened(a->session, request->tid, -r, NULL, 0);
		return;
	}
	a->perf_tid = request->tid;
	a->perf_request = r;
}

/* ---------------------------------------------------------------- attach */

static void start_session(struct attachment *a, int *gate_program)
{
	struct session_callbacks callbacks = {.arg = a,
					      .started = on_started,
					      .progressed = on_progressed,
					      .perf_open = on_perf_open,
					      .ended = on_ended};
	struct err err;
	int r = session_new(&a->session, a->engine->loop, a->agent_fd, a->window, &callbacks, &err);

	if (r < 0) {
		attachment_failed(a, -r, err.message);
		return;
	}
	a->agent_fd = -1; /* The session owns it. */
	session_set_gate(a->session, TAKE_FD(*gate_program));
}

static void on_gate_opened(void *arg, int *program)
{
	struct attachment *a = arg;

	a->answer_by_ns = 0;
	if (a->stop_reason[0])
		attachment_failed(a, ECANCELED, a->stop_reason);
	else
		start_session(a, program);
}

static void on_attach_reply(void *arg, const struct broker_reply *reply, int *fds)
{
	struct attachment *a = arg;
	int none = -1;

	a->attach_request = 0;
	a->answer_by_ns = 0;
	if (a->stop_reason[0]) {
		attachment_failed(a, ECANCELED, a->stop_reason);
		return;
	}
	if (reply->error || reply->fds != 1) {
		attachment_failed(a, reply->error,
				  reply->error ? reply->message
					       : "the broker gave no connection to the agent");
		return;
	}
	a->agent_fd = TAKE_FD(fds[0]);
	app_name_of(a->window->app, sizeof(a->window->app), reply->message);
	if (gate_control_open(&a->gate, a->engine->broker, a->window, on_gate_opened, a) < 0)
		start_session(a, &none);
	else
		await_broker(a);
}

static int check_admission(const struct engine *e, pid_t pid, struct err *err)
{
	const struct attachment *other = find_attachment(e, pid);

	if (e->stopping)
		return err_set(err, EBUSY, "the daemon is stopping");
	if (other)
		return err_set(err, EBUSY,
			       "pid %d is already being profiled (window %s): wait, or end it with "
			       "'jxperfctl detach %d'",
			       (int)pid, other->window->id, (int)pid);
	if (e->running_count == ENGINE_RUNNING_MAX)
		return err_set(err, EBUSY, "%d windows are running, which is the limit: wait",
			       ENGINE_RUNNING_MAX);
	return 0;
}

static uint32_t attach_flags(const struct window *w)
{
	return (window_measures_numa(w) ? BROKER_ATTACH_TRACE_TOUCH : 0) |
	       (w->request.force ? BROKER_ATTACH_FORCE : 0);
}

static int start_attach(struct engine *e, pid_t pid, const struct window_request *request,
			const struct window_findings *findings, const struct window_sink *observer,
			char id[WINDOW_ID_BYTES], struct err *err)
{
	_cleanup_free_ struct attachment *a = calloc(1, sizeof(*a));
	int r = check_admission(e, pid, err);

	if (r < 0)
		return r;
	if (!a)
		return err_set(err, ENOMEM, "out of memory");
	a->window = window_new(e->windows_numbered + 1, pid, request, findings);
	if (!a->window)
		return err_set(err, ENOMEM, "out of memory");
	a->engine = e;
	if (window_measures_numa(a->window))
		numa_query_init(&a->numa, e->broker, pid, &a->window->findings.numa,
				&a->window->numa, &a->window->losses[LOSS_FIRST_TOUCHES]);
	a->agent_fd = -1;
	r = broker_client_attach(e->broker, pid, attach_flags(a->window), on_attach_reply, a);
	if (r < 0) {
		window_free(a->window);
		return err_set_errno(err, -r, "cannot ask the broker to attach to pid %d", pid);
	}
	a->attach_request = r;
	a->guard = guard_new(e->loop, e->broker, a->window, on_alarm, a);
	e->windows_numbered++;
	(void)snprintf(id, WINDOW_ID_BYTES, "%s", a->window->id); /* Same size. */
	e->running[e->running_count++] = a;
	if (observer)
		sinks_add(&e->sinks, observer, a->window);
	await_broker(TAKE_PTR(a));
	return 0;
}

int engine_attach(struct engine *e, pid_t pid, const struct window_request *request,
		  const struct window_findings *findings, const struct window_sink *observer,
		  char id[WINDOW_ID_BYTES], struct err *err)
{
	int r = start_attach(e, pid, request, findings, observer, id, err);

	if (r < 0) {
		e->attach_failures++;
		sinks_failed(&e->sinks, NULL, -r, err->message);
	}
	return r;
}

/* Before the agent is there the broker is told to give up, and its answer ends the attachment. */
static void stop_attachment(struct attachment *a, const char *reason)
{
	if (a->leaving)
		return;
	if (a->session) {
		gate_control_shut(&a->gate);
		session_stop(a->session, reason);
		return;
	}
	(void)snprintf(a->stop_reason, sizeof(a->stop_reason), "%s", reason); /* May be cut. */
	release_target(a);
}

int engine_detach(struct engine *e, pid_t pid, const char *reason, char id[WINDOW_ID_BYTES],
		  struct err *err)
{
	struct attachment *a = find_attachment(e, pid);

	if (!a)
		return err_set(err, ESRCH, "pid %d is not being profiled: see 'jxperfctl status'",
			       (int)pid);
	(void)snprintf(id, WINDOW_ID_BYTES, "%s", a->window->id); /* Same size. */
	stop_attachment(a, reason);
	return 0;
}

void engine_forget_observer(struct engine *e, const void *arg)
{
	const struct window *w = sinks_forget(&e->sinks, arg);

	if (w)
		stop_attachment(find_attachment(e, w->pid),
				"the client that asked for it went away");
}

void engine_stop(struct engine *e, void (*done)(void *arg), void *arg)
{
	e->stopping = true;
	e->stopped = done;
	e->stopped_arg = arg;
	for (size_t i = 0; i < e->running_count; i++)
		stop_attachment(e->running[i], "the daemon was stopped");
	report_if_stopped(e);
}

/* ---------------------------------------------------------------- questions */

bool engine_is_profiled(const struct engine *e, pid_t pid)
{
	return find_attachment(e, pid) != NULL;
}

size_t engine_window_count(const struct engine *e)
{
	return e->history.count + e->running_count;
}

const struct window *engine_window(const struct engine *e, size_t i)
{
	return i < e->history.count ? e->history.windows[i]
				    : e->running[i - e->history.count]->window;
}

const struct window *engine_find_window(const struct engine *e, const char *id)
{
	for (size_t i = 0; i < engine_window_count(e); i++)
		if (strcmp(engine_window(e, i)->id, id) == 0)
			return engine_window(e, i);
	return NULL;
}

const struct window *engine_find_running(const struct engine *e, pid_t pid)
{
	const struct attachment *a = find_attachment(e, pid);

	return a ? a->window : NULL;
}

const struct thread_table *engine_threads(const struct engine *e, pid_t pid)
{
	static const struct thread_table none;
	const struct attachment *a = find_attachment(e, pid);

	if (!a)
		return NULL;
	return a->session ? session_threads(a->session) : &none;
}

uint64_t engine_windows_total(const struct engine *e)
{
	return e->windows_total;
}

uint64_t engine_attach_failures(const struct engine *e)
{
	return e->attach_failures;
}
