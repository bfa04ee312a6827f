#include "daemon/engine/engine.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/proc.h"
#include "daemon/engine/history.h"
#include "daemon/questions/inspections.h"
#include "daemon/questions/jar_versions.h"
#include "daemon/engine/pause.h"
#include "daemon/engine/run.h"
#include "daemon/engine/sinks.h"
#include "daemon/shares/miss.h"
#include "daemon/shares/shares.h"

/* Few ticks are taken and few accesses are sampled in less time. */
#define TELL_NS (NS_PER_S / 2)

const struct engine_limits engine_limits_usual = {
    .patience_ms = 45000, .window_bytes = WINDOW_BYTES_MAX, .running_bytes = (size_t)192 << 20};

struct engine {
	struct run_context context;
	struct sinks sinks;
	struct run *running[ENGINE_RUNNING_MAX]; /* oldest first */
	size_t running_count;
	struct history history;
	unsigned windows_numbered;
	uint64_t windows_total;
	uint64_t attach_failures;
	const struct engine_limits *limits;
	struct shares windows; /* that run, of those who asked for them */
	struct pause *pause;   /* NULL: none */
	bool stopping;
	void (*stopped)(void *arg);
	void *stopped_arg;
};

_Static_assert(SINKS_OF_ONE_MAX >= ENGINE_RUNNING_MAX, "every window may have an observer");

int engine_new(struct engine **out, uv_loop_t *loop, struct broker_client *broker,
	       const struct engine_limits *limits, struct err *err)
{
	static const struct share_limits windows = {
	    .things = "windows running",
	    .advice = "wait, or end one with 'jxperfctl detach' (windows-per-user)",
	    .all = ENGINE_RUNNING_MAX,
	    .reserved = ENGINE_RUNNING_RESERVED,
	    .of_user = ENGINE_RUNNING_MAX};
	struct engine *e = calloc(1, sizeof(*e));
	struct window_sink history;

	if (!e)
		return err_set(err, ENOMEM, "out of memory");
	e->context = (struct run_context){.loop = loop,
					  .broker = broker,
					  .inspections = inspections_new(loop, broker),
					  .tell_ns = TELL_NS};
	if (e->context.inspections)
		e->context.jars = jar_versions_new(e->context.inspections);
	if (!e->context.jars) {
		inspections_free(e->context.inspections);
		free(e);
		return err_set(err, ENOMEM, "out of memory");
	}
	e->limits = limits;
	shares_init(&e->windows, &windows);
	history = history_sink(&e->history);
	engine_add_sink(e, &history);
	*out = e;
	return 0;
}

struct inspections *engine_inspections(const struct engine *e)
{
	return e->context.inspections;
}

const struct jar_versions *engine_jar_versions(const struct engine *e)
{
	return e->context.jars;
}

void engine_set_namer(struct engine *e, const struct run_namer *namer)
{
	e->context.namer = *namer;
}

void engine_add_sink(struct engine *e, const struct window_sink *sink)
{
	sinks_add(&e->sinks, sink, NULL);
}

void engine_set_user_limit(struct engine *e, unsigned windows)
{
	e->windows.limits.of_user = windows ? windows : ENGINE_RUNNING_MAX;
}

void engine_set_pause(struct engine *e, struct pause *pause)
{
	e->pause = pause;
}

struct pause *engine_pause(const struct engine *e)
{
	return e->pause;
}

/* The newest, where one waits until another has left. */
static struct run *find_run(const struct engine *e, pid_t pid)
{
	for (size_t i = e->running_count; i-- > 0;)
		if (run_result(e->running[i])->pid == pid)
			return e->running[i];
	return NULL;
}

/* Takes the run out of the list and frees it, with its window unless a sink has kept that. */
static void remove_run(struct engine *e, struct run *r)
{
	size_t i = 0;

	while (e->running[i] != r)
		i++;
	e->running_count--;
	memmove(e->running + i, e->running + i + 1, (e->running_count - i) * sizeof(struct run *));
	shares_give(&e->windows, run_result(r)->asker.sees, 1);
	sinks_forget_window(&e->sinks, run_result(r));
	run_free(r);
}

void engine_free(struct engine *e)
{
	if (!e)
		return;
	while (e->running_count > 0)
		remove_run(e, e->running[0]);
	jar_versions_free(e->context.jars);
	inspections_free(e->context.inspections);
	history_release(&e->history);
	shares_release(&e->windows);
	free(e);
}

static void report_if_stopped(struct engine *e)
{
	void (*stopped)(void *) = e->stopped;

	if (!e->stopping || e->running_count > 0 || !stopped)
		return;
	e->stopped = NULL;
	stopped(e->stopped_arg);
}

/* ---------------------------------------------------------------- what runs tell */

static void on_started(void *arg, const struct run *r)
{
	struct engine *e = arg;

	sinks_started(&e->sinks, run_result(r));
}

/* Agents decide how much there is to remember, and a user may have several. */
static void keep_to_memory(const struct engine *e)
{
	char reason[WINDOW_REASON_BYTES];
	struct run *largest = NULL;
	size_t sum = 0, most = 0;

	for (size_t i = 0; i < e->running_count; i++) {
		size_t bytes = run_memory_bytes(e->running[i]);

		sum += bytes;
		if (bytes > most) {
			most = bytes;
			largest = e->running[i];
		}
	}
	if (most > e->limits->window_bytes)
		(void)snprintf(reason, sizeof(reason),
			       "it took more memory than jxperfd has for a window (%zu MiB)",
			       e->limits->window_bytes >> 20); /* Fits, as the other. */
	else if (sum > e->limits->running_bytes)
		(void)snprintf(reason, sizeof(reason),
			       "all windows took more memory than jxperfd has for them (%zu MiB), "
			       "and this one most",
			       e->limits->running_bytes >> 20);
	else
		return;
	run_cut(largest, reason);
}

static void on_progressed(void *arg, const struct run *r)
{
	struct engine *e = arg;

	sinks_progressed(&e->sinks, run_result(r));
	sinks_strangers(&e->sinks, run_strangers(r));
	keep_to_memory(e);
}

/* Whoever waited for the JVM has it now. */
static void resume(struct engine *e, pid_t pid)
{
	struct run *r = find_run(e, pid);

	if (r && run_state(r) == RUN_WAITING)
		run_resume(r);
}

static void on_ended(void *arg, struct run *r, int error, const char *message)
{
	struct engine *e = arg;
	const struct window_result *w = run_result(r);
	pid_t pid = w->pid;

	sinks_strangers(&e->sinks, run_strangers(r));
	if (error) {
		e->attach_failures += !attach_error(error)->absent;
		sinks_failed(&e->sinks, w, error, message);
	} else {
		e->windows_total++;
		sinks_finished(&e->sinks, w);
	}
	remove_run(e, r);
	resume(e, pid);
	report_if_stopped(e);
}

/* ---------------------------------------------------------------- calls */

/* One that nobody asked for makes room for one that somebody asks for. */
static bool gives_way(const struct run *other, const struct window_request *request)
{
	return window_request_is_scheduled(&run_result(other)->request) &&
	       !window_request_is_scheduled(request);
}

static bool sees_run(const struct window_result *w, const struct run *other)
{
	return window_asker_sees(&w->asker, run_result(other)->owner);
}

/* Passes the window of an asker who may not know of another one of the same JVM. */
static int check_admission(const struct engine *e, const struct window_result *w, struct err *err)
{
	const struct run *other = find_run(e, w->pid);

	if (e->stopping)
		return err_set(err, EBUSY, "the daemon is stopping");
	if (e->pause && pause_forbids(e->pause, err))
		return -EBUSY;
	if (other && sees_run(w, other) && !gives_way(other, &w->request))
		return err_set(err, EBUSY,
			       "pid %d is already being profiled (window %s): wait, or end it with "
			       "'jxperfctl detach %d'",
			       (int)w->pid, run_result(other)->id, (int)w->pid);
	return shares_check(&e->windows, w->asker.sees, 1, err) < 0 ? -EBUSY : 0;
}

static int start_run(struct engine *e, struct window_result *w, const struct window_sink *observer,
		     char id[WINDOW_ID_BYTES], struct err *err)
{
	const struct run_callbacks callbacks = {
	    .arg = e, .started = on_started, .progressed = on_progressed, .ended = on_ended};
	struct run_context context = e->context;
	struct run *run;
	struct run *other = find_run(e, w->pid);
	int r;

	context.patience_ms = e->limits->patience_ms;
	r = run_new(&run, &context, w, &callbacks, err);
	if (r < 0)
		return r;
	r = shares_take(&e->windows, w->asker.sees, 1, err);
	if (r == 0 && !other) {
		r = run_begin(run, err);
		if (r < 0)
			shares_give(&e->windows, w->asker.sees, 1);
	}
	if (r < 0) {
		(void)window_result_keep(w); /* The caller's still. */
		run_free(run);
		return r;
	}
	if (other) /* It goes on when that has ended. */
		run_stop(other, "somebody asked for a window of this JVM");
	e->windows_numbered++;
	e->running[e->running_count++] = run;
	if (observer)
		sinks_add(&e->sinks, observer, w);
	(void)snprintf(id, WINDOW_ID_BYTES, "%s", w->id); /* Same size. */
	return 0;
}

/* Refuses an asker who may not know that the JVM is being profiled, as the broker refuses a pid
 * that nobody has. It is not asked itself, because a second run of one pid would meddle with the
 * first.
 */
static int refuse_hidden(struct engine *e, const struct window_result *w, struct err *err)
{
	e->windows_numbered++;
	return proc_absent(w->pid, err);
}

/* It could not even begin. One that was given no number has no id. */
static void refuse(struct engine *e, struct window_result *w, unsigned number, int error,
		   const struct err *err)
{
	e->attach_failures += !attach_error(error)->absent;
	if (w) {
		if (e->windows_numbered < number || attach_error(error)->no_window)
			window_result_withdraw(w);
		window_result_fail(w, err->message);
		w->finished = true;
	}
	sinks_failed(&e->sinks, w, error, err->message);
	window_result_free(w);
}

void engine_number_from(struct engine *e, unsigned first)
{
	e->windows_numbered = first - 1;
}

int engine_attach(struct engine *e, const struct window_asker *asker, pid_t pid,
		  const struct window_request *request, const struct window_findings *findings,
		  const struct window_sink *observer, char id[WINDOW_ID_BYTES], struct err *err)
{
	unsigned number = e->windows_numbered + 1;
	struct window_result *w = window_result_new(number, pid, request, findings);
	const struct run *other;
	int r;

	if (!w) {
		r = err_set(err, ENOMEM, "out of memory");
		refuse(e, NULL, number, -r, err);
		return r;
	}
	/* Until the broker says whose it is. Of one that a schedule wants it was seen, so that its
	 * owner's own attach meets the window from the first moment, and wins. */
	w->owner = window_request_is_scheduled(request) ? request->schedule.owner : asker->sees;
	w->asker = *asker;
	other = find_run(e, pid);
	r = check_admission(e, w, err);
	if (r == 0)
		r = other && !sees_run(w, other) ? refuse_hidden(e, w, err)
						 : start_run(e, w, observer, id, err);
	if (r < 0)
		refuse(e, w, number, -r, err);
	return r;
}

int engine_detach(struct engine *e, pid_t pid, const char *reason, char id[WINDOW_ID_BYTES],
		  struct err *err)
{
	struct run *r = find_run(e, pid);

	if (!r)
		return err_set(err, ESRCH, "pid %d is not being profiled: see 'jxperfctl status'",
			       (int)pid);
	(void)snprintf(id, WINDOW_ID_BYTES, "%s", run_result(r)->id); /* Same size. */
	run_stop(r, reason);
	return 0;
}

void engine_forget_observer(struct engine *e, const void *arg)
{
	const struct window_result *w = sinks_forget(&e->sinks, arg);

	if (w)
		run_stop(find_run(e, w->pid), "the client that asked for it went away");
}

int engine_watch(struct engine *e, const struct window_result *w,
		 const struct window_sink *observer, struct err *err)
{
	assert(!w->finished);
	if (!sinks_can_watch(&e->sinks))
		return err_set(err, EBUSY, "%d clients wait for windows, which is the limit: wait",
			       SINKS_WATCHERS_MAX);
	sinks_add(&e->sinks, observer, w);
	return 0;
}

void engine_unwatch(struct engine *e, const void *arg)
{
	(void)sinks_forget(&e->sinks, arg); /* It may have ended meanwhile. */
}

void engine_end_windows(struct engine *e, const char *reason)
{
	for (size_t i = 0; i < e->running_count; i++)
		run_stop(e->running[i], reason);
}

size_t engine_end_scheduled(struct engine *e, const char *reason)
{
	size_t others = 0;

	for (size_t i = 0; i < e->running_count; i++) {
		if (window_request_is_scheduled(&run_result(e->running[i])->request))
			run_stop(e->running[i], reason);
		else
			others++;
	}
	return others;
}

void engine_stop(struct engine *e, void (*done)(void *arg), void *arg)
{
	e->stopping = true;
	e->stopped = done;
	e->stopped_arg = arg;
	engine_end_windows(e, "the daemon was stopped");
	report_if_stopped(e);
}

/* ---------------------------------------------------------------- questions */

bool engine_is_profiled(const struct engine *e, pid_t pid)
{
	return find_run(e, pid) != NULL;
}

size_t engine_window_count(const struct engine *e)
{
	return e->history.count + e->running_count;
}

const struct window_result *engine_window(const struct engine *e, size_t i)
{
	return i < e->history.count ? e->history.windows[i]
				    : run_result(e->running[i - e->history.count]);
}

const struct window_result *engine_find_window(const struct engine *e, const char *id)
{
	for (size_t i = 0; i < engine_window_count(e); i++)
		if (strcmp(engine_window(e, i)->id, id) == 0)
			return engine_window(e, i);
	return NULL;
}

const struct window_result *engine_find_running(const struct engine *e, pid_t pid)
{
	const struct run *r = find_run(e, pid);

	return r ? run_result(r) : NULL;
}

uint64_t engine_windows_total(const struct engine *e)
{
	return e->windows_total;
}

uint64_t engine_attach_failures(const struct engine *e)
{
	return e->attach_failures;
}
