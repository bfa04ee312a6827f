/* Taking threads on, or not, and what is counted of it. The daemon opens the events: any
 * descriptors do. */
#include "tests/unit/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/agent/handler/thread.h"
#include "attach/agent/window/monitor.h"
#include "common/cleanup.h"
#include "tests/unit/support/agent/link_ends.h"

struct fixture {
	struct ends ends;
	struct opener opener;
	struct settings settings;
	struct ledger ledger;
	struct sampling_gate gate;
	struct monitor monitor;
	pid_t tid;
};

static int set_up(void **state)
{
	static struct fixture f;

	/* A hardware sampler's: its events are descriptors. The clock's: holdings.c. */
	f = (struct fixture){.settings = {.registers = 4, .sampling.event_count = 1},
			     .tid = (pid_t)syscall(SYS_gettid)};
	connect_ends(&f.ends);
	f.opener = (struct opener){.link = &f.ends.link, .through_daemon = true};
	f.gate.program_fd = -1;
	assert_int_equal(threads_init(), 0);
	monitor_init(&f.monitor, &f.settings, &f.ledger, &f.opener, &f.gate, NULL);
	f.monitor.holdings.objects = true;
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	struct thread *t = thread_find(f->tid);

	monitor_close_events(&f->monitor);
	if (t)
		thread_recycle(t);
	close_ends(&f->ends);
	return 0;
}

/* The daemon's answer, before the question: the agent reads it when it has asked. */
static void answer(const struct fixture *f, int error)
{
	Jxp__PerfOpened opened = JXP__PERF_OPENED__INIT;
	Jxp__EngineFrame frame = JXP__ENGINE_FRAME__INIT;
	int fd = error ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);

	opened.tid = (uint32_t)f->tid;
	opened.count = !error;
	opened.error = error;
	frame.body_case = JXP__ENGINE_FRAME__BODY_PERF_OPENED;
	frame.perf_opened = &opened;
	send_to_agent(&f->ends, &frame, &fd, !error);
	cleanup_close(&fd);
}

static uint64_t counted(const struct fixture *f, Jxp__Counter counter)
{
	uint64_t counters[JXP__COUNTER__COUNTER_MAX] = {0};

	monitor_counters(&f->monitor, counters);
	return counters[counter];
}

TEST(a_thread_takes_a_descriptor_and_keeps_one_for_a_register, set_up, tear_down)
{
	struct fixture *f = *state;
	unsigned before = f->monitor.holdings.fds_left;

	answer(f, 0);
	assert_int_equal(monitor_add(&f->monitor, f->tid, 0), 0);
	assert_non_null(thread_find(f->tid));
	assert_int_equal(f->monitor.holdings.fds_left, before - 2);
	assert_int_equal(counted(f, JXP__COUNTER__COUNTER_THREADS), 1);
	assert_int_equal(monitor_add(&f->monitor, f->tid, 0), 0); /* Asks nothing: it is there. */
	assert_int_equal(counted(f, JXP__COUNTER__COUNTER_THREADS), 1);
	monitor_close_events(&f->monitor);
	assert_int_equal(f->monitor.holdings.fds_left, before);
}

TEST(a_thread_that_cannot_be_opened_is_counted_by_its_reason, set_up, tear_down)
{
	static const struct {
		int error;
		Jxp__Counter counter;
	} cases[] = {
	    {EMFILE, JXP__COUNTER__COUNTER_THREADS_NO_DESCRIPTORS},
	    {EACCES, JXP__COUNTER__COUNTER_THREADS_FAILED},
	};
	struct fixture *f = *state;
	unsigned before = f->monitor.holdings.fds_left;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		answer(f, cases[i].error);
		assert_int_equal(monitor_add(&f->monitor, f->tid, 0), 0);
		assert_null(thread_find(f->tid));
		assert_int_equal(counted(f, cases[i].counter), 1);
	}
	assert_int_equal(f->monitor.holdings.fds_left, before);
	assert_int_equal(counted(f, JXP__COUNTER__COUNTER_THREADS), 0);
}

TEST(a_thread_that_has_ended_is_not_missed, set_up, tear_down)
{
	struct fixture *f = *state;

	answer(f, ESRCH);
	assert_int_equal(monitor_add(&f->monitor, f->tid, 0), 0);
	assert_int_equal(counted(f, JXP__COUNTER__COUNTER_THREADS_FAILED), 0);
	assert_int_equal(counted(f, JXP__COUNTER__COUNTER_THREADS_NO_DESCRIPTORS), 0);
}

TEST(a_session_that_is_over_is_an_error, set_up, tear_down)
{
	struct fixture *f = *state;

	assert_int_equal(shutdown(f->ends.engine, SHUT_RDWR), 0);
	assert_int_equal(monitor_add(&f->monitor, f->tid, 0), -EPIPE);
	assert_null(thread_find(f->tid));
}

TEST(room_is_for_each_event_and_a_register, set_up, tear_down)
{
	struct fixture *f = *state;

	f->monitor.holdings.fds_left = 7;
	assert_int_equal(monitor_room(&f->monitor), 3);
	f->settings.sampling.event_count = 2;
	assert_int_equal(monitor_room(&f->monitor), 2);
	f->monitor.holdings.fds_left = 2;
	assert_int_equal(monitor_room(&f->monitor), 0);
	f->monitor.holdings.fds_left = 1000000;
	assert_int_equal(monitor_room(&f->monitor), THREADS_MAX - threads_in_use());
}

TEST(threads_of_the_clock_need_a_timer_or_a_descriptor, set_up, tear_down)
{
	struct fixture *f = *state;

	f->settings.sampling.event_count = 0;
	f->monitor.holdings.fds_left = 0;
	f->monitor.holdings.timers_left = 2;
	assert_int_equal(monitor_room(&f->monitor), 2);
	f->monitor.holdings.fds_left = 3;
	assert_int_equal(monitor_room(&f->monitor), 5);
	f->monitor.holdings.timers_left = UINT_MAX;
	assert_int_equal(monitor_room(&f->monitor), THREADS_MAX - threads_in_use());
	f->settings.sampling.event_count = 1;
}

TEST(without_room_nothing_is_asked_and_it_is_counted, set_up, tear_down)
{
	struct fixture *f = *state;
	uint8_t byte;

	f->monitor.holdings.fds_left = 1;
	assert_int_equal(monitor_add(&f->monitor, f->tid, 0), 0);
	assert_null(thread_find(f->tid));
	assert_int_equal(counted(f, JXP__COUNTER__COUNTER_THREADS_NO_DESCRIPTORS), 1);
	assert_int_equal(recv(f->ends.engine, &byte, 1, MSG_DONTWAIT), -1);
}

/* It may set what was switched off when it goes on: the process's SIGTRAP handler has to stay. */
TEST(events_are_not_closed_while_a_handler_may_set_them, set_up, tear_down)
{
	struct fixture *f = *state;
	struct thread *t;

	answer(f, 0);
	assert_int_equal(monitor_add(&f->monitor, f->tid, 0), 0);
	t = thread_find(f->tid);
	t->burst_registers = 2;
	atomic_store(&t->in_handler, 1);
	assert_false(monitor_close_events(&f->monitor));
	assert_true(t->sampling_fd[0] >= 0);
	atomic_store(&t->in_handler, 0);
	assert_true(monitor_close_events(&f->monitor));
	assert_int_equal(t->sampling_fd[0], -1);
}

TEST(a_phase_that_is_put_off_is_looked_at_again, set_up, tear_down)
{
	struct fixture *f = *state;
	struct thread *t;

	answer(f, 0);
	assert_int_equal(monitor_add(&f->monitor, f->tid, 0), 0);
	t = thread_find(f->tid);
	atomic_store(&t->state, THREAD_READY);
	atomic_store(&t->registers, REGISTERS_ASKED);
	atomic_store(&t->in_handler, 1);
	assert_false(monitor_has_phases(&f->monitor));
	assert_int_equal(monitor_phases(&f->monitor), 0);
	assert_true(monitor_has_phases(&f->monitor));
	atomic_store(&t->in_handler, 0);
	f->monitor.holdings.fds_left = 0; /* Nothing comes of it, but it was. */
	t->fd_reserved = false;
	assert_int_equal(monitor_phases(&f->monitor), 0);
	assert_int_equal(counted(f, JXP__COUNTER__COUNTER_PHASES), 1);
	assert_false(monitor_has_phases(&f->monitor));
}
