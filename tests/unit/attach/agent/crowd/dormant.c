/* Threads that wait to be profiled until they work. */
#include "tests/unit/support/test.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/agent/crowd/dormant.h"
#include "common/clock.h"

/* Static in the tests: one that fails leaves its workers running, and their stack is not to be its
 * own. */
struct worker {
	pthread_t thread;
	sem_t wake;
	_Atomic uint64_t work_ns; /* to use in all */
	_Atomic uint64_t used_ns;
	_Atomic pid_t tid;
	_Atomic bool end;
};

static void *work(void *arg)
{
	struct worker *w = arg;

	atomic_store(&w->tid, (pid_t)syscall(SYS_gettid));
	while (!atomic_load(&w->end)) {
		uint64_t used = clock_ns(CLOCK_THREAD_CPUTIME_ID);

		atomic_store(&w->used_ns, used);
		/* Idle is to use no time at all, however long the others take. */
		if (used >= atomic_load(&w->work_ns))
			(void)sem_wait(&w->wake); /* Woken for nothing, it comes round. */
	}
	return NULL;
}

static void start(struct worker *w)
{
	*w = (struct worker){0};
	assert_int_equal(sem_init(&w->wake, 0, 0), 0);
	assert_int_equal(pthread_create(&w->thread, NULL, work, w), 0);
	while (atomic_load(&w->tid) == 0)
		(void)usleep(100);
}

static void use(struct worker *w, uint64_t ns)
{
	atomic_store(&w->work_ns, atomic_load(&w->used_ns) + ns);
	(void)sem_post(&w->wake); /* Its count is far from its limit. */
	while (atomic_load(&w->used_ns) < atomic_load(&w->work_ns))
		(void)usleep(1000);
}

static void stop(struct worker *w)
{
	uint64_t ns;

	atomic_store(&w->end, true);
	(void)sem_post(&w->wake);
	assert_int_equal(pthread_join(w->thread, NULL), 0);
	while (clock_thread_ns(atomic_load(&w->tid), &ns))
		(void)usleep(100); /* The kernel lets the joiner go a moment before. */
}

TEST(a_thread_is_awake_once_it_has_used_cpu_time_and_the_busiest_comes_first)
{
	static struct worker idle, busy, busier;
	struct dormant d = {0};

	start(&idle);
	start(&busy);
	start(&busier);
	assert_int_equal(dormant_add(&d, idle.tid, false), 0);
	assert_int_equal(dormant_add(&d, busy.tid, false), 0);
	assert_int_equal(dormant_add(&d, busier.tid, false), 0);
	assert_int_equal(dormant_scan(&d, DORMANT_AWAKE_NS), 0);
	use(&busy, 2 * DORMANT_AWAKE_NS);
	use(&busier, 40 * DORMANT_AWAKE_NS);
	assert_int_equal(dormant_scan(&d, DORMANT_AWAKE_NS), 2);
	assert_int_equal(d.threads[0].tid, busier.tid);
	assert_int_equal(d.threads[1].tid, busy.tid);
	stop(&idle);
	stop(&busy);
	stop(&busier);
	dormant_release(&d);
}

TEST(cpu_time_from_before_counts_only_where_it_is_asked_for)
{
	static struct worker w;
	struct dormant whole = {0}, since = {0};

	start(&w);
	use(&w, 5 * DORMANT_AWAKE_NS);
	assert_int_equal(dormant_add(&whole, w.tid, true), 0);
	assert_int_equal(dormant_add(&since, w.tid, false), 0);
	assert_int_equal(dormant_scan(&since, DORMANT_AWAKE_NS), 0);
	assert_int_equal(dormant_scan(&whole, DORMANT_AWAKE_NS), 1);
	dormant_rebase(&whole);
	assert_int_equal(dormant_scan(&whole, DORMANT_AWAKE_NS), 0);
	stop(&w);
	dormant_release(&whole);
	dormant_release(&since);
}

TEST(a_thread_that_has_ended_is_forgotten)
{
	static struct worker ends, stays;
	struct dormant d = {0};

	start(&ends);
	start(&stays);
	assert_int_equal(dormant_add(&d, ends.tid, true), 0);
	assert_int_equal(dormant_add(&d, stays.tid, false), 0);
	stop(&ends);
	assert_int_equal(dormant_scan(&d, DORMANT_AWAKE_NS), 0);
	assert_int_equal(d.count, 1);
	assert_int_equal(d.threads[0].tid, stays.tid);
	assert_int_equal(dormant_add(&d, ends.tid, false), -ESRCH);
	stop(&stays);
	dormant_release(&d);
}

TEST(a_thread_of_another_process_is_none_of_ours)
{
	struct dormant d = {0};

	assert_int_equal(dormant_add(&d, 1, true), -ESRCH);
	assert_int_equal(d.count, 0);
}

TEST(what_is_noted_is_found_after_sorting)
{
	static struct worker w[5];
	struct dormant d = {0};

	for (int i = 0; i < 5; i++)
		start(&w[i]);
	for (int i = 4; i >= 0; i--)
		assert_int_equal(dormant_add(&d, w[i].tid, false), 0);
	dormant_remove(&d, w[2].tid);
	assert_false(dormant_contains(&d, w[1].tid));
	dormant_sort(&d);
	for (int i = 0; i < 5; i++)
		assert_int_equal(dormant_contains(&d, w[i].tid), i != 2);
	for (int i = 0; i < 5; i++)
		stop(&w[i]);
	dormant_release(&d);
}
