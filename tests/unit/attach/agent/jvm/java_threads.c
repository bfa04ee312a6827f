/* Java's threads, from the JVM's list. */
#include "tests/unit/support/test.h"

#include <pthread.h>

#include "tests/unit/support/agent/fake_threads.h"

#define COUNT 5u

static pid_t seen[8];
static unsigned seen_count;

static void see(void *arg, pid_t tid)
{
	(void)arg;
	seen[seen_count++] = tid;
}

static uint64_t first, count;

/* One of Java's, one of the JVM's own, one that ends, and one of Java's. */
static int set_up(void **state)
{
	(void)state;
	fake_vmstructs_reset();
	fake_threads_make(COUNT);
	fake_threads[2].functions = FAKE_FUNCTIONS + 1;
	fake_threads[3].terminated = FAKE_ALIVE + 1;
	first = (uintptr_t)&fake_threads[0];
	count = COUNT;
	seen_count = 0;
	return safe_read_init();
}

static void as_chain(void)
{
	fake_field("JavaThread", "_next", offsetof(struct fake_thread, next));
	fake_static("Threads", "_thread_list", &first);
	fake_static("Threads", "_number_of_threads", &count);
}

static void assert_three_seen(void)
{
	assert_true(java_threads_each(see, NULL));
	assert_int_equal(seen_count, 3);
	assert_int_equal(seen[0], gettid());
	assert_int_equal(seen[1], fake_os_threads[1].tid);
	assert_int_equal(seen[2], fake_os_threads[4].tid);
}

/* Before anything else: what is found once stays. */
TEST(nothing_is_believed_until_a_known_thread_is_found, set_up)
{
	struct java_threads facts;

	fake_threads_as_array();
	assert_false(java_threads_facts(&facts)); /* No thread was noted. */
	java_threads_note();
	assert_false(java_threads_each(see, NULL)); /* None has the name. */
	assert_int_equal(prctl(PR_SET_NAME, "Referen..andler"), 0);
	fake_own = NULL; /* Nor is it found where it has its own. */
	assert_false(java_threads_each(see, NULL));
	assert_int_equal(seen_count, 0);
}

TEST(facts_are_those_of_the_known_thread, set_up)
{
	struct java_threads facts;

	fake_threads_as_array();
	assert_int_equal(prctl(PR_SET_NAME, "Reference Handler"), 0);
	java_threads_note();
	assert_true(java_threads_facts(&facts));
	assert_int_equal(facts.functions, FAKE_FUNCTIONS);
	assert_int_equal(facts.stack_base, offsetof(struct fake_thread, stack_base));
	assert_int_equal(facts.stack_size, offsetof(struct fake_thread, stack_size));
}

static void *own_of(void *thread)
{
	struct java_threads facts;

	assert_true(java_threads_facts(&facts));
	fake_own = thread;
	return (void *)(uintptr_t)own_word_read(&facts.own);
}

static uint64_t own_of_another(struct fake_thread *thread)
{
	pthread_t other;
	void *own;

	assert_int_equal(pthread_create(&other, NULL, own_of, thread), 0);
	assert_int_equal(pthread_join(other, &own), 0);
	return (uintptr_t)own;
}

TEST(a_thread_s_own_is_found_without_asking, set_up)
{
	struct java_threads facts;

	assert_true(java_threads_facts(&facts));
	assert_int_equal(own_word_read(&facts.own), (uintptr_t)&fake_threads[0]);
	assert_int_equal(own_of_another(&fake_threads[1]), (uintptr_t)&fake_threads[1]);
	assert_int_equal(own_of_another(NULL), 0);
}

TEST(threads_of_java_are_told_from_the_jvms_list, set_up)
{
	fake_threads_as_array();
	assert_three_seen();
}

TEST(threads_of_java_are_told_from_a_chain, set_up)
{
	as_chain();
	assert_three_seen();
	/* One more or less has been counted than the chain has. */
	seen_count = 0;
	count = COUNT + 1;
	assert_false(java_threads_each(see, NULL));
	count = COUNT - 1;
	assert_false(java_threads_each(see, NULL));
	assert_int_equal(seen_count, 0);
}
