#include "tests/unit/support/test.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "daemon/engine/engine.h"
#include "daemon/schedule/newcomers.h"
#include "daemon/schedule/scheduler.h"
#include "daemon/schedule/survey.h"
#include "tests/unit/support/fake_agent.h"
#include "tests/unit/support/fake_broker.h"
#include "tests/unit/support/loop_helper.h"
#include "tests/unit/support/sample_findings.h"

#define EVERY_MS  300
#define WINDOW_MS 20
#define TURN_MS   5

/* A scheduler on a loop, with JVM 42 of user 'app'. */
static struct fixture {
	uv_loop_t loop;
	struct engine *engine;
	struct survey_pace pace;
	struct scheduler *scheduler;
	struct config_schedule schedules[1];
	struct config_app apps[1];
	struct config config;
	struct err err;
} f;

static int set_up(void **state)
{
	static const Jxp__Kind kinds[] = {JXP__KIND__KIND_DEAD_STORE};

	(void)state;
	f = (struct fixture){0};
	fake_broker = (struct fake_broker){0};
	f.schedules[0] = (struct config_schedule){.name = (char *)"often",
						  .match = {.user = (char *)"app"},
						  .every_ns = EVERY_MS * NS_PER_MS,
						  .window_ns = WINDOW_MS * NS_PER_MS,
						  .kind_count = 1,
						  .budget = 0.01,
						  .host_fraction = 1,
						  .jvm_fraction = 1,
						  .from_minute = CONFIG_ALWAYS,
						  .until_minute = CONFIG_ALWAYS,
						  .failures = 1};
	f.schedules[0].kinds[0] = kinds[0];
	f.apps[0] = (struct config_app){.app = (char *)"shop",
					.match = {.main_class = (char *)"org.shop.*"}};
	f.pace = survey_pace_usual;
	config_defaults(&f.config);
	f.config.host_budget = 1;
	f.config.guards = (struct config_guards){INFINITY, INFINITY, INFINITY, INFINITY, INFINITY};
	f.config.schedules = f.schedules;
	f.config.schedule_count = 1;
	f.config.apps = f.apps;
	f.config.app_count = 1;
	assert_int_equal(uv_loop_init(&f.loop), 0);
	assert_int_equal(engine_new(&f.engine, &f.loop, NULL, &engine_limits_usual, NULL), 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	scheduler_free(f.scheduler);
	engine_free(f.engine);
	loop_finish(&f.loop);
	return 0;
}

static void start(void)
{
	assert_int_equal(
	    scheduler_new(&f.scheduler, &f.loop, f.engine, NULL, &f.config, &f.pace, &f.err), 0);
}

/* ---------------------------------------------------------------- waiting */

static bool is_round(void)
{
	return fake_broker.inspect_id != 0;
}

static bool is_attaching(void)
{
	return fake_broker.attach_id != 0;
}

static bool is_profiled(void)
{
	return engine_is_profiled(f.engine, 42);
}

static bool is_not_profiled(void)
{
	return !is_profiled();
}

static bool runs(void)
{
	const struct window_result *w = engine_find_running(f.engine, 42);

	return w && w->state == WINDOW_RUNNING;
}

static void on_turn(uv_timer_t *timer)
{
	(void)timer; /* The loop has turned. */
}

/* Turns the loop until it is so, or for that long. */
static bool turn(bool (*is_so)(void), uint64_t ms)
{
	uint64_t end_ns = clock_monotonic_ns() + ms * NS_PER_MS;
	uv_timer_t timer;

	assert_int_equal(uv_timer_init(&f.loop, &timer), 0);
	assert_int_equal(uv_timer_start(&timer, on_turn, TURN_MS, TURN_MS), 0);
	while (!is_so() && clock_monotonic_ns() < end_ns)
		(void)uv_run(&f.loop, UV_RUN_ONCE);
	uv_close((uv_handle_t *)&timer, NULL);
	(void)uv_run(&f.loop, UV_RUN_NOWAIT);
	return is_so();
}

static void wait_until(bool (*is_so)(void))
{
	assert_true(turn(is_so, LOOP_PATIENCE_MS));
}

/* ---------------------------------------------------------------- the others */

static void send_reply(int fd, const Jxp__ControlReply *reply)
{
	struct buffer out;

	buffer_init(&out, FRAME_HEADER_BYTES + FRAME_MAX_REPLY);
	assert_int_equal(frame_append(&out, &reply->base, FRAME_MAX_REPLY), 0);
	assert_int_equal(fd_write_all(fd, buffer_head(&out), buffer_length(&out)), 0);
	buffer_release(&out);
	(void)close(fd);
}

/* JVM 42, run by that user. */
static void answer_with_jvm(int inspector, const char *user)
{
	Jxp__Jvm jvm = JXP__JVM__INIT, *jvms[] = {&jvm};
	Jxp__JvmList list = JXP__JVM_LIST__INIT;
	Jxp__ControlReply reply = JXP__CONTROL_REPLY__INIT;

	jvm.pid = 42;
	jvm.start_ticks = 1;
	jvm.user = (char *)user;
	jvm.name = (char *)"org.shop.Main";
	jvm.attachable = true;
	list.jvms = jvms;
	list.n_jvms = 1;
	reply.body_case = JXP__CONTROL_REPLY__BODY_JVMS;
	reply.jvms = &list;
	send_reply(inspector, &reply);
}

/* Answers the round with JVM 42, run by that user. */
static void answer_round(const char *user)
{
	wait_until(is_round);
	answer_with_jvm(fake_broker_connect_inspector(), user);
}

/* Answers the round or look without a JVM. */
static void answer_with_none(int inspector)
{
	Jxp__JvmList list = JXP__JVM_LIST__INIT;
	Jxp__ControlReply reply = JXP__CONTROL_REPLY__INIT;

	reply.body_case = JXP__CONTROL_REPLY__BODY_JVMS;
	reply.jvms = &list;
	send_reply(inspector, &reply);
}

/* Until the window of JVM 42 runs; its agent. */
static int begin_window(void)
{
	int agent;

	wait_until(is_attaching);
	assert_int_equal(fake_broker.attach_pid, 42);
	agent = fake_broker_connect_agent();
	agent_send_hello(agent, PROTOCOL_VERSION);
	wait_until(runs);
	return agent;
}

static bool never(void)
{
	return false;
}

/* At the end of the window, not before. */
static void end_window(int agent)
{
	(void)turn(never, WINDOW_MS + TURN_MS);
	agent_leave(agent, "");
	wait_until(is_not_profiled);
}

static const struct planner_schedule *often(void)
{
	return planner_schedule(scheduler_planner(f.scheduler), 0);
}

/* ---------------------------------------------------------------- tests */

TEST(without_a_schedule_nothing_runs, set_up, tear_down)
{
	f.config.schedule_count = 0;
	start();
	assert_false(turn(is_round, EVERY_MS));
	assert_false(scheduler_has_schedules(f.scheduler));
}

TEST(a_jvm_that_a_round_finds_has_its_window, set_up, tear_down)
{
	const struct window_result *w;
	struct planner_view view;
	int agent;

	start();
	answer_round("app");
	agent = begin_window();
	w = engine_find_running(f.engine, 42);
	assert_string_equal(w->app, "shop");
	assert_string_equal(w->request.schedule.name, "often");
	assert_true(w->request.schedule.epoch > 0);
	assert_true(w->request.schedule.weight_s > 0);
	assert_true(w->request.kinds[JXP__KIND__KIND_DEAD_STORE]);
	assert_false(w->request.kinds[JXP__KIND__KIND_SILENT_LOAD]);
	end_window(agent);
	assert_int_equal(often()->windows, 1);
	assert_int_equal(often()->costly + often()->failed, 0);
	assert_true(scheduler_view(f.scheduler, 42, &view));
	assert_string_equal(view.app, "shop");
	assert_string_equal(view.last_window, "w1");
	/* And another in the next epoch. */
	wait_until(is_attaching);
}

TEST(a_jvm_that_does_not_match_is_left_alone, set_up, tear_down)
{
	struct planner_view view;

	start();
	answer_round("other");
	assert_false(turn(is_attaching, 3 * EVERY_MS));
	assert_true(scheduler_view(f.scheduler, 42, &view));
	assert_int_equal(view.next_unix_ns, 0);
	assert_false(scheduler_view(f.scheduler, 43, &view));
}

TEST(a_round_without_an_answer_is_given_up_and_the_next_one_tried, set_up, tear_down)
{
	start();
	f.pace = (struct survey_pace){20, 20, 20};
	wait_until(is_round);
	for (int i = 0; i < 3; i++) {
		int inspector = fake_broker_connect_inspector(); /* It hangs. */

		wait_until(is_round);
		(void)close(inspector);
	}
	assert_int_equal(fake_broker.last_id, 4);
	answer_round("app");
	wait_until(is_attaching);
}

TEST(a_broker_that_does_not_answer_is_asked_once_at_a_time, set_up, tear_down)
{
	int first;

	start();
	f.pace = (struct survey_pace){20, 20, 100};
	wait_until(is_round);
	first = fake_broker.inspect_id;
	assert_false(turn(is_attaching, 60));
	assert_int_equal(fake_broker.inspect_id, first);
	assert_false(turn(is_attaching, 200));
	assert_true(fake_broker.last_id > first);
}

TEST(a_broker_that_refuses_is_asked_again, set_up, tear_down)
{
	fake_broker.refuse = EAGAIN;
	start();
	f.pace = (struct survey_pace){20, 20, 20};
	assert_false(turn(is_round, 100));
	fake_broker.refuse = 0;
	answer_round("app");
}

static bool is_refused(void)
{
	return often()->missed[MISS_REFUSED] > 0;
}

TEST(a_window_that_cannot_be_begun_is_missed, set_up, tear_down)
{
	start();
	answer_round("app");
	(void)turn(is_refused, 20);
	fake_broker.refuse = EAGAIN;
	wait_until(is_refused);
	assert_int_equal(often()->windows + often()->failed, 0);
	/* It does not count as one that runs: another one begins. */
	fake_broker.refuse = 0;
	wait_until(is_attaching);
}

static bool is_over_budget(void)
{
	return often()->missed[MISS_BUDGET] > 0;
}

TEST(a_window_that_somebody_asks_for_takes_of_the_hosts_budget, set_up, tear_down)
{
	static const struct window_request request = {
	    .kinds = {false, true}, .duration_ns = UINT64_C(60000000000), .budget = 1};
	static const struct window_asker asker = {.sees = PROC_ANY_UID};
	char id[WINDOW_ID_BYTES];

	start();
	assert_int_equal(
	    engine_attach(f.engine, &asker, 43, &request, &sample_findings, NULL, id, &f.err), 0);
	answer_round("app");
	wait_until(is_over_budget);
	assert_true(is_not_profiled());
}

static bool is_missed(void)
{
	return often()->missed[MISS_BROKER] > 0;
}

TEST(a_broker_that_goes_while_it_attaches_is_no_fault_of_the_schedule, set_up, tear_down)
{
	start();
	answer_round("app");
	wait_until(is_attaching);
	fake_broker.away = true;
	fake_broker_fail_attach(EPIPE, "it has gone");
	wait_until(is_not_profiled);
	assert_int_equal(often()->failed, 0);
	assert_true(is_missed());
	assert_string_equal(often()->stopped, "");
}

TEST(an_attach_that_breaks_has_failed_while_the_broker_is_there, set_up, tear_down)
{
	start();
	answer_round("app");
	wait_until(is_attaching);
	fake_broker_fail_attach(EPIPE, "the JVM closed its socket");
	wait_until(is_not_profiled);
	assert_int_equal(often()->failed, 1);
}

TEST(nothing_is_asked_or_begun_until_the_broker_is_back, set_up, tear_down)
{
	start();
	answer_round("app");
	wait_until(is_attaching);
	scheduler_lost_broker(f.scheduler);
	fake_broker_fail_attach(ESRCH, "no such process");
	f.pace = (struct survey_pace){20, 20, 20};
	wait_until(is_missed);
	assert_false(is_attaching());
	assert_false(is_round());
	assert_int_equal(often()->windows + often()->failed, 0);
	scheduler_has_broker(f.scheduler);
	answer_round("app");
	wait_until(is_attaching);
}

TEST(a_round_that_the_broker_left_is_given_up_at_once, set_up, tear_down)
{
	int inspector;

	start();
	wait_until(is_round);
	inspector = fake_broker_connect_inspector();
	scheduler_lost_broker(f.scheduler);
	(void)close(inspector);
	scheduler_has_broker(f.scheduler);
	answer_round("app");
	wait_until(is_attaching);
}

/* One window, of such a cost. */
static void run_window(uint64_t cpu_ns, uint64_t overhead_ns)
{
	Jxp__Batch batch = JXP__BATCH__INIT;
	int agent;

	start();
	answer_round("app");
	agent = begin_window();
	batch.cpu_ns = cpu_ns;
	batch.overhead_ns = overhead_ns;
	agent_send_batch(agent, &batch);
	end_window(agent);
}

TEST(what_every_window_costs_stops_no_schedule_of_programs_with_little_to_do, set_up, tear_down)
{
	run_window(1500 * NS_PER_MS, 45 * NS_PER_MS); /* 3% */
	assert_int_equal(often()->windows, 1);
	assert_int_equal(often()->costly, 0);
	assert_string_equal(often()->stopped, "");
}

TEST(a_window_above_its_budget_stops_the_schedule, set_up, tear_down)
{
	run_window(NS_PER_S, 50 * NS_PER_MS);
	assert_int_equal(often()->costly, 1);
	assert_non_null(strstr(often()->stopped, "cost 5.00%"));
	assert_int_equal(often()->overhead_ns, 50 * NS_PER_MS);
	assert_false(turn(is_attaching, EVERY_MS));
	/* It goes on by itself. */
	assert_true(turn(is_attaching, 4 * EVERY_MS));
	assert_string_equal(often()->stopped, "");
}

static struct planner_view view_of_42(void)
{
	struct planner_view view;

	assert_true(scheduler_view(f.scheduler, 42, &view));
	return view;
}

TEST(a_window_that_cannot_run_has_failed, set_up, tear_down)
{
	start();
	answer_round("app");
	wait_until(is_attaching);
	fake_broker_fail_attach(ETIMEDOUT, "not today");
	wait_until(is_not_profiled);
	assert_int_equal(often()->failed, 1);
	assert_int_equal(view_of_42().why, MISS_FAILED);
	assert_string_equal(often()->stopped, "");
}

TEST(a_window_that_is_refused_has_not_failed, set_up, tear_down)
{
	start();
	answer_round("app");
	wait_until(is_attaching);
	fake_broker_fail_attach(ENOMEM, "there is no room");
	wait_until(is_not_profiled);
	assert_int_equal(often()->failed, 0);
	assert_int_equal(often()->missed[MISS_ROOM], 1);
	assert_int_equal(view_of_42().why, MISS_ROOM);
	assert_true(view_of_42().until_unix_ns > clock_ns(CLOCK_REALTIME));
}

static bool was_missed_for_load(void)
{
	return often()->missed[MISS_LOAD] > 0;
}

TEST(no_window_begins_on_a_host_that_is_busy, set_up, tear_down)
{
	f.config.guards.load = 0;
	start();
	answer_round("app");
	wait_until(was_missed_for_load);
	assert_false(is_profiled());
}

TEST(a_jvm_that_has_ended_says_nothing_of_the_schedule, set_up, tear_down)
{
	start();
	answer_round("app");
	wait_until(is_attaching);
	fake_broker_fail_attach(ESRCH, "no such process");
	wait_until(is_not_profiled);
	assert_int_equal(often()->failed + often()->windows, 0);
	assert_string_equal(often()->stopped, "");
}

/* It has no id any more when the planner is told. */
TEST(a_window_that_was_none_gives_its_place_back, set_up, tear_down)
{
	f.config.windows_at_once = 1;
	start();
	answer_round("app");
	wait_until(is_attaching);
	fake_broker_fail_attach(ESRCH, "no such process");
	wait_until(is_not_profiled);
	wait_until(is_attaching);
}

TEST(a_window_that_somebody_ends_says_nothing_of_the_schedule, set_up, tear_down)
{
	char id[WINDOW_ID_BYTES];
	int agent;

	start();
	answer_round("app");
	agent = begin_window();
	assert_int_equal(engine_detach(f.engine, 42, "it was detached on request", id, &f.err), 0);
	agent_leave(agent, "");
	wait_until(is_not_profiled);
	assert_int_equal(often()->failed + often()->windows, 0);
	assert_string_equal(often()->stopped, "");
}

TEST(a_configuration_without_schedules_ends_all_of_it, set_up, tear_down)
{
	struct config none;

	start();
	answer_round("app");
	wait_until(is_attaching);
	config_defaults(&none);
	assert_int_equal(scheduler_configure(f.scheduler, &none, &f.err), 0);
	/* The window that runs is not touched. */
	assert_true(is_profiled());
	fake_broker_fail_attach(EPERM, "not today");
	wait_until(is_not_profiled);
	assert_false(turn(is_attaching, 2 * EVERY_MS));
	assert_int_equal(scheduler_configure(f.scheduler, &f.config, &f.err), 0);
	answer_round("app");
	wait_until(is_attaching);
}

TEST(nothing_begins_once_it_is_stopped, set_up, tear_down)
{
	start();
	answer_round("app");
	wait_until(is_attaching);
	scheduler_stop(f.scheduler);
	fake_broker_fail_attach(ESRCH, "no such process");
	wait_until(is_not_profiled);
	assert_false(turn(is_attaching, 2 * EVERY_MS));
}

static bool is_look(void)
{
	return fake_broker.some_id != 0;
}

static bool is_known(void)
{
	struct planner_view view;

	return scheduler_view(f.scheduler, 42, &view);
}

static bool is_followed(void)
{
	return fake_broker.followed_count == 1 && fake_broker.followed[0] == 42;
}

static bool begins_round(void)
{
	return scheduler_newcomers(f.scheduler)->rounds == 2;
}

static void say(enum broker_event_kind kind, pid_t pid)
{
	const struct broker_event event = {
	    .operation = BROKER_EVENT, .kind = kind, .pid = pid, .count = 0};

	scheduler_take_event(f.scheduler, &event);
}

/* The broker tells of processes, and the first round has found none. */
static void start_with_events(void)
{
	start();
	assert_true(fake_broker.discover_on);
	fake_broker_answer_discover(0);
	wait_until(is_round);
	answer_with_none(fake_broker_connect_inspector());
	assert_false(turn(is_round, 50));
}

TEST(a_jvm_that_starts_is_looked_at_alone, set_up, tear_down)
{
	start_with_events();
	say(BROKER_EVENT_STARTED, 42);
	wait_until(is_look);
	assert_int_equal(fake_broker.some_count, 1);
	assert_int_equal(fake_broker.some[0], 42);
	answer_with_jvm(fake_broker_connect_inspector_of_some(), "app");
	wait_until(is_known);
	assert_true(is_followed());
	wait_until(is_attaching);
	assert_int_equal(scheduler_newcomers(f.scheduler)->rounds, 1);
}

TEST(a_jvm_that_ends_is_forgotten_at_once, set_up, tear_down)
{
	start();
	fake_broker_answer_discover(0);
	answer_round("app");
	wait_until(is_followed);
	assert_true(is_known());
	say(BROKER_EVENT_ENDED, 42);
	assert_false(is_known());
}

TEST(a_look_that_fails_is_made_up_for_by_a_round, set_up, tear_down)
{
	start_with_events();
	f.pace = (struct survey_pace){20, 60000, 100};
	say(BROKER_EVENT_STARTED, 42);
	wait_until(is_look);
	(void)close(fake_broker_connect_inspector_of_some());
	wait_until(begins_round);
}

TEST(what_was_missed_is_made_up_for_by_a_round, set_up, tear_down)
{
	const struct broker_event event = {
	    .operation = BROKER_EVENT, .kind = BROKER_EVENT_MISSED, .count = 9};

	start_with_events();
	f.pace = (struct survey_pace){20, 60000, 100};
	assert_false(turn(is_round, 100));
	scheduler_take_event(f.scheduler, &event);
	answer_round("app");
	wait_until(is_known);
	assert_int_equal(scheduler_newcomers(f.scheduler)->missed, 9);
	/* And no more than one. */
	assert_false(turn(is_round, 100));
}

TEST(another_broker_counts_what_is_lost_anew, set_up, tear_down)
{
	struct broker_event event = {
	    .operation = BROKER_EVENT, .kind = BROKER_EVENT_WORKER_GIVEN_UP, .lost = 1000};

	start_with_events();
	scheduler_take_event(f.scheduler, &event);
	assert_int_equal(scheduler_newcomers(f.scheduler)->missed, 1000);
	scheduler_lost_broker(f.scheduler);
	scheduler_has_broker(f.scheduler);
	fake_broker_answer_discover(0);
	event.lost = 1;
	scheduler_take_event(f.scheduler, &event);
	assert_int_equal(scheduler_newcomers(f.scheduler)->missed, 1001);
}

TEST(without_the_kernel_there_are_rounds, set_up, tear_down)
{
	start();
	f.pace = (struct survey_pace){20, 60000, 100};
	fake_broker_answer_discover(EPERM);
	for (int i = 0; i < 3; i++)
		answer_round("app");
	assert_false(scheduler_newcomers(f.scheduler)->works);
	say(BROKER_EVENT_STARTED, 42);
	assert_false(turn(is_look, NEWCOMERS_WAIT_MS + 100));
}

TEST(the_broker_is_told_when_there_is_nothing_left_to_find, set_up, tear_down)
{
	static struct config empty;

	start_with_events();
	config_defaults(&empty);
	assert_int_equal(scheduler_configure(f.scheduler, &empty, &f.err), 0);
	assert_int_not_equal(fake_broker.discover_id, 0);
	assert_false(fake_broker.discover_on);
	say(BROKER_EVENT_STARTED, 42);
	assert_false(turn(is_look, NEWCOMERS_WAIT_MS + 100));
	assert_int_equal(scheduler_configure(f.scheduler, &f.config, &f.err), 0);
	assert_true(fake_broker.discover_on);
	wait_until(is_round);
}
