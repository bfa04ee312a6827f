#include "tests/unit/support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "daemon/schedule/planner.h"
#include "tests/unit/support/config_text.h"

/* Some time in 2026, at the start of an epoch of every schedule here. */
#define START_NS (UINT64_C(1795996800) * NS_PER_S)
#define MINUTE   (60 * NS_PER_S)
#define JVMS_MAX 64

/* A host whose time the tests move: JVMs 1 to count, and the windows that run in them. */
struct host {
	struct config config;
	struct planner *planner;
	uint64_t now_ns;
	uint64_t born_ns; /* of all JVMs */
	unsigned count;
	unsigned windows; /* begun so far */
	struct {
		char id[PLANNER_WINDOW_BYTES];
		char schedule[PLANNER_NAME_BYTES];
		uint64_t end_ns; /* 0: no window */
		unsigned of;     /* windows begun in it */
	} jvms[JVMS_MAX + 1];
	bool foreign[JVMS_MAX + 1]; /* somebody else profiles it */
	enum planner_outcome outcome;
	struct planner_end outcomes[JVMS_MAX + 1]; /* of one JVM, where it is not OUTCOME_RAN */
	bool refuse;
	unsigned most; /* windows at a time */
	double most_cost;
};

static bool is_profiled(void *arg, pid_t pid)
{
	const struct host *h = arg;

	return h->foreign[pid] || h->jvms[pid].end_ns;
}

static void found(struct host *h, unsigned i)
{
	struct planner_jvm jvm = {.pid = (pid_t)i,
				  .start_ticks = 1000 + i,
				  .age_ns = h->now_ns - h->born_ns,
				  .cpu_share = 1.0 / JVMS_MAX,
				  .facts = {.app = i % 2 ? "odd" : "even", .user = "app"}};

	planner_found(h->planner, &jvm);
}

static void round_of_all(struct host *h)
{
	planner_begin_round(h->planner);
	for (unsigned i = 1; i <= h->count; i++)
		found(h, i);
	planner_end_round(h->planner);
}

static void set_up(struct host *h, const char *yaml, unsigned count)
{
	struct err err;

	*h = (struct host){
	    .now_ns = START_NS, .born_ns = START_NS - 3600 * NS_PER_S, .count = count};
	assert_int_equal(config_parse(&h->config, "test", yaml, strlen(yaml), &err), 0);
	h->planner = planner_new(&h->config, "host");
	assert_non_null(h->planner);
	round_of_all(h);
}

static void tear_down(struct host *h)
{
	planner_free(h->planner);
	config_release(&h->config);
}

static enum planner_outcome outcome_of(const struct host *h, unsigned jvm)
{
	return h->outcomes[jvm].outcome != OUTCOME_RAN ? h->outcomes[jvm].outcome : h->outcome;
}

static void end_windows(struct host *h)
{
	for (unsigned i = 1; i <= h->count; i++)
		if (h->jvms[i].end_ns && h->jvms[i].end_ns <= h->now_ns) {
			h->jvms[i].end_ns = 0;
			planner_ended(h->planner, (pid_t)i, h->jvms[i].schedule,
				      &(struct planner_end){.outcome = outcome_of(h, i),
							    .why = h->outcomes[i].why,
							    .reason = "the reason",
							    .overhead_ns = NS_PER_S,
							    .unix_ns = h->now_ns});
		}
}

static int minute_of(const struct host *h)
{
	return (int)(h->now_ns / MINUTE % CONFIG_DAY_MINUTES);
}

static void begin_windows(struct host *h)
{
	struct planner_order o;
	double cost = 0;
	unsigned running = 0;

	while (planner_next(h->planner, h->now_ns, minute_of(h), is_profiled, h, &o)) {
		assert_in_range(o.pid, 1, h->count);
		assert_false(is_profiled(h, o.pid));
		if (h->refuse) {
			planner_refused(h->planner, &o, MISS_SAMPLER);
			continue;
		}
		(void)snprintf(h->jvms[o.pid].id, PLANNER_WINDOW_BYTES, "w%u", ++h->windows);
		strcpy(h->jvms[o.pid].schedule, o.schedule->name);
		h->jvms[o.pid].end_ns = h->now_ns + o.schedule->window_ns;
		h->jvms[o.pid].of++;
		planner_began(h->planner, &o, h->jvms[o.pid].id);
	}
	for (unsigned i = 1; i <= h->count; i++)
		if (h->jvms[i].end_ns) {
			running++;
			cost += 0.01 / JVMS_MAX;
		}
	h->most = running > h->most ? running : h->most;
	h->most_cost = cost > h->most_cost ? cost : h->most_cost;
}

static void run_for(struct host *h, uint64_t ns)
{
	for (uint64_t end = h->now_ns + ns; h->now_ns < end; h->now_ns += NS_PER_S) {
		end_windows(h);
		while (planner_resume(h->planner))
			continue;
		begin_windows(h);
		planner_pass_time(h->planner, NS_PER_S);
	}
}

static uint64_t missed(const struct host *h, enum miss why)
{
	return planner_schedule(h->planner, 0)->missed[why];
}

/* ---------------------------------------------------------------- tests */

TEST(every_jvm_has_one_window_an_epoch)
{
	struct host h;

	set_up(&h,
	       "windows-at-once: 64\n"
	       "schedules: [{name: all, match: {}, every: 10m, window: 10s}]\n",
	       10);
	run_for(&h, 600 * MINUTE);
	for (unsigned i = 1; i <= 10; i++)
		assert_in_range(h.jvms[i].of, 59, 60);
	assert_true(h.windows + missed(&h, MISS_LIMIT) >= 590);
	assert_int_equal(missed(&h, MISS_LATE), 0);
	tear_down(&h);
}

TEST(limits_are_kept_and_what_they_cost_is_counted)
{
	struct host h;

	set_up(&h,
	       "windows-at-once: 2\n"
	       "schedules: [{name: all, match: {}, every: 10m, window: 30s}]\n",
	       JVMS_MAX);
	run_for(&h, 120 * MINUTE);
	assert_int_equal(h.most, 2);
	assert_true(missed(&h, MISS_LIMIT) > 0);
	/* Each of the 64 in each of the 12 epochs was run or missed, but for those under way. */
	assert_in_range(h.windows + missed(&h, MISS_LIMIT), 64 * 11, 64 * 12);
	tear_down(&h);
}

TEST(the_hosts_budget_is_shared)
{
	struct host h;

	/* A window costs 1% of a 64th; the host has as much as 3. */
	set_up(&h,
	       "windows-at-once: 64\nhost-budget: 0.047%\n"
	       "schedules: [{name: all, match: {}, every: 10m, window: 60s}]\n",
	       JVMS_MAX);
	run_for(&h, 60 * MINUTE);
	assert_int_equal(h.most, 3);
	assert_true(missed(&h, MISS_BUDGET) > 0);
	assert_int_equal(missed(&h, MISS_LIMIT), 0);
	tear_down(&h);
}

TEST(windows_that_somebody_asks_for_have_their_part_of_the_hosts_budget)
{
	const struct planner_other others[] = {{1, 0.01, true}, {2, 0.01, true}};
	const struct planner_other unknown = {12345, 0.01, true};
	struct host h;

	set_up(&h,
	       "windows-at-once: 64\nhost-budget: 0.047%\n"
	       "schedules: [{name: all, match: {}, every: 10m, window: 60s}]\n",
	       JVMS_MAX);
	planner_set_others(h.planner, others, 2);
	run_for(&h, 60 * MINUTE);
	assert_int_equal(h.most, 1);
	assert_true(missed(&h, MISS_BUDGET) > 0);
	/* One that might use all processors leaves nothing. */
	planner_set_others(h.planner, &unknown, 1);
	run_for(&h, 2 * MINUTE);
	h.windows = 0;
	run_for(&h, 60 * MINUTE);
	assert_int_equal(h.windows, 0);
	planner_set_others(h.planner, NULL, 0);
	h.most = 0;
	run_for(&h, 60 * MINUTE);
	assert_int_equal(h.most, 3);
	tear_down(&h);
}

TEST(users_windows_leave_schedules_half_of_the_hosts_budget)
{
	const struct planner_other users[] = {{1, 1, false}, {2, 1, false}};
	const struct planner_other unknown = {12345, 1, false};
	struct host h;

	set_up(&h,
	       "windows-at-once: 64\nhost-budget: 0.064%\n"
	       "schedules: [{name: all, match: {}, every: 10m, window: 60s}]\n",
	       JVMS_MAX);
	planner_set_others(h.planner, users, 2);
	run_for(&h, 60 * MINUTE);
	assert_int_equal(h.most, 2);
	planner_set_others(h.planner, &unknown, 1);
	h.most = 0;
	run_for(&h, 60 * MINUTE);
	assert_int_equal(h.most, 4);
	tear_down(&h);
}

TEST(somebody_elses_window_wins)
{
	struct host h;

	set_up(&h, "schedules: [{name: all, match: {}, every: 10m, window: 10s}]\n", 2);
	h.foreign[1] = true;
	run_for(&h, 60 * MINUTE);
	assert_int_equal(h.jvms[1].of, 0);
	assert_in_range(missed(&h, MISS_BUSY), 4, 6);
	assert_in_range(h.jvms[2].of, 5, 6);
	tear_down(&h);
}

TEST(nothing_begins_while_the_broker_is_away)
{
	struct host h;

	set_up(&h, "schedules: [{name: all, match: {}, every: 10m, window: 10s}]\n", 1);
	planner_hold(h.planner, MISS_BROKER);
	run_for(&h, 60 * MINUTE);
	assert_int_equal(h.windows, 0);
	assert_in_range(missed(&h, MISS_BROKER), 4, 6);
	assert_string_equal(planner_schedule(h.planner, 0)->stopped, "");
	planner_hold(h.planner, MISS_NONE);
	run_for(&h, 60 * MINUTE);
	assert_in_range(h.windows, 5, 6);
	tear_down(&h);
}

TEST(a_window_that_was_not_tried_says_nothing_of_the_schedule)
{
	struct host h;

	set_up(&h, "schedules: [{name: all, match: {}, every: 10m, window: 10s, failures: 2}]\n",
	       1);
	h.outcome = OUTCOME_UNTRIED;
	run_for(&h, 60 * MINUTE);
	assert_in_range(h.windows, 5, 6);
	assert_in_range(missed(&h, MISS_BROKER), 5, 6);
	assert_int_equal(planner_schedule(h.planner, 0)->failed, 0);
	assert_string_equal(planner_schedule(h.planner, 0)->stopped, "");
	tear_down(&h);
}

TEST(a_young_jvm_is_left_alone)
{
	struct host h;

	set_up(&h, "schedules: [{name: all, match: {}, every: 1m, window: 5s, warm-up: 30m}]\n", 1);
	h.born_ns = h.now_ns;
	for (unsigned minute = 0; minute < 29; minute++) {
		round_of_all(&h);
		run_for(&h, MINUTE);
	}
	assert_int_equal(h.windows, 0);
	for (unsigned minute = 0; minute < 31; minute++) {
		round_of_all(&h);
		run_for(&h, MINUTE);
	}
	assert_in_range(h.windows, 27, 31);
	assert_int_equal(missed(&h, MISS_LATE), 0);
	tear_down(&h);
}

TEST(windows_begin_at_their_time_of_day)
{
	struct host h;
	unsigned before;

	/* START_NS is at noon or midnight UTC: go to 21:00. */
	set_up(&h,
	       "schedules: [{name: night, match: {}, every: 10m, window: 10s, "
	       "from: \"22:00\", until: \"02:00\"}]\n",
	       1);
	h.now_ns +=
	    (uint64_t)((21 * 60 - minute_of(&h) + CONFIG_DAY_MINUTES) % CONFIG_DAY_MINUTES) *
	    MINUTE;
	run_for(&h, 60 * MINUTE);
	assert_int_equal(h.windows, 0);
	run_for(&h, 240 * MINUTE);
	assert_in_range(h.windows, 23, 24);
	before = h.windows;
	run_for(&h, 300 * MINUTE);
	assert_int_equal(h.windows, before);
	assert_int_equal(missed(&h, MISS_LATE), 0);
	tear_down(&h);
}

/* JVMs of several users: pid i is user i % 2's. */
static void crowd_of_two(struct host *h)
{
	for (unsigned i = 1; i <= h->count; i++)
		planner_found(h->planner, &(struct planner_jvm){.pid = (pid_t)i,
								.start_ticks = 1000 + i,
								.uid = i % 2,
								.age_ns = 3600 * NS_PER_S,
								.cpu_share = 1e-6,
								.facts = {.app = "app"}});
}

static struct planner_view view_of(const struct host *h, pid_t pid)
{
	struct planner_view view;

	assert_true(planner_view(h->planner, pid, h->now_ns, &view));
	return view;
}

TEST(jvms_that_refuse_do_not_keep_another_from_its_windows)
{
	struct planner_count counts[PLANNER_COUNTS_MAX];
	size_t count;
	struct host h;

	set_up(&h, "schedules: [{name: all, match: {}, every: 10m, window: 10s, failures: 2}]\n",
	       6);
	for (pid_t pid = 1; pid <= 5; pid++)
		h.outcomes[pid] =
		    (struct planner_end){.outcome = OUTCOME_REFUSED, .why = MISS_ROOM};
	run_for(&h, 600 * MINUTE);
	assert_in_range(h.jvms[6].of, 59, 60);
	/* Tried after 2, 4, 8 and more epochs; else missed. */
	for (pid_t pid = 1; pid <= 5; pid++)
		assert_in_range(h.jvms[pid].of, 5, 6);
	assert_in_range(missed(&h, MISS_ROOM), 5 * 59, 5 * 60);
	assert_int_equal(planner_schedule(h.planner, 0)->failed, 0);
	assert_string_equal(planner_schedule(h.planner, 0)->stopped, "");
	assert_int_equal(view_of(&h, 1).why, MISS_ROOM);
	assert_true(view_of(&h, 1).until_unix_ns > h.now_ns);
	assert_int_equal(view_of(&h, 6).why, MISS_NONE);
	count = planner_count_jvms(h.planner, counts);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(counts[i].jvms, counts[i].why == MISS_ROOM       ? 5
						 : counts[i].state == JVM_COVERED ? 1
										  : 0);
	/* There is room again, and somebody says so. */
	for (pid_t pid = 1; pid <= 5; pid++)
		h.outcomes[pid] = (struct planner_end){.outcome = OUTCOME_RAN};
	assert_int_equal(planner_configure(h.planner, &h.config, "host"), 0);
	round_of_all(&h);
	run_for(&h, 20 * MINUTE);
	assert_int_equal(view_of(&h, 1).why, MISS_NONE);
	tear_down(&h);
}

TEST(a_jvm_that_refuses_beforehand_is_never_tried)
{
	struct host h;

	set_up(&h, "schedules: [{name: all, match: {}, every: 10m, window: 10s}]\n", 1);
	planner_found(h.planner, &(struct planner_jvm){.pid = 1,
						       .start_ticks = 1001,
						       .age_ns = 3600 * NS_PER_S,
						       .refused = MISS_PROTOCOL,
						       .facts = {.app = "odd"}});
	run_for(&h, 60 * MINUTE);
	assert_int_equal(h.windows, 0);
	assert_in_range(missed(&h, MISS_PROTOCOL), 5, 6);
	assert_int_equal(view_of(&h, 1).why, MISS_PROTOCOL);
	assert_int_equal(view_of(&h, 1).until_unix_ns, 0);
	tear_down(&h);
}

TEST(another_daemons_window_is_over_some_time)
{
	struct host h;

	set_up(&h, "schedules: [{name: all, match: {}, every: 10m, window: 10s}]\n", 1);
	h.outcomes[1] = (struct planner_end){.outcome = OUTCOME_REFUSED, .why = MISS_BUSY};
	run_for(&h, 60 * MINUTE);
	assert_in_range(h.jvms[1].of, 5, 6);
	assert_int_equal(missed(&h, MISS_BUSY), h.jvms[1].of);
	tear_down(&h);
}

TEST(a_jvm_that_fails_is_tried_again_later_each_time_and_at_least_once_a_day)
{
	struct host h;

	set_up(&h, "schedules: [{name: all, match: {}, every: 1h, window: 10s, failures: 1}]\n", 1);
	h.outcome = OUTCOME_FAILED;
	run_for(&h, 10 * 24 * 60 * MINUTE);
	assert_in_range(h.windows, 4 + 8, 4 + 10);
	assert_int_equal(planner_schedule(h.planner, 0)->failed, h.windows);
	assert_string_equal(planner_schedule(h.planner, 0)->stopped, "");
	h.outcome = OUTCOME_RAN;
	run_for(&h, 2 * 24 * 60 * MINUTE);
	assert_in_range(h.jvms[1].of, h.windows, h.windows);
	assert_in_range(planner_schedule(h.planner, 0)->windows, 22, 48);
	tear_down(&h);
}

TEST(a_schedule_stops_for_costs_in_several_jvms_and_goes_on_by_itself)
{
	const struct planner_schedule *s;
	unsigned before;
	struct host h;

	set_up(&h, "schedules: [{name: all, match: {}, every: 10m, window: 5s, failures: 3}]\n", 4);
	s = planner_schedule(h.planner, 0);
	h.outcome = OUTCOME_COSTLY;
	while (s->in_a_row < 2)
		run_for(&h, NS_PER_S);
	assert_string_equal(s->stopped, "");
	while (!s->stopped[0])
		run_for(&h, NS_PER_S);
	assert_int_equal(s->in_a_row, 3);
	assert_int_equal(s->overhead_ns, 3 * NS_PER_S);
	assert_non_null(strstr(s->stopped, "windows in 3 JVMs in a row"));
	assert_non_null(strstr(s->stopped, "the reason"));
	before = h.windows;
	run_for(&h, 19 * MINUTE);
	assert_in_range(h.windows, before, before + 1); /* One may have been under way. */
	/* After two epochs it goes on. */
	h.outcome = OUTCOME_RAN;
	run_for(&h, 120 * MINUTE);
	assert_string_equal(s->stopped, "");
	assert_int_equal(s->in_a_row, 0);
	assert_true(h.windows > before + 20);
	assert_true(h.now_ns - s->last_ran_unix_ns < 10 * MINUTE);
	tear_down(&h);
}

TEST(one_jvm_alone_does_not_stop_its_schedule)
{
	struct host h;

	set_up(&h, "schedules: [{name: all, match: {}, every: 1m, window: 5s, failures: 2}]\n", 1);
	h.outcome = OUTCOME_COSTLY;
	run_for(&h, 24 * 60 * MINUTE);
	assert_in_range(h.windows, 8, 12);
	assert_int_equal(planner_schedule(h.planner, 0)->in_a_row, 1);
	assert_string_equal(planner_schedule(h.planner, 0)->stopped, "");
	tear_down(&h);
}

/* Of user 1's 32 JVMs each claims costs, before any of user 0's has had its window. */
TEST(a_user_cannot_claim_costs_to_stop_a_schedule_for_others)
{
	struct host h;

	set_up(&h,
	       "windows-at-once: 64\n"
	       "schedules: [{name: all, match: {}, every: 10m, window: 10s, failures: 3}]\n",
	       JVMS_MAX);
	crowd_of_two(&h);
	for (pid_t pid = 1; pid <= JVMS_MAX; pid++)
		h.outcomes[pid].outcome = pid % 2 ? OUTCOME_COSTLY : OUTCOME_GONE;
	run_for(&h, 30 * MINUTE);
	assert_true(planner_schedule(h.planner, 0)->in_a_row >= 30);
	assert_string_equal(planner_schedule(h.planner, 0)->stopped, "");
	/* Two users' are another matter. */
	h.outcomes[2].outcome = OUTCOME_COSTLY;
	run_for(&h, 20 * MINUTE);
	assert_string_not_equal(planner_schedule(h.planner, 0)->stopped, "");
	tear_down(&h);
}

TEST(a_user_whose_windows_fail_has_one_at_a_time)
{
	struct host h;

	set_up(&h,
	       "windows-at-once: 64\n"
	       "schedules: [{name: all, match: {user: app}, every: 10m, window: 60s}]\n",
	       JVMS_MAX);
	h.outcome = OUTCOME_FAILED;
	run_for(&h, 10 * MINUTE);
	h.most = 0;
	run_for(&h, 60 * MINUTE);
	assert_int_equal(h.most, 1);
	assert_true(missed(&h, MISS_LIMIT) > 0);
	h.outcome = OUTCOME_RAN;
	run_for(&h, 240 * MINUTE);
	assert_true(h.most > 1);
	tear_down(&h);
}

TEST(a_jvm_that_collects_most_of_the_time_is_left_alone_until_that_is_over)
{
	struct planner_jvm jvm = {.pid = 1,
				  .start_ticks = 1001,
				  .age_ns = 3600 * NS_PER_S,
				  .collector_share = 0.9,
				  .facts = {.app = "odd"}};
	struct host h;

	set_up(&h, "schedules: [{name: all, match: {}, every: 10m, window: 10s}]\n", 1);
	planner_found(h.planner, &jvm);
	run_for(&h, 60 * MINUTE);
	assert_int_equal(h.windows, 0);
	assert_in_range(missed(&h, MISS_COLLECTOR), 4, 6);
	jvm.collector_share = 0.1;
	planner_found(h.planner, &jvm);
	run_for(&h, 60 * MINUTE);
	assert_in_range(h.windows, 5, 6);
	tear_down(&h);
}

TEST(a_jvm_that_ends_is_no_failure)
{
	struct host h;

	set_up(&h, "schedules: [{name: all, match: {}, every: 1m, window: 5s, failures: 3}]\n", 1);
	h.outcome = OUTCOME_GONE;
	run_for(&h, 20 * MINUTE);
	assert_in_range(h.windows, 19, 20);
	tear_down(&h);
}

/* Configurations come all the time: nothing is run twice, and windows that run are not forgotten.
 */
TEST(a_storm_of_configurations_changes_nothing)
{
	struct host h;

	set_up(&h, "schedules: [{name: all, match: {}, every: 10m, window: 30s}]\n", 4);
	for (unsigned i = 0; i < 3600; i++) {
		assert_int_equal(planner_configure(h.planner, &h.config, "host"), 0);
		round_of_all(&h);
		run_for(&h, NS_PER_S);
	}
	for (unsigned i = 1; i <= 4; i++)
		assert_in_range(h.jvms[i].of, 5, 6);
	tear_down(&h);
}

TEST(a_window_stands_for_what_was_drawn_before_a_configuration_came)
{
	static struct config next;
	static const char yaml[] = "schedules: [{name: all, match: {}, every: 10m, window: 10s, "
				   "host-fraction: 0.25}]\n";
	struct host h;
	struct planner_order o;
	struct err err;

	set_up(&h,
	       "schedules: [{name: all, match: {}, every: 10m, window: 10s, host-fraction: 0.5}]\n",
	       1);
	while (!planner_next(h.planner, h.now_ns, minute_of(&h), is_profiled, &h, &o))
		h.now_ns += NS_PER_S;
	assert_true(fabs(o.weight_s - 600 / 0.5) < 1e-6);
	assert_int_equal(config_parse(&next, "test", yaml, sizeof(yaml) - 1, &err), 0);
	assert_int_equal(planner_configure(h.planner, &next, "host"), 0);
	round_of_all(&h);
	assert_true(planner_next(h.planner, h.now_ns, minute_of(&h), is_profiled, &h, &o));
	assert_true(fabs(o.weight_s - 600 / 0.5) < 1e-6);
	/* That of a later epoch is drawn by the new one. */
	planner_refused(h.planner, &o, MISS_REFUSED);
	while (!planner_next(h.planner, h.now_ns, minute_of(&h), is_profiled, &h, &o))
		h.now_ns += NS_PER_S;
	assert_true(fabs(o.weight_s - 600 / 0.25) < 1e-6);
	tear_down(&h);
	config_release(&next);
}

TEST(clocks_may_jump)
{
	struct host h;
	unsigned before;

	set_up(&h, "schedules: [{name: all, match: {}, every: 10m, window: 10s}]\n", 4);
	run_for(&h, 60 * MINUTE);
	/* Back and forth by five minutes: each epoch's window was or will be run once. */
	before = h.windows;
	for (unsigned i = 0; i < 10; i++) {
		run_for(&h, 6 * MINUTE);
		h.now_ns -= 5 * MINUTE;
		end_windows(&h);
	}
	assert_in_range(h.windows - before, 4, 8);
	/* A day ahead: what was due is missed, once. */
	h.now_ns += 24 * 60 * MINUTE;
	run_for(&h, 60 * MINUTE);
	assert_true(missed(&h, MISS_LATE) <= 4);
	/* A day back: goes on as ever. */
	before = h.windows;
	h.now_ns -= 24 * 60 * MINUTE;
	end_windows(&h);
	for (unsigned i = 1; i <= 4; i++) /* Those that ran end by another clock. */
		h.jvms[i].end_ns = h.jvms[i].end_ns ? h.now_ns : 0;
	run_for(&h, 60 * MINUTE);
	assert_in_range(h.windows - before, 16, 28);
	tear_down(&h);
}

TEST(what_cannot_be_begun_is_missed)
{
	struct host h;

	set_up(&h, "schedules: [{name: all, match: {}, every: 10m, window: 10s}]\n", 1);
	h.refuse = true;
	run_for(&h, 60 * MINUTE);
	assert_int_equal(h.windows, 0);
	assert_in_range(missed(&h, MISS_SAMPLER), 5, 6);
	tear_down(&h);
}

static unsigned look_ahead(struct host *h)
{
	unsigned draws = 1000000;

	assert_true(planner_look_ahead(h->planner, h->now_ns, &draws));
	return 1000000 - draws;
}

TEST(a_schedule_takes_those_that_it_matches)
{
	struct host h;
	struct planner_view view;

	set_up(&h,
	       "apps: [{match: {user: nobody}, app: x}]\n"
	       "schedules: [{name: odd, match: {app: odd}, every: 10m, window: 10s}]\n",
	       2);
	run_for(&h, 30 * MINUTE);
	assert_in_range(h.jvms[1].of, 2, 3);
	assert_int_equal(h.jvms[2].of, 0);
	look_ahead(&h);
	assert_true(planner_view(h.planner, 1, h.now_ns, &view));
	assert_string_equal(view.app, "odd");
	assert_string_equal(view.last_window, h.jvms[1].id);
	/* Also when this epoch's is over already. */
	assert_string_equal(view.schedule, "odd");
	assert_true(view.next_unix_ns >= h.now_ns && view.next_unix_ns < h.now_ns + 20 * MINUTE);
	assert_true(planner_view(h.planner, 2, h.now_ns, &view));
	assert_string_equal(view.schedule, "");
	assert_false(planner_view(h.planner, 3, h.now_ns, &view));
	tear_down(&h);
}

TEST(the_next_window_is_found_with_a_draw_an_epoch)
{
	const unsigned epochs = 5000;
	struct planner_view view;
	unsigned first, later = 0, known = 0;
	struct host h;

	set_up(&h,
	       "schedules: [{name: rare, match: {}, every: 10m, window: 10s, "
	       "jvm-fraction: 0.01}]\n",
	       JVMS_MAX);
	first = look_ahead(&h);
	assert_in_range(first, JVMS_MAX, JVMS_MAX * PLAN_EPOCHS_AHEAD_MAX);
	for (unsigned i = 0; i < epochs; i++) {
		h.now_ns += 10 * MINUTE;
		later += look_ahead(&h);
		assert_int_equal(look_ahead(&h), 0); /* Nothing is drawn twice. */
		assert_true(planner_view(h.planner, 1 + i % JVMS_MAX, h.now_ns, &view));
		known += view.next_unix_ns > h.now_ns;
	}
	assert_int_equal(known, epochs);
	assert_in_range(later, JVMS_MAX * (epochs - PLAN_EPOCHS_AHEAD_MAX),
			JVMS_MAX * (epochs + PLAN_EPOCHS_AHEAD_MAX));
	tear_down(&h);
}

TEST(looking_ahead_stops_where_it_is_told_and_goes_on_there)
{
	unsigned draws, turns = 1;
	struct planner_view view;
	struct host h;

	set_up(&h,
	       "schedules: [{name: never, match: {}, every: 10m, window: 10s, "
	       "jvm-fraction: 0.0000001}]\n",
	       JVMS_MAX);
	for (draws = 4096; !planner_look_ahead(h.planner, h.now_ns, &draws); draws = 4096)
		turns++;
	assert_int_equal(turns, (JVMS_MAX * PLAN_EPOCHS_AHEAD_MAX + 4095) / 4096);
	assert_true(planner_view(h.planner, 1, h.now_ns, &view));
	assert_true(view.next_unix_ns == 0);
	/* A clock that goes back begins anew, so that nothing is passed over. */
	h.now_ns -= 10 * MINUTE;
	assert_int_equal(look_ahead(&h), JVMS_MAX * PLAN_EPOCHS_AHEAD_MAX);
	tear_down(&h);
}

/* One user's JVMs, which a schedule matches or not, and then another's. */
static void crowd(struct host *h, uid_t uid, const char *app, unsigned first, unsigned count)
{
	for (unsigned i = first; i < first + count; i++)
		planner_found(h->planner, &(struct planner_jvm){.pid = (pid_t)i,
								.start_ticks = 1000 + i,
								.uid = uid,
								.age_ns = 3600 * NS_PER_S,
								.cpu_share = 1e-6,
								.facts = {.app = app}});
}

static size_t known(const struct host *h, unsigned first, unsigned count)
{
	struct planner_view view;
	size_t n = 0;

	for (unsigned i = first; i < first + count; i++)
		n += planner_view(h->planner, (pid_t)i, h->now_ns, &view);
	return n;
}

TEST(what_no_schedule_matches_keeps_out_nobody)
{
	struct host h;

	set_up(&h, "schedules: [{name: all, match: {app: shop}, every: 10m, window: 10s}]\n", 0);
	crowd(&h, 1000, "evil", 1, KNOWN_JVMS_MAX + 50);
	crowd(&h, 1000, "shop", 5000, 10);
	crowd(&h, 1001, "other", 6000, 10);
	assert_int_equal(known(&h, 5000, 10), 10);
	assert_int_equal(known(&h, 6000, 10), 10); /* They have names, too. */
	assert_int_equal(planner_jvms_over_limit(h.planner), 0);
	tear_down(&h);
}

TEST(one_users_jvms_keep_out_nobody_elses)
{
	struct host h;

	set_up(&h, "schedules: [{name: all, match: {}, every: 10m, window: 10s}]\n", 0);
	for (int round = 1; round <= 2; round++) {
		planner_begin_round(h.planner);
		crowd(&h, 1000, "evil", 1, KNOWN_JVMS_MAX + 50);
		crowd(&h, 1001, "shop", 5000, 10);
		planner_end_round(h.planner);
		assert_int_equal(known(&h, 5000, 10), 10);
		assert_int_equal(planner_jvms_over_limit(h.planner), round * 60);
	}
	tear_down(&h);
}

TEST(there_may_be_too_many)
{
	struct host h;

	set_up(&h, "schedules: [{name: all, match: {}, every: 10m, window: 10s}]\n", 0);
	planner_begin_round(h.planner);
	for (unsigned i = 1; i <= KNOWN_JVMS_MAX + 7; i++)
		found(&h, i);
	planner_end_round(h.planner);
	assert_int_equal(planner_jvms_over_limit(h.planner), 7);
	/* All are gone in the next. */
	planner_begin_round(h.planner);
	planner_end_round(h.planner);
	found(&h, 1);
	assert_int_equal(planner_jvms_over_limit(h.planner), 7);
	tear_down(&h);
}

/* Of 64 JVMs one is of another user: it comes last in the table. */
TEST(users_take_turns_where_more_windows_are_due_than_may_run)
{
	struct host h;

	set_up(&h,
	       "windows-at-once: 4\n"
	       "schedules: [{name: all, match: {}, every: 10m, window: 5m}]\n",
	       JVMS_MAX);
	for (unsigned i = 1; i <= JVMS_MAX; i++)
		planner_found(h.planner, &(struct planner_jvm){.pid = (pid_t)i,
							       .start_ticks = 1000 + i,
							       .uid = i < JVMS_MAX ? 1000 : 1001,
							       .age_ns = 3600 * NS_PER_S,
							       .cpu_share = 1e-6,
							       .facts = {.app = "odd"}});
	run_for(&h, 200 * MINUTE);
	assert_int_equal(h.most, 4);
	assert_true(missed(&h, MISS_LIMIT) > 500);
	assert_in_range(h.jvms[JVMS_MAX].of, 18, 20); /* An epoch each. */
	tear_down(&h);
}

static unsigned standing(const struct host *h, enum jvm_state state, enum miss why)
{
	struct planner_count counts[PLANNER_COUNTS_MAX];
	size_t count = planner_count_jvms(h->planner, counts);
	unsigned jvms = 0;

	for (size_t i = 0; i < count; i++)
		if (counts[i].state == state && counts[i].why == why)
			jvms += counts[i].jvms;
	return jvms;
}

TEST(jvms_whose_windows_are_held_are_not_covered)
{
	static const enum miss holds[] = {MISS_PAUSED, MISS_BROKER, MISS_CPU_PRESSURE, MISS_LOAD};
	struct planner_jvm jvm = {
	    .pid = 1, .start_ticks = 1001, .collector_share = 0.9, .facts = {.app = "odd"}};
	struct host h;

	set_up(&h, "schedules: [{name: all, match: {}, every: 10m, window: 5s, failures: 2}]\n", 2);
	assert_int_equal(standing(&h, JVM_COVERED, MISS_NONE), 2);
	for (size_t i = 0; i < sizeof(holds) / sizeof(holds[0]); i++) {
		planner_hold(h.planner, holds[i]);
		assert_int_equal(standing(&h, JVM_HELD, holds[i]), 2);
		assert_int_equal(standing(&h, JVM_COVERED, MISS_NONE), 0);
	}
	planner_hold(h.planner, MISS_NONE);
	planner_found(h.planner, &jvm);
	assert_int_equal(standing(&h, JVM_HELD, MISS_COLLECTOR), 1);
	assert_int_equal(standing(&h, JVM_COVERED, MISS_NONE), 1);
	found(&h, 1);
	/* What is the JVM's own comes first. */
	h.outcome = OUTCOME_COSTLY;
	while (!planner_schedule(h.planner, 0)->stopped[0])
		run_for(&h, NS_PER_S);
	assert_int_equal(standing(&h, JVM_SKIPPED, MISS_COST), 2);
	h.count = 3;
	found(&h, 3);
	assert_int_equal(standing(&h, JVM_HELD, MISS_COST), 1);
	tear_down(&h);
}

static void found_with_agent(struct host *h, unsigned pid, uid_t uid, const char *version)
{
	planner_found(h->planner, &(struct planner_jvm){.pid = (pid_t)pid,
							.start_ticks = 1000 + pid,
							.uid = uid,
							.age_ns = 3600 * NS_PER_S,
							.facts = {.app = "app"},
							.agent_version = version});
}

static unsigned with_agent(const struct host *h, const char *version)
{
	struct planner_agents counts[PLANNER_AGENTS_MAX];
	size_t n = planner_count_agents(h->planner, counts);
	unsigned jvms = 0;

	for (size_t i = 0; i < n; i++)
		if (strcmp(counts[i].version, version) == 0)
			jvms += counts[i].jvms;
	return jvms;
}

TEST(a_version_of_an_agent_looks_like_one)
{
	static const char *const none[] = {"other",     "1.2",    "1.2.3.4",    "v1.2.3", "1.2.3 x",
					   "12345.0.0", "1.2.3-", "1.2.3-a\"b", "1..3",   "-1.2.3"};
	static const char *const real[] = {"0.3.0", "10.20.30-rc1", AGENT_VERSION_UNTOLD};
	struct host h;
	unsigned pid = 1;

	set_up(&h, "schedules: [{name: all, match: {}, every: 10m, window: 5s}]\n", 0);
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		found_with_agent(&h, pid++, 1, none[i]);
	for (size_t i = 0; i < sizeof(real) / sizeof(real[0]); i++) {
		found_with_agent(&h, pid++, 2, real[i]);
		assert_int_equal(with_agent(&h, real[i]), 1);
	}
	assert_int_equal(with_agent(&h, "other"), sizeof(none) / sizeof(none[0]));
	tear_down(&h);
}

TEST(a_users_fakes_take_few_versions)
{
	struct planner_agents counts[PLANNER_AGENTS_MAX];
	char version[16];
	struct host h;

	set_up(&h, "schedules: [{name: all, match: {}, every: 10m, window: 5s}]\n", 0);
	for (unsigned pid = 1; pid <= 40; pid++) {
		(void)snprintf(version, sizeof(version), "6.6.%u", pid);
		found_with_agent(&h, pid, 666, version);
	}
	found_with_agent(&h, 100, 1, "0.3.0");
	found_with_agent(&h, 101, 666, "6.6.1"); /* One that it has already. */
	found_with_agent(&h, 102, 666, "0.3.0"); /* Ours is one too many of its. */
	assert_int_equal(with_agent(&h, "0.3.0"), 1);
	assert_int_equal(with_agent(&h, "6.6.1"), 2);
	assert_int_equal(with_agent(&h, "other"), 40 - PLANNER_AGENTS_OF_USER + 1);
	assert_int_equal(planner_count_agents(h.planner, counts), PLANNER_AGENTS_OF_USER + 2);
	tear_down(&h);
}
