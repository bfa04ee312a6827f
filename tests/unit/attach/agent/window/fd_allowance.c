/* How many descriptors may be taken from the target. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <limits.h>

#include "attach/agent/window/fd_allowance.h"

static void half_of_the_free_descriptors_may_be_taken(void **state)
{
	(void)state;
	assert_int_equal(fd_allowance_of(1024, 24), 500);
	assert_int_equal(fd_allowance_of(20, 30), 0);
	assert_int_equal(fd_allowance_of(ULONG_MAX, 0), UINT_MAX);
	assert_true(fd_allowance() > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(half_of_the_free_descriptors_may_be_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
