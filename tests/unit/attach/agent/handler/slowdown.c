/* What a thread's allocations say of registers that are on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "attach/agent/handler/slowdown.h"
#include "common/clock.h"

#define GIB (UINT64_C(1) << 30)

static void a_database_loses_what_it_was_seen_to_lose(void **state)
{
	(void)state;
	/* 1,852 MiB a second of CPU time, 6.4 ns a store: 2.6 to 5.1% were measured. */
	assert_float_equal(slowdown_of(1852 * GIB / 1024, NS_PER_S, 6.4), 0.045, 0.001);
}

static void nothing_is_lost_without_allocations_or_on_other_processors(void **state)
{
	(void)state;
	assert_float_equal(slowdown_of(0, NS_PER_S, 6.4), 0, 0);
	assert_float_equal(slowdown_of(GIB, NS_PER_S, 0), 0, 0);
	assert_float_equal(slowdown_of(GIB, 0, 6.4), 0, 0);
}

static void nonsense_is_bounded(void **state)
{
	(void)state;
	assert_float_equal(slowdown_of(UINT64_MAX, 1, 6.4), SLOWDOWN_MOST, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_database_loses_what_it_was_seen_to_lose),
	    cmocka_unit_test(nothing_is_lost_without_allocations_or_on_other_processors),
	    cmocka_unit_test(nonsense_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
