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
#include "daemon/broker/client.h"
#include "daemon/engine/attach_request.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/pause.h"
#include "daemon/engine/run_owner.h"
#include "daemon/schedule/host_guard.h"
#include "daemon/schedule/sightings.h"
#include "daemon/schedule/survey.h"
#include "daemon/schedule/tuner.h"
#include "daemon/shares/miss.h"
#include "fleet/naming.h"
#include "profile/window/findings.h"
#include "profile/window/result.h"

#define MACHINE_ID "/etc/machine-id"
#define HOST_BYTES 128

/* Draws in one turn of the loop, about a millisecond, and the pause to the next when they do not
 * suffice: after a start with many JVMs that are seldom drawn. */
#define DRAWS_PER_TURN 4096
#define DRAWS_PAUSE_NS (20 * NS_PER_MS)

struct scheduler {
	uv_timer_t timer; /* to the next thing to do */
	uv_loop_t *loop;
	struct engine *engine;
	struct broker_client *broker;
	const struct config *config;
	struct planner *planner;
	struct survey *survey;
	struct tuner *tuner;
	bool stopped;
	bool away; /* the broker is */
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

static uint64_t ns_to_next_draws(struct scheduler *s)
{
	unsigned draws = DRAWS_PER_TURN;

	return planner_look_ahead(s->planner, clock_ns(CLOCK_REALTIME), &draws) ? UINT64_MAX
										: DRAWS_PAUSE_NS;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* What changes without being told, the time of day and a JVM's age, is seen to so often. */
#define BEAT_NS (10 * NS_PER_S)

static uint64_t ns_to_next_turn(const struct scheduler *s)
{
	uint64_t now = clock_monotonic_ns(), at = survey_due_ns(s->survey);

	return at > now ? at - now : 0;
}

static void set_timer(struct scheduler *s)
{
	uint64_t windows = least(ns_to_next_window(s), BEAT_NS);
	uint64_t ns = least(windows, least(ns_to_next_turn(s), ns_to_next_draws(s)));

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
	asked.start_ticks = order->start_ticks;
	asked.kinds = (Jxp__Kind *)schedule->kinds;
	asked.n_kinds = schedule->kind_count;
	asked.duration_ns = schedule->window_ns;
	asked.budget = order->budget;
	r = attach_request_check(&asked, out, err);
	if (r < 0)
		return r;
	_Static_assert(sizeof(order->app) == sizeof(out->app), "it is not cut");
	memcpy(out->app, order->app, sizeof(out->app));
	memcpy(out->version, order->version, sizeof(out->version));
	(void)snprintf(out->schedule.name, sizeof(out->schedule.name), "%s",
		       schedule->name); /* Fits: fleet/config saw to it. */
	out->schedule.epoch = order->epoch;
	out->schedule.owner = order->uid;
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
	bool found;

	if (r == 0)
		r = window_findings_here(&request, &findings, &err);
	found = r == 0;
	if (r == 0)
		r = engine_attach(s->engine, &asker, order->pid, &request, &findings, NULL, id,
				  &err);
	if (r < 0) {
		log_warn("schedule '%s': no window in pid %d: %s", order->schedule->name,
			 (int)order->pid, err.message);
		planner_refused(s->planner, order,
				found ? attach_error(-r)->refusal : MISS_SAMPLER);
		return;
	}
	log_debug("schedule '%s': window %s in pid %d (%s), epoch %llu", order->schedule->name, id,
		  (int)order->pid, order->app, (unsigned long long)order->epoch);
	planner_began(s->planner, order, id);
}

static void tell_of_others(struct scheduler *s)
{
	struct planner_other others[ENGINE_RUNNING_MAX];
	size_t count = 0;

	for (size_t i = 0; i < engine_window_count(s->engine); i++) {
		const struct window_result *w = engine_window(s->engine, i);

		if (!w->finished && !window_request_is_scheduled(&w->request))
			others[count++] = (struct planner_other){w->pid, w->request.budget,
								 w->asker.sees == PROC_ANY_UID};
	}
	planner_set_others(s->planner, others, count);
}

/* Why no window may begin on this host now. A file may have come at any time: the windows that
 * schedules have end with it, as they do with a pause that somebody asks for. */
static enum miss look_at_host(struct scheduler *s)
{
	const struct pause *pause = engine_pause(s->engine);

	if (s->away)
		return MISS_BROKER;
	if (pause && pause_forbids(pause, NULL)) {
		(void)engine_end_scheduled(s->engine, "windows were paused");
		return MISS_PAUSED;
	}
	return host_guard_look(&s->config->guards);
}

/* Each order ends its plan, so this comes to an end. */
static void begin_windows(struct scheduler *s)
{
	struct planner_order order;

	const struct planner_schedule *resumed;

	survey_pass_time(s->survey);
	while ((resumed = planner_resume(s->planner)))
		log_info("schedule '%s' goes on", resumed->config->name);
	tell_of_others(s);
	planner_hold(s->planner, look_at_host(s));
	while (is_at_work(s) && planner_next(s->planner, clock_ns(CLOCK_REALTIME), minute_of_day(),
					     is_profiled, s->engine, &order))
		begin_window(s, &order);
}

static void say_stopped(const struct planner_schedule *schedule)
{
	char quoted[LOG_QUOTED_BYTES];

	(void)log_quote(quoted, sizeof(quoted), schedule->stopped);
	log_warn("schedule '%s' has stopped itself: %s; it goes on later, or after "
		 "'jxperfctl reload'",
		 schedule->config->name, quoted);
}

/* From inside a sink, where nothing may be attached: the timer does that. */
static void on_window_over(struct scheduler *s, const struct window_result *w,
			   enum planner_outcome outcome, enum miss why, const char *reason)
{
	const struct planner_end end = {.outcome = outcome,
					.why = why,
					.reason = reason,
					.overhead_ns = w->overhead_ns,
					.unix_ns = clock_ns(CLOCK_REALTIME)};
	const struct planner_schedule *schedule =
	    planner_find_schedule(s->planner, w->request.schedule.name);
	bool ran = schedule && !schedule->stopped[0];

	planner_ended(s->planner, w->pid, w->request.schedule.name, &end);
	if (ran && schedule->stopped[0])
		say_stopped(schedule);
	if (is_at_work(s))
		wake_in(s, 0);
}

static bool is_costly(const struct window_result *w)
{
	double most = SCHEDULER_COSTLY * w->request.budget * (double)w->cpu_ns;

	return (double)w->overhead_ns > most + (double)SCHEDULER_FIXED_NS &&
	       !window_result_target_was_idle(w);
}

/* reason: of what cost too much. */
static enum planner_outcome judge(const struct window_result *w, char reason[WINDOW_REASON_BYTES])
{

	if (w->state == WINDOW_ENDED_EARLY)
		return w->target_ended || w->asked_to_end ? OUTCOME_GONE : OUTCOME_FAILED;
	if (!is_costly(w))
		return OUTCOME_RAN;
	(void)snprintf(
	    reason, WINDOW_REASON_BYTES, "window %s cost %.2f%% of the JVM's CPU time, of %.2f%%",
	    w->id, 100 * window_result_overhead_fraction(w), 100 * w->request.budget); /* Fits. */
	return OUTCOME_COSTLY;
}

static void on_finished(void *arg, const struct window_result *w)
{
	char reason[WINDOW_REASON_BYTES];

	memcpy(reason, w->reason, sizeof(reason));
	on_window_over(arg, w, judge(w, reason), MISS_NONE, reason);
}

static enum planner_outcome judge_failure(const struct scheduler *s, const struct window_result *w,
					  int error)
{
	if (w->target_ended || w->asked_to_end || error == ESRCH)
		return OUTCOME_GONE;
	if (error == EPIPE && !broker_client_serves(s->broker))
		return OUTCOME_UNTRIED;
	return attach_error(error)->refusal ? OUTCOME_REFUSED : OUTCOME_FAILED;
}

static void on_failed(void *arg, const struct window_result *w, int error, const char *message)
{
	struct scheduler *s = arg;

	if (!w)
		return; /* Refused: whoever asked knows it. */
	on_window_over(s, w, judge_failure(s, w, error), attach_error(error)->refusal, message);
}

static void on_timer(uv_timer_t *timer)
{
	struct scheduler *s = timer->data;

	if (clock_monotonic_ns() >= survey_due_ns(s->survey))
		survey_turn(s->survey);
	if (is_at_work(s))
		tuner_look(s->tuner, clock_ns(CLOCK_REALTIME));
	begin_windows(s);
	set_timer(s);
}

static void on_changed(void *arg)
{
	struct scheduler *s = arg;

	if (is_at_work(s))
		wake_in(s, 0);
}

/* ---------------------------------------------------------------- life */

/* Which host this is in the draws. */
static void name_host(const struct config *config, char host[HOST_BYTES])
{
	ssize_t n = config->texts.host_id ? 0 : proc_read(MACHINE_ID, host, HOST_BYTES);

	if (config->texts.host_id)
		(void)snprintf(host, HOST_BYTES, "%s", config->texts.host_id); /* May be cut. */
	else if (n <= 0 && gethostname(host, HOST_BYTES) < 0)
		host[0] = '\0';
	host[HOST_BYTES - 1] = '\0';
	host[strcspn(host, "\n")] = '\0';
}

bool scheduler_name(const struct scheduler *s, const Jxp__Jvm *jvm, char app[WINDOW_NAME_BYTES],
		    char version[WINDOW_NAME_BYTES])
{
	const struct jvm_facts facts = sightings_facts(jvm);

	_Static_assert(WINDOW_NAME_BYTES >= NAMING_BYTES, "a name fits");
	return naming_app(s->config, &facts, app, version);
}

static bool has_rules(void *arg)
{
	const struct scheduler *s = arg;

	return s->config->app_count > 0;
}

static bool reads_jars(void *arg)
{
	const struct scheduler *s = arg;

	return !s->config->texts.jar_versions || *s->config->texts.jar_versions;
}

static bool name_jvm(void *arg, const Jxp__Jvm *jvm, char app[WINDOW_NAME_BYTES],
		     char version[WINDOW_NAME_BYTES])
{
	return scheduler_name(arg, jvm, app, version);
}

int scheduler_new(struct scheduler **out, uv_loop_t *loop, struct engine *engine,
		  struct broker_client *broker, const struct config *config,
		  const struct survey_pace *pace, struct err *err)
{
	_cleanup_free_ struct scheduler *s = calloc(1, sizeof(*s));
	const struct window_sink sink = {.arg = s, .finished = on_finished, .failed = on_failed};
	const struct run_namer namer = {
	    .arg = s, .rules = has_rules, .reads_jars = reads_jars, .name = name_jvm};
	char host[HOST_BYTES];

	if (!s)
		return err_set(err, ENOMEM, "out of memory");
	*s = (struct scheduler){.loop = loop, .engine = engine, .broker = broker, .config = config};
	name_host(config, host);
	s->planner = planner_new(config, host);
	if (s->planner)
		s->survey =
		    survey_new(engine_inspections(engine), broker, s->planner, pace, on_changed, s);
	if (s->survey)
		s->tuner = tuner_new(loop, s->planner, config, on_changed, s);
	if (!s->tuner) {
		survey_free(s->survey);
		planner_free(s->planner);
		return err_set(err, ENOMEM, "out of memory");
	}
	(void)uv_timer_init(loop, &s->timer); /* Cannot fail. */
	s->timer.data = s;
	engine_add_sink(engine, &sink);
	engine_set_namer(engine, &namer);
	if (is_at_work(s))
		survey_start(s->survey);
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
	tuner_configure(s->tuner, config);
	if (is_at_work(s))
		survey_start(s->survey);
	else
		survey_stop(s->survey);
	set_timer(s);
	return 0;
}

void scheduler_set_store(struct scheduler *s, const char *database)
{
	tuner_set_store(s->tuner, database);
}

void scheduler_stop(struct scheduler *s)
{
	s->stopped = true;
	survey_stop(s->survey);
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
	tuner_free(s->tuner);
	survey_free(s->survey);
	planner_free(s->planner);
	uv_close((uv_handle_t *)&s->timer, on_closed);
}

void scheduler_lost_broker(struct scheduler *s)
{
	s->away = true;
	survey_lost_broker(s->survey);
}

void scheduler_has_broker(struct scheduler *s)
{
	s->away = false;
	survey_has_broker(s->survey);
}

void scheduler_take_event(struct scheduler *s, const struct broker_event *event)
{
	survey_take_event(s->survey, event);
}

/* ---------------------------------------------------------------- questions */

const struct planner *scheduler_planner(const struct scheduler *s)
{
	return s->planner;
}

const struct newcomers *scheduler_newcomers(const struct scheduler *s)
{
	return survey_newcomers(s->survey);
}

bool scheduler_has_schedules(const struct scheduler *s)
{
	return s->config->schedule_count > 0;
}

bool scheduler_view(const struct scheduler *s, pid_t pid, struct planner_view *out)
{
	return planner_view(s->planner, pid, clock_ns(CLOCK_REALTIME), out);
}
