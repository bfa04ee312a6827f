/* Arrays that grow by doubling, with a limit and without. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>

#include "common/array.h"

static void room_grows_by_doubling_and_keeps_what_is_there(void **state)
{
	uint32_t *items = NULL;
	size_t capacity = 0;

	(void)state;
	assert_int_equal(array_reserve(&items, &capacity, 1, sizeof(*items)), 0);
	items[0] = 42;
	assert_int_equal(array_reserve(&items, &capacity, 1000, sizeof(*items)), 0);
	assert_int_equal(capacity, 1024);
	assert_int_equal(items[0], 42);
	assert_int_equal(array_reserve(&items, &capacity, 7, sizeof(*items)), 0);
	assert_int_equal(capacity, 1024);
	free(items);
}

static void room_ends_at_the_limit(void **state)
{
	uint32_t *items = NULL;
	size_t capacity = 0;

	(void)state;
	assert_int_equal(array_reserve_within(&items, &capacity, 90, 100, sizeof(*items)), 0);
	assert_int_equal(capacity, 100);
	items[0] = 42;
	assert_int_equal(array_reserve_within(&items, &capacity, 101, 100, sizeof(*items)),
			 -ENOSPC);
	assert_int_equal(capacity, 100);
	assert_int_equal(items[0], 42);
	free(items);
}

static void what_cannot_be_had_changes_nothing(void **state)
{
	uint32_t *items = NULL;
	size_t capacity = 0;

	(void)state;
	assert_int_equal(array_reserve(&items, &capacity, SIZE_MAX / 4, sizeof(*items)), -ENOMEM);
	assert_int_equal(capacity, 0);
	assert_null(items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(room_grows_by_doubling_and_keeps_what_is_there),
	    cmocka_unit_test(room_ends_at_the_limit),
	    cmocka_unit_test(what_cannot_be_had_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
