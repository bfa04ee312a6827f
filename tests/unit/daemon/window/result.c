#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "daemon/window/result.h"
#include "tests/unit/support/sample_findings.h"

static const struct window_request request = {.kinds = {false, true, true, true}};

static void a_window_goes_from_attaching_to_done(void **state)
{
	struct window_result *w = window_result_new(7, 42, &request, &sample_findings);

	(void)state;
	assert_string_equal(w->id, "w7");
	assert_string_equal(window_result_state_name(w), "attaching");
	assert_int_equal(window_result_elapsed_ns(w), 0);
	window_result_start(w);
	assert_string_equal(window_result_state_name(w), "running");
	window_result_end(w, NULL);
	assert_string_equal(window_result_state_name(w), "done");
	assert_true(w->end_unix_ns >= w->start_unix_ns);
	assert_int_equal(window_result_elapsed_ns(w), w->end_ns - w->start_ns);
	window_result_free(w);
}

static void only_the_first_end_counts(void **state)
{
	struct window_result *w = window_result_new(1, 42, &request, &sample_findings);

	(void)state;
	window_result_start(w);
	window_result_end(w, "first");
	window_result_end(w, NULL);
	window_result_fail(w, "third");
	assert_string_equal(window_result_state_name(w), "ended early");
	assert_string_equal(w->reason, "first");
	window_result_free(w);
}

static void a_window_that_never_started_failed(void **state)
{
	struct window_result *w = window_result_new(1, 42, &request, &sample_findings);

	(void)state;
	window_result_end(w, "no such process");
	assert_string_equal(window_result_state_name(w), "failed");
	window_result_free(w);
}

/* A window that has counted something, and a pair. */
static struct window_result *counted_window(void)
{
	struct window_result *w = window_result_new(1, 42, &request, &sample_findings);
	struct observation o = {.kind = JXP__KIND__KIND_DEAD_STORE,
				.region = JXP__REGION__REGION_HEAP,
				.checked_bytes = 8};

	window_result_start(w);
	assert_int_equal(profile_add(&w->profile, &o), 0);
	w->counters[JXP__COUNTER__COUNTER_SAMPLES] = 5;
	return w;
}

static void a_snapshot_is_final_and_is_of_its_moment(void **state)
{
	struct window_result *w = counted_window(), *copy = window_result_snapshot(w);
	struct observation o = {.kind = JXP__KIND__KIND_SILENT_LOAD,
				.region = JXP__REGION__REGION_HEAP,
				.checked_bytes = 8};

	(void)state;
	assert_true(copy->finished);
	assert_string_equal(window_result_state_name(copy), "running");
	assert_int_not_equal(window_result_elapsed_ns(copy), 0);
	assert_int_equal(profile_add(&w->profile, &o), 0);
	w->counters[JXP__COUNTER__COUNTER_SAMPLES] = 6;
	window_result_end(w, NULL);
	window_result_free(w);
	assert_int_equal(copy->profile.pair_count, 1);
	assert_int_equal(copy->counters[JXP__COUNTER__COUNTER_SAMPLES], 5);
	assert_string_equal(window_result_state_name(copy), "running");
	window_result_free(copy);
}

static void every_keeper_frees_once(void **state)
{
	struct window_result *w = counted_window(), *kept = window_result_keep(w);

	(void)state;
	window_result_free(w);
	assert_string_equal(kept->id, "w1"); /* Under a sanitizer this would be seen. */
	window_result_free(kept);
	window_result_free(NULL);
}

static void numa_is_measured_where_it_was_asked_for_and_there_are_nodes(void **state)
{
	struct window_result *w = window_result_new(1, 42, &request, &sample_findings);

	(void)state;
	assert_true(window_result_samples_pairs(w));
	assert_false(window_result_tracks_objects(w));
	w->findings.numa.node_count = 2;
	assert_false(window_result_measures_numa(w));
	w->request.numa = true;
	assert_true(window_result_measures_numa(w));
	assert_true(window_result_tracks_objects(w));
	w->findings.numa.node_count = 1;
	assert_false(window_result_measures_numa(w));
	assert_false(window_result_tracks_objects(w));
	window_result_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_window_goes_from_attaching_to_done),
	    cmocka_unit_test(only_the_first_end_counts),
	    cmocka_unit_test(a_window_that_never_started_failed),
	    cmocka_unit_test(a_snapshot_is_final_and_is_of_its_moment),
	    cmocka_unit_test(every_keeper_frees_once),
	    cmocka_unit_test(numa_is_measured_where_it_was_asked_for_and_there_are_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
