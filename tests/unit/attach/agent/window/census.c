/* Which threads wait until they use CPU time, who is left waiting when there is no room, and when
 * nobody is told of threads that start. */
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

/* ---------------------------------------------------------------- a JVM whose threads start */

static jvmtiEventCallbacks callbacks;
static bool told; /* of threads that start */

static jvmtiError JNICALL set_callbacks(jvmtiEnv *env, const jvmtiEventCallbacks *wanted, jint size)
{
	(void)env, (void)size;
	callbacks = *wanted;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL notify(jvmtiEnv *env, jvmtiEventMode mode, jvmtiEvent event,
				 jthread thread, ...)
{
	(void)env, (void)thread;
	if (event == JVMTI_EVENT_THREAD_START)
		told = mode == JVMTI_ENABLE;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL add_capabilities(jvmtiEnv *env, const jvmtiCapabilities *wanted)
{
	(void)env, (void)wanted;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL no_threads(jvmtiEnv *env, jint *count, jthread **threads)
{
	(void)env;
	*count = 0;
	*threads = NULL;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *env, unsigned char *memory)
{
	(void)env, (void)memory;
	return JVMTI_ERROR_NONE;
}

static const jvmtiInterface_1 jvmti_functions = {
    .AddCapabilities = add_capabilities,
    .SetEventCallbacks = set_callbacks,
    .SetEventNotificationMode = notify,
    .GetAllThreads = no_threads,
    .Deallocate = deallocate,
};
static jvmtiEnv jvmti = &jvmti_functions;

static jclass JNICALL find_class(JNIEnv *env, const char *name)
{
	(void)env, (void)name;
	return (jclass)&jvmti;
}

static jfieldID JNICALL find_field(JNIEnv *env, jclass class, const char *name, const char *type)
{
	(void)env, (void)class, (void)name, (void)type;
	return (jfieldID)&jvmti;
}

static void JNICALL delete_reference(JNIEnv *env, jobject reference)
{
	(void)env, (void)reference;
}

static const struct JNINativeInterface_ jni_functions = {
    .FindClass = find_class, .GetFieldID = find_field, .DeleteLocalRef = delete_reference};
static JNIEnv jni = &jni_functions;

static jint JNICALL get_env(JavaVM *jvm, void **env, jint version)
{
	(void)jvm, (void)version;
	*env = &jvmti;
	return JNI_OK;
}

static const struct JNIInvokeInterface_ jvm_functions = {.GetEnv = get_env};
static JavaVM jvm = &jvm_functions;

static void ended(pid_t tid)
{
	(void)tid;
}

static const struct vm_hooks hooks = {.thread_started = roster_add, .thread_ended = ended};

static int set_up_in_jvm(void **state)
{
	static struct vm vm;
	struct fixture *f;

	if (set_up(state) < 0)
		return -1;
	f = *state;
	assert_int_equal(vm_open(&vm, &jvm, &jni, NULL), 0);
	assert_int_equal(vm_start(&vm, &hooks, NULL), 0);
	assert_true(told);
	f->census.vm = &vm;
	return 0;
}

static void start_threads(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		callbacks.ThreadStart(&jvmti, &jni, NULL);
}

/* Is who starts now in the roster? */
static bool is_listened_to(void)
{
	pid_t tids[64];
	bool overflowed;

	while (roster_take(tids, sizeof(tids) / sizeof(tids[0]), &overflowed) > 0)
		;
	start_threads(1);
	return roster_take(tids, sizeof(tids) / sizeof(tids[0]), &overflowed) == 1;
}

static void scan_at(struct fixture *f, uint64_t process_ns)
{
	f->census.next_scan_ns = 0;
	f->census.next_process_ns = 0;
	assert_int_equal(census_scan(&f->census, process_ns, NULL), 0);
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
	scan_at(f, 1);
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

/* In the window's first moments its CPU time is not known, and later it is by its last report. */
static void a_few_starts_are_no_crowd(void **state)
{
	struct fixture *f = *state;

	start_threads(5);
	scan_at(f, 0);
	start_threads(5);
	scan_at(f, NS_PER_MS);
	scan_at(f, NS_PER_MS);
	scan_at(f, NS_PER_S);
	assert_true(told);
	assert_true(is_listened_to());
}

static void where_threads_start_by_the_thousand_nobody_is_told_for_a_while(void **state)
{
	struct fixture *f = *state;

	start_threads(5000);
	scan_at(f, NS_PER_S);
	assert_false(told);
	assert_false(is_listened_to());
	scan_at(f, 2 * NS_PER_S);
	assert_false(told);
	f->census.deaf_until_ns = 0;
	scan_at(f, 100 * NS_PER_S);
	assert_true(told);
	assert_true(is_listened_to());
}

/* Those that nobody was told of do not make the rate a small one. */
static void starts_are_counted_from_when_they_are_told(void **state)
{
	struct fixture *f = *state;
	uint64_t before = clock_monotonic_ns();

	start_threads(5000);
	scan_at(f, NS_PER_S);
	f->census.deaf_until_ns = 0;
	scan_at(f, 100 * NS_PER_S);
	start_threads(1000);
	scan_at(f, 100 * NS_PER_S + 250 * NS_PER_MS);
	assert_false(told);
	assert_true(f->census.deaf_until_ns >= before + 2 * NS_PER_S); /* It had not helped. */
}

#define TEST(name)        cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define TEST_IN_JVM(name) cmocka_unit_test_setup_teardown(name, set_up_in_jvm, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(a_thread_that_starts_waits_unless_it_is_taken_on_eagerly),
	    TEST(a_thread_that_has_ended_is_not_noted),
	    TEST(a_busy_thread_without_room_is_counted_once),
	    TEST(a_scan_that_is_not_due_does_nothing),
	    TEST(scans_become_rarer_and_pay_for_themselves),
	    TEST_IN_JVM(a_few_starts_are_no_crowd),
	    TEST_IN_JVM(where_threads_start_by_the_thousand_nobody_is_told_for_a_while),
	    TEST_IN_JVM(starts_are_counted_from_when_they_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
