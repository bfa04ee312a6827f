#include "tests/unit/support/test.h"

#include "report/content/model.h"
#include "tests/unit/support/sample_findings.h"

static int set_up(void **state)
{
	struct window_request request = {.kinds[JXP__KIND__KIND_OBJECTS] = true};

	*state = window_result_new(1, 42, &request, &sample_findings);
	return *state ? 0 : -1;
}

static int tear_down(void **state)
{
	window_result_free(*state);
	return 0;
}

static uint32_t add_node(struct window_result *w, int32_t line, Jxp__Tier tier)
{
	struct cct_node node = {.line = line, .tier = (uint16_t)tier};
	uint32_t id;

	assert_int_equal(cct_add_node(&w->profile.cct, &node, &id), 0);
	return id;
}

static void touch(struct window_result *w, uint32_t class_name, uint32_t location, uint32_t node,
		  unsigned count, double weight)
{
	struct object_access a = {.node = node,
				  .location = location,
				  .class_name = class_name,
				  .object_bytes = 64,
				  .weight = weight};

	for (unsigned i = 0; i < count; i++)
		assert_int_equal(
		    object_profile_untracked(&w->objects, JXP__REGION__REGION_HEAP, &a), 0);
}

TEST(what_certainly_has_most_comes_first, set_up, tear_down)
{
	struct window_result *w = *state;
	struct report_model m;
	const struct class_ranking *r = &m.objects.classes;

	touch(w, 1, 1, 0, 1, 45); /* One sample, that weighs most. */
	touch(w, 2, 2, 0, 40, 1);
	touch(w, 0, 0, 0, 15, 1);
	assert_int_equal(report_model_init(&m, w, NULL), 0);
	assert_int_equal(r->count, 2);
	assert_int_equal(r->classes[0].class_name, 2);
	assert_float_equal(r->classes[0].fraction, 0.4, 1e-9);
	assert_true(r->classes[1].fraction > r->classes[0].fraction);
	assert_true(r->classes[1].ci95.low < r->classes[0].ci95.low);
	assert_float_equal(r->unknown.fraction, 0.15, 1e-9);
	/* None of it met a tracked object. */
	assert_float_equal(r->classes[0].older.fraction, 0.4, 1e-9);
	report_model_release(&m);
}

TEST(a_class_has_its_fields_and_these_their_paths, set_up, tear_down)
{
	struct window_result *w = *state;
	uint32_t jit = add_node(w, 7, JXP__TIER__TIER_JIT);
	uint32_t interpreted = add_node(w, 7, JXP__TIER__TIER_INTERPRETED);
	uint32_t other = add_node(w, 8, JXP__TIER__TIER_JIT);
	const struct ranked_field *fields;
	const struct ranked_access *accesses;
	struct report_model m;

	touch(w, 1, 1, jit, 10, 1);
	touch(w, 1, 2, other, 20, 1);
	touch(w, 1, 2, jit, 15, 1);
	touch(w, 1, 2, interpreted, 15, 1);
	touch(w, 2, 3, jit, 40, 1);
	assert_int_equal(report_model_init(&m, w, NULL), 0);
	assert_int_equal(m.objects.classes.classes[0].class_name, 1);
	assert_int_equal(m.objects.classes.classes[0].field_count, 2);
	fields = class_ranking_fields(&m.objects.classes, &m.objects.classes.classes[0]);
	assert_int_equal(fields[0].location, 2);
	assert_float_equal(fields[0].fraction, 0.5, 1e-9);
	assert_int_equal(fields[1].location, 1);
	accesses = class_ranking_accesses(&m.objects.classes, &fields[0]);
	assert_int_equal(fields[0].access_count, 2);
	assert_int_equal(accesses[0].node, jit); /* Whatever tier ran it. */
	assert_int_equal(accesses[0].samples, 30);
	assert_int_equal(accesses[1].node, other);
	report_model_release(&m);
}

TEST(without_accesses_there_is_nothing, set_up, tear_down)
{
	struct report_model m;

	assert_int_equal(report_model_init(&m, *state, NULL), 0);
	assert_int_equal(m.objects.classes.count, 0);
	assert_int_equal(m.objects.classes.unknown.sum.samples, 0);
	report_model_release(&m);
}
