#include "tests/unit/support/test.h"
#include <string.h>

#include "attach/agent/jvmti/jdk_bugs.h"

static void assert_bug(const char *version, const char *number)
{
	const char *bug = jdk_bug_of_allocation_events(version);

	assert_non_null(bug);
	assert_non_null(strstr(bug, number));
}

TEST(allocations_are_not_sampled_where_that_can_crash)
{
	assert_bug("19.0.2+7-44", "8319935");
	assert_bug("20+36-2344", "8319935");
	assert_bug("21+35-LTS-2513", "8319935");
	assert_bug("21.0.12+7-LTS", "8319935");
}

TEST(allocations_are_not_sampled_where_that_can_hang)
{
	assert_bug("24+36-3646", "8346727");
	assert_bug("24.0.2+12-54", "8346727");
}

TEST(allocations_are_sampled_elsewhere)
{
	assert_null(jdk_bug_of_allocation_events("11.0.33-ea+8-post-1-Debian"));
	assert_null(jdk_bug_of_allocation_events("17.0.15+6-Debian-1deb12u1"));
	assert_null(jdk_bug_of_allocation_events("21.0.13.0.3+1-1-Debian"));
	assert_null(jdk_bug_of_allocation_events("22+36"));
	assert_null(jdk_bug_of_allocation_events("25.0.3+9-LTS"));
	assert_null(jdk_bug_of_allocation_events("internal"));
}
