#include "daemon/schedule/scheduler.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/proc.h"
#include "daemon/engine/attach_request.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/inspector_answer.h"
#include "daemon/inspector/inspector.h"
#include "daemon/schedule/sightings.h"
#include "daemon/window/findings.h"
#include "daemon/window/result.h"

#define MACHINE_ID        "/etc/machine-id"
#define HOST_BYTES        128
#define ROUND_PATIENCE_MS (INSPECTOR_TIMEOUT_MS + 5000)

struct scheduler {
	uv_timer_t timer; /* to the next thing to do */
	uv_loop_t *loop;
	struct engine *engine;
	struct broker_client *broker;
	const struct config *config;
	struct planner *planner;
	struct sightings sightings;
	struct inspector_answer *answer; /* of the round under way, or NULL */
	uint64_t round_ns;    /* CLOCK_MONOTONIC: when the next begins; this one is given up */
	uint64_t round_ms;    /* between two */
	uint64_t patience_ms; /* with one */
	bool rounds_fail;     /* the last one did, which was logged */
	bool stopped;
};

static void on_timer(uv_timer_t *timer);

/* ---------------------------------------------------------------- what is next */

static bool is_at_work(const struct scheduler *s)
{
	return s->config->schedule_count > 0 && !s->stopped;
}

static void wake_in(struct scheduler *s, uint64_t ms)
{
	(void)uv_timer_start(&s->timer, on_timer, ms, 0); /* Fails for a closing handle. */
}

/* By the clock that may jump; a round comes soon enough then. */
static uint64_t ns_to_next_window(const struct scheduler *s)
{
	uint64_t now = clock_ns(CLOCK_REALTIME), at = planner_next_unix_ns(s->planner, now);

	return at > now ? at - now : 0;
}

static void set_timer(struct scheduler *s)
{
	uint64_t now = clock_monotonic_ns();
	uint64_t round = s->round_ns > now ? s->round_ns - now : 0;
	uint64_t window = ns_to_next_window(s);
	uint64_t ns = round < window ? round : window;

	if (is_at_work(s))
		wake_in(s, ns / NS_PER_MS + 1);
	else
		(void)uv_timer_stop(&s->timer); /* Cannot fail. */
}

/* ---------------------------------------------------------------- windows */

static bool is_profiled(void *arg, pid_t pid)
{
	return engine_is_profiled(arg, pid);
}

static int minute_of_day(void)
{
	time_t now = time(NULL);
	struct tm local;

	return localtime_r(&now, &local) ? local.tm_hour * 60 + local.tm_min : 0;
}

/* What a person would have asked for. */
static int make_request(const struct planner_order *order, struct window_request *out,
			struct err *err)
{
	const struct config_schedule *schedule = order->schedule;
	Jxp__AttachRequest asked = JXP__ATTACH_REQUEST__INIT;
	int r;

	asked.pid = (uint32_t)order->pid;
	asked.kinds = (Jxp__Kind *)schedule->kinds;
	asked.n_kinds = schedule->kind_count;
	asked.duration_ns = schedule->window_ns;
	asked.budget = order->budget;
	r = attach_request_check(&asked, out, err);
	if (r < 0)
		return r;
	_Static_assert(sizeof(order->app) == sizeof(out->app), "it is not cut");
	memcpy(out->app, order->app, sizeof(out->app));
	(void)snprintf(out->schedule.name, sizeof(out->schedule.name), "%s",
		       schedule->name); /* Fits: fleet/config saw to it. */
	out->schedule.epoch = order->epoch;
	out->schedule.weight_s = order->weight_s;
	return 0;
}

static void begin_window(struct scheduler *s, const struct planner_order *order)
{
	/* The daemon itself asks. */
	const struct window_asker asker = {.uid = geteuid(), .pid = getpid(), .sees = PROC_ANY_UID};
	struct window_request request;
	struct window_findings findings;
	char id[WINDOW_ID_BYTES];
	struct err err;
	int r = make_request(order, &request, &err);

	if (r == 0)
		r = window_findings_here(&request, &findings, &err);
	if (r == 0)
		r = engine_attach(s->engine, &asker, order->pid, &request, &findings, NULL, id,
				  &err);
	if (r < 0) {
		log_warn("schedule '%s': no window in pid %d: %s", order->schedule->name,
			 (int)order->pid, err.message);
		planner_refused(s->planner, order);
		return;
	}
	log_info("schedule '%s': window %s in pid %d (%s), epoch %llu", order->schedule->name, id,
		 (int)order->pid, order->app, (unsigned long long)order->epoch);
	planner_began(s->planner, order, id);
}

/* Each order ends its plan, so this comes to an end. */
static void begin_windows(struct scheduler *s)
{
	struct planner_order order;

	while (is_at_work(s) && planner_next(s->planner, clock_ns(CLOCK_REALTIME), minute_of_day(),
					     is_profiled, s->engine, &order))
		begin_window(s, &order);
}

/* From inside a sink, where nothing may be attached: the timer does that. */
static void on_window_over(struct scheduler *s, const struct window_result *w,
			   enum planner_outcome outcome, const char *reason)
{
	const struct planner_schedule *schedule =
	    planner_find_schedule(s->planner, w->request.schedule.name);
	bool ran = schedule && !schedule->stopped[0];

	planner_ended(s->planner, w->id, outcome, reason);
	if (ran && schedule->stopped[0])
		log_warn("schedule '%s' has stopped itself: %s; 'jxperfctl reload' starts it again",
			 schedule->config->name, schedule->stopped);
	if (is_at_work(s))
		wake_in(s, 0);
}

/* reason: of what cost too much. */
static enum planner_outcome judge(const struct window_result *w, char reason[WINDOW_REASON_BYTES])
{
	double overhead = window_result_overhead_fraction(w);

	if (w->state == WINDOW_ENDED_EARLY)
		return w->target_ended || w->asked_to_end ? OUTCOME_GONE : OUTCOME_FAILED;
	if (overhead <= SCHEDULER_COSTLY * w->request.budget || window_result_target_was_idle(w))
		return OUTCOME_RAN;
	(void)snprintf(reason, WINDOW_REASON_BYTES,
		       "window %s cost %.2f%% of the JVM's CPU time, of %.2f%%", w->id,
		       100 * overhead, 100 * w->request.budget); /* Fits. */
	return OUTCOME_COSTLY;
}

static void on_finished(void *arg, const struct window_result *w)
{
	char reason[WINDOW_REASON_BYTES];

	memcpy(reason, w->reason, sizeof(reason));
	on_window_over(arg, w, judge(w, reason), reason);
}

static void on_failed(void *arg, const struct window_result *w, int error, const char *message)
{
	if (!w)
		return; /* Refused: whoever asked knows it. */
	on_window_over(arg, w,
		       w->target_ended || w->asked_to_end || error == ESRCH ? OUTCOME_GONE
									    : OUTCOME_FAILED,
		       message);
}

/* ---------------------------------------------------------------- rounds */

static void end_round(struct scheduler *s)
{
	inspector_answer_free(s->answer);
	s->answer = NULL;
	s->round_ns = clock_monotonic_ns() + s->round_ms * NS_PER_MS;
}

/* Once, until one works again. */
static void round_failed(struct scheduler *s, const char *reason)
{
	if (!s->rounds_fail)
		log_warn("schedules: cannot list the JVMs: %s", reason);
	s->rounds_fail = true;
}

static void take_list(struct scheduler *s, const Jxp__JvmList *list)
{
	if (sightings_tell(&s->sightings, list, clock_ns(CLOCK_BOOTTIME), s->planner) < 0) {
		round_failed(s, "out of memory");
		return;
	}
	if (s->rounds_fail)
		log_info("schedules: the JVMs can be listed again");
	s->rounds_fail = false;
}

static void on_answer(void *arg, Jxp__ControlReply *answer)
{
	struct scheduler *s = arg;

	if (answer->body_case == JXP__CONTROL_REPLY__BODY_JVMS)
		take_list(s, answer->jvms);
	else
		round_failed(s, answer->body_case == JXP__CONTROL_REPLY__BODY_FAILURE
				    ? answer->failure->message
				    : "that is no list");
	end_round(s);
	begin_windows(s);
	set_timer(s);
}

static void begin_round(struct scheduler *s)
{
	struct err err;

	if (inspector_answer_new(&s->answer, s->loop, s->broker, INSPECTOR_LIST, PROC_ANY_UID,
				 on_answer, s, &err) < 0) {
		round_failed(s, err.message);
		end_round(s);
	} else {
		s->round_ns = clock_monotonic_ns() + s->patience_ms * NS_PER_MS;
	}
}

static void on_timer(uv_timer_t *timer)
{
	struct scheduler *s = timer->data;

	if (clock_monotonic_ns() < s->round_ns) {
		begin_windows(s);
	} else if (s->answer) {
		round_failed(s, "no answer in time");
		end_round(s);
	} else {
		begin_round(s);
	}
	set_timer(s);
}

/* ---------------------------------------------------------------- life */

/* Which host this is in the draws. */
static void name_host(const struct config *config, char host[HOST_BYTES])
{
	ssize_t n = config->host_id ? 0 : proc_read(MACHINE_ID, host, HOST_BYTES);

	if (config->host_id)
		(void)snprintf(host, HOST_BYTES, "%s", config->host_id); /* May be cut. */
	else if (n <= 0 && gethostname(host, HOST_BYTES) < 0)
		host[0] = '\0';
	host[HOST_BYTES - 1] = '\0';
	host[strcspn(host, "\n")] = '\0';
}

int scheduler_new(struct scheduler **out, uv_loop_t *loop, struct engine *engine,
		  struct broker_client *broker, const struct config *config, struct err *err)
{
	_cleanup_free_ struct scheduler *s = calloc(1, sizeof(*s));
	const struct window_sink sink = {.arg = s, .finished = on_finished, .failed = on_failed};
	char host[HOST_BYTES];

	if (!s)
		return err_set(err, ENOMEM, "out of memory");
	*s = (struct scheduler){.loop = loop,
				.engine = engine,
				.broker = broker,
				.config = config,
				.round_ms = SCHEDULER_ROUND_MS,
				.patience_ms = ROUND_PATIENCE_MS};
	name_host(config, host);
	s->planner = planner_new(config, host);
	if (!s->planner)
		return err_set(err, ENOMEM, "out of memory");
	(void)uv_timer_init(loop, &s->timer); /* Cannot fail. */
	s->timer.data = s;
	engine_add_sink(engine, &sink);
	set_timer(s);
	*out = TAKE_PTR(s);
	return 0;
}

int scheduler_configure(struct scheduler *s, const struct config *config, struct err *err)
{
	char host[HOST_BYTES];

	name_host(config, host);
	if (planner_configure(s->planner, config, host) < 0)
		return err_set(err, ENOMEM, "out of memory");
	s->config = config;
	if (s->answer)
		end_round(s); /* Its list is made for the rules as they were. */
	s->round_ns = 0;
	set_timer(s);
	return 0;
}

void scheduler_stop(struct scheduler *s)
{
	s->stopped = true;
	if (s->answer)
		end_round(s);
	set_timer(s);
}

static void on_closed(uv_handle_t *handle)
{
	free(handle->data);
}

void scheduler_free(struct scheduler *s)
{
	if (!s)
		return;
	inspector_answer_free(s->answer);
	sightings_release(&s->sightings);
	planner_free(s->planner);
	uv_close((uv_handle_t *)&s->timer, on_closed);
}

void scheduler_set_pace(struct scheduler *s, uint64_t round_ms, uint64_t patience_ms)
{
	s->round_ms = round_ms;
	s->patience_ms = patience_ms;
}

/* ---------------------------------------------------------------- questions */

const struct planner *scheduler_planner(const struct scheduler *s)
{
	return s->planner;
}

bool scheduler_has_schedules(const struct scheduler *s)
{
	return s->config->schedule_count > 0;
}

bool scheduler_view(const struct scheduler *s, pid_t pid, struct planner_view *out)
{
	return planner_view(s->planner, pid, clock_ns(CLOCK_REALTIME), out);
}
