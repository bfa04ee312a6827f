#include "tests/unit/support/test.h"

#include <stdlib.h>

#include "profile/locations.h"

static uint32_t add(struct locations *l, uint32_t kind, uint32_t class_name, uint32_t field,
		    uint32_t declared_in)
{
	struct location location = {
	    .kind = kind, .class_name = class_name, .field = field, .declared_in = declared_in};
	uint32_t id = 0;

	assert_int_equal(locations_add(l, &location, &id), 0);
	return id;
}

TEST(a_location_is_known_by_all_that_it_has)
{
	struct locations l = {0};
	uint32_t a = add(&l, JXP__LOCATION__KIND__FIELD, 1, 2, 3);

	assert_int_equal(add(&l, JXP__LOCATION__KIND__FIELD, 1, 2, 3), a);
	assert_int_not_equal(add(&l, JXP__LOCATION__KIND__FIELD, 1, 2, 4), a);
	assert_int_not_equal(add(&l, JXP__LOCATION__KIND__STATIC, 1, 2, 3), a);
	assert_int_equal(l.count, 3);
	assert_int_equal(locations_get(&l, a).field, 2);
	assert_int_equal(locations_get(&l, 0).kind, JXP__LOCATION__KIND__UNKNOWN);
	locations_release(&l);
}

TEST(a_field_is_that_of_its_class_whatever_the_object_is)
{
	struct locations l = {0};
	uint32_t first = add(&l, JXP__LOCATION__KIND__FIELD, 10, 2, 9);
	uint32_t again = add(&l, JXP__LOCATION__KIND__FIELD, 11, 2, 9);
	uint32_t other = add(&l, JXP__LOCATION__KIND__FIELD, 11, 3, 9);
	uint32_t elements = add(&l, JXP__LOCATION__KIND__ELEMENT, 10, 0, 0);
	uint32_t others = add(&l, JXP__LOCATION__KIND__ELEMENT, 11, 0, 0);
	uint32_t *fields = NULL;

	assert_int_equal(locations_fields(&l, &fields), 0);
	assert_int_equal(fields[0], 0);
	assert_int_equal(fields[first], first);
	assert_int_equal(fields[again], first);
	assert_int_equal(fields[other], other);
	assert_int_equal(fields[elements], elements);
	assert_int_equal(fields[others], others);
	free(fields);
	locations_release(&l);
}

static struct location field_at(uint32_t offset, uint32_t bytes, uint32_t object_bytes)
{
	return (struct location){.kind = JXP__LOCATION__KIND__FIELD,
				 .class_name = 1,
				 .field = 2,
				 .offset = offset,
				 .bytes = bytes,
				 .object_bytes = object_bytes};
}

TEST(where_a_field_lies_is_known_once_anybody_tells)
{
	struct locations l = {0};
	struct location told = field_at(12, 4, 24), known;
	uint32_t id = 0, again = 0;

	(void)add(&l, JXP__LOCATION__KIND__FIELD, 1, 2, 0);
	assert_int_equal(locations_add(&l, &told, &id), 0);
	(void)add(&l, JXP__LOCATION__KIND__FIELD, 1, 2, 0);
	assert_int_equal(locations_add(&l, &told, &again), 0);
	assert_int_equal(id, again);
	assert_int_equal(l.count, 1);
	known = locations_get(&l, id);
	assert_true(location_has_layout(&known));
	assert_int_equal(known.offset, 12);
	assert_int_equal(known.object_bytes, 24);
	locations_release(&l);
}

TEST(a_field_that_lies_in_two_places_lies_in_none)
{
	struct locations l = {0};
	struct location narrow = field_at(12, 4, 24), wide = field_at(16, 8, 32), known;
	uint32_t id = 0;

	assert_int_equal(locations_add(&l, &narrow, &id), 0);
	assert_int_equal(locations_add(&l, &wide, &id), 0);
	assert_int_equal(locations_add(&l, &narrow, &id), 0);
	known = locations_get(&l, id);
	assert_int_equal(known.bytes, LOCATION_VARIES);
	assert_false(location_has_layout(&known));
	locations_release(&l);
}

TEST(a_field_beyond_its_object_does_not_fit)
{
	struct location whole = field_at(16, 8, 24), beyond = field_at(UINT32_MAX, 8, 24);

	assert_true(location_fits(&whole));
	assert_false(location_fits(&beyond));
	whole.bytes = 9;
	assert_false(location_fits(&whole));
}
