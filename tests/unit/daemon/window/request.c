#include "tests/unit/support/test.h"

#include "daemon/window/request.h"

TEST(any_kind_of_pairs_needs_watchpoints)
{
	struct window_request r = {.objects = true, .numa = true};

	assert_false(window_request_samples_pairs(&r));
	r.kinds[JXP__KIND__KIND_SILENT_LOAD] = true;
	assert_true(window_request_samples_pairs(&r));
}

TEST(numa_needs_objects_where_there_are_nodes_to_tell_apart)
{
	struct window_request r = {.numa = true};

	assert_false(window_request_tracks_objects(&r, 1));
	assert_true(window_request_tracks_objects(&r, 2));
	r.objects = true;
	assert_true(window_request_tracks_objects(&r, 1));
	r.numa = false;
	assert_true(window_request_tracks_objects(&r, 1));
	r.objects = false;
	assert_false(window_request_tracks_objects(&r, 2));
}

TEST(only_the_clock_has_ticks)
{
	struct window_request r = {.cpu = true};

	assert_true(window_request_profiles_cpu(&r, JXP__SAMPLER__SAMPLER_CLOCK));
	assert_false(window_request_profiles_cpu(&r, JXP__SAMPLER__SAMPLER_PEBS));
	assert_false(window_request_samples_pairs(&r));
	assert_false(window_request_tracks_objects(&r, 2));
	r.cpu = false;
	assert_false(window_request_profiles_cpu(&r, JXP__SAMPLER__SAMPLER_CLOCK));
}
