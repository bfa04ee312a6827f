#include "tests/unit/support/test.h"

#include "common/clock.h"
#include "profile/window/result.h"
#include "profile/window/tables.h"
#include "tests/unit/support/sample_findings.h"

static const struct window_request request = {.kinds = {false, true, true, true}};

TEST(a_window_goes_from_attaching_to_done)
{
	struct window_result *w = window_result_new(7, 42, &request, &sample_findings);

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

TEST(only_the_first_end_counts)
{
	struct window_result *w = window_result_new(1, 42, &request, &sample_findings);

	window_result_start(w);
	window_result_end(w, "first");
	window_result_end(w, NULL);
	window_result_fail(w, "third");
	assert_string_equal(window_result_state_name(w), "ended early");
	assert_string_equal(w->reason, "first");
	window_result_free(w);
}

TEST(a_window_that_never_started_failed)
{
	struct window_result *w = window_result_new(1, 42, &request, &sample_findings);

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

TEST(a_snapshot_is_final_and_is_of_its_moment)
{
	struct window_result *w = counted_window(), *copy = window_result_snapshot(w);
	struct observation o = {.kind = JXP__KIND__KIND_SILENT_LOAD,
				.region = JXP__REGION__REGION_HEAP,
				.checked_bytes = 8};

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

TEST(every_keeper_frees_once)
{
	struct window_result *w = counted_window(), *kept = window_result_keep(w);

	window_result_free(w);
	assert_string_equal(kept->id, "w1"); /* Under a sanitizer this would be seen. */
	window_result_free(kept);
	window_result_free(NULL);
}

TEST(numa_is_measured_where_it_was_asked_for_and_there_are_nodes)
{
	struct window_result *w = window_result_new(1, 42, &request, &sample_findings);

	assert_true(window_result_samples_pairs(w));
	assert_false(window_result_tracks_objects(w));
	w->findings.numa.node_count = 2;
	assert_false(window_result_measures_numa(w));
	w->request.kinds[JXP__KIND__KIND_NUMA] = true;
	assert_true(window_result_measures_numa(w));
	assert_true(window_result_tracks_objects(w));
	w->findings.numa.node_count = 1;
	assert_false(window_result_measures_numa(w));
	assert_false(window_result_tracks_objects(w));
	window_result_free(w);
}

/* 4 s of ticks, 8 s of CPU time: what a tick stands for stays, and what pairs stand for, too. */
TEST(ticks_are_scaled_to_all_cpu_time_of_the_process)
{
	struct window_result *w = counted_window();
	struct cpu_whole whole;

	w->findings.sampler = JXP__SAMPLER__SAMPLER_CLOCK;
	w->cpu_ns = 8 * NS_PER_S;
	assert_false(window_result_cpu_whole(w, JXP__KIND__KIND_DEAD_STORE).ns > 0);
	w->counters[JXP__COUNTER__COUNTER_TICKS] = 500;
	w->counters[JXP__COUNTER__COUNTER_TICK_NS] = 4 * NS_PER_S;
	whole = window_result_cpu_whole(w, JXP__KIND__KIND_DEAD_STORE);
	assert_float_equal(whole.ns, 8e9, 0);
	assert_float_equal(whole.ticks, 1000, 1e-6);
	w->cpu_ns = 3 * NS_PER_S;
	whole = window_result_cpu_whole(w, JXP__KIND__KIND_DEAD_STORE);
	assert_float_equal(whole.ns, 4e9, 0);
	assert_float_equal(whole.ticks, 500, 1e-6);
	w->findings.sampler = JXP__SAMPLER__SAMPLER_PEBS;
	assert_false(window_result_cpu_whole(w, JXP__KIND__KIND_DEAD_STORE).ns > 0);
	window_result_free(w);
}

/* 10 s, of which the session took 0.2, handlers 0.5 and the kernel for them 0.3: ticks of kind cpu
 * stand for the handlers' time, too, those of pairs for the kernel's besides. */
TEST(what_profiling_took_is_no_part_of_the_whole)
{
	struct window_result *w = counted_window();
	const struct cct_node n = {.bci = 1, .line = 1};
	uint32_t node;

	w->findings.sampler = JXP__SAMPLER__SAMPLER_CLOCK;
	w->request.kinds[JXP__KIND__KIND_CPU] = true;
	w->cpu_ns = 10 * NS_PER_S;
	w->overhead_ns = NS_PER_S;
	w->counters[JXP__COUNTER__COUNTER_SESSION_NS] = 200 * NS_PER_MS;
	w->counters[JXP__COUNTER__COUNTER_HANDLER_NS] = 500 * NS_PER_MS;
	w->counters[JXP__COUNTER__COUNTER_TICKS] = 98;
	w->counters[JXP__COUNTER__COUNTER_TICK_NS] = 9800 * NS_PER_MS;
	assert_int_equal(cct_add_node(&w->profile.cct, &n, &node), 0);
	for (int i = 0; i < 95; i++)
		assert_int_equal(cpu_profile_add(&w->cpu, JXP__CPU_SAMPLE__STATE__COMPILED, node,
						 false, 100 * NS_PER_MS),
				 0);
	assert_int_equal(
	    cpu_profile_add(&w->cpu, JXP__CPU_SAMPLE__STATE__KERNEL, 0, false, 300 * NS_PER_MS), 0);
	assert_int_equal(window_result_own_ns(w), 9 * NS_PER_S);
	assert_float_equal(window_result_kernel_taken_ns(w), 0.3e9, 1);
	/* All of it is the program's, in compiled code. */
	assert_float_equal(window_result_whole_s(w), 9, 1e-6);
	assert_float_equal(window_result_whole_ns(w), 9.5e9, 1);
	assert_float_equal(window_result_cpu_whole(w, JXP__KIND__KIND_DEAD_STORE).ns, 9.8e9, 1);
	assert_float_equal(window_result_tick_whole(w, JXP__KIND__KIND_DEAD_STORE).ns, 9.5e9, 1);
	window_result_free(w);
}

/* Handlers run for ticks in the kernel, too: a program that is there most of the time has its whole
 * as much longer as they ran, and not by their part of the little that is left. */
TEST(handlers_of_ticks_in_the_kernel_are_no_larger_part)
{
	struct window_result *w = counted_window();
	const struct cct_node n = {.bci = 1, .line = 1};
	uint32_t node;

	w->findings.sampler = JXP__SAMPLER__SAMPLER_CLOCK;
	w->request.kinds[JXP__KIND__KIND_CPU] = true;
	w->cpu_ns = 10 * NS_PER_S;
	w->overhead_ns = 100 * NS_PER_MS;
	w->counters[JXP__COUNTER__COUNTER_HANDLER_NS] = 100 * NS_PER_MS;
	assert_int_equal(cct_add_node(&w->profile.cct, &n, &node), 0);
	assert_int_equal(
	    cpu_profile_add(&w->cpu, JXP__CPU_SAMPLE__STATE__KERNEL, node, false, 9800 * NS_PER_MS),
	    0);
	assert_int_equal(cpu_profile_add(&w->cpu, JXP__CPU_SAMPLE__STATE__COMPILED, node, false,
					 200 * NS_PER_MS),
			 0);
	assert_float_equal(window_result_whole_s(w), 9.9, 1e-6);
	assert_float_equal(window_result_whole_ns(w), 10e9, 1);
	window_result_free(w);
}
