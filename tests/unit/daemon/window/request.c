#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "daemon/window/request.h"

static void any_kind_of_pairs_needs_watchpoints(void **state)
{
	struct window_request r = {.kinds[JXP__KIND__KIND_OBJECTS] = true,
				   .kinds[JXP__KIND__KIND_NUMA] = true};

	(void)state;
	assert_false(window_request_samples_pairs(&r));
	r.kinds[JXP__KIND__KIND_SILENT_LOAD] = true;
	assert_true(window_request_samples_pairs(&r));
}

static void numa_needs_objects_where_there_are_nodes_to_tell_apart(void **state)
{
	struct window_request r = {.kinds[JXP__KIND__KIND_NUMA] = true};

	(void)state;
	assert_false(window_request_tracks_objects(&r, 1));
	assert_true(window_request_tracks_objects(&r, 2));
	r.kinds[JXP__KIND__KIND_OBJECTS] = true;
	assert_true(window_request_tracks_objects(&r, 1));
	r.kinds[JXP__KIND__KIND_NUMA] = false;
	assert_true(window_request_tracks_objects(&r, 1));
	r.kinds[JXP__KIND__KIND_OBJECTS] = false;
	assert_false(window_request_tracks_objects(&r, 2));
}

static void only_the_clock_has_ticks(void **state)
{
	struct window_request r = {.kinds[JXP__KIND__KIND_CPU] = true};

	(void)state;
	assert_true(window_request_profiles_cpu(&r, JXP__SAMPLER__SAMPLER_CLOCK));
	assert_false(window_request_profiles_cpu(&r, JXP__SAMPLER__SAMPLER_PEBS));
	assert_false(window_request_samples_pairs(&r));
	assert_false(window_request_tracks_objects(&r, 2));
	r.kinds[JXP__KIND__KIND_CPU] = false;
	assert_false(window_request_profiles_cpu(&r, JXP__SAMPLER__SAMPLER_CLOCK));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(any_kind_of_pairs_needs_watchpoints),
	    cmocka_unit_test(numa_needs_objects_where_there_are_nodes_to_tell_apart),
	    cmocka_unit_test(only_the_clock_has_ticks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
