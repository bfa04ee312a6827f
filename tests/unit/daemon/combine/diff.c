#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/combine/diff.h"
#include "daemon/combine/merge.h"
#include "tests/unit/support/random_program.h"

#define DEAD JXP__KIND__KIND_DEAD_STORE

static void diff_of(struct diff *d, const struct window_result *a, const struct window_result *b)
{
	struct err err = {""};

	if (diff_init(d, a, b, &err) < 0)
		fail_msg("%s", err.message);
}

static const char *method_name(const struct diff *d, uint32_t method)
{
	return strings_get(&d->names.strings, cct_method(&d->names.cct, method)->name);
}

/* ---------------------------------------------------------------- rows */

static void rows_are_pairs_of_leaf_methods_whatever_their_lines(void **state)
{
	uint64_t seed = 3;
	struct random_program p = random_program_new(&seed, 5);
	struct window_result *a = random_program_window(&p, &seed, 1, 3000, 10);
	struct window_result *b = random_program_window(&p, &seed, 2, 3000, 77);
	struct diff d;

	(void)state;
	diff_of(&d, a, b);
	assert_int_equal(d.row_count, 5);
	for (size_t i = 0; i < 5; i++) {
		assert_true(d.rows[i].test.share.share[0] > 0);
		assert_true(d.rows[i].test.share.share[1] > 0);
		assert_string_equal(method_name(&d, d.rows[i].watch) + strlen("write"),
				    method_name(&d, d.rows[i].trap) + strlen("overwrite"));
	}
	assert_false(diff_is_shown(&d));
	assert_int_equal(d.tested, 6);
	diff_release(&d);
	window_result_free(a);
	window_result_free(b);
}

/* Pairs in fill, called from two methods; only those of the second caller are gone in the other
 * window. */
static struct window_result *two_callers(unsigned number, unsigned first, unsigned second)
{
	struct window_result *w = sample_window_empty(number, "a");
	uint32_t from = sample_window_node(w, 0, "load", 5);
	uint32_t fill = sample_window_node(w, from, "fill", (int32_t)number);
	uint32_t other = sample_window_node(w, 0, "save", 6);
	uint32_t fill2 = sample_window_node(w, other, "fill", (int32_t)number);

	sample_window_pairs(w, DEAD, fill, fill, first, true);
	sample_window_pairs(w, DEAD, fill2, fill2, second, true);
	sample_window_pairs(w, DEAD, fill, fill, 1000 - first - second, false);
	return w;
}

static void a_row_has_the_contexts_that_carry_its_difference(void **state)
{
	struct window_result *a = two_callers(1, 200, 300), *b = two_callers(2, 210, 0);
	const struct diff_context *context;
	struct diff d;

	(void)state;
	diff_of(&d, a, b);
	assert_int_equal(d.called_rows, 1);
	assert_int_equal(d.rows[0].test.verdict, DIFF_LESS);
	assert_float_equal(d.rows[0].test.share.difference, -0.29, 1e-9);
	assert_true(d.rows[0].test.share.ci95.low < -0.29 && d.rows[0].test.share.ci95.high < -0.2);
	assert_int_equal(d.rows[0].context_count, 2);
	context = &d.contexts[d.rows[0].first_context];
	assert_float_equal(context->share[0], 0.3, 1e-9);
	assert_float_equal(context->share[1], 0, 0);
	assert_string_equal(
	    method_name(
		&d, cct_node(&d.names.cct, cct_node(&d.names.cct, context->watch)->parent)->method),
	    "save");
	assert_int_equal(d.kinds[0].test.verdict, DIFF_LESS);
	diff_release(&d);
	window_result_free(a);
	window_result_free(b);
}

static struct window_result *renamed_and_repaired(unsigned number, const char *moved,
						  unsigned wasteful)
{
	struct window_result *w = sample_window_empty(number, "a");
	uint32_t main = sample_window_node(w, 0, "main", 1);
	uint32_t other = sample_window_node(w, main, moved, 1);
	uint32_t fill = sample_window_node(w, main, "fill", 1);

	sample_window_pairs(w, DEAD, other, other, 800, true);
	sample_window_pairs(w, JXP__KIND__KIND_SILENT_LOAD, fill, fill, wasteful, true);
	sample_window_pairs(w, JXP__KIND__KIND_SILENT_LOAD, fill, fill, 800 - wasteful, false);
	return w;
}

static void what_was_repaired_comes_before_what_was_renamed(void **state)
{
	struct window_result *a = renamed_and_repaired(1, "copy", 400);
	struct window_result *b = renamed_and_repaired(2, "copyAll", 100);
	struct diff d;

	(void)state;
	diff_of(&d, a, b);
	assert_int_equal(d.called_rows, 3);
	assert_string_equal(method_name(&d, d.rows[0].watch), "fill");
	assert_true(d.rows[0].explains);
	assert_false(d.rows[1].explains);
	diff_release(&d);
	window_result_free(a);
	window_result_free(b);
}

static void a_row_of_few_observations_is_not_called(void **state)
{
	struct window_result *a = two_callers(1, 9, 0), *b = two_callers(2, 0, 0);
	struct diff d;

	(void)state;
	/* Nine great differences of next to nothing. */
	a->profile.pairs[0].wasteful_bytes *= 1000;
	diff_of(&d, a, b);
	assert_int_equal(d.row_count, 1);
	assert_int_equal(d.called_rows, 0);
	assert_float_equal(d.rows[0].test.p, 1, 0);
	diff_release(&d);
	window_result_free(a);
	window_result_free(b);
}

static uint32_t class_method(struct window_result *w, const char *class_name)
{
	struct cct_method m = {sample_window_text(w, class_name), sample_window_text(w, "run"), 0};
	struct cct_node node = {.bci = 1, .line = 1};
	uint32_t id = 0;

	assert_int_equal(cct_add_method(&w->profile.cct, &m, &node.method), 0);
	assert_int_equal(cct_add_node(&w->profile.cct, &node, &id), 0);
	return id;
}

static void classes_that_a_jvm_makes_are_met_without_its_numbers(void **state)
{
	static const char *const names[][2] = {
	    {"org.example.Main$$Lambda$14.0x00007f00cc0", "org.example.Main$$Lambda$9.0x00007fbb"},
	    {"org.example.Main$$Lambda/0x00007f00cc0", "org.example.Main$$Lambda/0x00007fbb"},
	    {"jdk.internal.reflect.GeneratedMethodAccessor12",
	     "jdk.internal.reflect.GeneratedMethodAccessor7"},
	    {"com.sun.proxy.$Proxy3", "com.sun.proxy.$Proxy44"},
	    {"org.example.Area0x10", "org.example.Area0x10"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct window_result *side[2];
		struct diff d;

		for (unsigned n = 0; n < 2; n++) {
			uint32_t node;

			side[n] = sample_window_empty(n + 1, "a");
			node = class_method(side[n], names[i][n]);
			sample_window_pairs(side[n], DEAD, node, node, 50, true);
		}
		diff_of(&d, side[0], side[1]);
		assert_int_equal(d.row_count, 1);
		diff_release(&d);
		window_result_free(side[0]);
		window_result_free(side[1]);
	}
}

static void windows_of_different_samplers_are_not_compared(void **state)
{
	struct window_result *a = sample_window(1, "a", 30), *b = sample_window(2, "a", 30);
	struct diff d;
	struct err err = {""};

	(void)state;
	b->findings.sampler = JXP__SAMPLER__SAMPLER_PEBS;
	assert_int_equal(diff_init(&d, a, b, &err), -EINVAL);
	assert_non_null(strstr(err.message, "clock"));
	window_result_free(a);
	window_result_free(b);
}

static void nothing_to_compare_is_no_difference(void **state)
{
	struct window_result *a = sample_window_empty(1, "a"), *b = sample_window_empty(2, "a");
	struct diff d;

	(void)state;
	diff_of(&d, a, b);
	assert_false(diff_is_shown(&d));
	assert_int_equal(d.tested, 0);
	assert_false(d.kinds[0].compared);
	diff_release(&d);
	window_result_free(a);
	window_result_free(b);
}

/* ---------------------------------------------------------------- objects */

/* Accesses to objects of two sites and to others. */
static struct window_result *accesses_of(uint64_t *seed, unsigned number, double first)
{
	struct window_result *w = sample_window_empty(number, "a");
	uint32_t make = sample_window_node(w, 0, "make", (int32_t)number);
	uint32_t fill = sample_window_node(w, 0, "fill", (int32_t)number);
	uint32_t sites[2];

	assert_int_equal(
	    object_profile_site(&w->objects, sample_window_text(w, "long[]"), make, &sites[0]), 0);
	assert_int_equal(
	    object_profile_site(&w->objects, sample_window_text(w, "int[]"), fill, &sites[1]), 0);
	for (unsigned i = 0; i < 1500; i++) {
		double at = draw(seed);

		if (at < first + 0.3)
			assert_int_equal(object_profile_access(
					     &w->objects, sites[at >= first],
					     &(struct object_access){.node = make, .weight = 5e6},
					     1, 0),
					 0);
		else
			object_profile_untracked(&w->objects, JXP__REGION__REGION_HEAP,
						 &(struct object_access){.weight = 5e6});
	}
	return w;
}

static void allocation_sites_are_rows_too(void **state)
{
	uint64_t seed = 4;
	struct window_result *a = accesses_of(&seed, 1, 0.25), *b = accesses_of(&seed, 2, 0.05);
	struct diff d;

	(void)state;
	diff_of(&d, a, b);
	assert_int_equal(d.called_rows, 1);
	assert_string_equal(strings_get(&d.names.strings, d.rows[0].watch), "long[]");
	assert_string_equal(method_name(&d, d.rows[0].trap), "make");
	assert_int_equal(d.rows[0].test.verdict, DIFF_LESS);
	diff_release(&d);
	window_result_free(a);
	window_result_free(b);
}

/* ---------------------------------------------------------------- how often it is right */

static void the_same_program_shows_no_difference(void **state)
{
	unsigned alarms = 0;
	uint64_t seed = 7;

	(void)state;
	for (unsigned run = 0; run < 1000; run++) {
		struct random_program p = random_program_new(&seed, 2 + run % 20);
		struct window_result *a = random_program_window(&p, &seed, 1, 1500, 10);
		struct window_result *b = random_program_window(&p, &seed, 2, 200 + run % 1500, 10);
		struct diff d;

		diff_of(&d, a, b);
		alarms += diff_is_shown(&d);
		diff_release(&d);
		window_result_free(a);
		window_result_free(b);
	}
	print_message("%u false alarms in 1,000\n", alarms);
	assert_in_range(alarms, 0, 20);
}

/* Each pair's waste varies from window to window by what is allowed for. */
static void windows_that_drift_a_little_show_no_difference(void **state)
{
	unsigned alarms = 0;
	uint64_t seed = 12;

	(void)state;
	for (unsigned run = 0; run < 500; run++) {
		struct random_program p = random_program_new(&seed, 12);
		struct window_result *side[2];
		struct diff d;

		for (unsigned i = 0; i < 2; i++) {
			struct random_program own = p;

			/* Uniform, with a standard deviation of SHARE_DRIFT. */
			for (unsigned n = 0; n < p.pairs; n++)
				own.waste[n] *= 1 + SHARE_DRIFT * 2 * sqrt(3) * (draw(&seed) - 0.5);
			side[i] = random_program_window(&own, &seed, i + 1, 15000, 10);
		}
		diff_of(&d, side[0], side[1]);
		alarms += diff_is_shown(&d);
		diff_release(&d);
		window_result_free(side[0]);
		window_result_free(side[1]);
	}
	print_message("%u false alarms in 500\n", alarms);
	assert_in_range(alarms, 0, 10);
}

static struct window_result *merged_phases(const struct random_program *p, uint64_t *seed,
					   unsigned count)
{
	struct window_result *w = NULL;
	struct merge m = {0};
	struct err err;

	for (unsigned i = 0; i < count; i++) {
		struct random_program phase = *p;
		struct window_result *one;

		for (unsigned n = 0; n < p->pairs; n++)
			phase.waste[n] = draw_beta(seed, 2, 3);
		one = random_program_window(&phase, seed, i + 1, 300, 10);
		assert_int_equal(merge_add(&m, one), 0);
		window_result_free(one);
	}
	assert_int_equal(merge_finish(&m, &w, &err), 0);
	return w;
}

/* Sampling would explain a tenth of the variance between these windows. */
static void periods_of_a_program_with_phases_show_no_difference(void **state)
{
	unsigned alarms = 0;
	uint64_t seed = 9;

	(void)state;
	for (unsigned run = 0; run < 200; run++) {
		struct random_program p = random_program_new(&seed, 4);
		struct window_result *a = merged_phases(&p, &seed, 12);
		struct window_result *b = merged_phases(&p, &seed, 20);
		struct diff d;

		diff_of(&d, a, b);
		alarms += diff_is_shown(&d);
		diff_release(&d);
		window_result_free(a);
		window_result_free(b);
	}
	print_message("%u false alarms in 200\n", alarms);
	assert_in_range(alarms, 0, 8);
}

/* removed: the repaired pair is not checked any more; else it is, and not wasteful. */
static void assert_repair_is_found(uint64_t seed, bool removed)
{
	unsigned found = 0, runs = 500;

	for (unsigned run = 0; run < runs; run++) {
		struct random_program p = random_program_new(&seed, 12), twin;
		struct window_result *a, *b;
		struct diff d;

		/* Pair 0 wastes 10% of all bytes. */
		for (unsigned i = 1; i < 12; i++)
			p.part[i] *= 0.9 / (1 - p.part[0]);
		p.part[0] = 0.1;
		p.waste[0] = 1;
		twin = p;
		twin.waste[0] = 0;
		if (removed) {
			twin.part[0] = 0;
			for (unsigned i = 1; i < 12; i++)
				twin.part[i] /= 0.9;
		}
		a = random_program_window(&p, &seed, 1, 1500, 10);
		b = random_program_window(&twin, &seed, 2, 1500, 12);
		diff_of(&d, a, b);
		found += d.called_rows > 0 && d.rows[0].test.verdict == DIFF_LESS &&
			 strcmp(method_name(&d, d.rows[0].watch), "write0") == 0;
		diff_release(&d);
		window_result_free(a);
		window_result_free(b);
	}
	print_message("found, and first, in %u of %u\n", found, runs);
	assert_in_range(found, runs * 9 / 10, runs);
}

static void a_repaired_pair_is_found_and_comes_first(void **state)
{
	(void)state;
	assert_repair_is_found(10, false);
	assert_repair_is_found(11, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(rows_are_pairs_of_leaf_methods_whatever_their_lines),
	    cmocka_unit_test(a_row_has_the_contexts_that_carry_its_difference),
	    cmocka_unit_test(what_was_repaired_comes_before_what_was_renamed),
	    cmocka_unit_test(a_row_of_few_observations_is_not_called),
	    cmocka_unit_test(classes_that_a_jvm_makes_are_met_without_its_numbers),
	    cmocka_unit_test(windows_of_different_samplers_are_not_compared),
	    cmocka_unit_test(nothing_to_compare_is_no_difference),
	    cmocka_unit_test(allocation_sites_are_rows_too),
	    cmocka_unit_test(the_same_program_shows_no_difference),
	    cmocka_unit_test(windows_that_drift_a_little_show_no_difference),
	    cmocka_unit_test(periods_of_a_program_with_phases_show_no_difference),
	    cmocka_unit_test(a_repaired_pair_is_found_and_comes_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
