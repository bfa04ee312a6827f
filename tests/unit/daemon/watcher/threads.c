#include "tests/unit/support/test.h"

#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/clock.h"
#include "daemon/watcher/threads.h"

/* As they were in /proc/PID/task/TID/comm of JDK 17 and 25. */
TEST(the_collectors_threads_are_told_by_their_names)
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

	for (size_t i = 0; i < sizeof(collectors) / sizeof(collectors[0]); i++)
		assert_true(watcher_is_gc_thread(collectors[i]));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(watcher_is_gc_thread(others[i]));
}

TEST(the_compilers_threads_are_told_by_their_names)
{
	assert_true(watcher_is_jit_thread("C1 CompilerThre"));
	assert_true(watcher_is_jit_thread("C2 CompilerThre"));
	assert_true(watcher_is_jit_thread("JVMCI CompilerT"));
	assert_false(watcher_is_jit_thread("C2 queue"));
	assert_false(watcher_is_jit_thread("GC Thread#0"));
	assert_false(watcher_is_jit_thread("Sweeper thread"));
	assert_false(watcher_is_jit_thread(""));
}

/* This thread plays one of the group's. */
static void assert_cpu_time_of(const char *thread, enum watcher_group group)
{
	uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID), used[WATCHER_GROUPS];
	char name[16];
	struct watcher_threads w;

	assert_int_equal(prctl(PR_GET_NAME, name), 0);
	assert_int_equal(prctl(PR_SET_NAME, thread), 0);
	assert_int_equal(watcher_threads_init(&w, getpid()), 0);
	watcher_threads_scan(&w);
	assert_int_equal(w.count, 1);
	watcher_threads_scan(&w);
	assert_int_equal(w.count, 1);
	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) - start < 100 * NS_PER_MS)
		;
	watcher_threads_cpu(&w, used);
	/* The kernel says it in hundredths of a second. */
	assert_true(used[group] >= 80 * NS_PER_MS);
	assert_true(used[group] <= clock_ns(CLOCK_THREAD_CPUTIME_ID) + 20 * NS_PER_MS);
	assert_int_equal(used[1 - group], 0);
	watcher_threads_release(&w);
	assert_int_equal(prctl(PR_SET_NAME, name), 0);
}

TEST(their_cpu_time_is_added_up)
{
	assert_cpu_time_of("GC Thread#0", WATCHER_GC);
	assert_cpu_time_of("C2 CompilerThre", WATCHER_JIT);
}
