/* How many descriptors, and timers, may be taken from the target. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/resource.h>
#include <limits.h>

#include "attach/agent/window/allowance.h"

static void half_of_the_free_descriptors_may_be_taken(void **state)
{
	(void)state;
	assert_int_equal(fd_allowance_of(1024, 24), 500);
	assert_int_equal(fd_allowance_of(20, 30), 0);
	assert_int_equal(fd_allowance_of(ULONG_MAX, 0), UINT_MAX);
	assert_true(fd_allowance() > 0);
}

static void half_of_what_is_left_is_ours(void **state)
{
	(void)state;
	assert_int_equal(timer_allowance_of("Threads:\t1\nSigQ:\t100/3900\nSigPnd:\t0\n"), 1900);
	assert_int_equal(timer_allowance_of("Threads:\t1\nSigQ:\t3900/3900\nSigPnd:\t0\n"), 0);
	/* Others of the user may have had a higher limit. */
	assert_int_equal(timer_allowance_of("Threads:\t1\nSigQ:\t4000/3900\nSigPnd:\t0\n"), 0);
	assert_int_equal(timer_allowance_of("Threads:\t1\nSigQ:\t0/18446744073709551615\n"),
			 UINT_MAX);
}

static void what_cannot_be_told_is_none(void **state)
{
	(void)state;
	assert_int_equal(timer_allowance_of(""), 0);
	assert_int_equal(timer_allowance_of("Threads:\t1\nSigQ:\tmany\n"), 0);
}

static void the_kernel_s_own_words_are_understood(void **state)
{
	struct rlimit limit, less;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_SIGPENDING, &limit), 0);
	less = (struct rlimit){1, limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_SIGPENDING, &less), 0);
	assert_int_equal(timer_allowance(), 0);
	less.rlim_cur = limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_SIGPENDING, &less), 0);
	assert_true(timer_allowance() > 0);
	assert_int_equal(setrlimit(RLIMIT_SIGPENDING, &limit), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(half_of_the_free_descriptors_may_be_taken),
	    cmocka_unit_test(half_of_what_is_left_is_ours),
	    cmocka_unit_test(what_cannot_be_told_is_none),
	    cmocka_unit_test(the_kernel_s_own_words_are_understood),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
