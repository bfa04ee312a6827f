#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/clock.h"
#include "daemon/watcher/threads.h"

/* As they were in /proc/PID/task/TID/comm of JDK 17 and 25. */
static void the_collectors_threads_are_told_by_their_names(void **state)
{
	static const char *const collectors[] = {
	    "GC Thread#0", "G1 Main Marker",  "G1 Conc#0",       "G1 Refine#0",    "G1 Service",
	    "VM Thread",   "ZWorker#0",       "ZDriver",         "ZDirector",      "ZStat",
	    "ZUnmapper",   "ZUncommitter",    "ZWorkerOld#0",    "ZWorkerYoung#0", "ZDriverMinor",
	    "XWorker#0",   "RuntimeWorker#0", "Shenandoah GC T", "Shenandoah Cont"};
	static const char *const others[] = {"java",
					     "Reference Handl",
					     "Finalizer",
					     "Signal Dispatch",
					     "C2 CompilerThre",
					     "VM Periodic Tas",
					     "Common-Cleaner",
					     "Service Thread",
					     "main",
					     ""};

	(void)state;
	for (size_t i = 0; i < sizeof(collectors) / sizeof(collectors[0]); i++)
		assert_true(watcher_is_gc_thread(collectors[i]));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(watcher_is_gc_thread(others[i]));
}

/* This thread plays one of the collector's. */
static void their_cpu_time_is_added_up(void **state)
{
	uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID), used;
	char name[16];
	struct watcher_threads w;

	(void)state;
	assert_int_equal(prctl(PR_GET_NAME, name), 0);
	assert_int_equal(prctl(PR_SET_NAME, "GC Thread#0"), 0);
	assert_int_equal(watcher_threads_init(&w, getpid()), 0);
	watcher_threads_scan(&w);
	assert_int_equal(w.count, 1);
	watcher_threads_scan(&w);
	assert_int_equal(w.count, 1);
	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) - start < 100 * NS_PER_MS)
		;
	used = watcher_threads_cpu_ns(&w);
	/* The kernel says it in hundredths of a second. */
	assert_true(used >= 80 * NS_PER_MS);
	assert_true(used <= clock_ns(CLOCK_THREAD_CPUTIME_ID) + 20 * NS_PER_MS);
	watcher_threads_release(&w);
	assert_int_equal(prctl(PR_SET_NAME, name), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_collectors_threads_are_told_by_their_names),
	    cmocka_unit_test(their_cpu_time_is_added_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
