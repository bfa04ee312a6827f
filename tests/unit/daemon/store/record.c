#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdlib.h>

#include "common/cleanup.h"
#include "daemon/report/report.h"
#include "daemon/store/record.h"
#include "daemon/store/record_parts.h"
#include "tests/unit/support/long_up.h"
#include "tests/unit/support/sample_window.h"

#define ENOUGH (1u << 20)

static char *report_of(const struct window_result *w, Jxp__Format format)
{
	struct err err;
	char *text = NULL;
	size_t size;

	assert_int_equal(report_new(w, format, 0, ENOUGH, &text, &size, &err), 0);
	return text;
}

static struct window_result *there_and_back(const struct window_result *w)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	struct window_result *back = NULL;
	size_t size = 0;
	struct err err;

	assert_int_equal(record_encode(w, &bytes, &size), 0);
	assert_int_equal(record_decode(bytes, size, w->number, &back, &err), 0);
	return back;
}

static void assert_same_reports(const struct window_result *w)
{
	static const Jxp__Format formats[] = {JXP__FORMAT__FORMAT_TEXT, JXP__FORMAT__FORMAT_JSON,
					      JXP__FORMAT__FORMAT_COLLAPSED};
	struct window_result *back = there_and_back(w);

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		_cleanup_free_ char *before = report_of(w, formats[i]);
		_cleanup_free_ char *after = report_of(back, formats[i]);

		assert_string_equal(before, after);
	}
	window_result_free(back);
}

TEST(a_window_makes_the_same_reports_after_it_was_kept)
{
	struct window_result *w = sample_window(7, "shop", 45);

	assert_same_reports(w);
	w->objects.concurrent_gc = true;
	assert_same_reports(w);
	sample_window_loops(w, 1);
	assert_same_reports(w);
	window_result_free(w);
}

TEST(an_empty_window_makes_the_same_reports_after_it_was_kept)
{
	struct window_result *w = sample_window_empty(1, "");

	assert_same_reports(w);
	window_result_free(w);
}

TEST(a_window_that_runs_is_kept_as_it_is)
{
	struct window_result *w = sample_window(8, "shop", 45);
	struct window_result *snapshot, *back;

	w->state = WINDOW_RUNNING;
	w->finished = false;
	w->end_ns = w->end_unix_ns = 0;
	snapshot = window_result_snapshot(w);
	back = there_and_back(snapshot);
	assert_int_equal(back->state, WINDOW_RUNNING);
	assert_int_equal(window_result_elapsed_ns(back), window_result_elapsed_ns(snapshot));
	window_result_free(back);
	window_result_free(snapshot);
	window_result_free(w);
}

TEST(bits_that_flip_are_noticed)
{
	struct window_result *w = sample_window(7, "shop", 45);
	_cleanup_free_ uint8_t *bytes = NULL;
	_cleanup_free_ char *before = report_of(w, JXP__FORMAT__FORMAT_JSON);
	size_t size = 0, harmless = 0;

	assert_int_equal(record_encode(w, &bytes, &size), 0);
	for (size_t bit = 0; bit < size * 8; bit += 7) {
		struct window_result *back = NULL;
		struct err err;
		int r;

		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		r = record_decode(bytes, size, 7, &back, &err);
		if (r == 0) { /* A bit that says nothing, or a window that says the same. */
			_cleanup_free_ char *after = report_of(back, JXP__FORMAT__FORMAT_JSON);

			assert_string_equal(before, after);
			window_result_free(back);
			harmless++;
		} else {
			assert_true(r == -EBADMSG || r == -ENOMEM);
			assert_null(back);
		}
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	assert_in_range(harmless, 0, size * 8 / 7 / 50); /* One in fifty, of the frame's own. */
	window_result_free(w);
}

TEST(part_of_a_record_is_none)
{
	struct window_result *w = sample_window(7, "shop", 45), *back = NULL;
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t size = 0;
	struct err err;

	assert_int_equal(record_encode(w, &bytes, &size), 0);
	for (size_t part = 0; part < size; part++)
		assert_int_equal(record_decode(bytes, part, 7, &back, &err), -EBADMSG);
	window_result_free(w);
}

/* As it was before there were classes. */
static void strip_classes(Jxp__StoredObjects *m)
{
	m->n_access_location = 0;
	m->n_stratum_class = m->n_stratum_size = m->n_stratum_weight = m->n_stratum_samples = 0;
	m->n_stratum_metric = m->n_stratum_squares = m->n_stratum_seen_samples = 0;
	m->n_stratum_seen_metric = m->n_stratum_seen_squares = 0;
	m->n_cell_stratum = m->n_cell_site = m->n_cell_samples = m->n_cell_metric = 0;
	m->n_cell_variance = m->n_cell_covariance = 0;
	m->n_field_class = m->n_field_location = m->n_field_samples = m->n_field_metric = 0;
	m->n_field_squares = m->n_field_tracked_samples = m->n_field_tracked_metric = 0;
	m->n_field_access_field = m->n_field_access_node = m->n_field_access_samples = 0;
	m->n_field_access_metric = 0;
}

/* A record of before knows of no others. */
TEST(allocations_that_were_not_tracked_are_kept)
{
	struct window_result *w = sample_window(7, "shop", 45);
	struct object_profile back = {0}, before = {0};
	Jxp__StoredObjects message;
	struct arena arena = {0};

	object_profile_told(&w->objects, 1, 3, 16);
	arena_init(&arena, 1 << 20);
	assert_int_equal(record_pack_objects(&arena, &w->objects, &message), 0);
	assert_int_equal(record_unpack_objects(&message, &w->profile, &back), 0);
	assert_int_equal(back.sites[1].allocations, w->objects.sites[1].allocations);
	assert_int_equal(back.sites[1].untracked, 1);
	assert_float_equal(back.sites[1].untracked_bytes, 48, 0);
	message.n_site_untracked = message.n_site_untracked_bytes = 0;
	assert_int_equal(record_unpack_objects(&message, &w->profile, &before), 0);
	assert_int_equal(before.sites[1].untracked, 0);
	object_profile_release(&before);
	object_profile_release(&back);
	arena_release(&arena);
	window_result_free(w);
}

TEST(a_record_of_before_has_one_stratum_and_no_classes)
{
	struct window_result *w = sample_window(7, "shop", 45);
	struct object_profile back = {0};
	Jxp__StoredObjects message;
	struct arena arena = {0};
	const struct stratum *s;

	arena_init(&arena, 1 << 20);
	assert_int_equal(record_pack_objects(&arena, &w->objects, &message), 0);
	strip_classes(&message);
	assert_int_equal(record_unpack_objects(&message, &w->profile, &back), 0);
	assert_int_equal(back.classes.field_count, 0);
	assert_int_equal(back.strata.count, 1);
	s = &back.strata.list[0];
	assert_float_equal(s->seen.metric, strata_all(&w->objects.strata).metric, 1e-3);
	assert_float_equal(s->seen.squares, w->objects.heap_squares, 1);
	assert_float_equal(s->tracked.metric, w->objects.estimated, 1e-3);
	assert_int_equal(back.strata.site_count, 2);
	assert_float_equal(back.strata.sites[0].tracked.variance, w->objects.sites[0].variance, 1);
	object_profile_release(&back);
	arena_release(&arena);
	window_result_free(w);
}

TEST(columns_that_do_not_match_are_no_record)
{
	struct window_result *w = sample_window(7, "shop", 45);
	Jxp__StoredObjects message;
	struct arena arena = {0};
	size_t *const counts[] = {&message.n_stratum_metric, &message.n_cell_site,
				  &message.n_field_samples, &message.n_field_access_node,
				  &message.n_access_location};

	arena_init(&arena, 1 << 20);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct object_profile back = {0};

		assert_int_equal(record_pack_objects(&arena, &w->objects, &message), 0);
		assert_true(*counts[i] > 0);
		(*counts[i])++;
		assert_int_equal(record_unpack_objects(&message, &w->profile, &back), -EBADMSG);
		object_profile_release(&back);
	}
	arena_release(&arena);
	window_result_free(w);
}

TEST(a_record_of_before_has_no_ticks)
{
	struct cpu_profile back = {0};

	assert_int_equal(record_unpack_cpu(NULL, &(struct profile){0}, &back), 0);
	assert_int_equal(cpu_profile_all(&back).samples, 0);
}

TEST(a_record_of_before_has_no_ticks_in_the_kernel)
{
	struct window_result *w = sample_window(7, "shop", 45);
	_cleanup_(arena_release) struct arena arena;
	struct cpu_profile back = {0};
	Jxp__StoredCpu m;

	arena_init(&arena, ENOUGH);
	assert_int_equal(record_pack_cpu(&arena, &w->cpu, &m), 0);
	m.n_kernel_samples = m.n_kernel_ns = 0;
	m.n_state_samples = m.n_state_ns = JXP__CPU_SAMPLE__STATE__KERNEL;
	assert_int_equal(record_unpack_cpu(&m, &w->profile, &back), 0);
	assert_int_equal(back.context_count, w->cpu.context_count);
	assert_float_equal(cpu_profile_all(&back).ns + cpu_profile_kernel(&w->cpu).ns,
			   cpu_profile_all(&w->cpu).ns, 1);
	for (size_t i = 0; i < back.context_count; i++)
		assert_int_equal(back.contexts[i].code[CPU_KERNEL].samples, 0);
	cpu_profile_release(&back);
	window_result_free(w);
}

TEST(threads_that_cannot_be_are_no_record)
{
	struct window_result *w = sample_window(7, "shop", 45);
	_cleanup_(arena_release) struct arena arena;
	struct thread_table back = {0};
	Jxp__StoredCpu m;

	arena_init(&arena, ENOUGH);
	assert_int_equal(record_pack_cpu(&arena, &w->cpu, &m), 0);
	assert_int_equal(record_pack_threads(&arena, &w->threads, &m), 0);
	assert_int_equal(m.n_threads, 2);
	m.threads[1]->kernel_ns = -1;
	assert_int_equal(record_unpack_threads(&m, &back), -EBADMSG);
	thread_table_release(&back);
	m.threads[1] = m.threads[0];
	assert_int_equal(record_unpack_threads(&m, &back), -EBADMSG);
	thread_table_release(&back);
	window_result_free(w);
}

static void assert_no_ticks(struct window_result *w, const Jxp__StoredCpu *m)
{
	struct cpu_profile back = {0};

	assert_int_equal(record_unpack_cpu(m, &w->profile, &back), -EBADMSG);
	cpu_profile_release(&back);
}

TEST(ticks_that_do_not_fit_together_are_no_record)
{
	struct window_result *w = sample_window(7, "shop", 45);
	Jxp__StoredCpu m;
	struct arena arena = {0};

	arena_init(&arena, 1 << 20);
	assert_int_equal(record_pack_cpu(&arena, &w->cpu, &m), 0);
	m.n_native_ns++;
	assert_no_ticks(w, &m);
	m.n_native_ns--;
	m.context_node[0] = (uint32_t)w->profile.cct.node_count + 1;
	assert_no_ticks(w, &m);
	m.context_node[0] = m.context_node[1];
	assert_no_ticks(w, &m);
	m.context_node[0] = 0;
	assert_no_ticks(w, &m);
	assert_int_equal(record_pack_cpu(&arena, &w->cpu, &m), 0);
	m.state_ns[0] = -1;
	assert_no_ticks(w, &m);
	assert_int_equal(record_pack_cpu(&arena, &w->cpu, &m), 0);
	m.gc_ns = NAN;
	assert_no_ticks(w, &m);
	m.gc_ns = 1e300;
	assert_no_ticks(w, &m);
	arena_release(&arena);
	window_result_free(w);
}

static void assert_no_loops(const struct window_result *w, const Jxp__StoredLoops *m)
{
	struct loop_profile back = {0};

	assert_int_equal(record_unpack_loops(m, &w->profile, &back), -EBADMSG);
	loop_profile_release(&back);
}

TEST(loops_that_do_not_fit_together_are_no_record)
{
	struct window_result *w = sample_window(7, "shop", 45);
	_cleanup_(arena_release) struct arena arena;
	Jxp__StoredLoops m;

	sample_window_loops(w, 1);
	arena_init(&arena, ENOUGH);
	assert_int_equal(record_pack_loops(&arena, &w->loops, &m), 0);
	m.n_place_bci--;
	assert_no_loops(w, &m);
	assert_int_equal(record_pack_loops(&arena, &w->loops, &m), 0);
	m.context_loop[0] = (uint32_t)m.n_loops;
	assert_no_loops(w, &m);
	assert_int_equal(record_pack_loops(&arena, &w->loops, &m), 0);
	m.loops[1]->results->turns = 1e-300;
	assert_no_loops(w, &m);
	assert_int_equal(record_pack_loops(&arena, &w->loops, &m), 0);
	m.loops[1] = m.loops[0];
	assert_no_loops(w, &m);
	assert_int_equal(record_pack_loops(&arena, &w->loops, &m), 0);
	m.n_input_bci--;
	assert_no_loops(w, &m);
	assert_int_equal(record_pack_loops(&arena, &w->loops, &m), 0);
	m.input_loop[1] = (uint32_t)m.n_loops;
	assert_no_loops(w, &m);
	assert_int_equal(record_pack_loops(&arena, &w->loops, &m), 0);
	m.input_sum[0] = (double)m.input_pairs[0] + 1; /* More than all. */
	assert_no_loops(w, &m);
	assert_int_equal(record_pack_loops(&arena, &w->loops, &m), 0);
	m.loops[3]->scalar_squares = NAN;
	assert_no_loops(w, &m);
	assert_int_equal(record_pack_loops(&arena, &w->loops, &m), 0);
	m.loops[6]->turns->low = m.loops[6]->turns->high + 1;
	assert_no_loops(w, &m);
	window_result_free(w);
}

TEST(lengths_of_instances_are_stored)
{
	static const struct loop_lengths lengths = {20, 81920, 335544320, 3.5, 2, 1};
	struct window_result *w = sample_window(7, "shop", 45);
	struct loop_profile back = {0};
	_cleanup_(arena_release) struct arena arena;
	Jxp__StoredLoops m;

	sample_window_loops(w, 1);
	w->loops.rows[2].lengths = lengths;
	arena_init(&arena, ENOUGH);
	assert_int_equal(record_pack_loops(&arena, &w->loops, &m), 0);
	assert_null(m.loops[1]->lengths);
	assert_int_equal(record_unpack_loops(&m, &w->profile, &back), 0);
	assert_memory_equal(&back.rows[2].lengths, &lengths, sizeof(lengths));
	assert_int_equal(back.rows[1].lengths.read, 0);
	loop_profile_release(&back);
	m.loops[2]->lengths->squares = NAN;
	assert_no_loops(w, &m);
	window_result_free(w);
}

TEST(a_record_of_before_has_no_traces)
{
	struct window_result *w = sample_window(7, "shop", 45);
	struct loop_profile back = {0};
	_cleanup_(arena_release) struct arena arena;
	Jxp__StoredLoops m;

	sample_window_loops(w, 1);
	arena_init(&arena, ENOUGH);
	assert_int_equal(record_pack_loops(&arena, &w->loops, &m), 0);
	m.n_input_loop = m.n_input_scalar = m.n_input_method = m.n_input_bci = m.n_input_line =
	    m.n_input_at = m.n_input_pairs = m.n_input_sum = m.n_input_squares = 0;
	for (size_t i = 0; i < m.n_loops; i++) {
		m.loops[i]->n_effect_ns = 0;
		m.loops[i]->turns = NULL;
	}
	assert_int_equal(record_unpack_loops(&m, &w->profile, &back), 0);
	assert_int_equal(back.row_count, w->loops.row_count);
	assert_int_equal(back.input_count, 0);
	assert_false(turn_sums_rate(&back.rows[6].turns).known);
	loop_profile_release(&back);
	window_result_free(w);
}
