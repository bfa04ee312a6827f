/* Which threads wait until they use CPU time, who is left waiting when there is no room, and when
 * it is looked for threads that have started. */
#include "tests/unit/support/test.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "attach/agent/handler/thread.h"
#include "attach/agent/window/census.h"
#include "common/clock.h"
#include "tests/unit/support/agent/fake_threads.h"

/* No thread of it can be profiled: the monitor has no room. */
struct fixture {
	struct settings settings;
	struct ledger ledger;
	struct monitor monitor;
	struct census census;
};

static _Atomic uint64_t starts; /* by the JVM's count */

/* The JVM's other thread, which uses CPU time when it is told to. */
static pthread_t worker;
static _Atomic pid_t worker_tid;
static _Atomic uint64_t wanted_ns, used_ns;
static _Atomic bool over;

static void *work(void *unused)
{
	atomic_store(&worker_tid, gettid());
	while (!atomic_load(&over)) {
		atomic_store(&used_ns, clock_ns(CLOCK_THREAD_CPUTIME_ID));
		if (atomic_load(&used_ns) >= atomic_load(&wanted_ns))
			(void)usleep(1000);
	}
	return unused;
}

/* So much of the worker's CPU time that it is awake. */
static void be_busy(void)
{
	uint64_t end = atomic_load(&used_ns) + 2 * DORMANT_AWAKE_NS;

	atomic_store(&wanted_ns, end);
	while (atomic_load(&used_ns) < end)
		(void)usleep(1000);
}

static int set_up(void **state)
{
	static struct fixture f;

	f = (struct fixture){.ledger.budget = 0.01};
	assert_int_equal(threads_init(), 0);
	atomic_store(&over, false);
	atomic_store(&wanted_ns, 0);
	atomic_store(&worker_tid, 0);
	assert_int_equal(pthread_create(&worker, NULL, work, NULL), 0);
	while (!atomic_load(&worker_tid))
		(void)usleep(100);
	fake_threads_known(2);
	fake_os_threads[1].tid = atomic_load(&worker_tid);
	atomic_store(&starts, 1);
	monitor_init(&f.monitor, &f.settings, &f.ledger, NULL, NULL, NULL);
	f.settings.sampling.event_count = 1;
	f.monitor.holdings.fds_left = 0;
	census_init(&f.census, &f.monitor, &f.ledger, &starts);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	census_release(&f->census);
	atomic_store(&over, true);
	return pthread_join(worker, NULL);
}

static void scan(struct fixture *f)
{
	f->census.next_scan_ns = 0;
	f->census.next_process_ns = 0;
	assert_int_equal(census_scan(&f->census, 1, NULL), 0);
}

static uint64_t counted(const struct fixture *f, Jxp__Counter counter)
{
	uint64_t counters[JXP__COUNTER__COUNTER_MAX] = {0};

	monitor_counters(&f->monitor, counters);
	census_counters(&f->census, counters);
	return counters[counter];
}

TEST(a_thread_that_starts_waits_where_there_is_no_room, set_up, tear_down)
{
	struct fixture *f = *state;
	pid_t tid = atomic_load(&worker_tid);

	assert_int_equal(census_news(&f->census, false, NULL), 0);
	assert_int_equal(counted(f, JXP__COUNTER__COUNTER_THREADS_IDLE), 0);
	assert_int_equal(census_news(&f->census, true, NULL), 0);
	assert_int_equal(counted(f, JXP__COUNTER__COUNTER_THREADS_IDLE), 1);
	census_settle(&f->census);
	assert_true(census_is_dormant(&f->census, tid));
	assert_false(census_is_dormant(&f->census, gettid()));
}

TEST(a_thread_that_has_ended_is_not_noted, set_up, tear_down)
{
	struct fixture *f = *state;

	fake_os_threads[1].tid = 0x3ffffff; /* beyond every pid */
	scan(f);
	assert_int_equal(counted(f, JXP__COUNTER__COUNTER_THREADS_IDLE), 0);
	assert_int_equal(counted(f, JXP__COUNTER__COUNTER_THREADS_OVER_LIMIT), 0);
}

TEST(a_busy_thread_without_room_is_counted_once, set_up, tear_down)
{
	struct fixture *f = *state;

	for (int i = 0; i < 3; i++) {
		be_busy();
		scan(f);
		assert_int_equal(counted(f, JXP__COUNTER__COUNTER_THREADS_NO_DESCRIPTORS), 1);
		assert_int_equal(counted(f, JXP__COUNTER__COUNTER_THREADS_IDLE), 1);
	}
}

TEST(a_scan_that_is_not_due_does_nothing, set_up, tear_down)
{
	struct fixture *f = *state;

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

TEST(scans_become_rarer_and_pay_for_themselves, set_up, tear_down)
{
	struct fixture *f = *state;
	uint64_t before = clock_monotonic_ns();

	f->census.interval_ns = 50 * NS_PER_MS;
	scan(f);
	assert_int_equal(f->census.interval_ns, 100 * NS_PER_MS);
	assert_true(f->census.next_scan_ns >= before + 100 * NS_PER_MS);
	assert_true(f->census.next_process_ns > 1); /* What it took is a tenth of the budget. */
	scan(f);
	scan(f);
	assert_int_equal(f->census.interval_ns, 250 * NS_PER_MS);
}

TEST(threads_are_listed_when_another_one_has_started, set_up, tear_down)
{
	struct fixture *f = *state;

	fake_list.length = 1;
	scan(f);
	assert_int_equal(counted(f, JXP__COUNTER__COUNTER_THREADS_IDLE), 0);
	fake_list.length = 2;
	scan(f);
	assert_int_equal(census_news(&f->census, true, NULL), 0);
	assert_int_equal(counted(f, JXP__COUNTER__COUNTER_THREADS_IDLE), 0);
	atomic_fetch_add(&starts, 1);
	assert_int_equal(census_news(&f->census, true, NULL), 0);
	assert_int_equal(counted(f, JXP__COUNTER__COUNTER_THREADS_IDLE), 1);
}

TEST(a_jvm_that_counts_no_starts_is_asked_at_each_scan, set_up, tear_down)
{
	struct fixture *f = *state;

	f->census.starts = NULL;
	fake_list.length = 1;
	scan(f);
	fake_list.length = 2;
	scan(f);
	assert_int_equal(counted(f, JXP__COUNTER__COUNTER_THREADS_IDLE), 1);
}

TEST(while_threads_start_it_is_looked_for_more_before_long, set_up, tear_down)
{
	struct fixture *f = *state;
	uint64_t now = clock_monotonic_ns();

	assert_int_equal(census_next_ns(&f->census, true), UINT64_MAX);
	assert_int_equal(census_news(&f->census, true, NULL), 0);
	assert_in_range(census_next_ns(&f->census, true), now + 20 * NS_PER_MS,
			now + 10 * NS_PER_S);
	assert_int_equal(census_next_ns(&f->census, false), UINT64_MAX);
	f->census.news_ns = now - 2 * NS_PER_S;
	assert_int_equal(census_next_ns(&f->census, true), UINT64_MAX);
}

TEST(a_list_that_cannot_be_read_is_an_error_at_the_beginning_alone, set_up, tear_down)
{
	struct fixture *f = *state;

	fake_list_at = 8;
	scan(f);
	assert_int_equal(census_start(&f->census, NULL), -EOPNOTSUPP);
}
