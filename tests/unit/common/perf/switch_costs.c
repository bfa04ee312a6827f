/* What events cost at context switches, on the machine at hand. */
#include "tests/unit/support/test.h"

#include <dirent.h>
#include <sched.h>

#include "common/perf/switch_costs.h"

static unsigned entries(const char *path)
{
	DIR *dir = opendir(path);
	unsigned count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	assert_int_equal(closedir(dir), 0);
	return count;
}

/* More than none and less than a signal: some tenths of a microsecond as a rule. */
TEST(they_are_measured_and_nothing_is_left)
{
	unsigned fds, threads;
	struct switch_costs costs;
	cpu_set_t before, after;

	/* ThreadSanitizer has a thread of its own from the first on. */
	assert_int_equal(switch_costs_measure(&costs), 0);
	fds = entries("/proc/self/fd");
	threads = entries("/proc/self/task");
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	assert_int_equal(switch_costs_measure(&costs), 0);
	assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
	assert_true(CPU_EQUAL(&before, &after));
	assert_int_equal(entries("/proc/self/fd"), fds);
	assert_int_equal(entries("/proc/self/task"), threads);
	assert_true(costs.clock_ns >= 0 && costs.clock_ns < 20000);
	assert_true(costs.held_ns >= 0 && costs.held_ns < 20000);
	assert_true(costs.armed_ns >= 0 && costs.armed_ns < 20000);
	assert_true(costs.clock_ns + costs.held_ns + costs.armed_ns > 0);
}
