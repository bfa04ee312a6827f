/* Loops of one method that calls itself, and others. */
#include "tests/unit/support/test.h"

#include <stdlib.h>

#include "profile/reach/loop_bodies.h"

#define WORK 1u
#define GET  2u

struct fixture {
	struct cct tree;
	struct cpu_profile cpu;
	struct loop_bodies bodies;
	struct loop_reach reach[8];
};

static int set_up(void **state)
{
	static struct fixture f;
	uint32_t id;

	f = (struct fixture){0};
	for (uint32_t i = 1; i <= 2; i++)
		if (cct_add_method(&f.tree, &(struct cct_method){i, i, i}, &id) < 0 || id != i)
			return -1;
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	loop_bodies_release(&f->bodies);
	cct_release(&f->tree);
	cpu_profile_release(&f->cpu);
	return 0;
}

static uint32_t frame(struct fixture *f, uint32_t parent, uint32_t method, int32_t bci,
		      int32_t line)
{
	struct cct_node node = {.parent = parent, .method = method, .bci = bci, .line = line};
	uint32_t id;

	assert_int_equal(cct_add_node(&f->tree, &node, &id), 0);
	return id;
}

static void ticks(struct fixture *f, uint32_t node, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(
		    cpu_profile_add(&f->cpu, JXP__CPU_SAMPLE__STATE__COMPILED, node, false, 1000),
		    0);
}

/* Of WORK; the last one is GET's. */
static void loops(struct fixture *f, const int32_t (*places)[3], size_t count)
{
	struct loop_body *list = calloc(count, sizeof(*list));

	for (size_t i = 0; i < count; i++)
		list[i] = (struct loop_body){.key = {.method = i + 1 < count ? WORK : GET,
						     .header = (uint32_t)places[i][0],
						     .line = places[i][2]},
					     .latch = places[i][1],
					     .id = (uint32_t)i};
	loop_bodies_init(&f->bodies, list, count);
}

static int found(struct fixture *f, uint32_t method, int32_t bci, int32_t line)
{
	const struct loop_body *body = loop_bodies_find(
	    &f->bodies, &(struct cct_node){.method = method, .bci = bci, .line = line});

	return body ? (int)body->id : -1;
}

TEST(the_innermost_loop_is_found, set_up, tear_down)
{
	static const int32_t places[][3] = {{10, 60, 20}, {20, 50, 22}, {24, 40, 22}, {0, 9, 5}};
	struct fixture *f = *state;

	loops(f, places, 4);
	assert_int_equal(found(f, WORK, 9, 20), -1);
	assert_int_equal(found(f, WORK, 10, 20), 0);
	assert_int_equal(found(f, WORK, 20, 22), 1);
	assert_int_equal(found(f, WORK, 30, 23), 2);
	assert_int_equal(found(f, WORK, 30, -1), 2);
	assert_int_equal(found(f, WORK, 45, 24), 1);
	assert_int_equal(found(f, WORK, 60, 20), 0);
	assert_int_equal(found(f, WORK, 61, 25), -1);
	assert_int_equal(found(f, WORK, -1, 22), -1);
	assert_int_equal(found(f, GET, 5, 7), 3);
	assert_int_equal(found(f, 0, 5, 7), -1);
}

TEST(overloads_are_told_apart_by_lines, set_up, tear_down)
{
	static const int32_t places[][3] = {{10, 60, 20}, {12, 62, 120}, {0, 1, 1}};
	struct fixture *f = *state;

	loops(f, places, 3);
	assert_int_equal(found(f, WORK, 30, 22), 0);
	assert_int_equal(found(f, WORK, 30, 122), 1);
	assert_int_equal(found(f, WORK, 61, 30), -1);
	assert_int_equal(found(f, WORK, 30, 12), -1);
}

TEST(time_is_that_of_the_loop_and_of_what_it_calls, set_up, tear_down)
{
	static const int32_t places[][3] = {{10, 60, 20}, {20, 50, 22}, {0, 9, 5}};
	struct fixture *f = *state;
	uint32_t outer = frame(f, 0, WORK, 12, 21), inner = frame(f, 0, WORK, 30, 23);
	uint32_t beside = frame(f, 0, WORK, 2, 18);

	loops(f, places, 3);
	ticks(f, outer, 5);
	ticks(f, inner, 7);
	ticks(f, frame(f, inner, GET, 20, 8), 11); /* in no loop of its own */
	ticks(f, frame(f, inner, GET, 4, 6), 13);  /* in one */
	ticks(f, frame(f, beside, GET, 4, 6), 17);
	assert_int_equal(loop_bodies_reach(&f->bodies, &f->tree, &f->cpu, f->reach), 0);
	assert_int_equal(f->reach[0].inclusive.samples, 5 + 7 + 11 + 13);
	assert_int_equal(f->reach[0].called.samples, 11 + 13);
	assert_int_equal(f->reach[0].nearest.samples, 5);
	assert_int_equal(f->reach[1].inclusive.samples, 7 + 11 + 13);
	assert_int_equal(f->reach[1].nearest.samples, 7 + 11);
	assert_int_equal(f->reach[2].inclusive.samples, 13 + 17);
	assert_int_equal(f->reach[2].called.samples, 0);
	assert_int_equal(f->reach[2].nearest.samples, 13 + 17);
	assert_float_equal(f->reach[2].nearest.ns, 30000, 0);
}

TEST(a_method_that_calls_itself_has_its_time_once, set_up, tear_down)
{
	static const int32_t places[][3] = {{10, 60, 20}, {0, 9, 5}};
	struct fixture *f = *state;
	uint32_t node = frame(f, 0, WORK, 12, 21);

	loops(f, places, 2);
	for (int i = 0; i < 5; i++) {
		ticks(f, node, 1);
		node = frame(f, node, WORK, 12, 21);
	}
	ticks(f, node, 1);
	assert_int_equal(loop_bodies_reach(&f->bodies, &f->tree, &f->cpu, f->reach), 0);
	assert_int_equal(f->reach[0].inclusive.samples, 6);
	assert_int_equal(f->reach[0].called.samples, 5);
	assert_int_equal(f->reach[0].nearest.samples, 6);
}

TEST(what_is_called_is_worth_less_the_further_it_is, set_up, tear_down)
{
	struct fixture *f = *state;
	uint32_t a = frame(f, 0, WORK, 12, 21), b = frame(f, a, GET, 1, 1);
	uint32_t c = frame(f, b, GET, 2, 2);
	struct cpu_sum *called;

	ticks(f, c, 8);
	ticks(f, b, 3);
	called = loop_reach_called(&f->tree, &f->cpu, 0.5);
	assert_non_null(called);
	assert_int_equal(called[a - 1].samples, 11);
	assert_float_equal(called[a - 1].ns, 3000 + 4000, 0);
	assert_float_equal(called[b - 1].ns, 8000, 0);
	assert_float_equal(called[c - 1].ns, 0, 0);
	free(called);
}
