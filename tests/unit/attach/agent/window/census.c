/* Which threads wait until they use CPU time, and who is left waiting when there is no room. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/syscall.h>
#include <unistd.h>

#include "attach/agent/handler/thread.h"
#include "attach/agent/jvm/roster.h"
#include "attach/agent/window/census.h"
#include "common/clock.h"

/* No thread of it can be profiled: the monitor has no room. */
struct fixture {
	struct settings settings;
	struct monitor monitor;
	struct census census;
	pid_t tid;
};

static int set_up(void **state)
{
	static struct fixture f;

	f = (struct fixture){.tid = (pid_t)syscall(SYS_gettid)};
	assert_int_equal(threads_init(), 0);
	assert_int_equal(roster_open(), 0);
	monitor_init(&f.monitor, &f.settings, NULL, NULL, NULL);
	f.settings.sampling.event_count = 1;
	f.monitor.holdings.fds_left = 0;
	census_init(&f.census, NULL, &f.monitor, 0.01);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	census_release(&f->census);
	roster_close();
	return 0;
}

static uint64_t counted(const struct fixture *f, Jxp__Counter counter)
{
	uint64_t counters[JXP__COUNTER__COUNTER_MAX] = {0};

	monitor_counters(&f->monitor, counters);
	census_counters(&f->census, counters);
	return counters[counter];
}

/* So much of this thread's CPU time that it is awake. */
static void be_busy(void)
{
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + 2 * DORMANT_AWAKE_NS;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static void scan(struct fixture *f)
{
	f->census.next_scan_ns = 0;
	f->census.next_process_ns = 0;
	assert_int_equal(census_scan(&f->census, 1, NULL), 0);
}

static void a_thread_that_starts_waits_unless_it_is_taken_on_eagerly(void **state)
{
	struct fixture *f = *state;

	for (int eager = 0; eager < 2; eager++) { /* Eagerly there is no room. */
		roster_add(f->tid);
		assert_int_equal(census_news(&f->census, eager, NULL), 0);
		assert_int_equal(counted(f, JXP__COUNTER__COUNTER_THREADS_IDLE), 1);
	}
	census_settle(&f->census);
	assert_true(census_is_dormant(&f->census, f->tid));
	assert_false(census_is_dormant(&f->census, f->tid + 1));
}

static void a_thread_that_has_ended_is_not_noted(void **state)
{
	struct fixture *f = *state;

	roster_add(0x3ffffff); /* beyond every pid */
	assert_int_equal(census_news(&f->census, false, NULL), 0);
	assert_int_equal(counted(f, JXP__COUNTER__COUNTER_THREADS_IDLE), 0);
	assert_int_equal(counted(f, JXP__COUNTER__COUNTER_THREADS_OVER_LIMIT), 0);
}

static void a_busy_thread_without_room_is_counted_once(void **state)
{
	struct fixture *f = *state;

	roster_add(f->tid);
	assert_int_equal(census_news(&f->census, false, NULL), 0);
	for (int i = 0; i < 3; i++) {
		be_busy();
		scan(f);
		assert_int_equal(counted(f, JXP__COUNTER__COUNTER_THREADS_NO_DESCRIPTORS), 1);
		assert_int_equal(counted(f, JXP__COUNTER__COUNTER_THREADS_IDLE), 1);
	}
}

static void a_scan_that_is_not_due_does_nothing(void **state)
{
	struct fixture *f = *state;

	roster_add(f->tid);
	assert_int_equal(census_news(&f->census, false, NULL), 0);
	be_busy();
	f->census.next_scan_ns = UINT64_MAX;
	assert_int_equal(census_scan(&f->census, UINT64_MAX, NULL), 0);
	f->census.next_scan_ns = 0;
	f->census.next_process_ns = 2;
	assert_int_equal(census_scan(&f->census, 1, NULL), 0);
	assert_int_equal(counted(f, JXP__COUNTER__COUNTER_THREADS_NO_DESCRIPTORS), 0);
	scan(f);
	assert_int_equal(counted(f, JXP__COUNTER__COUNTER_THREADS_NO_DESCRIPTORS), 1);
}

static void scans_become_rarer_and_pay_for_themselves(void **state)
{
	struct fixture *f = *state;
	uint64_t before = clock_monotonic_ns();

	f->census.interval_ns = 50 * NS_PER_MS;
	roster_add(f->tid);
	assert_int_equal(census_news(&f->census, false, NULL), 0);
	scan(f);
	assert_int_equal(f->census.interval_ns, 100 * NS_PER_MS);
	assert_true(f->census.next_scan_ns >= before + 100 * NS_PER_MS);
	assert_true(f->census.next_process_ns > 1); /* What it took is a tenth of the budget. */
	scan(f);
	scan(f);
	assert_int_equal(f->census.interval_ns, 250 * NS_PER_MS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(a_thread_that_starts_waits_unless_it_is_taken_on_eagerly),
	    TEST(a_thread_that_has_ended_is_not_noted),
	    TEST(a_busy_thread_without_room_is_counted_once),
	    TEST(a_scan_that_is_not_due_does_nothing),
	    TEST(scans_become_rarer_and_pay_for_themselves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
