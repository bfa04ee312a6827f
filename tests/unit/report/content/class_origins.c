#include "tests/unit/support/test.h"

#include "report/content/model.h"
#include "tests/unit/support/sample_findings.h"

#define NODES  1u
#define ARRAYS 2u

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

static uint32_t add_site(struct window_result *w, uint32_t class_name, int32_t line)
{
	struct cct_node node = {.line = line, .tier = (uint16_t)JXP__TIER__TIER_JIT};
	uint32_t id, site;

	assert_int_equal(cct_add_node(&w->profile.cct, &node, &id), 0);
	assert_int_equal(object_profile_site(&w->objects, class_name, id, &site), 0);
	return site;
}

static void allocate(struct window_result *w, uint32_t site, unsigned count, double weight)
{
	for (unsigned i = 0; i < count; i++)
		object_profile_allocated(&w->objects, site, weight, 32);
}

static struct object_access access_to(uint32_t class_name)
{
	return (struct object_access){
	    .class_name = class_name, .location = 1, .object_bytes = 32, .weight = 1};
}

static void miss(struct window_result *w, uint32_t class_name, unsigned count)
{
	struct object_access a = access_to(class_name);

	for (unsigned i = 0; i < count; i++)
		assert_int_equal(
		    object_profile_untracked(&w->objects, JXP__REGION__REGION_HEAP, &a), 0);
}

static void meet(struct window_result *w, uint32_t site, uint32_t class_name, unsigned count)
{
	struct object_access a = access_to(class_name);

	for (unsigned i = 0; i < count; i++)
		assert_int_equal(object_profile_access(&w->objects, site, &a, 1, i), 0);
}

static int32_t line_of(const struct report_model *m, const struct origin_site *s)
{
	uint32_t node = m->objects.ranking.sites[s->site].sum.node;

	return cct_node(&m->window->profile.cct, node)->line;
}

TEST(without_tracked_accesses_the_sampled_allocations_of_the_class_say_it, set_up, tear_down)
{
	struct window_result *w = *state;
	uint32_t few = add_site(w, NODES, 7), many = add_site(w, NODES, 8);
	const struct class_origin *o;
	struct report_model m;

	allocate(w, few, 25, 1000);
	allocate(w, many, 75, 1000);
	allocate(w, add_site(w, ARRAYS, 9), 500, 1000); /* Of another class: no part of this one. */
	miss(w, NODES, 50);
	assert_int_equal(report_model_init(&m, w, NULL), 0);
	o = &m.objects.origins.list[0];
	assert_int_equal(o->basis, ORIGIN_INFERRED);
	assert_int_equal(o->allocations, 100);
	assert_int_equal(o->count, 2);
	assert_int_equal(line_of(&m, &o->sites[0]), 8);
	assert_float_equal(o->sites[0].share, 0.75, 1e-9);
	/* Wilson's of 75 among 100. */
	assert_float_equal(o->sites[0].ci95.low, 0.6569, 1e-3);
	assert_float_equal(o->sites[0].ci95.high, 0.8245, 1e-3);
	assert_float_equal(o->sites[1].share, 0.25, 1e-9);
	report_model_release(&m);
}

/* A sample stands for as many bytes as sampling was sparse when it was drawn. */
TEST(samples_that_stand_for_more_make_the_interval_wider, set_up, tear_down)
{
	struct window_result *w = *state;
	uint32_t even = add_site(w, NODES, 7), other = add_site(w, NODES, 8);
	uint32_t uneven = add_site(w, ARRAYS, 7), another = add_site(w, ARRAYS, 8);
	const struct class_origin *list;
	struct interval nodes, arrays;
	struct report_model m;

	allocate(w, even, 50, 2);
	allocate(w, other, 50, 2);
	allocate(w, uneven, 49, 1);
	allocate(w, uneven, 1, 51);
	allocate(w, another, 50, 2);
	miss(w, NODES, 20);
	miss(w, ARRAYS, 10);
	assert_int_equal(report_model_init(&m, w, NULL), 0);
	list = m.objects.origins.list;
	nodes = list[0].sites[0].ci95;
	arrays = list[1].sites[0].ci95;
	assert_float_equal(list[1].sites[0].share, 0.5, 1e-9);
	assert_true(arrays.high - arrays.low > 1.5 * (nodes.high - nodes.low));
	report_model_release(&m);
}

TEST(accesses_to_tracked_objects_say_it_where_there_are_some, set_up, tear_down)
{
	struct window_result *w = *state;
	uint32_t cold = add_site(w, NODES, 7), hot = add_site(w, NODES, 8);
	const struct class_origin *o;
	struct report_model m;

	allocate(w, cold, 900, 1);
	allocate(w, hot, 100, 1);
	meet(w, hot, NODES, 20);
	assert_int_equal(report_model_init(&m, w, NULL), 0);
	o = &m.objects.origins.list[0];
	assert_int_equal(o->basis, ORIGIN_TRACKED);
	assert_int_equal(line_of(&m, &o->sites[0]), 8);
	assert_float_equal(o->sites[0].share, 1, 1e-9);
	report_model_release(&m);
}

TEST(a_handful_of_tracked_accesses_is_too_few, set_up, tear_down)
{
	struct window_result *w = *state;
	uint32_t cold = add_site(w, NODES, 7), hot = add_site(w, NODES, 8);
	struct report_model m;

	allocate(w, cold, 900, 1);
	allocate(w, hot, 100, 1);
	meet(w, hot, NODES, CLASS_ORIGINS_TRACKED - 1);
	assert_int_equal(report_model_init(&m, w, NULL), 0);
	assert_int_equal(m.objects.origins.list[0].basis, ORIGIN_INFERRED);
	assert_int_equal(line_of(&m, &m.objects.origins.list[0].sites[0]), 7);
	report_model_release(&m);
}

TEST(of_a_class_that_was_not_seen_allocated_nothing_is_said, set_up, tear_down)
{
	struct window_result *w = *state;
	struct report_model m;

	allocate(w, add_site(w, ARRAYS, 9), 10, 1);
	miss(w, NODES, 50);
	assert_int_equal(report_model_init(&m, w, NULL), 0);
	assert_int_equal(m.objects.origins.count, 1);
	assert_int_equal(m.objects.origins.list[0].basis, ORIGIN_UNKNOWN);
	assert_int_equal(m.objects.origins.list[0].count, 0);
	report_model_release(&m);
}
