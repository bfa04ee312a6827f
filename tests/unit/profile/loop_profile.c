#include "tests/unit/support/test.h"

#include <errno.h>

#include "profile/loop_profile.h"
#include "proto/limits.h"

static uint32_t add_row(struct loop_profile *p, uint32_t header, bool recursion)
{
	struct loop_key key = {
	    .method = 1, .mapped = true, .header = header, .line = 3, .recursion = recursion};
	uint32_t position;

	assert_int_equal(loop_profile_row(p, &key, &position), 0);
	return position;
}

static struct repeat_sum *input(struct loop_profile *p, uint32_t loop, int32_t bci, bool scalar)
{
	struct loop_compared like = {.loop = loop, .bci = bci, .line = -1, .scalar = scalar};
	uint32_t position;

	assert_int_equal(loop_profile_input(p, &like, &position), 0);
	return &p->inputs[position].same;
}

static void pairs(struct repeat_sum *sum, unsigned count, double part)
{
	for (unsigned i = 0; i < count; i++)
		repeat_sum_add(sum, part);
}

TEST(a_method_is_another_loop_than_the_one_at_its_beginning)
{
	struct loop_profile p = {0};
	uint32_t loop = add_row(&p, 0, false), method = add_row(&p, 0, true);

	assert_int_not_equal(loop, method);
	assert_int_equal(add_row(&p, 0, true), method);
	loop_profile_release(&p);
}

TEST(inputs_are_of_one_loop)
{
	struct loop_profile p = {0};
	uint32_t one = add_row(&p, 4, false), other = add_row(&p, 9, false);

	pairs(input(&p, one, 12, false), 10, 1);
	pairs(input(&p, other, 12, false), 10, 0);
	pairs(input(&p, one, 15, false), 10, 0.5);
	pairs(input(&p, one, 12, false), 10, 1);
	assert_int_equal(p.input_count, 3);
	assert_float_equal(loop_profile_instances(&p, &p.rows[one], 1).rate, 0.75, 1e-12);
	assert_float_equal(loop_profile_instances(&p, &p.rows[one], 1).traces, 30, 0);
	assert_float_equal(loop_profile_instances(&p, &p.rows[other], 1).rate, 0, 0);
	loop_profile_release(&p);
}

/* One pair in code that was replaced is no reason to know nothing. */
TEST(loads_that_hardly_come_are_left_out)
{
	struct loop_profile p = {0};
	uint32_t row = add_row(&p, 4, false);

	pairs(input(&p, row, 12, false), 59, 0);
	pairs(input(&p, row, 15, false), 2, 1);
	assert_true(loop_profile_instances(&p, &p.rows[row], 1).rate < 0.5);
	assert_true(loop_profile_instances(&p, &p.rows[row], 1).ci95.high < 0.1);
	pairs(input(&p, row, 15, false), 2, 1);
	assert_float_equal(loop_profile_instances(&p, &p.rows[row], 1).rate, 0.5, 1e-12);
	loop_profile_release(&p);
}

TEST(inputs_have_a_limit)
{
	struct loop_profile p = {0};
	struct loop_compared like = {.loop = add_row(&p, 4, false), .bci = -1};
	uint32_t position;

	for (; like.at < LIMIT_LOOP_INPUTS; like.at++)
		assert_int_equal(loop_profile_input(&p, &like, &position), 0);
	assert_int_equal(loop_profile_input(&p, &like, &position), -ENOSPC);
	assert_int_equal(p.refused, 1);
	loop_profile_release(&p);
}
