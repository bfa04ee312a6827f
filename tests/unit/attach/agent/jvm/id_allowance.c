#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "attach/agent/jvm/id_allowance.h"

/* As many as there are ids for, of so many methods each. */
static unsigned classes_of(uint32_t methods)
{
	unsigned count = 0;

	while (id_allowance_left()) {
		id_allowance_take(methods);
		count++;
	}
	return count;
}

static void one_window_and_all_that_follow_are_bounded(void **state)
{
	const uint64_t each = FOOTPRINT_CLASS_BYTES + 3 * FOOTPRINT_METHOD_BYTES;
	uint64_t bytes;

	(void)state;
	id_allowance_begin();
	bytes = classes_of(3) * each;
	assert_in_range(bytes, FOOTPRINT_NEW_IDS_BYTES, FOOTPRINT_NEW_IDS_BYTES + each);
	assert_int_equal(id_allowance_refused(), 1);
	assert_false(id_allowance_left());
	assert_int_equal(id_allowance_refused(), 2);
	for (int window = 0; window < 3; window++) {
		id_allowance_begin();
		assert_int_equal(id_allowance_refused(), 0);
		bytes = classes_of(3) * each;
		assert_in_range(bytes, ID_ALLOWANCE_WINDOW_BYTES, ID_ALLOWANCE_WINDOW_BYTES + each);
	}
}

static void one_class_that_is_too_much_costs_one_window_no_more(void **state)
{
	(void)state;
	id_allowance_begin();
	assert_true(id_allowance_left());
	id_allowance_take(65535);
	assert_false(id_allowance_left());
	id_allowance_begin();
	assert_true(id_allowance_left());
}

static void what_is_not_used_does_not_add_up(void **state)
{
	const uint64_t each = FOOTPRINT_CLASS_BYTES + FOOTPRINT_METHOD_BYTES;
	uint64_t bytes;

	(void)state;
	for (int window = 0; window < 100; window++)
		id_allowance_begin();
	bytes = classes_of(1) * each;
	assert_in_range(bytes, FOOTPRINT_NEW_IDS_BYTES, FOOTPRINT_NEW_IDS_BYTES + each);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_window_and_all_that_follow_are_bounded),
	    cmocka_unit_test(one_class_that_is_too_much_costs_one_window_no_more),
	    cmocka_unit_test(what_is_not_used_does_not_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
