/* How many descriptors, and timers, may be taken from the target. */
#include "tests/unit/support/test.h"
#include <sys/resource.h>
#include <limits.h>

#include "attach/agent/window/allowance.h"

TEST(half_of_the_free_descriptors_may_be_taken)
{
	assert_int_equal(fd_allowance_of(1024, 24), 500);
	assert_int_equal(fd_allowance_of(20, 30), 0);
	assert_int_equal(fd_allowance_of(ULONG_MAX, 0), UINT_MAX);
	assert_true(fd_allowance() > 0);
}

TEST(half_of_what_is_left_is_ours)
{
	assert_int_equal(timer_allowance_of("Threads:\t1\nSigQ:\t100/3900\nSigPnd:\t0\n"), 1900);
	assert_int_equal(timer_allowance_of("Threads:\t1\nSigQ:\t3900/3900\nSigPnd:\t0\n"), 0);
	/* Others of the user may have had a higher limit. */
	assert_int_equal(timer_allowance_of("Threads:\t1\nSigQ:\t4000/3900\nSigPnd:\t0\n"), 0);
	assert_int_equal(timer_allowance_of("Threads:\t1\nSigQ:\t0/18446744073709551615\n"),
			 UINT_MAX);
}

TEST(what_cannot_be_told_is_none)
{
	assert_int_equal(timer_allowance_of(""), 0);
	assert_int_equal(timer_allowance_of("Threads:\t1\nSigQ:\tmany\n"), 0);
}

TEST(the_kernel_s_own_words_are_understood)
{
	struct rlimit limit, less;

	assert_int_equal(getrlimit(RLIMIT_SIGPENDING, &limit), 0);
	less = (struct rlimit){1, limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_SIGPENDING, &less), 0);
	assert_int_equal(timer_allowance(), 0);
	less.rlim_cur = limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_SIGPENDING, &less), 0);
	assert_true(timer_allowance() > 0);
	assert_int_equal(setrlimit(RLIMIT_SIGPENDING, &limit), 0);
}
