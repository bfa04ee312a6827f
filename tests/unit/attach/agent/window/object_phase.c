/* The objects part of a window: later than the window, refused, ended early. */
#include "tests/unit/support/test.h"
#include <errno.h>

#include "attach/agent/code/safe_read.h"
#include "attach/agent/handler/handlers.h"
#include "attach/agent/window/object_phase.h"
#include "common/clock.h"
#include "tests/unit/support/agent/fake_jni.h"
#include "tests/unit/support/agent/fake_jvmti.h"

static struct vm vm;
static struct link unused;
static struct drain *drain;
static struct object_phase phase;
static struct object_settings settings;
static const struct ledger ledger = {.budget = 0.01};
static struct err err;

static int set_up(void **state)
{
	(void)state;
	vm = (struct vm){.jni = &fake_jni, .jvmti = &fake_jvmti};
	settings = (struct object_settings){.max = 100, .max_frames = 8};
	err = (struct err){0};
	fake_jvmti_taken = fake_jvmti_sampling = false;
	drain = drain_new(&unused, NULL, NULL, NULL);
	return drain ? safe_read_init() : -1;
}

static int tear_down(void **state)
{
	(void)state;
	(void)object_phase_stop(&phase, true);
	object_phase_release(&phase, true);
	drain_free(drain);
	assert_false(fake_jvmti_sampling);
	assert_false(handlers.objects_on);
	return 0;
}

static int start(bool alone)
{
	return object_phase_start(&phase, &settings, &ledger, alone, &vm, drain, &err);
}

TEST(a_window_for_pairs_alone_samples_no_allocations, set_up, tear_down)
{
	settings.max = 0;
	assert_int_equal(start(false), 0);
	assert_int_equal(phase.state, OBJECTS_NONE);
	assert_false(fake_jvmti_sampling);
	assert_int_equal(object_phase_update(&phase, &err), 0);
	assert_false(object_phase_is_wanted(&phase));
}

TEST(objects_begin_with_the_window, set_up, tear_down)
{
	assert_int_equal(start(false), 0);
	assert_int_equal(phase.state, OBJECTS_TRACKED);
	assert_true(fake_jvmti_sampling && handlers.objects_on);
	assert_true(object_phase_is_wanted(&phase));
}

TEST(or_later_when_their_time_has_come, set_up, tear_down)
{
	settings.from_ns = clock_monotonic_ns() + 3600 * NS_PER_S;
	assert_int_equal(start(false), 0);
	assert_int_equal(phase.state, OBJECTS_WAITING);
	assert_false(fake_jvmti_sampling || handlers.objects_on);
	assert_true(object_phase_is_wanted(&phase));
	assert_int_equal(object_phase_update(&phase, &err), 0);
	assert_int_equal(phase.state, OBJECTS_WAITING);
	settings.from_ns = clock_monotonic_ns();
	assert_int_equal(object_phase_update(&phase, &err), 0);
	assert_int_equal(phase.state, OBJECTS_TRACKED);
	assert_true(fake_jvmti_sampling && handlers.objects_on);
}

TEST(where_they_are_refused_the_window_goes_on_without, set_up, tear_down)
{
	fake_jvmti_taken = true;
	assert_int_equal(start(false), 0);
	assert_int_equal(phase.state, OBJECTS_NONE);
	assert_false(object_phase_is_wanted(&phase));
	assert_int_equal(err.message[0], '\0');
}

TEST(a_window_for_nothing_else_ends_with_the_reason, set_up, tear_down)
{
	fake_jvmti_taken = true;
	assert_int_equal(start(true), -EBUSY);
	assert_int_not_equal(err.message[0], '\0');
}

TEST(a_refusal_is_known_before_their_time_has_come, set_up, tear_down)
{
	settings.from_ns = clock_monotonic_ns() + 3600 * NS_PER_S;
	fake_jvmti_taken = true;
	assert_int_equal(start(true), -EBUSY);
}

TEST(what_changes_while_they_wait_may_refuse_them_all_the_same, set_up, tear_down)
{
	settings.from_ns = clock_monotonic_ns() + 3600 * NS_PER_S;
	assert_int_equal(start(false), 0);
	fake_jvmti_taken = true;
	settings.from_ns = 0;
	assert_int_equal(object_phase_update(&phase, &err), 0);
	assert_int_equal(phase.state, OBJECTS_NONE);
}

TEST(once_ended_they_do_not_begin_again, set_up, tear_down)
{
	assert_int_equal(start(false), 0);
	assert_int_equal(object_phase_end(&phase), 0);
	assert_int_equal(phase.state, OBJECTS_ENDED);
	assert_false(fake_jvmti_sampling || handlers.objects_on);
	assert_int_equal(object_phase_update(&phase, &err), 0);
	assert_int_equal(object_phase_end(&phase), 0);
	assert_int_equal(phase.state, OBJECTS_ENDED);
	assert_true(object_phase_is_wanted(&phase));
}

TEST(they_may_end_before_they_have_begun, set_up, tear_down)
{
	settings.from_ns = clock_monotonic_ns() + 3600 * NS_PER_S;
	assert_int_equal(start(false), 0);
	assert_int_equal(object_phase_end(&phase), 0);
	settings.from_ns = 0;
	assert_int_equal(object_phase_update(&phase, &err), 0);
	assert_int_equal(phase.state, OBJECTS_ENDED);
	assert_false(fake_jvmti_sampling);
}
