#include "tests/unit/support/test.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "profile/side_effects.h"

#define INTERVAL_NS (SIDE_EFFECTS_INTERVAL_MS * NS_PER_MS)
#define MIB         (UINT64_C(1) << 20)

/* A JVM that is seen from its hundredth second on. */
struct jvm {
	struct side_effects s;
	uint64_t time_ns;
	Jxp__WatchRecord record;
};

/* What it does in a second. */
struct pace {
	double cpu_s, gc_cpu_s, faults, collections, gc_time_s;
	uint64_t heap_bytes;
};

static const struct pace usual = {1, 0.02, 300, 7, 0.03, 20 * MIB};

static char empty[] = "";

static uint64_t part(double second)
{
	return (uint64_t)(second * (double)NS_PER_S / SIDE_EFFECTS_SECOND);
}

/* A hundred seconds of that pace are over. */
static void jvm_init(struct jvm *j, const struct pace *life)
{
	memset(j, 0, sizeof(*j));
	jxp__watch_record__init(&j->record);
	j->time_ns = 1000 * NS_PER_S;
	j->record.time_ns = j->time_ns;
	j->record.uptime_ns = 100 * NS_PER_S;
	j->record.cpu_ns = (uint64_t)(life->cpu_s * 100e9);
	j->record.gc_cpu_ns = (uint64_t)(life->gc_cpu_s * 100e9);
	j->record.page_faults = (uint64_t)(life->faults * 100);
	j->record.collections = (uint64_t)(life->collections * 100);
	j->record.gc_time_ns = (uint64_t)(life->gc_time_s * 100e9);
	j->record.no_data = empty;
}

/* Collections come one by one, so a quarter of a second has one more or less. */
static void jvm_step(struct jvm *j, const struct pace *p, unsigned step)
{
	j->record.time_ns += INTERVAL_NS;
	j->record.uptime_ns += INTERVAL_NS;
	j->record.cpu_ns += part(p->cpu_s);
	j->record.gc_cpu_ns += part(p->gc_cpu_s);
	j->record.page_faults += (uint64_t)(p->faults / SIDE_EFFECTS_SECOND);
	j->record.collections += (uint64_t)(p->collections * (step + 1) / SIDE_EFFECTS_SECOND) -
				 (uint64_t)(p->collections * step / SIDE_EFFECTS_SECOND);
	j->record.gc_time_ns += part(p->gc_time_s);
	j->record.heap_after_bytes = p->heap_bytes;
	j->record.heap_least_bytes = p->heap_bytes;
	assert_true(side_effects_add(&j->s, &j->record));
}

/* Returns after how many steps there was an alarm, -1 for never. */
static int jvm_run(struct jvm *j, const struct pace *p, double seconds)
{
	int first = -1;

	for (unsigned i = 0; i < (unsigned)(seconds * SIDE_EFFECTS_SECOND); i++) {
		jvm_step(j, p, i);
		if (first < 0 && side_effects_alarm(&j->s))
			first = (int)i + 1;
	}
	return first;
}

static void begin(struct jvm *j)
{
	side_effects_begin(&j->s, j->record.time_ns);
}

/* Two seconds of the usual, then that. */
static int alarm_at(struct jvm *j, const struct pace *then)
{
	jvm_init(j, &usual);
	(void)jvm_run(j, &usual, 2);
	begin(j);
	return jvm_run(j, then, 20);
}

TEST(what_goes_on_as_before_is_no_alarm)
{
	struct jvm j;

	assert_int_equal(alarm_at(&j, &usual), -1);
	for (int e = 0; e < EFFECT_MAX; e++)
		assert_false(j.s.rose[e]);
}

TEST(more_than_three_times_the_collections_are_noticed_after_four_seconds)
{
	struct pace more = usual;
	char line[SIDE_EFFECTS_LINE_BYTES];
	struct jvm j;

	more.collections = 24;
	assert_in_range(alarm_at(&j, &more), 12, 18);
	side_effects_alarm_line(&j.s, line);
	assert_string_equal(line, "collections rose from 7.4 to 24.0 a second");
}

/* Seven to thirteen in each second, as a program's pace varies. */
TEST(twice_the_collections_are_noise)
{
	struct pace more = usual;
	struct jvm j;

	more.collections = 13;
	assert_int_equal(alarm_at(&j, &more), -1);
}

TEST(a_burst_of_two_seconds_is_noise)
{
	struct pace more = usual;
	struct jvm j;

	more.collections = 60;
	more.gc_time_s = 0.5;
	jvm_init(&j, &usual);
	(void)jvm_run(&j, &usual, 2);
	begin(&j);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(jvm_run(&j, &more, 2), -1);
		assert_int_equal(jvm_run(&j, &usual, 2), -1);
	}
}

/* An idle JVM that gets something to do does more of everything. */
TEST(a_rise_that_the_application_s_own_work_explains_is_none)
{
	const struct pace idle = {0.06, 0.001, 20, 0.4, 0.002, 20 * MIB};
	const struct pace busy = {1.5, 0.03, 500, 10, 0.05, 20 * MIB};
	struct jvm j;

	jvm_init(&j, &idle);
	(void)jvm_run(&j, &idle, 2);
	begin(&j);
	assert_int_equal(jvm_run(&j, &busy, 20), -1);
}

/* It computes and allocates in turns, and computed while it was looked at before. */
TEST(what_the_jvm_has_done_in_its_life_on_average_is_no_rise)
{
	const struct pace computing = {1, 0, 10, 0, 0, 0};
	const struct pace allocating = {1, 0.04, 600, 14, 0.06, 20 * MIB};
	struct jvm j;

	jvm_init(&j, &usual); /* half of allocating */
	(void)jvm_run(&j, &computing, 2);
	begin(&j);
	assert_int_equal(jvm_run(&j, &allocating, 20), -1);
}

TEST(longer_pauses_are_noticed_where_they_take_a_part_of_the_time_that_matters)
{
	struct pace more = usual;
	struct jvm j;

	more.gc_time_s = 0.12;
	assert_in_range(alarm_at(&j, &more), 12, 18);
	assert_true(j.s.rose[EFFECT_GC_TIME]);
	assert_false(j.s.rose[EFFECT_COLLECTIONS]);
}

TEST(a_heap_that_holds_far_more_after_collections_is_noticed)
{
	struct pace more = usual;
	char line[SIDE_EFFECTS_LINE_BYTES];
	struct jvm j;

	more.heap_bytes = 790 * MIB;
	assert_in_range(alarm_at(&j, &more), 12, 18);
	side_effects_alarm_line(&j.s, line);
	assert_string_equal(line, "the heap after a collection rose from 20.0 to 790.0 MiB");
}

TEST(a_heap_that_grows_on_as_it_did_before_is_no_rise)
{
	struct pace pace = usual;
	struct jvm j;

	jvm_init(&j, &usual);
	for (unsigned i = 0; i < 80; i++) {
		if (i == 12)
			begin(&j);
		pace.heap_bytes += 10 * MIB; /* 40 MiB a second */
		jvm_step(&j, &pace, i);
		assert_false(side_effects_alarm(&j.s));
	}
}

TEST(a_collector_that_works_and_page_faults_alone_are_told_and_no_alarm)
{
	struct pace more = usual;
	struct jvm j;

	more.gc_cpu_s = 0.9;
	more.cpu_s = 1.9;
	more.faults = 40000;
	assert_int_equal(alarm_at(&j, &more), -1);
	assert_true(j.s.rose[EFFECT_GC_CPU]);
	assert_true(j.s.rose[EFFECT_FAULTS]);
}

TEST(without_performance_data_these_two_together_are_an_alarm)
{
	static char none[] = "none";
	struct pace more = usual;
	struct jvm j;

	jvm_init(&j, &usual);
	j.record.no_data = none;
	(void)jvm_run(&j, &usual, 2);
	begin(&j);
	more.gc_cpu_s = 0.9;
	more.cpu_s = 1.9;
	assert_int_equal(jvm_run(&j, &more, 6), -1);
	more.faults = 40000;
	assert_in_range(jvm_run(&j, &more, 6), 9, 20);
	assert_true(isnan(side_effects_mean(&j.s, EFFECT_COLLECTIONS, EFFECT_IN)));
	assert_true(isnan(side_effects_mean(&j.s, EFFECT_HEAP, EFFECT_IN)));
}

/* With nothing seen before, the life's average is what there is. */
TEST(a_window_that_began_at_once_is_compared_with_the_life)
{
	struct pace more = usual;
	struct jvm j;

	jvm_init(&j, &usual);
	begin(&j);
	assert_int_equal(jvm_run(&j, &usual, 10), -1);
	more.collections = 24;
	assert_true(jvm_run(&j, &more, 10) > 0);
	assert_true(j.s.rose[EFFECT_COLLECTIONS]);
}

TEST(a_young_jvm_has_to_rise_by_more)
{
	struct pace more = usual;
	struct jvm j;

	more.collections = 24;
	jvm_init(&j, &usual);
	j.record.uptime_ns = 1;
	j.record.cpu_ns = j.record.gc_cpu_ns = j.record.page_faults = j.record.collections =
	    j.record.gc_time_ns = 0;
	(void)jvm_run(&j, &usual, 2);
	begin(&j);
	assert_int_equal(jvm_run(&j, &more, 20), -1);
	more.collections = 60;
	assert_true(jvm_run(&j, &more, 5) > 0);
}

TEST(averages_are_of_their_own_time)
{
	struct pace more = usual;
	struct jvm j;

	more.collections = 24;
	more.faults = 1300;
	(void)alarm_at(&j, &more);
	side_effects_switch_off(&j.s, j.record.time_ns);
	(void)jvm_run(&j, &usual, 4);
	assert_float_equal(side_effects_mean(&j.s, EFFECT_COLLECTIONS, EFFECT_LIFETIME), 7, 0.2);
	assert_float_equal(side_effects_mean(&j.s, EFFECT_COLLECTIONS, EFFECT_BEFORE), 7, 1);
	assert_float_equal(side_effects_mean(&j.s, EFFECT_COLLECTIONS, EFFECT_IN), 24, 0.5);
	assert_float_equal(side_effects_mean(&j.s, EFFECT_COLLECTIONS, EFFECT_AFTER), 7, 1);
	assert_float_equal(side_effects_mean(&j.s, EFFECT_FAULTS, EFFECT_IN), 1300, 1);
	assert_float_equal(side_effects_mean(&j.s, EFFECT_HEAP, EFFECT_BEFORE), 20 * MIB, 1);
	assert_float_equal(side_effects_gc_cpu_fraction(&j.s, EFFECT_IN), 0.02, 1e-6);
	assert_float_equal(side_effects_seconds(&j.s, EFFECT_IN), 19.75, 1e-6);
}

TEST(what_cannot_be_true_is_not_taken)
{
	struct jvm j;

	jvm_init(&j, &usual);
	(void)jvm_run(&j, &usual, 1);
	assert_false(side_effects_add(&j.s, &j.record)); /* the same time again */
	j.record.time_ns += INTERVAL_NS;
	j.record.collections--;
	assert_false(side_effects_add(&j.s, &j.record));
	j.record.collections++;
	j.record.cpu_ns--;
	assert_false(side_effects_add(&j.s, &j.record));
	assert_int_equal(j.s.count, 4);
	j.record.cpu_ns++;
	j.record.collections = j.record.gc_time_ns = j.record.heap_after_bytes = UINT64_MAX;
	assert_true(side_effects_add(&j.s, &j.record));
}

TEST(a_window_goes_without_objects_for_an_eighth_of_its_time)
{
	assert_int_equal(side_effects_baseline_ns(1 * NS_PER_S), 0);
	assert_int_equal(side_effects_baseline_ns(4 * NS_PER_S), 500 * NS_PER_MS);
	assert_int_equal(side_effects_baseline_ns(10 * NS_PER_S), 1250 * NS_PER_MS);
	assert_int_equal(side_effects_baseline_ns(86400 * NS_PER_S), 3 * NS_PER_S);
}

/* ---------------------------------------------------------------- recorded */

/* What the watcher said of real JVMs (the first line says which), in ms, counts, microseconds and
 * KiB: time, uptime, cpu, gc cpu, page faults, collections, their time, heap after, heap least.
 * Gives the time from when objects began to the alarm, ms, or -1. */
static long replay(const char *name)
{
	char path[128], line[256];
	struct side_effects s = {0};
	uint64_t begin_ms = 0;
	long alarm_ms = -1;
	FILE *in;

	(void)snprintf(path, sizeof(path), "tests/unit/golden/side_effects/%s", name);
	in = fopen(path, "re");
	assert_non_null(in);
	while (fgets(line, sizeof(line), in)) {
		Jxp__WatchRecord r = JXP__WATCH_RECORD__INIT;
		uint64_t n[9];

		if (sscanf(line, "begin %" SCNu64, &begin_ms) == 1)
			side_effects_begin(&s, NS_PER_S + begin_ms * NS_PER_MS);
		if (sscanf(line,
			   "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
			   " %" SCNu64 " %" SCNu64 " %" SCNu64,
			   &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &n[7], &n[8]) != 9)
			continue;
		r.time_ns = NS_PER_S + n[0] * NS_PER_MS;
		r.uptime_ns = n[1] * NS_PER_MS;
		r.cpu_ns = n[2] * NS_PER_MS;
		r.gc_cpu_ns = n[3] * NS_PER_MS;
		r.page_faults = n[4];
		r.collections = n[5];
		r.gc_time_ns = n[6] * 1000;
		r.heap_after_bytes = n[7] << 10;
		r.heap_least_bytes = n[8] << 10;
		assert_true(side_effects_add(&s, &r));
		if (alarm_ms < 0 && side_effects_alarm(&s))
			alarm_ms = (long)(n[0] - begin_ms);
	}
	(void)fclose(in); /* Read-only. */
	assert_true(s.counts[EFFECT_IN] > 40);
	return alarm_ms;
}

TEST(tracking_that_kept_humongous_garbage_is_noticed_in_seconds)
{
	assert_in_range(replay("growth17"), 3000, 9000);
	assert_in_range(replay("growth25"), 3000, 9000);
}

TEST(ordinary_programs_raise_no_alarm)
{
	static const char *const names[] = {"H2Queries",     "JythonScript", "BatikPaint",
					    "ChartTimeline", "ListSubtract", "BagRetain",
					    "warmup17",      "warmup25",     "warmupchart",
					    "phases55",      "phases37"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		long alarm_ms = replay(names[i]);

		if (alarm_ms != -1)
			fail_msg("%s: after %ld ms", names[i], alarm_ms);
	}
}
