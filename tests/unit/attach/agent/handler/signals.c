/* The handler under signals that it causes itself. Registers and signals are real; what would be
 * done with them is not of interest here. */
#include "tests/unit/support/test.h"
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/agent/code/safe_read.h"
#include "attach/agent/handler/handlers.h"
#include "attach/agent/handler/sampler.h"
#include "attach/agent/handler/sampling_gate.h"
#include "attach/agent/handler/signals.h"
#include "attach/agent/handler/thread.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/perf/events.h"
#include "tests/unit/support/agent/registers.h"

/* Where a signal's frame and the handler's own lie below the stack pointer, with room to spare. */
#define BELOW_FIRST 128u
#define BELOW_LAST  8192u

#define TRIGGER 0u

/* A signal that never ends would leave the test running for ever. */
#define TIME_LIMIT_S 60u

#define MAX_FRAMES 8u

#define REMOVE_TIMEOUT_MS 2000u

static struct thread *t;
static struct sampling_gate gate;
static volatile uint64_t trigger;
static volatile unsigned triggered; /* by a handler */

static volatile unsigned events; /* of the sampler */

static void on_event(struct thread *thread, const ucontext_t *uc)
{
	(void)uc;
	events++;
	if (thread->timer >= 0)
		atomic_store(&thread->timer_spent, false); /* As where it is set again. */
}

static void (*during)(void); /* what a handler does */

static void on_breakpoint(struct thread *thread, unsigned reg, const ucontext_t *uc)
{
	(void)thread;
	(void)uc;
	triggered += reg == TRIGGER;
	if (during)
		during();
}

static const struct sampler sampler = {.on_event = on_event, .on_breakpoint = on_breakpoint};

static volatile unsigned passed_on;

#define INT1 0xf1

/* Where INT1 traps before itself it is stepped over, or it would trap for ever. */
static void count_passed_on(int signal, siginfo_t *info, void *context)
{
	greg_t *ip = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	(void)signal;
	(void)info;
	*ip += *(const uint8_t *)(uintptr_t)*ip == INT1;
	passed_on++;
}

/* The application has a handler of its own, so what is passed on ends nothing. */
static int set_up(void **state)
{
	/* AddressSanitizer gives the thread one, and the handler would be out of the way there. */
	const stack_t none = {.ss_flags = SS_DISABLE};
	const struct sigaction of_the_application = {.sa_sigaction = count_passed_on,
						     .sa_flags = SA_SIGINFO};

	(void)sigaltstack(&none, NULL);
	if (safe_read_init() < 0 || threads_init() < 0)
		return -1;
	if (sigaction(SIGTRAP, &of_the_application, NULL) < 0)
		return -1;
	t = thread_take(getpid());
	if (!t || thread_allocate(t, MAX_FRAMES) < 0 || signals_install(&sampler) < 0)
		return -1;
	sampling_gate_start(&gate, -1, false, UINT64_MAX, NS_PER_MS, false, 0);
	reservoir_init(&t->reservoir, PERF_DEBUG_REGISTERS);
	*state = registers_open(t, HW_BREAKPOINT_W, &trigger) ? t : NULL;
	atomic_store(&t->state, THREAD_READY);
	passed_on = events = 0;
	return 0;
}

static bool is_untouched(const void *arg, pid_t tid)
{
	(void)arg;
	(void)tid;
	return false;
}

static const struct signals_untouched all_touched = {is_untouched, NULL};

static int tear_down(void **state)
{
	(void)state;
	during = NULL;
	cpu_timer_delete(t->timer);
	fd_close_all(t->register_fd, PERF_DEBUG_REGISTERS);
	thread_recycle(t);
	safe_read_release();
	return signals_remove(REMOVE_TIMEOUT_MS, &all_touched) ? 0 : -1;
}

/* State SEEKING takes a trap to the sampler above, ARMED would take it for a pair. */
static void watch(unsigned reg, uint64_t address)
{
	struct perf_event_attr attr;

	t->watchpoints[reg].state = WATCH_SEEKING;
	perf_attr_breakpoint(&attr, HW_BREAKPOINT_W, address, 8,
			     thread_sig_data(t, THREAD_ROLE_REGISTER + reg));
	assert_int_equal(perf_modify(t->register_fd[reg], &attr), 0);
	assert_int_equal(perf_enable(t->register_fd[reg]), 0);
}

/* As after a method has returned whose spills are watched. */
TEST(what_the_handler_itself_touches_is_given_up, set_up, tear_down)
{
	uint64_t sp = (uint64_t)(uintptr_t)__builtin_frame_address(0);

	if (!*state) {
		print_message("this machine has no breakpoint events\n");
		skip();
	}
	(void)alarm(TIME_LIMIT_S);
	for (uint64_t below = BELOW_FIRST; below < BELOW_LAST; below += 24) {
		unsigned before = triggered;

		watch(TRIGGER, (uintptr_t)&trigger);
		for (unsigned i = 1; i < PERF_DEBUG_REGISTERS; i++)
			watch(i, (sp - below - 8 * i) & ~UINT64_C(7));
		trigger++;
		assert_true(triggered > before);
		for (unsigned i = 0; i < PERF_DEBUG_REGISTERS; i++)
			(void)perf_disable(t->register_fd[i]);
	}
	(void)alarm(0);
	assert_true(atomic_load(&t->counters[JXP__COUNTER__COUNTER_ASYNC]) > 0);
}

/* As the kernel would: a process may send itself any si_code. */
static void send_trap(int code)
{
	siginfo_t info = {.si_signo = SIGTRAP, .si_code = code};

	assert_return_code(syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), SIGTRAP, &info),
			   errno);
}

TEST(traps_without_a_cause_go_no_further, set_up, tear_down)
{
	send_trap(TRAP_BRKPT);
	send_trap(TRAP_HWBKPT);
	assert_int_equal(signals_stale(), 2);
	assert_int_equal(signals_foreign(), 0);
	assert_int_equal(passed_on, 0);
}

TEST(traps_of_the_application_are_passed_on, set_up, tear_down)
{
	__asm__ volatile(".byte 0xf1"); /* INT1 */
	__asm__ volatile("int3");
	assert_int_equal(raise(SIGTRAP), 0);
	assert_int_equal(passed_on, 3);
	assert_int_equal(signals_foreign(), 3);
	assert_int_equal(signals_stale(), 0);
}

static void trap(void)
{
	__asm__ volatile("int3");
}

/* The kernel forces such a one on the thread, and ends the process where SIGTRAP is blocked. */
TEST(a_trap_within_a_handler_ends_nothing, set_up, tear_down)
{
	unsigned before = triggered;

#ifdef __SANITIZE_THREAD__
	print_message("this sanitizer calls handlers with all signals blocked\n");
	skip();
#endif
	if (!*state)
		skip();
	during = trap;
	watch(TRIGGER, (uintptr_t)&trigger);
	trigger++;
	assert_int_equal(triggered, before + 1);
	assert_int_equal(passed_on, 1);
}

static volatile uint64_t touched;

static void touch(void)
{
	for (unsigned i = 0; i < 100; i++)
		touched++;
}

TEST(what_a_handler_touches_traps_once_and_is_given_up, set_up, tear_down)
{
	unsigned before = triggered;

	if (!*state)
		skip();
	during = touch;
	watch(TRIGGER, (uintptr_t)&trigger);
	watch(TRIGGER + 1, (uintptr_t)&touched);
	trigger++;
	assert_int_equal(triggered, before + 1);
	assert_int_equal(atomic_load(&t->counters[JXP__COUNTER__COUNTER_ASYNC]), 1);
	assert_int_equal(atomic_load(&t->counters[JXP__COUNTER__COUNTER_SIGNALS]), 2);
	assert_int_equal(t->watchpoints[TRIGGER + 1].state, WATCH_FREE);
	assert_int_equal(t->watchpoints[TRIGGER].state, WATCH_SEEKING);
}

static uint64_t sum(const Jxp__Counter *counters, size_t count)
{
	uint64_t all = 0;

	for (size_t i = 0; i < count; i++)
		all += atomic_load(&t->counters[counters[i]]);
	return all;
}

TEST(signals_and_their_time_are_accounted_for, set_up, tear_down)
{
	static const Jxp__Counter roles[] = {
	    JXP__COUNTER__COUNTER_SIGNALS_TICKS, JXP__COUNTER__COUNTER_SIGNALS_SEARCHES,
	    JXP__COUNTER__COUNTER_SIGNALS_SAMPLED, JXP__COUNTER__COUNTER_SIGNALS_SECOND,
	    JXP__COUNTER__COUNTER_SIGNALS_LATE};
	static const Jxp__Counter parts[] = {
	    JXP__COUNTER__COUNTER_CONTEXTS_NS, JXP__COUNTER__COUNTER_CONTROLS_NS,
	    JXP__COUNTER__COUNTER_CODE_NS, JXP__COUNTER__COUNTER_PLACING_NS};

	if (!*state)
		skip();
	watch(TRIGGER, (uintptr_t)&trigger);
	trigger++;
	/* Its watchpoint is gone, its event is not. */
	t->watchpoints[TRIGGER].state = WATCH_FREE;
	trigger++;
	assert_int_equal(atomic_load(&t->counters[JXP__COUNTER__COUNTER_SIGNALS]), 2);
	assert_int_equal(atomic_load(&t->counters[JXP__COUNTER__COUNTER_SIGNALS_SEARCHES]), 1);
	assert_int_equal(atomic_load(&t->counters[JXP__COUNTER__COUNTER_SIGNALS_LATE]), 1);
	assert_int_equal(sum(roles, sizeof(roles) / sizeof(roles[0])), 2);
	/* The late one has its event closed: a system call. */
	assert_true(atomic_load(&t->counters[JXP__COUNTER__COUNTER_CONTROLS_NS]) > 0);
	assert_true(sum(parts, sizeof(parts) / sizeof(parts[0])) <=
		    atomic_load(&t->counters[JXP__COUNTER__COUNTER_HANDLER_NS]));
}

/* ---------------------------------------------------------------- timers */

static void send_timer(uint64_t sig_data)
{
	siginfo_t info = {.si_signo = SIGTRAP, .si_code = SI_TIMER};

	info.si_value.sival_ptr = (void *)sig_data;
	assert_return_code(syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), SIGTRAP, &info),
			   errno);
}

static void burn(uint64_t ns)
{
	for (uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;
	     clock_ns(CLOCK_THREAD_CPUTIME_ID) < end;)
		;
}

/* On a busy machine many of the scheduler's ticks find others. */
static void burn_until(const volatile unsigned *count)
{
	for (unsigned i = 0; i < 1000 && *count == 0; i++)
		burn(5 * NS_PER_MS);
	burn(20 * NS_PER_MS);
}

static void set_timer(uint64_t sig_data)
{
	t->timer = cpu_timer_create(gettid(), sig_data);
	assert_true(t->timer >= 0);
	assert_int_equal(cpu_timer_set(t->timer, 1), 0);
}

TEST(a_timer_s_signal_reaches_the_sampler, set_up, tear_down)
{
	set_timer(thread_sig_data(t, THREAD_ROLE_SAMPLING));
	burn_until(&events);
	assert_int_equal(events, 1); /* It was not set again. */
	assert_int_equal(passed_on, 0);
	assert_int_equal(signals_foreign(), 0);
	assert_false(atomic_load(&t->timer_spent));
}

TEST(a_timer_of_the_application_is_passed_on, set_up, tear_down)
{
	set_timer((uintptr_t)&trigger);
	burn_until(&passed_on);
	assert_int_equal(passed_on, 1);
	assert_int_equal(signals_foreign(), 1);
	assert_int_equal(events, 0);
}

TEST(a_timer_s_signal_that_is_late_is_ignored, set_up, tear_down)
{
	uint64_t sig_data = thread_sig_data(t, THREAD_ROLE_SAMPLING);

	atomic_fetch_add(&t->generation, 1); /* As where the entry is another thread's by now. */
	send_timer(sig_data);
	assert_int_equal(events, 0);
	assert_int_equal(passed_on, 0);
	assert_false(atomic_load(&t->timer_spent));
}

/* Whoever may send signals to the process may send this one. */
TEST(no_timer_s_signal_is_about_a_register, set_up, tear_down)
{
	t->watchpoints[TRIGGER].state = WATCH_SEEKING;
	send_timer(thread_sig_data(t, THREAD_ROLE_REGISTER + TRIGGER));
	assert_int_equal(atomic_load(&t->counters[JXP__COUNTER__COUNTER_SIGNALS]), 0);
	assert_int_equal(t->watchpoints[TRIGGER].state, WATCH_SEEKING);
	assert_int_equal(passed_on, 0);
	t->watchpoints[TRIGGER].state = WATCH_FREE;
}

TEST(a_thread_that_is_held_has_no_handlers, set_up, tear_down)
{
	uint64_t sig_data = thread_sig_data(t, THREAD_ROLE_SAMPLING);

	assert_true(thread_hold(t));
	send_timer(sig_data);
	assert_int_equal(events, 0);
	assert_true(atomic_load(&t->timer_spent)); /* To be set by who holds it. */
	thread_let_go(t);
	send_timer(sig_data);
	assert_int_equal(events, 1);
}

static void hold_refused(void)
{
	assert_false(thread_hold(t));
}

TEST(a_thread_is_not_held_while_its_handler_is_at_work, set_up, tear_down)
{
	need_registers(state);
	during = hold_refused;
	watch(TRIGGER, (uintptr_t)&trigger);
	triggered = 0;
	trigger++;
	trigger++;
	assert_int_equal(triggered, 2); /* And it holds nothing. */
	assert_true(thread_hold(t));
	thread_let_go(t);
}

/* Else the next access would be taken for it. */
TEST(what_traps_while_its_thread_is_held_is_given_up, set_up, tear_down)
{
	need_registers(state);
	triggered = 0;
	watch(TRIGGER, (uintptr_t)&trigger);
	assert_true(thread_hold(t));
	trigger++;
	thread_let_go(t);
	trigger++; /* Its event is off. */
	assert_int_equal(triggered, 0);
	send_timer(thread_sig_data(t, THREAD_ROLE_SAMPLING));
	assert_int_equal(t->watchpoints[TRIGGER].state, WATCH_FREE);
	assert_int_equal(atomic_load(&t->counters[JXP__COUNTER__COUNTER_SIGNALS]), 2);
	assert_int_equal(atomic_load(&t->counters[JXP__COUNTER__COUNTER_ASYNC]), 1);
}

static void *burn_until_told(void *stop)
{
	while (!atomic_load((_Atomic bool *)stop))
		burn(NS_PER_MS / 10);
	return NULL;
}

/* With a handler of ours that is gone too soon the signal would be the application's. */
TEST(no_timer_s_signal_comes_after_the_handler_is_gone, set_up, tear_down)
{
	_Atomic bool stop = false;
	pthread_t busy;

	assert_int_equal(pthread_create(&busy, NULL, burn_until_told, &stop), 0);
	for (uint64_t end = clock_monotonic_ns() + NS_PER_S; clock_monotonic_ns() < end;) {
		assert_int_equal(signals_install(&sampler), 0);
		for (unsigned i = 0; i < 4; i++) {
			set_timer(thread_sig_data(t, THREAD_ROLE_SAMPLING));
			burn(NS_PER_MS);
			cpu_timer_delete(t->timer);
		}
		t->timer = -1;
		assert_true(signals_remove(REMOVE_TIMEOUT_MS, &all_touched));
		burn(NS_PER_MS);
	}
	atomic_store(&stop, true);
	assert_int_equal(pthread_join(busy, NULL), 0);
	assert_true(events > 0);
	assert_int_equal(passed_on, 0);
}
