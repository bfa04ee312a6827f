#include "tests/unit/support/test.h"

#include "profile/class_profile.h"
#include "proto/limits.h"

static int set_up(void **state)
{
	static struct class_profile c;

	c = (struct class_profile){0};
	*state = &c;
	return 0;
}

static int tear_down(void **state)
{
	class_profile_release(*state);
	return 0;
}

static uint32_t field_of(struct class_profile *c, uint32_t class_name, uint32_t location)
{
	uint32_t field;

	assert_int_equal(class_profile_field(c, class_name, location, &field), 0);
	return field;
}

TEST(a_class_and_a_location_make_a_field, set_up, tear_down)
{
	struct class_profile *c = *state;
	uint32_t a = field_of(c, 1, 1), b = field_of(c, 1, 2), other = field_of(c, 2, 1);

	assert_int_equal(field_of(c, 1, 1), a);
	assert_true(a != b && a != other && b != other);
	assert_int_equal(field_of(c, 0, 0), 0);
	assert_int_equal(c->field_count, 4);
}

TEST(accesses_are_added_up_by_context, set_up, tear_down)
{
	struct class_profile *c = *state;
	uint32_t field = field_of(c, 1, 1);

	assert_int_equal(class_profile_add(c, field, 7, 10, true), 0);
	assert_int_equal(class_profile_add(c, field, 7, 5, false), 0);
	assert_int_equal(class_profile_add(c, field, 8, 5, false), 0);
	assert_int_equal(c->access_count, 2);
	assert_float_equal(c->accesses[0].metric, 15, 0);
	assert_int_equal(c->fields[field].sum.samples, 3);
	assert_float_equal(c->fields[field].sum.squares, 150, 0);
	assert_int_equal(c->fields[field].tracked.samples, 1);
}

TEST(what_does_not_fit_is_in_the_sums_and_counted, set_up, tear_down)
{
	struct class_profile *c = *state;
	uint32_t field;

	for (uint32_t i = 1; i < LIMIT_CLASS_FIELDS; i++)
		(void)field_of(c, 1, i);
	assert_int_equal(field_of(c, 2, 1), 0);
	assert_int_equal(c->refused, 1);
	field = field_of(c, 1, 1);
	for (uint32_t node = 0; node <= LIMIT_CLASS_ACCESSES; node++)
		assert_int_equal(class_profile_add(c, field, node, 1, false), 0);
	assert_int_equal(c->access_count, LIMIT_CLASS_ACCESSES);
	assert_int_equal(c->fields[field].sum.samples, LIMIT_CLASS_ACCESSES + 1);
	assert_int_equal(c->refused, 2);
	assert_true(row_table_memory_bytes(&c->access_table, &class_access_layout) < 16u << 20);
}
