#include "tests/unit/support/test.h"

#include <stdlib.h>
#include <string.h>

#include "profile/combine/merge.h"
#include "report/report.h"
#include "tests/unit/support/golden.h"
#include "tests/unit/support/otlp_bodies.h"
#include "tests/unit/support/sample_window.h"
#include "tests/unit/support/whole_report.h"

#define ENOUGH (1u << 20)
#define DEAD   JXP__KIND__KIND_DEAD_STORE

/* A program that fills twice, with so much of it in vain. */
static struct window_result *build(unsigned number, int32_t line, unsigned filled,
				   unsigned accesses)
{
	struct window_result *w = sample_window_empty(number, "org.example.Main");
	uint32_t main = sample_window_node(w, 0, "main", line);
	uint32_t load = sample_window_node(w, main, "load", line);
	uint32_t fill = sample_window_node(w, load, "fill", 20 + line);
	uint32_t fill2 = sample_window_node(w, main, "fill", 20 + line);
	uint32_t sum = sample_window_node(w, main, "sum", 30 + line);
	uint32_t site = 0;

	w->request.kinds[JXP__KIND__KIND_NUMA] = false;
	sample_window_pairs(w, DEAD, fill, fill, filled, true);
	sample_window_pairs(w, DEAD, fill2, fill2, filled / 3, true);
	sample_window_pairs(w, DEAD, sum, fill, 30, true);
	sample_window_pairs(w, DEAD, fill, sum, 1470 - filled - filled / 3, false);
	sample_window_pairs(w, JXP__KIND__KIND_SILENT_LOAD, sum, sum, 400 + number, true);
	sample_window_pairs(w, JXP__KIND__KIND_SILENT_LOAD, sum, sum, 600 - number, false);
	assert_int_equal(
	    object_profile_site(&w->objects, sample_window_text(w, "float[]"), fill, &site), 0);
	for (unsigned i = 0; i < accesses; i++)
		assert_int_equal(object_profile_access(
				     &w->objects, site,
				     &(struct object_access){.node = sum, .weight = 5e6}, 1, 0),
				 0);
	for (unsigned i = accesses; i < 800; i++)
		object_profile_untracked(&w->objects, JXP__REGION__REGION_HEAP,
					 &(struct object_access){.weight = 5e6});
	return w;
}

static struct window_result *merge_of(unsigned first, unsigned count, unsigned filled)
{
	struct window_result *merged = NULL;
	struct merge m = {0};
	struct err err;

	for (unsigned i = 0; i < count; i++) {
		struct window_result *w =
		    build(first + i, 10, filled + 12 * (i % 4), 200 + 10 * (i % 3));

		if (i == 1)
			w->findings.sampler = JXP__SAMPLER__SAMPLER_IBS;
		if (i == 2)
			(void)snprintf(w->jdk, sizeof(w->jdk), "21.0.1+12");
		assert_int_equal(merge_add(&m, w), 0);
		window_result_free(w);
	}
	assert_int_equal(merge_finish(&m, &merged, &err), 0);
	return merged;
}

TEST(a_merge_is_reported_as_any_window_is)
{
	static const struct {
		Jxp__Format format;
		const char *name;
	} formats[] = {
	    {JXP__FORMAT__FORMAT_TEXT, "merged.txt"},
	    {JXP__FORMAT__FORMAT_JSON, "merged.json"},
	    {JXP__FORMAT__FORMAT_COLLAPSED, "merged.collapsed"},
	};
	struct window_result *w = merge_of(1, 12, 450);

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct err err = {""};
		size_t size;
		char *text;

		assert_int_equal(report_new(w, formats[i].format, 0, ENOUGH, &text, &size, &err),
				 0);
		assert_golden(formats[i].name, text);
		free(text);
	}
	otlp_keep_window(w);
	window_result_free(w);
}

TEST(a_merge_of_few_windows_says_what_its_intervals_are)
{
	struct window_result *w = merge_of(1, 4, 450);
	struct err err = {""};
	size_t size;
	char *text;

	assert_int_equal(report_new(w, JXP__FORMAT__FORMAT_TEXT, 0, ENOUGH, &text, &size, &err), 0);
	assert_non_null(strstr(text, "intervals say how these windows differ, in 3 batches"));
	free(text);
	window_result_free(w);
}
