/* The CPU time of threads that are none of Java's, by real threads. */
#include "tests/unit/support/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "attach/agent/crowd/strangers.h"
#include "common/clock.h"

#define WORK_NS (20 * NS_PER_MS)

static _Atomic pid_t java_tid; /* the one of Java's */
static _Atomic bool over;

static bool is_java(void *arg, pid_t tid)
{
	(void)arg;
	return tid == atomic_load(&java_tid);
}

static void use(uint64_t ns)
{
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static void *work(void *tid)
{
	use(WORK_NS);
	atomic_store((_Atomic pid_t *)tid, gettid());
	while (!atomic_load(&over))
		(void)usleep(1000);
	return NULL;
}

static pthread_t start(_Atomic pid_t *tid)
{
	pthread_t thread;

	atomic_store(&over, false);
	atomic_store(tid, 0);
	assert_int_equal(pthread_create(&thread, NULL, work, (void *)tid), 0);
	while (!atomic_load(tid))
		(void)usleep(1000);
	return thread;
}

static void end(pthread_t thread)
{
	atomic_store(&over, true);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void look(struct strangers *s)
{
	s->listed_ns = s->listed_ns ? 1 : 0; /* Who else is there, too. */
	strangers_look(s, is_java, NULL);
}

TEST(what_strangers_use_from_then_on_is_known)
{
	struct strangers s = {0};

	look(&s);
	assert_true(strangers_ns(&s) < WORK_NS);
	use(WORK_NS);
	look(&s);
	assert_in_range(strangers_ns(&s), WORK_NS, 10 * WORK_NS);
	strangers_release(&s);
}

TEST(all_is_known_of_one_that_begins_and_ends)
{
	struct strangers s = {0};
	_Atomic pid_t tid;
	pthread_t thread;

	look(&s);
	thread = start(&tid);
	look(&s);
	assert_true(strangers_ns(&s) >= WORK_NS);
	end(thread);
	look(&s);
	assert_true(strangers_ns(&s) >= WORK_NS);
	strangers_release(&s);
}

TEST(who_is_java_s_is_none)
{
	struct strangers s = {0};
	_Atomic pid_t tid;
	pthread_t thread;

	look(&s);
	thread = start(&tid);
	look(&s); /* It is not known yet whose it is. */
	assert_true(strangers_ns(&s) >= WORK_NS);
	atomic_store(&java_tid, atomic_load(&tid));
	look(&s);
	assert_true(strangers_ns(&s) < WORK_NS);
	end(thread);
	atomic_store(&java_tid, 0);
	strangers_release(&s);
}
