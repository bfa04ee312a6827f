/* How many descriptors may be taken from the target. */
#include "tests/unit/support/test.h"
#include <limits.h>

#include "attach/agent/window/fd_allowance.h"

TEST(half_of_the_free_descriptors_may_be_taken)
{
	assert_int_equal(fd_allowance_of(1024, 24), 500);
	assert_int_equal(fd_allowance_of(20, 30), 0);
	assert_int_equal(fd_allowance_of(ULONG_MAX, 0), UINT_MAX);
	assert_true(fd_allowance() > 0);
}
