#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "attach/agent/jdk_bugs.h"

static void states_of_attached_threads_are_kept_by_some_releases(void **state)
{
	(void)state;
	assert_true(jdk_keeps_states_of_attached_threads("19.0.2+7-44"));
	assert_true(jdk_keeps_states_of_attached_threads("20+36-2344"));
	assert_true(jdk_keeps_states_of_attached_threads("21+35-LTS-2513"));
	assert_true(jdk_keeps_states_of_attached_threads("21.0.12+7-LTS"));
}

static void states_of_attached_threads_are_freed_by_the_others(void **state)
{
	(void)state;
	assert_false(jdk_keeps_states_of_attached_threads("11.0.33-ea+8-post-1-Debian"));
	assert_false(jdk_keeps_states_of_attached_threads("17.0.15+6-Debian-1deb12u1"));
	assert_false(jdk_keeps_states_of_attached_threads("21.0.13.0.3+1-1-Debian"));
	assert_false(jdk_keeps_states_of_attached_threads("22+36"));
	assert_false(jdk_keeps_states_of_attached_threads("25.0.3+9-LTS"));
	assert_false(jdk_keeps_states_of_attached_threads("internal"));
	assert_false(jdk_keeps_states_of_attached_threads(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(states_of_attached_threads_are_kept_by_some_releases),
	    cmocka_unit_test(states_of_attached_threads_are_freed_by_the_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
