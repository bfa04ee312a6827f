/* A JVM's list of threads, in a fake libjvm.so's tables. The first is the one that the agent was
 * called in and that each JVM has: the calling thread. Included by one file of a program. */
#ifndef TESTS_UNIT_AGENT_FAKE_THREADS_H
#define TESTS_UNIT_AGENT_FAKE_THREADS_H

#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "attach/agent/code/safe_read.h"
#include "attach/agent/jvm/java_threads.h"
#include "tests/unit/support/agent/fake_vmstructs.h"

#define FAKE_ALIVE       5
#define FAKE_THREADS_MAX 8u
#define FAKE_FUNCTIONS   8

struct fake_thread {
	uint64_t functions;
	uint64_t os_thread;
	uint64_t next;
	uint64_t stack_base, stack_size;
	uint64_t terminated;
};
struct fake_os_thread {
	int32_t tid;
	uint64_t pthread; /* 0: its memory cannot be read */
};

static struct fake_os_thread fake_os_threads[FAKE_THREADS_MAX];
static struct fake_thread fake_threads[FAKE_THREADS_MAX];
static uint64_t fake_pointers[FAKE_THREADS_MAX], fake_list_at;
static struct {
	int32_t something, length;
	uint64_t threads;
} fake_list;

/* What the JVM has for each thread alone: its JavaThread. */
static _Thread_local struct fake_thread *volatile fake_own;

/* It is never at work, so no tick is its own. */
static void *fake_be_another(void *begun)
{
	sigset_t all;

	(void)sigfillset(&all);
	assert(pthread_sigmask(SIG_BLOCK, &all, NULL) == 0);
	fake_own = &fake_threads[1];
	(void)sem_post(begun);
	for (;;)
		(void)pause();
	return NULL;
}

/* A thread for the second one, once: its memory is looked at. */
static inline uint64_t fake_another(void)
{
	static pthread_t another;
	sem_t begun;

	if (another)
		return (uint64_t)another;
	assert(sem_init(&begun, 0, 0) == 0);
	assert(pthread_create(&another, NULL, fake_be_another, &begun) == 0);
	assert(sem_wait(&begun) == 0);
	return (uint64_t)another;
}

/* After fake_vmstructs_reset: so many threads, the others with tids that nobody has. */
static inline void fake_threads_make(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		fake_os_threads[i].tid = i ? (int32_t)(0x3fffff0 + i) : gettid();
		fake_os_threads[i].pthread = i == 0   ? (uint64_t)pthread_self()
					     : i == 1 ? fake_another()
						      : 0;
		fake_threads[i] = (struct fake_thread){
		    .functions = FAKE_FUNCTIONS,
		    .os_thread = (uintptr_t)&fake_os_threads[i],
		    .next = i < count - 1 ? (uintptr_t)&fake_threads[i + 1] : 0,
		    .terminated = FAKE_ALIVE};
		fake_pointers[i] = (uintptr_t)&fake_threads[i];
	}
	fake_own = &fake_threads[0];
	fake_list.length = (int32_t)count;
	fake_list.threads = (uintptr_t)fake_pointers;
	fake_list_at = (uintptr_t)&fake_list;
	fake_field("Thread", "_osthread", offsetof(struct fake_thread, os_thread));
	fake_field("OSThread", "_thread_id", offsetof(struct fake_os_thread, tid));
	fake_field("OSThread", "_pthread_id", offsetof(struct fake_os_thread, pthread));
	fake_field("JavaThread", "_terminated", offsetof(struct fake_thread, terminated));
	fake_field("JavaThread", "_stack_base", offsetof(struct fake_thread, stack_base));
	fake_field("JavaThread", "_stack_size", offsetof(struct fake_thread, stack_size));
	fake_int("JavaThread::_not_terminated", FAKE_ALIVE);
}

static inline void fake_threads_as_array(void)
{
	fake_static("ThreadsSMRSupport", "_java_thread_list", &fake_list_at);
	fake_field("ThreadsList", "_length", 4);
	fake_field("ThreadsList", "_threads", 8);
}

/* All that is needed for java_threads_each and java_threads_facts. */
static inline void fake_threads_known(unsigned count)
{
	fake_vmstructs_reset();
	fake_threads_make(count);
	fake_threads_as_array();
	assert(safe_read_init() == 0);
	assert(prctl(PR_SET_NAME, "Reference Handler") == 0);
	java_threads_note();
}

#endif
