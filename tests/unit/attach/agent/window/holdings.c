/* What threads of the clock have open, by what they do. The daemon opens the events: any
 * descriptors do. Timers are the kernel's. */
#include "tests/unit/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "attach/agent/handler/handlers.h"
#include "attach/agent/handler/thread.h"
#include "attach/agent/window/holdings.h"
#include "common/clock.h"
#include "tests/unit/support/agent/link_ends.h"

#define NO_THREAD ((1 << 22) + 1) /* above the largest pid there is (PID_MAX_LIMIT) */
#define FDS       100u
#define TIMERS    10u
#define MS        UINT64_C(1000000)

/* Of CPU time. With the budget and the costs below registers are held up to 7500, and twice that
 * once they are; a clock up to 1250. */
#define SELDOM        100u
#define RATHER_SELDOM 7000u
#define RATHER_OFTEN  10000u
#define OFTEN         16000u
#define VERY_OFTEN    100000u

struct fixture {
	struct ends ends;
	struct opener opener;
	struct settings settings;
	struct ledger ledger;
	struct sampling_gate gate;
	uint64_t totals[JXP__COUNTER__COUNTER_MAX];
	struct holdings holdings;
	struct rlimit timers;
	struct thread *t;
};

static int set_up(void **state)
{
	static struct fixture f;

	f = (struct fixture){
	    .settings = {.registers = 4, .sampling.kind_count = 1},
	    .ledger.budget = 0.01,
	    .gate.program_fd = -1,
	};
	connect_ends(&f.ends);
	f.opener = (struct opener){.link = &f.ends.link, .through_daemon = true};
	f.holdings = (struct holdings){.settings = &f.settings,
				       .ledger = &f.ledger,
				       .opener = &f.opener,
				       .gate = &f.gate,
				       .fds_left = FDS,
				       .timers_left = TIMERS,
				       .totals = f.totals};
	handlers.period = 10 * MS;
	handlers.switch_costs =
	    (struct switch_costs){.clock_ns = 1200, .held_ns = 200, .armed_ns = 420};
	if (threads_init() < 0 || getrlimit(RLIMIT_SIGPENDING, &f.timers) < 0 ||
	    signal(SIGTRAP, SIG_IGN) == SIG_ERR)
		return -1;
	f.t = thread_take((pid_t)syscall(SYS_gettid));
	*state = &f;
	return thread_allocate(f.t, 4);
}

static unsigned timers_of_process(void)
{
	FILE *file = fopen("/proc/self/timers", "re");
	unsigned count = 0;
	char line[256];

	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		count += strncmp(line, "ID:", 3) == 0;
	(void)fclose(file);
	return count;
}

static unsigned fds_open(const struct thread *t)
{
	unsigned count = 0;

	for (unsigned i = 0; i < SAMPLING_EVENTS; i++)
		count += t->sampling_fd[i] >= 0;
	for (unsigned i = 0; i < PERF_DEBUG_REGISTERS; i++)
		count += t->register_fd[i] >= 0;
	return count;
}

static void assert_nothing_asked(const struct fixture *f)
{
	uint8_t byte;

	assert_int_equal(recv(f->ends.engine, &byte, 1, MSG_DONTWAIT), -1);
}

/* Whatever a test did, its end leaves nothing. */
static int tear_down(void **state)
{
	struct fixture *f = *state;

	holdings_end(&f->holdings, f->t);
	assert_int_equal(f->holdings.fds_left, FDS);
	assert_int_equal(f->holdings.timers_left, TIMERS);
	assert_int_equal(f->holdings.phases, 0);
	assert_int_equal(fds_open(f->t), 0);
	assert_int_equal(timers_of_process(), 0);
	thread_recycle(f->t);
	close_ends(&f->ends);
	return setrlimit(RLIMIT_SIGPENDING, &f->timers);
}

/* The daemon's answer, before the question: the agent reads it when it has asked. */
static void answer(const struct fixture *f, unsigned count, int error)
{
	Jxp__PerfOpened opened = JXP__PERF_OPENED__INIT;
	Jxp__EngineFrame frame = JXP__ENGINE_FRAME__INIT;
	int fds[PERF_DEBUG_REGISTERS];

	for (unsigned i = 0; i < count; i++)
		fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	opened.tid = (uint32_t)f->t->tid;
	opened.count = count;
	opened.error = error;
	frame.body_case = JXP__ENGINE_FRAME__BODY_PERF_OPENED;
	frame.perf_opened = &opened;
	send_to_agent(&f->ends, &frame, fds, count);
	fd_close_all(fds, count);
}

/* Forgets what the agent has asked. */
static void hear(const struct fixture *f)
{
	uint8_t bytes[4096];

	assert_true(recv(f->ends.engine, bytes, sizeof(bytes), MSG_DONTWAIT) > 0);
}

static bool is_set(const struct thread *t)
{
	struct itimerspec left;

	assert_int_equal(syscall(SYS_timer_gettime, t->timer, &left), 0);
	return left.it_value.tv_sec > 0 || left.it_value.tv_nsec > 0;
}

/* Its ticks began, and it switches so often; most of its time it is in the kernel, so that it gets
 * no clock. */
static struct thread *begin(struct fixture *f, unsigned switches_per_s)
{
	assert_int_equal(holdings_begin(&f->holdings, f->t, UINT64_MAX), 0);
	atomic_store(&f->t->state, THREAD_READY);
	atomic_store(&f->t->switches_per_s, switches_per_s);
	atomic_store(&f->t->kernel_permille, 900);
	return f->t;
}

static struct thread *begin_holding(struct fixture *f, unsigned switches_per_s)
{
	struct thread *t = begin(f, switches_per_s);

	answer(f, 4, 0);
	assert_int_equal(holdings_give(&f->holdings, t), 0);
	assert_int_equal(t->registers, REGISTERS_HELD);
	hear(f);
	return t;
}

static struct thread *begin_phase(struct fixture *f)
{
	struct thread *t = begin(f, VERY_OFTEN);

	assert_int_equal(holdings_give(&f->holdings, t), 0);
	atomic_store(&t->registers, REGISTERS_ASKED); /* As the handler does. */
	answer(f, 4, 0);
	assert_int_equal(holdings_phase(&f->holdings, t), 0);
	assert_int_equal(t->registers, REGISTERS_LENT);
	hear(f);
	return t;
}

/* ---------------------------------------------------------------- ticks */

TEST(a_thread_takes_a_timer_and_no_descriptor, set_up, tear_down)
{
	struct fixture *f = *state;

	assert_int_equal(holdings_least(&f->holdings), 0);
	f->holdings.fds_left = 0;
	(void)begin(f, SELDOM);
	assert_int_equal(timers_of_process(), 1);
	assert_int_equal(f->holdings.timers_left, TIMERS - 1);
	assert_true(is_set(f->t));
	assert_false(f->t->clock_on);
	assert_nothing_asked(f);
	f->holdings.fds_left = FDS;
	holdings_disable(f->t);
	assert_false(is_set(f->t));
}

TEST(where_no_timer_is_left_a_perf_clock_does, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct rlimit none = {0, f->timers.rlim_max};

	assert_int_equal(setrlimit(RLIMIT_SIGPENDING, &none), 0);
	f->settings.sampling.kind_count = 0;
	answer(f, 1, 0);
	(void)begin(f, VERY_OFTEN);
	assert_true(f->t->clock_on);
	assert_int_equal(f->t->timer, -1);
	assert_int_equal(f->holdings.fds_left, FDS - 1);
	/* It has nothing else, however often it switches. */
	hear(f);
	assert_int_equal(holdings_follow(&f->holdings, f->t), 0);
	assert_true(f->t->clock_on);
}

TEST(some_of_the_user_s_timers_are_left_alone, set_up, tear_down)
{
	struct fixture *f = *state;

	f->holdings.timers_left = 0;
	answer(f, 1, 0);
	(void)begin(f, SELDOM);
	assert_true(f->t->clock_on);
	assert_int_equal(timers_of_process(), 0);
	f->holdings.timers_left = TIMERS;
}

TEST(with_neither_it_cannot_be_opened, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct rlimit none = {0, f->timers.rlim_max};

	assert_int_equal(setrlimit(RLIMIT_SIGPENDING, &none), 0);
	f->holdings.fds_left = 0;
	assert_int_equal(holdings_begin(&f->holdings, f->t, 0), -EMFILE);
	assert_nothing_asked(f);
	f->holdings.fds_left = FDS;
}

TEST(a_thread_that_has_ended_has_none, set_up, tear_down)
{
	struct fixture *f = *state;

	f->t->tid = NO_THREAD;
	assert_int_equal(holdings_begin(&f->holdings, f->t, 0), -ESRCH);
}

static void *wait_for_end(void *end)
{
	while (!atomic_load((_Atomic bool *)end))
		(void)usleep(1000);
	return NULL;
}

static _Atomic pid_t other;

static void *be_other(void *end)
{
	atomic_store(&other, (pid_t)syscall(SYS_gettid));
	return wait_for_end(end);
}

/* The number of one that nobody told of the end of may be another thread's by now. */
TEST(a_thread_is_gone_though_another_has_its_number, set_up, tear_down)
{
	struct fixture *f = *state;
	_Atomic bool end = false;
	pid_t number = f->t->tid;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, be_other, &end), 0);
	while (atomic_load(&other) == 0)
		(void)usleep(1000);
	f->t->tid = atomic_load(&other);
	(void)begin(f, SELDOM);
	assert_false(holdings_is_gone(f->t));
	assert_int_equal(cpu_timer_set(f->t->timer, 0), 0); /* As one that has fired. */
	assert_false(holdings_is_gone(f->t));
	assert_true(is_set(f->t));
	atomic_store(&end, true);
	assert_int_equal(pthread_join(thread, NULL), 0);
	while (syscall(SYS_tgkill, getpid(), f->t->tid, 0) == 0)
		(void)usleep(1000);
	f->t->tid = number;
	assert_true(holdings_is_gone(f->t));
	assert_false(atomic_load(&f->t->held));
	f->t->clock_on = true;
	assert_true(holdings_is_gone(f->t));
}

TEST(a_timer_that_a_handler_could_not_set_is_set, set_up, tear_down)
{
	struct fixture *f = *state;
	struct thread *t = begin(f, SELDOM);

	assert_int_equal(cpu_timer_set(t->timer, 0), 0);
	atomic_store(&t->timer_spent, true);
	atomic_store(&t->in_handler, 1); /* It may be about to. */
	holdings_mend(&f->holdings, t);
	assert_false(is_set(t));
	atomic_store(&t->in_handler, 0);
	holdings_mend(&f->holdings, t);
	assert_true(is_set(t));
	assert_false(atomic_load(&t->timer_spent));
}

TEST(a_thread_that_seldom_switches_gets_a_clock_in_place_of_its_timer, set_up, tear_down)
{
	struct fixture *f = *state;
	struct thread *t = begin_holding(f, SELDOM);

	atomic_store(&t->kernel_permille, 0);
	atomic_store(&t->timer_spent, true); /* Its last signal is of no account. */
	answer(f, 1, 0);
	assert_int_equal(holdings_follow(&f->holdings, t), 0);
	assert_true(t->clock_on);
	assert_false(is_set(t));
	assert_false(atomic_load(&t->timer_spent));
	assert_int_equal(f->holdings.fds_left, FDS - 5);
	/* In the kernel more often, but not twice what it takes. */
	atomic_store(&t->kernel_permille, 90);
	assert_int_equal(holdings_follow(&f->holdings, t), 0);
	assert_true(t->clock_on);
	atomic_store(&t->kernel_permille, 110);
	assert_int_equal(holdings_follow(&f->holdings, t), 0);
	assert_false(t->clock_on);
	assert_true(is_set(t));
	assert_int_equal(f->holdings.fds_left, FDS - 4);
}

TEST(a_clock_that_is_refused_is_not_asked_for_again, set_up, tear_down)
{
	struct fixture *f = *state;
	struct thread *t = begin_holding(f, SELDOM);

	atomic_store(&t->kernel_permille, 0);
	answer(f, 0, EACCES);
	assert_int_equal(holdings_follow(&f->holdings, t), 0);
	hear(f);
	assert_false(t->clock_on);
	assert_true(is_set(t));
	t->retry_ns = 0;
	assert_int_equal(holdings_follow(&f->holdings, t), 0);
	assert_nothing_asked(f);
}

/* ---------------------------------------------------------------- registers */

TEST(registers_are_held_where_that_costs_little, set_up, tear_down)
{
	struct fixture *f = *state;
	struct thread *t = begin_holding(f, RATHER_SELDOM);

	assert_int_equal(f->holdings.fds_left, FDS - 4);
	atomic_store(&t->switches_per_s, RATHER_OFTEN); /* Twice the limit is not reached. */
	assert_int_equal(holdings_follow(&f->holdings, t), 0);
	assert_int_equal(t->registers, REGISTERS_HELD);
	atomic_store(&t->switches_per_s, OFTEN);
	assert_int_equal(holdings_follow(&f->holdings, t), 0);
	assert_int_equal(t->registers, REGISTERS_NONE);
	assert_int_equal(f->holdings.fds_left, FDS);
	assert_int_equal(fds_open(t), 0);
	assert_true(atomic_load(&t->phase_period) >= handlers.period);
	atomic_store(&t->switches_per_s, RATHER_OFTEN);
	assert_int_equal(holdings_follow(&f->holdings, t), 0);
	assert_int_equal(t->registers, REGISTERS_NONE);
	assert_nothing_asked(f);
	atomic_store(&t->switches_per_s, RATHER_SELDOM);
	answer(f, 4, 0);
	assert_int_equal(holdings_follow(&f->holdings, t), 0);
	assert_int_equal(t->registers, REGISTERS_HELD);
}

TEST(nothing_changes_while_a_handler_is_at_work, set_up, tear_down)
{
	struct fixture *f = *state;
	struct thread *t = begin_holding(f, SELDOM);

	atomic_store(&t->switches_per_s, VERY_OFTEN);
	atomic_store(&t->in_handler, 1);
	assert_int_equal(holdings_follow(&f->holdings, t), 0);
	assert_int_equal(t->registers, REGISTERS_HELD);
	atomic_store(&t->in_handler, 0);
	assert_int_equal(holdings_follow(&f->holdings, t), 0);
	assert_int_equal(t->registers, REGISTERS_NONE);
	assert_false(atomic_load(&t->held));
}

TEST(a_thread_that_switches_often_holds_nothing, set_up, tear_down)
{
	struct fixture *f = *state;
	struct thread *t = begin(f, VERY_OFTEN);

	assert_int_equal(holdings_give(&f->holdings, t), 0);
	assert_int_equal(t->registers, REGISTERS_NONE);
	assert_true(atomic_load(&t->phase_period) > handlers.period);
	assert_nothing_asked(f);
}

TEST(phases_cost_their_part_of_the_budget, set_up, tear_down)
{
	struct fixture *f = *state;
	struct thread *t = begin(f, VERY_OFTEN);
	/* 0.2 ms of work, and 1000 switches of 620 ns. */
	double cost = 200e3 + 1000 * 620, share = 0.01 * 0.4;

	assert_int_equal(holdings_give(&f->holdings, t), 0);
	assert_in_range(atomic_load(&t->phase_period), cost / share * 0.99, cost / share * 1.01);
	f->ledger.budget = 1e-12;
	assert_int_equal(holdings_give(&f->holdings, t), 0);
	assert_in_range(atomic_load(&t->phase_period), NS_PER_S, UINT64_MAX >> 17);
}

TEST(without_descriptors_its_ticks_go_on_and_it_is_counted_once, set_up, tear_down)
{
	struct fixture *f = *state;
	struct thread *t = begin(f, SELDOM);

	f->holdings.fds_left = 0;
	assert_int_equal(holdings_give(&f->holdings, t), 0);
	for (unsigned i = 0; i < 3; i++) {
		t->retry_ns = 0;
		assert_int_equal(holdings_follow(&f->holdings, t), 0);
		atomic_store(&t->registers, REGISTERS_ASKED);
		assert_int_equal(holdings_phase(&f->holdings, t), 0);
		assert_int_equal(t->registers, REGISTERS_NONE);
	}
	assert_int_equal(f->totals[JXP__COUNTER__COUNTER_THREADS_NO_DESCRIPTORS], 1);
	assert_true(is_set(t));
	assert_nothing_asked(f);
	f->holdings.fds_left = FDS;
}

TEST(what_was_refused_is_not_asked_for_at_once, set_up, tear_down)
{
	struct fixture *f = *state;
	struct thread *t = begin_holding(f, SELDOM);

	atomic_store(&t->switches_per_s, OFTEN);
	assert_int_equal(holdings_follow(&f->holdings, t), 0);
	atomic_store(&t->switches_per_s, SELDOM);
	for (unsigned i = 0; i < 4; i++)
		answer(f, 0, ENOSPC); /* Of four registers, three, two and one. */
	assert_int_equal(holdings_follow(&f->holdings, t), 0);
	assert_int_equal(t->registers, REGISTERS_NONE);
	hear(f);
	assert_int_equal(holdings_follow(&f->holdings, t), 0);
	assert_nothing_asked(f);
	t->retry_ns = 0;
	answer(f, 4, 0);
	assert_int_equal(holdings_follow(&f->holdings, t), 0);
	assert_int_equal(t->registers, REGISTERS_HELD);
}

/* ---------------------------------------------------------------- phases */

TEST(a_phase_opens_registers_and_ends_when_it_is_done, set_up, tear_down)
{
	struct fixture *f = *state;
	struct thread *t = begin_phase(f);

	assert_int_equal(f->holdings.phases, 1);
	assert_int_equal(f->holdings.fds_left, FDS - 4);
	assert_int_equal(fds_open(t), 4);
	assert_int_equal(holdings_phase(&f->holdings, t), 0);
	assert_int_equal(t->registers, REGISTERS_LENT);
	atomic_store(&t->registers, REGISTERS_DONE); /* As the handler does. */
	assert_int_equal(holdings_phase(&f->holdings, t), 0);
	assert_int_equal(t->registers, REGISTERS_NONE);
	assert_int_equal(f->holdings.phases, 0);
	assert_int_equal(f->holdings.fds_left, FDS);
	assert_int_equal(fds_open(t), 0);
	assert_int_equal(f->totals[JXP__COUNTER__COUNTER_PHASES], 1);
	assert_int_equal(f->totals[JXP__COUNTER__COUNTER_PHASES_MISSED], 0);
	assert_int_equal(t->phase_after_ns, 0);
	assert_nothing_asked(f);
}

TEST(a_phase_that_no_tick_came_in_is_missed, set_up, tear_down)
{
	struct fixture *f = *state;
	struct thread *t = begin_phase(f);

	t->phase_since_ns -= 50 * MS;
	assert_int_equal(holdings_phase(&f->holdings, t), 0);
	assert_int_equal(t->registers, REGISTERS_NONE);
	assert_true(t->phase_after_ns >= t->phase_cpu_ns + atomic_load(&t->phase_period));
	assert_int_equal(f->holdings.fds_left, FDS);
	assert_int_equal(f->totals[JXP__COUNTER__COUNTER_PHASES_MISSED], 1);
}

TEST(a_phase_whose_sample_waits_is_not_late, set_up, tear_down)
{
	struct fixture *f = *state;
	struct thread *t = begin_phase(f);

	t->phase_since_ns -= 50 * MS;
	atomic_store(&t->registers, REGISTERS_USED);
	assert_int_equal(holdings_phase(&f->holdings, t), 0);
	assert_int_equal(t->registers, REGISTERS_USED);
	assert_int_equal(fds_open(t), 4);
}

TEST(a_phase_that_cannot_be_opened_is_missed, set_up, tear_down)
{
	struct fixture *f = *state;
	struct thread *t = begin(f, VERY_OFTEN);

	assert_int_equal(holdings_give(&f->holdings, t), 0);
	atomic_store(&t->registers, REGISTERS_ASKED);
	answer(f, 0, EMFILE);
	assert_int_equal(holdings_phase(&f->holdings, t), 0);
	assert_int_equal(t->registers, REGISTERS_NONE);
	assert_int_equal(f->holdings.phases, 0);
	assert_int_equal(f->totals[JXP__COUNTER__COUNTER_PHASES], 1);
	assert_int_equal(f->totals[JXP__COUNTER__COUNTER_PHASES_MISSED], 1);
}

/* The session thread wakes while the handler that asked is at its end. */
TEST(a_phase_that_is_asked_for_while_the_handler_is_at_work_is_put_off, set_up, tear_down)
{
	struct fixture *f = *state;
	struct thread *t = begin(f, VERY_OFTEN);

	assert_int_equal(holdings_give(&f->holdings, t), 0);
	atomic_store(&t->registers, REGISTERS_ASKED);
	atomic_store(&t->in_handler, 1);
	assert_int_equal(holdings_phase(&f->holdings, t), 0);
	assert_int_equal(t->registers, REGISTERS_ASKED);
	assert_true(f->holdings.put_off);
	assert_nothing_asked(f);
	atomic_store(&t->in_handler, 0);
}

/* Or its own would be lost, and go on. */
TEST(in_a_phase_no_registers_are_held, set_up, tear_down)
{
	struct fixture *f = *state;
	struct thread *t = begin_phase(f);
	int before[PERF_DEBUG_REGISTERS];

	memcpy(before, t->register_fd, sizeof(before));
	atomic_store(&t->switches_per_s, SELDOM);
	atomic_store(&t->timer_spent, true); /* What is to be followed, too. */
	assert_int_equal(holdings_follow(&f->holdings, t), 0);
	assert_false(atomic_load(&t->timer_spent));
	assert_int_equal(t->registers, REGISTERS_LENT);
	assert_memory_equal(t->register_fd, before, sizeof(before));
	assert_nothing_asked(f);
}

/* Where its end was not told, and its number is another thread's by now. */
TEST(a_phase_of_a_thread_that_is_another_costs_nothing, set_up, tear_down)
{
	struct fixture *f = *state;
	struct thread *t = begin_phase(f);

	t->phase_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + 1000 * NS_PER_S;
	atomic_store(&t->registers, REGISTERS_DONE);
	assert_int_equal(holdings_phase(&f->holdings, t), 0);
	assert_int_equal(f->totals[JXP__COUNTER__COUNTER_SWITCHES_NS], 0);
}
