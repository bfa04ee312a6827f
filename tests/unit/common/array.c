/* Arrays that grow by doubling, with a limit and without. */
#include "tests/unit/support/test.h"
#include <errno.h>
#include <stdlib.h>

#include "common/array.h"

TEST(room_grows_by_doubling_and_keeps_what_is_there)
{
	uint32_t *items = NULL;
	size_t capacity = 0;

	assert_int_equal(array_reserve(&items, &capacity, 1, sizeof(*items)), 0);
	items[0] = 42;
	assert_int_equal(array_reserve(&items, &capacity, 1000, sizeof(*items)), 0);
	assert_int_equal(capacity, 1024);
	assert_int_equal(items[0], 42);
	assert_int_equal(array_reserve(&items, &capacity, 7, sizeof(*items)), 0);
	assert_int_equal(capacity, 1024);
	free(items);
}

TEST(room_ends_at_the_limit)
{
	uint32_t *items = NULL;
	size_t capacity = 0;

	assert_int_equal(array_reserve_within(&items, &capacity, 90, 100, sizeof(*items)), 0);
	assert_int_equal(capacity, 100);
	items[0] = 42;
	assert_int_equal(array_reserve_within(&items, &capacity, 101, 100, sizeof(*items)),
			 -ENOSPC);
	assert_int_equal(capacity, 100);
	assert_int_equal(items[0], 42);
	free(items);
}

TEST(what_cannot_be_had_changes_nothing)
{
	uint32_t *items = NULL;
	size_t capacity = 0;

	assert_int_equal(array_reserve(&items, &capacity, SIZE_MAX / 4, sizeof(*items)), -ENOMEM);
	assert_int_equal(capacity, 0);
	assert_null(items);
}
