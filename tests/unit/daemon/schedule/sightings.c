#include "tests/unit/support/test.h"

#include <math.h>
#include <unistd.h>

#include "common/clock.h"
#include "daemon/schedule/planner.h"
#include "daemon/schedule/sightings.h"

#define EVERY_NS (60 * NS_PER_S)
#define START_NS (UINT64_C(1795996800) * NS_PER_S)

/* A JVM that started 100 s after the machine, and a host whose windows may cost 1% of it. */
static struct config_schedule schedule = {.name = (char *)"all",
					  .every_ns = EVERY_NS,
					  .window_ns = NS_PER_S,
					  .budget = 0.03,
					  .host_fraction = 1,
					  .jvm_fraction = 1,
					  .from_minute = CONFIG_ALWAYS,
					  .until_minute = CONFIG_ALWAYS,
					  .failures = 1};
static struct config config = {.guards = {INFINITY, INFINITY, INFINITY, INFINITY, INFINITY},
			       .host_budget = 0.01,
			       .windows_at_once = 1,
			       .schedules = &schedule,
			       .schedule_count = 1};
static struct planner *planner;
static struct sightings sightings;
static double cpu_limit; /* of the JVM */

static int set_up(void **state)
{
	(void)state;
	schedule.warm_up_ns = 0;
	cpu_limit = 0;
	planner = planner_new(&config, "host");
	assert_non_null(planner);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	planner_free(planner);
	sightings_release(&sightings);
	return 0;
}

/* At boot_s it has used that share of all processors for so many seconds. */
static void tell(double share, double seconds, uint64_t boot_s)
{
	Jxp__Jvm jvm = JXP__JVM__INIT, *jvms[] = {&jvm};
	Jxp__JvmList list = JXP__JVM_LIST__INIT;

	jvm.pid = 42;
	jvm.start_ticks = 100 * (uint64_t)sysconf(_SC_CLK_TCK);
	jvm.cpu_ns = (uint64_t)(share * seconds * 1e9 * (double)sysconf(_SC_NPROCESSORS_ONLN));
	jvm.attachable = true;
	jvm.cpu_limit = cpu_limit;
	jvm.name = (char *)"module/org.shop.Main";
	list.jvms = jvms;
	list.n_jvms = 1;
	assert_int_equal(sightings_tell(&sightings, &list, boot_s * NS_PER_S, planner), 0);
}

static bool is_profiled(void *arg, pid_t pid)
{
	(void)arg;
	(void)pid;
	return false;
}

/* The budget of the window in the next epoch; 0: there is none. */
static double budget(void)
{
	struct planner_order order;

	for (uint64_t s = 0; s < 2 * EVERY_NS / NS_PER_S; s++)
		if (planner_next(planner, START_NS + s * NS_PER_S, 0, is_profiled, NULL, &order))
			return order.budget;
	return 0;
}

TEST(a_share_is_that_of_its_life_at_first, set_up, tear_down)
{
	tell(0.5, 100, 200);
	assert_float_equal(budget(), 0.02, 1e-6);
}

TEST(a_share_is_that_of_the_time_since_the_last_round, set_up, tear_down)
{
	tell(1, 100, 200);
	tell(1, 100 + 5, 210);
	assert_float_equal(budget(), 0.02, 1e-6);
}

TEST(a_clock_that_went_back_makes_it_a_whole_machine, set_up, tear_down)
{
	tell(0.1, 100, 200);
	tell(0.05, 100, 210);
	/* 1% of the JVM is less than half of what the schedule wants. */
	assert_float_equal(budget(), 0, 1e-6);
}

TEST(a_share_is_at_most_what_its_cgroups_let_it_have, set_up, tear_down)
{
	cpu_limit = 0.5 * (double)sysconf(_SC_NPROCESSORS_ONLN);
	tell(0.1, 100, 200);
	tell(0.05, 100, 210); /* The clock went back. */
	assert_float_equal(budget(), 0.02, 1e-6);
}

TEST(the_age_is_counted_from_its_start, set_up, tear_down)
{
	schedule.warm_up_ns = 60 * NS_PER_S;
	tell(0, 0, 159);
	assert_float_equal(budget(), 0, 1e-6);
	tell(0, 0, 161);
	assert_float_equal(budget(), 0.03, 1e-6);
}

TEST(what_a_list_had_no_room_for_is_counted, set_up, tear_down)
{
	Jxp__JvmList list = JXP__JVM_LIST__INIT;

	list.left_out = 3;
	assert_int_equal(sightings_tell(&sightings, &list, NS_PER_S, planner), 0);
	assert_int_equal(planner_jvms_over_limit(planner), 3);
}

TEST(it_is_called_by_its_main_class, set_up, tear_down)
{
	struct planner_view view;

	tell(0, 0, 200);
	assert_true(planner_view(planner, 42, START_NS, &view));
	assert_string_equal(view.app, "Main");
}

static void look_at_42(const Jxp__JvmList *list, uint64_t boot_s)
{
	const pid_t pid = 42;

	assert_int_equal(sightings_tell_some(&sightings, list, &pid, 1, boot_s * NS_PER_S, planner),
			 0);
}

TEST(a_look_finds_one_and_leaves_the_others, set_up, tear_down)
{
	Jxp__Jvm other = JXP__JVM__INIT, jvm = JXP__JVM__INIT, *jvms[] = {&jvm, &other};
	Jxp__JvmList list = JXP__JVM_LIST__INIT;
	struct planner_view view;

	tell(0, 0, 200);
	jvm.pid = 41;
	jvm.name = (char *)"First";
	other.pid = 43;
	other.name = (char *)"Other";
	list.jvms = jvms;
	list.n_jvms = 2;
	assert_int_equal(
	    sightings_tell_some(&sightings, &list, (pid_t[]){43, 41}, 2, 201 * NS_PER_S, planner),
	    0);
	for (pid_t pid = 41; pid <= 43; pid++) {
		assert_true(sightings_know(&sightings, pid));
		assert_true(planner_view(planner, pid, START_NS, &view));
	}
	sightings_forget(&sightings, 42, planner);
	assert_false(sightings_know(&sightings, 42));
	assert_false(planner_view(planner, 42, START_NS, &view));
	assert_true(sightings_know(&sightings, 41) && sightings_know(&sightings, 43));
}

TEST(a_look_that_finds_no_jvm_forgets_it, set_up, tear_down)
{
	const Jxp__JvmList none = JXP__JVM_LIST__INIT;
	struct planner_view view;

	tell(0, 0, 200);
	look_at_42(&none, 201);
	assert_false(sightings_know(&sightings, 42));
	assert_false(planner_view(planner, 42, START_NS, &view));
}

TEST(another_process_with_the_pid_is_another_jvm, set_up, tear_down)
{
	Jxp__Jvm jvm = JXP__JVM__INIT, *jvms[] = {&jvm};
	Jxp__JvmList list = JXP__JVM_LIST__INIT;
	struct planner_view view;

	tell(0, 0, 200);
	jvm.pid = 42;
	jvm.start_ticks = 7;
	jvm.name = (char *)"Next";
	list.jvms = jvms;
	list.n_jvms = 1;
	look_at_42(&list, 201);
	assert_true(planner_view(planner, 42, START_NS, &view));
	assert_string_equal(view.app, "Next");
	planner_lost(planner, 42);
	assert_false(planner_view(planner, 42, START_NS, &view));
}
