/* Guests by real threads and the process's timer: whose ticks they are, what one stands for, and
 * that nothing stays. */
#include "tests/unit/support/test.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
#include "tests/unit/support/agent/fake_threads.h"
#include "tests/unit/support/agent/link_ends.h"

/* Each tick of the scheduler may be one of a guest. */
#define APART_NS 1

#define WORK_NS (400 * NS_PER_MS)

struct fixture {
	struct ends ends;
	struct context_table *contexts;
	struct drain *drain;
	struct sampling_gate gate;
	struct buffer in;
	bool read_later; /* what is sent */
	uint64_t totals[JXP__COUNTER__COUNTER_MAX];
};

static bool is_supported(void)
{
	bool on;

	assert_int_equal(signals_install(&sampler_clock), 0);
	guests_start(16, APART_NS);
	on = guests_are_on();
	guests_stop();
	for (unsigned i = 0; i < threads_used(); i++)
		thread_recycle(thread_at(i));
	return on;
}

static int set_up(void **state)
{
	static struct fixture f;

	f = (struct fixture){0};
	fake_threads_known(2);
	connect_ends(&f.ends);
	buffer_init(&f.in, 2 * FRAME_MAX_AGENT);
	f.contexts = calloc(1, sizeof(*f.contexts));
	f.drain = drain_new(&f.ends.link, f.contexts, NULL, NULL);
	assert_non_null(f.drain);
	assert_int_equal(threads_init(), 0);
	handlers.scheduler_tick_ns = cpu_timer_scheduler_tick_ns();
	atomic_store(&handlers.stopping, false);
	atomic_store(&handlers.period, NS_PER_MS);
	sampling_gate_start(&f.gate, -1, false, UINT64_MAX, NS_PER_MS, false, 0);
	assert_int_equal(signals_install(&sampler_clock), 0);
	guests_start(16, APART_NS);
	*state = &f;
	return 0;
}

static void follow(struct fixture *f)
{
	char ignored[4096];

	for (unsigned i = 0; i < threads_used(); i++)
		if (thread_is_used(thread_at(i)) && thread_at(i)->guest)
			assert_int_equal(guests_follow(f->drain, thread_at(i), f->totals), 0);
	while (!f->read_later && recv(f->ends.engine, ignored, sizeof(ignored), MSG_DONTWAIT) > 0)
		;
}

static void stop(struct fixture *f)
{
	atomic_store(&handlers.stopping, true);
	guests_stop();
	follow(f);
	for (unsigned i = 0; i < threads_used(); i++)
		if (thread_is_used(thread_at(i))) {
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

static _Atomic bool over;
static _Atomic pid_t last_tid;

static void use_cpu(uint64_t ns)
{
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

/* Signals of the timer come to this thread, or to others alone. Threads begin and end without:
 * ThreadSanitizer runs no handler in a thread that it does not know yet. */
static void take_ticks(bool here)
{
	sigset_t trap;

	(void)sigemptyset(&trap);
	(void)sigaddset(&trap, SIGTRAP);
	assert_int_equal(pthread_sigmask(here ? SIG_UNBLOCK : SIG_BLOCK, &trap, NULL), 0);
}

static void begin_to_work(void *own)
{
	fake_own = own;
	take_ticks(true);
}

/* own: its JavaThread, or NULL. */
static void *works(void *own)
{
	begin_to_work(own);
	atomic_store(&last_tid, gettid());
	use_cpu(WORK_NS);
	take_ticks(false);
	return own;
}

static void *works_with_ticks_of_its_own(void *own)
{
	struct thread *t = thread_take(gettid());

	(void)works(own);
	fake_own = NULL; /* A tick that comes behind this would be a guest's. */
	thread_recycle(t);
	return own;
}

static void *works_until_the_end(void *own)
{
	begin_to_work(own);
	while (!atomic_load(&over))
		use_cpu(NS_PER_MS);
	take_ticks(false);
	return own;
}

static pthread_t start(void *(*body)(void *), void *arg)
{
	pthread_t thread;

	take_ticks(false);
	assert_int_equal(pthread_create(&thread, NULL, body, arg), 0);
	take_ticks(true);
	return thread;
}

static void run(void *(*body)(void *), void *arg)
{
	assert_int_equal(pthread_join(start(body, arg), NULL), 0);
}

/* Runs threads that work, each followed, until ticks were seen. Others may take the processor. */
static void run_for_ticks(struct fixture *f, uint64_t ticks)
{
	while (f->totals[JXP__COUNTER__COUNTER_TICKS] < ticks) {
		run(works, &fake_threads[1]);
		follow(f);
	}
}

TEST(ticks_stand_for_the_cpu_time_of_the_process, set_up, tear_down)
{
	struct fixture *f = *state;
	uint64_t begin = clock_ns(CLOCK_PROCESS_CPUTIME_ID), used;

	run_for_ticks(f, 20);
	used = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin;
	assert_in_range(f->totals[JXP__COUNTER__COUNTER_TICK_NS], used / 2, used * 11 / 10);
	assert_true(counted(JXP__COUNTER__COUNTER_GUESTS) >= 20);
}

TEST(their_thread_is_told_once, set_up, tear_down)
{
	struct fixture *f = *state;
	Jxp__AgentFrame *frame;
	const uint8_t *payload;
	int64_t size;

	f->read_later = true;
	run_for_ticks(f, 1);
	assert_int_equal(drain_send(f->drain), 0);
	while ((size = frame_peek(&f->in, FRAME_MAX_AGENT, &payload)) == 0) {
		ssize_t n = read(f->ends.engine, buffer_reserve(&f->in, 4096), 4096);

		assert_true(n > 0);
		buffer_commit(&f->in, (size_t)n);
	}
	frame = jxp__agent_frame__unpack(NULL, (size_t)size, payload);
	assert_true(frame->batch->n_threads >= 2); /* It begins, and ends. */
	assert_int_equal(frame->batch->threads[0]->tid, atomic_load(&last_tid));
	/* That of the thread which made it: its own. */
	assert_string_equal(frame->batch->threads[0]->name, "Reference Handl");
	assert_true(frame->batch->threads[1]->ended);
	jxp__agent_frame__free_unpacked(frame, NULL);
	assert_null(thread_find(atomic_load(&last_tid)));
}

/* As a collection between two ticks leaves them. */
TEST(what_one_has_met_is_nothing_to_the_next_of_another_epoch, set_up, tear_down)
{
	struct fixture *f = *state;
	unsigned kept = 0, forgotten = 0;

	handlers.epoch_is_counted = false;
	for (unsigned i = 0; i < threads_used(); i++)
		thread_at(i)->places.objects[0].address = 0x1000;
	atomic_fetch_add(&handlers.epoch, 2);
	run_for_ticks(f, 1);
	for (unsigned i = 0; i < threads_used(); i++) {
		const struct thread *t = thread_at(i);

		if (!t->guest)
			continue;
		kept += t->epoch == handlers_epoch() && t->places.objects[0].address;
		forgotten += t->places.objects[0].address == 0;
	}
	assert_int_equal(kept, 0);
	assert_true(forgotten > 0);
}

TEST(who_is_not_java_s_or_has_ticks_of_its_own_is_no_guest, set_up, tear_down)
{
	run(works, NULL);
	fake_threads[1].functions = FAKE_FUNCTIONS + 1; /* One of the JVM's own. */
	run(works, &fake_threads[1]);
	fake_threads[1].functions = FAKE_FUNCTIONS;
	run(works_with_ticks_of_its_own, &fake_threads[1]);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_GUESTS), 0);
	assert_true(guests_cost_ns(1) > 0);
	assert_int_equal(guests_cost_ns(1000), 1000 * guests_cost_ns(1));
}

TEST(clocks_say_how_much_their_ticks_stand_for, set_up, tear_down)
{
	struct fixture *f = *state;
	uint64_t begin, used;

	run_for_ticks(f, 50);
	used = f->totals[JXP__COUNTER__COUNTER_TICK_NS];
	/* Ten times of that is told by others, and of the rest a tenth is no thread's of Java's. */
	guests_steer(14 * used, 11 * used, used);
	memset(f->totals, 0, sizeof(f->totals));
	begin = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	run_for_ticks(f, 20);
	used = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin;
	assert_in_range(f->totals[JXP__COUNTER__COUNTER_TICK_NS], used * 3 / 2, used * 7 / 2);
}

TEST(more_than_there_are_entries_for_are_missed_and_stood_for, set_up, tear_down)
{
	struct fixture *f = *state;
	uint64_t begin = clock_ns(CLOCK_PROCESS_CPUTIME_ID), used;

	while (counted(JXP__COUNTER__COUNTER_GUESTS_MISSED) < 20)
		run(works, &fake_threads[1]);
	follow(f);
	memset(f->totals, 0, sizeof(f->totals));
	begin = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin;
	run_for_ticks(f, 1);
	used = begin / (counted(JXP__COUNTER__COUNTER_GUESTS) +
			counted(JXP__COUNTER__COUNTER_GUESTS_MISSED));
	assert_true(f->totals[JXP__COUNTER__COUNTER_TICK_NS] > 10 * used);
}

TEST(a_timer_that_nobody_has_set_again_is, set_up, tear_down)
{
	struct fixture *f = *state;

	atomic_store(&handlers.stopping, true);
	run(works, &fake_threads[1]); /* Its tick sets none. */
	atomic_store(&handlers.stopping, false);
	run(works, &fake_threads[1]);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_GUESTS), 0);
	guests_steer(0, 0, 0);
	run_for_ticks(f, 1);
}

TEST(nothing_is_left_when_it_ends_under_way, set_up, tear_down)
{
	struct fixture *f = *state;
	pthread_t threads[4];

	for (unsigned round = 0; round < 20; round++) {
		atomic_store(&over, false);
		for (unsigned i = 0; i < 4; i++)
			threads[i] = start(works_until_the_end, &fake_threads[1]);
		(void)usleep(20000);
		stop(f);
		assert_int_equal(timers(), 0);
		atomic_store(&handlers.stopping, false);
		guests_start(16, APART_NS); /* The next window, and they go on. */
		while (counted(JXP__COUNTER__COUNTER_GUESTS) == 0)
			(void)usleep(1000);
		atomic_store(&over, true);
		for (unsigned i = 0; i < 4; i++)
			assert_int_equal(pthread_join(threads[i], NULL), 0);
	}
}

int main(void)
{
	fake_threads_known(2);
	handlers.scheduler_tick_ns = cpu_timer_scheduler_tick_ns();
	assert(threads_init() == 0);
	if (!is_supported()) {
		print_message("SKIP: before Linux 6.4 such ticks do not come to who runs\n");
		return 0;
	}
	return tests_run(NULL, NULL);
}
