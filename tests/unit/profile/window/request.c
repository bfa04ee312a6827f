#include "tests/unit/support/test.h"

#include "profile/window/request.h"

TEST(any_kind_of_pairs_needs_watchpoints)
{
	struct window_request r = {.kinds[JXP__KIND__KIND_OBJECTS] = true,
				   .kinds[JXP__KIND__KIND_NUMA] = true};

	assert_false(window_request_samples_pairs(&r));
	r.kinds[JXP__KIND__KIND_SILENT_LOAD] = true;
	assert_true(window_request_samples_pairs(&r));
}

TEST(numa_needs_objects_where_there_are_nodes_to_tell_apart)
{
	struct window_request r = {.kinds[JXP__KIND__KIND_NUMA] = true};

	assert_false(window_request_tracks_objects(&r, 1));
	assert_true(window_request_tracks_objects(&r, 2));
	r.kinds[JXP__KIND__KIND_OBJECTS] = true;
	assert_true(window_request_tracks_objects(&r, 1));
	r.kinds[JXP__KIND__KIND_NUMA] = false;
	assert_true(window_request_tracks_objects(&r, 1));
	r.kinds[JXP__KIND__KIND_OBJECTS] = false;
	assert_false(window_request_tracks_objects(&r, 2));
}

TEST(only_the_clock_has_ticks)
{
	struct window_request r = {.kinds[JXP__KIND__KIND_CPU] = true};

	assert_true(window_request_profiles_cpu(&r, JXP__SAMPLER__SAMPLER_CLOCK));
	assert_false(window_request_profiles_cpu(&r, JXP__SAMPLER__SAMPLER_PEBS));
	assert_false(window_request_samples_pairs(&r));
	assert_false(window_request_tracks_objects(&r, 2));
	r.kinds[JXP__KIND__KIND_CPU] = false;
	assert_false(window_request_profiles_cpu(&r, JXP__SAMPLER__SAMPLER_CLOCK));
}
