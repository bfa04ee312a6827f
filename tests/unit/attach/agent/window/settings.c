/* What the agent takes from WindowStart, and what it refuses. */
#include "tests/unit/support/test.h"
#include <errno.h>
#include <math.h>

#include "attach/agent/window/settings.h"
#include "proto/limits.h"

/* A message with all it needs; tests change parts of it. */
struct order {
	Jxp__WindowStart start;
	Jxp__Kind kinds[8];
	Jxp__HardwareEvent events[8];
	Jxp__HardwareEvent *event_pointers[8];
};

/* Dead stores and silent loads, by the clock. */
static void clock_order(struct order *o)
{
	jxp__window_start__init(&o->start);
	o->kinds[0] = JXP__KIND__KIND_DEAD_STORE;
	o->kinds[1] = JXP__KIND__KIND_SILENT_LOAD;
	o->start.kinds = o->kinds;
	o->start.n_kinds = 2;
	o->start.sampler = JXP__SAMPLER__SAMPLER_CLOCK;
	o->start.period_ns = 5000000;
	o->start.deadline_ns = 1234;
	o->start.registers = 4;
	o->start.max_frames = 256;
	o->start.budget = 0.01;
}

static void hardware_order(struct order *o, unsigned events)
{
	clock_order(o);
	o->start.sampler = JXP__SAMPLER__SAMPLER_PEBS;
	o->start.period_ns = 0;
	o->start.event_period = 2000003;
	for (unsigned i = 0; i < events; i++) {
		jxp__hardware_event__init(&o->events[i]);
		o->events[i].type = 4;
		o->events[i].config = 0x1cd + i;
		o->events[i].precise_ip = 2;
		o->event_pointers[i] = &o->events[i];
	}
	o->start.events = o->event_pointers;
	o->start.n_events = events;
}

TEST(what_the_daemon_asked_for_is_taken_over)
{
	struct settings s;
	struct err err = {0};
	struct order o;

	clock_order(&o);
	o.start.open_through_daemon = true;
	o.start.kernel_gate = true;
	assert_int_equal(settings_from_start(&o.start, &s, &err), 0);
	assert_int_equal(s.sampling.kind_count, 2);
	assert_int_equal(s.sampling.kinds[0], JXP__KIND__KIND_DEAD_STORE);
	assert_int_equal(s.sampling.kinds[1], JXP__KIND__KIND_SILENT_LOAD);
	assert_int_equal(s.sampling.event_count, 0);
	assert_int_equal(s.period, 5000000);
	assert_int_equal(s.registers, 4);
	assert_int_equal(s.max_frames, 256);
	assert_int_equal(s.deadline_ns, 1234);
	assert_true(s.budget > 0.0099 && s.budget < 0.0101);
	assert_true(s.through_daemon && s.kernel_gate);
	assert_int_equal(s.objects.max, 0);
}

TEST(hardware_events_come_with_a_period_in_operations)
{
	struct settings s;
	struct err err = {0};
	struct order o;

	hardware_order(&o, 2);
	o.events[0].access = JXP__HARDWARE_EVENT__ACCESS__LOADS;
	o.events[1].access = JXP__HARDWARE_EVENT__ACCESS__STORES;
	assert_int_equal(settings_from_start(&o.start, &s, &err), 0);
	assert_int_equal(s.period, 2000003);
	assert_int_equal(s.sampling.event_count, 2);
	assert_int_equal(s.sampling.events[0].access, PERF_ACCESS_LOADS);
	assert_int_equal(s.sampling.events[1].access, PERF_ACCESS_STORES);
	assert_int_equal(s.sampling.events[1].config, 0x1ce);
	assert_int_equal(s.sampling.events[1].precise_ip, 2);
}

TEST(objects_and_numa_are_one_and_no_pairs)
{
	struct settings s;
	struct err err = {0};
	struct order o;

	clock_order(&o);
	o.kinds[0] = JXP__KIND__KIND_OBJECTS;
	o.kinds[1] = JXP__KIND__KIND_NUMA;
	o.start.objects_max = 1000;
	o.start.object_min_size = 64;
	o.start.object_min_size_adapts = 1;
	o.start.objects_from_ns = 99;
	assert_int_equal(settings_from_start(&o.start, &s, &err), 0);
	assert_int_equal(s.sampling.kind_count, 0);
	assert_int_equal(s.objects.max, 1000);
	assert_int_equal(s.objects.min_size_bytes, 64);
	assert_true(s.objects.min_size_adapts);
	assert_int_equal(s.objects.from_ns, 99);
	assert_int_equal(s.objects.max_frames, 256);
}

TEST(loops_take_every_tick_and_are_no_objects)
{
	struct settings s;
	struct err err = {0};
	struct order o;

	clock_order(&o);
	o.kinds[0] = JXP__KIND__KIND_LOOPS;
	o.kinds[1] = JXP__KIND__KIND_SILENT_LOAD;
	assert_int_equal(settings_from_start(&o.start, &s, &err), 0);
	assert_true(s.sampling.loops);
	assert_true(s.sampling.cpu);
	assert_int_equal(s.sampling.kind_count, 1);
	assert_int_equal(s.objects.max, 0);
	o.kinds[0] = JXP__KIND__KIND_CPU;
	assert_int_equal(settings_from_start(&o.start, &s, &err), 0);
	assert_false(s.sampling.loops);
}

TEST(without_their_kind_there_are_no_objects)
{
	struct settings s;
	struct err err = {0};
	struct order o;

	clock_order(&o);
	o.start.objects_max = 1000;
	assert_int_equal(settings_from_start(&o.start, &s, &err), 0);
	assert_int_equal(s.objects.max, 0);
}

/* Refused, with a reason, and nothing taken over. */
static void assert_refused(const struct order *o)
{
	struct settings s = {.registers = 77};
	struct err err = {0};

	assert_int_equal(settings_from_start(&o->start, &s, &err), -EINVAL);
	assert_int_equal(s.registers, 77);
	assert_true(err.message[0] != '\0');
}

TEST(what_is_beyond_the_limits_is_refused)
{
	struct order o;

	clock_order(&o);
	o.start.registers = 0;
	assert_refused(&o);
	o.start.registers = PERF_DEBUG_REGISTERS + 1;
	assert_refused(&o);
	clock_order(&o);
	o.start.max_frames = 0;
	assert_refused(&o);
	o.start.max_frames = MAX_FRAMES_LIMIT + 1;
	assert_refused(&o);
	clock_order(&o);
	o.start.n_kinds = 0;
	assert_refused(&o);
}

TEST(a_budget_is_a_part_of_the_whole)
{
	const double none[] = {0, -0.1, 1.1, NAN};
	struct order o;

	clock_order(&o);
	for (unsigned i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		o.start.budget = none[i];
		assert_refused(&o);
	}
}

TEST(kinds_that_are_unknown_or_too_many_are_refused)
{
	struct order o;

	clock_order(&o);
	o.kinds[1] = JXP__KIND__KIND_NONE;
	assert_refused(&o);
	o.kinds[1] = (Jxp__Kind)99;
	assert_refused(&o);
	for (unsigned i = 0; i <= PAIR_KINDS; i++)
		o.kinds[i] = JXP__KIND__KIND_DEAD_STORE;
	o.start.n_kinds = PAIR_KINDS + 1;
	assert_refused(&o);
}

TEST(objects_without_room_for_one_are_refused)
{
	struct order o;

	clock_order(&o);
	o.kinds[1] = JXP__KIND__KIND_OBJECTS;
	assert_refused(&o);
}

TEST(a_sampler_has_what_it_needs_and_nothing_else)
{
	struct order o;

	clock_order(&o);
	o.start.sampler = JXP__SAMPLER__SAMPLER_AUTO;
	assert_refused(&o);
	clock_order(&o);
	o.start.period_ns = 0;
	assert_refused(&o);
	hardware_order(&o, 0);
	assert_refused(&o);
	hardware_order(&o, PERF_HARDWARE_EVENTS + 1);
	assert_refused(&o);
	hardware_order(&o, 1);
	o.start.sampler = JXP__SAMPLER__SAMPLER_CLOCK;
	o.start.period_ns = 5000000;
	assert_refused(&o);
}
