/* Java's threads, from the JVM's list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "attach/agent/code/safe_read.h"
#include "attach/agent/jvm/java_threads.h"
#include "tests/unit/support/agent/fake_vmstructs.h"

#define ALIVE 5
#define COUNT 5u

/* Two classes of threads, and how far their ends are. Each has its JNIEnv in it. */
struct fake_thread {
	uint64_t functions;
	uint64_t os_thread;
	uint64_t next;
	uint64_t env;
	uint64_t stack_base, stack_size;
	uint64_t terminated;
};
struct fake_os_thread {
	int32_t tid;
};

static pid_t seen[8];
static unsigned seen_count;

static void see(void *arg, pid_t tid)
{
	(void)arg;
	seen[seen_count++] = tid;
}

/* The calling thread, which has the name of one that each JVM has and was the one that the agent
 * was called in; one of Java's, one of the JVM's own, one that ends, and one of Java's. */
static struct fake_os_thread os_threads[COUNT];
static struct fake_thread threads[COUNT];
static uint64_t first, count, pointers[COUNT], list_at;
static struct {
	int32_t something, length;
	uint64_t threads;
} list = {.length = COUNT, .threads = (uintptr_t)pointers};

static int set_up(void **state)
{
	(void)state;
	fake_vmstructs_reset();
	for (unsigned i = 0; i < COUNT; i++) {
		os_threads[i].tid = i ? (int32_t)(0x3fffff0 + i) : gettid();
		threads[i] =
		    (struct fake_thread){.functions = i == 2 ? 7 : 8,
					 .os_thread = (uintptr_t)&os_threads[i],
					 .next = i < COUNT - 1 ? (uintptr_t)&threads[i + 1] : 0,
					 .env = 77,
					 .terminated = i == 3 ? ALIVE + 1 : ALIVE};
		pointers[i] = (uintptr_t)&threads[i];
	}
	fake_field("Thread", "_osthread", offsetof(struct fake_thread, os_thread));
	fake_field("OSThread", "_thread_id", 0);
	fake_field("JavaThread", "_terminated", offsetof(struct fake_thread, terminated));
	fake_field("JavaThread", "_stack_base", offsetof(struct fake_thread, stack_base));
	fake_field("JavaThread", "_stack_size", offsetof(struct fake_thread, stack_size));
	fake_int("JavaThread::_not_terminated", ALIVE);
	first = (uintptr_t)&threads[0];
	count = COUNT;
	list_at = (uintptr_t)&list;
	seen_count = 0;
	return safe_read_init();
}

static void as_array(void)
{
	fake_static("ThreadsSMRSupport", "_java_thread_list", &list_at);
	fake_field("ThreadsList", "_length", 4);
	fake_field("ThreadsList", "_threads", 8);
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
	assert_int_equal(seen[1], os_threads[1].tid);
	assert_int_equal(seen[2], os_threads[4].tid);
}

/* Before anything else: what is found once stays. */
static void nothing_is_believed_until_a_known_thread_is_found(void **state)
{
	struct java_threads facts;

	(void)state;
	as_array();
	assert_false(java_threads_facts(&facts)); /* No JNIEnv was noted. */
	java_threads_note(&threads[0].env);
	assert_false(java_threads_each(see, NULL)); /* None has the name. */
	assert_int_equal(prctl(PR_SET_NAME, "Referen..andler"), 0);
	java_threads_note(NULL); /* Not in the thread that it says. */
	assert_false(java_threads_each(see, NULL));
	assert_int_equal(seen_count, 0);
}

static void facts_are_those_of_the_known_thread(void **state)
{
	struct java_threads facts;

	(void)state;
	as_array();
	assert_int_equal(prctl(PR_SET_NAME, "Reference Handler"), 0);
	java_threads_note(&threads[0].env);
	assert_true(java_threads_facts(&facts));
	assert_int_equal(facts.functions, 8);
	assert_int_equal(facts.from_env, offsetof(struct fake_thread, env));
	assert_int_equal(facts.stack_base, offsetof(struct fake_thread, stack_base));
	assert_int_equal(facts.stack_size, offsetof(struct fake_thread, stack_size));
}

static void threads_of_java_are_told_from_the_jvms_list(void **state)
{
	(void)state;
	as_array();
	assert_three_seen();
}

static void threads_of_java_are_told_from_a_chain(void **state)
{
	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(nothing_is_believed_until_a_known_thread_is_found, set_up),
	    cmocka_unit_test_setup(facts_are_those_of_the_known_thread, set_up),
	    cmocka_unit_test_setup(threads_of_java_are_told_from_the_jvms_list, set_up),
	    cmocka_unit_test_setup(threads_of_java_are_told_from_a_chain, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
