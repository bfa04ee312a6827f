/* Guests by real threads and timers: who gets an entry, what a tick leaves behind, and that nothing
 * stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/agent/handler/handlers.h"
#include "attach/agent/handler/sampler.h"
#include "attach/agent/handler/sampling_gate.h"
#include "attach/agent/handler/signals.h"
#include "attach/agent/handler/thread.h"
#include "attach/agent/stream/drain.h"
#include "attach/agent/window/guests.h"
#include "common/clock.h"
#include "proto/frame.h"
#include "proto/limits.h"
#include "tests/unit/support/agent/link_ends.h"

/* Numbers that no scheduler's tick is long. */
#define STANDS_NS UINT64_C(1000003)
#define MANY      80u

struct fixture {
	struct ends ends;
	struct context_table *contexts;
	struct drain *drain;
	struct sampling_gate gate;
	struct buffer in;
	uint64_t totals[JXP__COUNTER__COUNTER_MAX];
	pid_t stays;
};

static _Atomic pid_t last_tid;
static _Atomic uint64_t last_sig_data;
static _Atomic bool go_on;
static pthread_barrier_t all_are_here;

static int set_up(void **state)
{
	static struct fixture f;

	f = (struct fixture){0};
	connect_ends(&f.ends);
	buffer_init(&f.in, 2 * FRAME_MAX_AGENT);
	f.contexts = calloc(1, sizeof(*f.contexts));
	f.drain = drain_new(&f.ends.link, f.contexts, NULL, NULL);
	assert_non_null(f.drain);
	drain_vm_died(f.drain);
	assert_int_equal(threads_init(), 0);
	handlers.scheduler_tick_ns = cpu_timer_scheduler_tick_ns();
	atomic_store(&handlers.stopping, false);
	atomic_store(&handlers.period, NS_PER_MS);
	sampling_gate_start(&f.gate, -1, false, UINT64_MAX, NS_PER_MS, false, 0);
	assert_int_equal(signals_install(&sampler_clock), 0);
	guests_start(16);
	guests_open(UINT64_MAX, STANDS_NS);
	*state = &f;
	return 0;
}

static void follow(struct fixture *f)
{
	for (unsigned i = 0; i < threads_used(); i++) {
		struct thread *t = thread_at(i);
		pid_t stays;

		if (!thread_is_used(t) || !t->guest)
			continue;
		assert_int_equal(guests_follow(f->drain, t, f->totals, &stays), 0);
		if (stays)
			f->stays = stays;
	}
}

static void stop(struct fixture *f)
{
	atomic_store(&handlers.stopping, true);
	guests_stop();
	follow(f);
	for (unsigned i = 0; i < threads_used(); i++)
		if (thread_is_used(thread_at(i))) {
			assert_int_equal(thread_at(i)->timer, -1);
			assert_int_equal(atomic_load(&thread_at(i)->in_handler), 0);
			thread_recycle(thread_at(i));
		}
	assert_int_equal(threads_in_use(), 0);
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	stop(f);
	drain_free(f->drain);
	free(f->contexts);
	buffer_release(&f->in);
	close_ends(&f->ends);
	return 0;
}

static uint64_t counted(Jxp__Counter counter)
{
	uint64_t counters[JXP__COUNTER__COUNTER_MAX] = {0};

	guests_counters(counters);
	return counters[counter];
}

/* Timers of this process, where the kernel tells. */
static unsigned timers(void)
{
	FILE *f = fopen("/proc/self/timers", "re");
	char line[128];
	unsigned n = 0;

	while (f && fgets(line, sizeof(line), f))
		n += strncmp(line, "ID:", 3) == 0;
	if (f)
		(void)fclose(f);
	return n;
}

static pid_t here(void)
{
	return (pid_t)syscall(SYS_gettid);
}

static void use_cpu(uint64_t ns)
{
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static void begin(void)
{
	const struct thread *t;

	guests_begin(here());
	t = thread_find(here());
	atomic_store(&last_tid, here());
	atomic_store(&last_sig_data, t ? thread_sig_data(t, THREAD_ROLE_SAMPLING) : 0);
}

static void *lives_for(void *cpu_ns)
{
	begin();
	use_cpu(*(const uint64_t *)cpu_ns);
	return guests_end(here()) ? cpu_ns : NULL;
}

static void *waits_for_all(void *unused)
{
	begin();
	(void)pthread_barrier_wait(&all_are_here);
	while (!atomic_load(&go_on))
		(void)usleep(1000);
	(void)guests_end(here());
	return unused;
}

static void *comes_and_goes(void *unused)
{
	while (!atomic_load(&go_on)) {
		guests_begin(here());
		use_cpu(20 * NS_PER_US);
		(void)guests_end(here());
	}
	return unused;
}

static void *run(void *(*body)(void *), void *arg)
{
	pthread_t thread;
	void *result;

	assert_int_equal(pthread_create(&thread, NULL, body, arg), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	return result;
}

static void an_entry_goes_from_thread_to_thread(void **state)
{
	uint64_t short_ns = 10 * NS_PER_US;
	unsigned role;

	(void)state;
	for (unsigned i = 0; i < 10 * MANY; i++) {
		uint64_t before = atomic_load(&last_sig_data);

		assert_ptr_equal(run(lives_for, &short_ns), &short_ns);
		/* A signal of it is late from now on, and of one before it, too. */
		assert_null(thread_of_signal(atomic_load(&last_sig_data), &role));
		assert_null(thread_of_signal(before, &role));
		assert_null(thread_find(atomic_load(&last_tid)));
		if (i % MANY == 0) /* Those that had a tick wait for it. */
			follow(*state);
	}
	assert_int_equal(counted(JXP__COUNTER__COUNTER_GUESTS), 10 * MANY);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_GUESTS_MISSED), 0);
	assert_int_equal(timers(), 0);
}

static void ticks_stand_for_what_they_are_to_and_their_thread_is_told(void **state)
{
	struct fixture *f = *state;
	uint64_t some_ns = 3 * handlers.scheduler_tick_ns, ticks, stands_ns;
	unsigned threads = 0;
	Jxp__AgentFrame *frame;
	const uint8_t *payload;
	int64_t size;

	do { /* On a busy machine a thread may run between ticks alone. */
		assert_non_null(run(lives_for, &some_ns));
		follow(f);
		threads++;
	} while (f->totals[JXP__COUNTER__COUNTER_TICKS] == 0);
	ticks = f->totals[JXP__COUNTER__COUNTER_TICKS];
	assert_in_range(ticks, 1, 8);
	stands_ns = f->totals[JXP__COUNTER__COUNTER_TICK_NS];
	if (threads == 1)
		assert_int_equal(stands_ns, ticks * STANDS_NS);
	else /* for the time of those that no tick found, too */
		assert_in_range(stands_ns, ticks * STANDS_NS, threads * ticks * STANDS_NS);
	assert_int_equal(drain_send(f->drain), 0);
	while ((size = frame_peek(&f->in, FRAME_MAX_AGENT, &payload)) == 0) {
		ssize_t n = read(f->ends.engine, buffer_reserve(&f->in, 4096), 4096);

		assert_true(n > 0);
		buffer_commit(&f->in, (size_t)n);
	}
	frame = jxp__agent_frame__unpack(NULL, (size_t)size, payload);
	assert_int_equal(frame->batch->n_threads, 2); /* It begins, and ends. */
	assert_int_equal(frame->batch->threads[0]->tid, atomic_load(&last_tid));
	assert_true(frame->batch->threads[1]->ended);
	jxp__agent_frame__free_unpacked(frame, NULL);
	/* They are told once, and the next has none of them. */
	memset(f->totals, 0, sizeof(f->totals));
	some_ns = NS_PER_US;
	assert_non_null(run(lives_for, &some_ns));
	follow(f);
	assert_true(f->totals[JXP__COUNTER__COUNTER_TICKS] <= 1);
}

static void who_goes_on_is_dismissed(void **state)
{
	struct fixture *f = *state;
	pthread_t thread;
	uint64_t long_ns = 20 * GUEST_CPU_NS;
	void *result;

	assert_int_equal(pthread_create(&thread, NULL, lives_for, &long_ns), 0);
	while (!f->stays) {
		follow(f);
		(void)usleep(1000);
	}
	assert_int_equal(f->stays, atomic_load(&last_tid));
	assert_null(thread_find(f->stays));
	assert_int_equal(timers(), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_null(result); /* It ends as any thread does. */
	/* More than the CPU time has, where others take the processor between two ticks. */
	assert_in_range(f->totals[JXP__COUNTER__COUNTER_TICKS], 0,
			2 * GUEST_CPU_NS / handlers.scheduler_tick_ns);
}

static void more_than_there_are_entries_for_are_missed_and_stood_for(void **state)
{
	pthread_t threads[MANY];
	uint64_t some_ns = 0;
	uint64_t guests, missed;

	(void)state;
	atomic_store(&go_on, false);
	assert_int_equal(pthread_barrier_init(&all_are_here, NULL, MANY + 1), 0);
	for (unsigned i = 0; i < MANY; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, waits_for_all, NULL), 0);
	(void)pthread_barrier_wait(&all_are_here);
	guests = counted(JXP__COUNTER__COUNTER_GUESTS);
	missed = counted(JXP__COUNTER__COUNTER_GUESTS_MISSED);
	assert_int_equal(guests + missed, MANY);
	assert_true(missed > 0);
	atomic_store(&go_on, true);
	for (unsigned i = 0; i < MANY; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	follow(*state);
	assert_non_null(run(lives_for, &some_ns));
	for (unsigned i = 0; i < threads_used(); i++)
		if (thread_at(i)->guest_tick_ns > STANDS_NS)
			some_ns = thread_at(i)->guest_tick_ns;
	/* More or less, as a tick came or not. */
	assert_in_range(some_ns, STANDS_NS + 1, STANDS_NS * (guests + missed) / guests * 5 / 4);
}

static void nothing_is_left_when_it_ends_under_way(void **state)
{
	struct fixture *f = *state;
	pthread_t threads[4];

	for (unsigned round = 0; round < 20; round++) {
		atomic_store(&go_on, false);
		for (unsigned i = 0; i < 4; i++)
			assert_int_equal(pthread_create(&threads[i], NULL, comes_and_goes, NULL),
					 0);
		(void)usleep(5000);
		follow(f);
		(void)usleep(5000);
		stop(f);
		assert_int_equal(timers(), 0);
		atomic_store(&handlers.stopping, false);
		guests_start(16);
		guests_open(UINT64_MAX, STANDS_NS); /* The next window, and they go on. */
		while (counted(JXP__COUNTER__COUNTER_GUESTS) == 0)
			(void)usleep(1000);
		atomic_store(&go_on, true);
		for (unsigned i = 0; i < 4; i++)
			assert_int_equal(pthread_join(threads[i], NULL), 0);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(an_entry_goes_from_thread_to_thread),
	    TEST(ticks_stand_for_what_they_are_to_and_their_thread_is_told),
	    TEST(who_goes_on_is_dismissed),
	    TEST(more_than_there_are_entries_for_are_missed_and_stood_for),
	    TEST(nothing_is_left_when_it_ends_under_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
