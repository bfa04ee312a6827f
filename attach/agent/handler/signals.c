#include "attach/agent/handler/signals.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "attach/agent/code/codemap.h"
#include "attach/agent/code/safe_read.h"
#include "attach/agent/epoch/pauses.h"
#include "attach/agent/handler/burst.h"
#include "attach/agent/handler/handlers.h"
#include "attach/agent/handler/sampler.h"
#include "attach/agent/handler/sampling_gate.h"
#include "attach/agent/handler/thread.h"
#include "attach/agent/handler/reading.h"
#include "attach/agent/handler/trace.h"
#include "attach/agent/handler/watchpoint.h"
#include "common/clock.h"
#include "common/proc.h"

/* More CPU time than the kernel needs to bring a thread from a trap back to user mode. */
#define PASSAGE_NS NS_PER_MS

#define QUIET_LOOKS 4u

/* Global because the handler gets no pointer of ours; it may stay in place beyond a window, as what
 * it was set over does. */
static struct sigaction previous;
static bool installed; /* session thread alone */
static const struct sampler *_Atomic sampler_in_use;
static const struct process_ticks *_Atomic process_ticks;
static _Atomic uint64_t foreign;
static _Atomic uint64_t stale;
static _Atomic uint32_t active; /* handlers running, also those whose thread is not known */

/* Where the JVM tells of collections its count of pauses is held against that. Beside Java code a
 * thread goes on during a pause, and may find one of the two changed already. */
static void compare_epochs(struct thread *t, uint32_t now, const ucontext_t *uc)
{
	uint32_t counted;

	if (handlers.epoch_is_counted || !pauses_are_known(&handlers.pauses))
		return;
	counted = pauses_epoch(&handlers.pauses);
	if (t->epoch != now && t->epoch_in_java) {
		thread_count(t, JXP__COUNTER__COUNTER_EPOCHS_COMPARED, 1);
		if (t->counted_epoch == counted)
			thread_count(t, JXP__COUNTER__COUNTER_EPOCHS_MISSED, 1);
	}
	t->counted_epoch = counted;
	t->epoch_in_java = codemap_covers((uint64_t)uc->uc_mcontext.gregs[REG_RIP]);
}

/* A watchpoint of an older epoch may watch what is another object by now (JXPerf section 5.3). */
static void enter_epoch(struct thread *t, const ucontext_t *uc)
{
	uint32_t now = handlers_epoch();

	compare_epochs(t, now, uc);
	if (t->epoch == now)
		return;
	watchpoint_drop_all(t, RECORD_EXPIRED_GC);
	thread_enter_epoch(t, now);
}

/* Handlers need less than this of the stack of the thread that they run in. HotSpot keeps a
 * shadow zone of 20 pages below every Java frame (StackShadowPages), so compiled code has it;
 * native code that touches watched memory may not. */
#define STACK_RESERVE_BYTES (48u * 1024u)

/* More than the zones below stack_low that HotSpot opens for a thread while it makes a
 * StackOverflowError. A stack that is not here at all is another one, of an application that has
 * its own. */
#define STACK_GUARD_BYTES (128u * 1024u)

static bool stack_is_low(const struct thread *t, const ucontext_t *uc)
{
	uint64_t sp = (uint64_t)uc->uc_mcontext.gregs[REG_RSP];

	return t->stack_low && sp < t->stack_low + STACK_RESERVE_BYTES &&
	       sp + STACK_GUARD_BYTES > t->stack_low;
}

static bool loops_at_work(const struct thread *t)
{
	return t->burst.active || t->trace.active || t->reading.active;
}

/* What a signal is for. A register whose watchpoint is gone has been freed since it trapped. */
static Jxp__Counter role_counter(const struct thread *t, unsigned role)
{
	unsigned reg = role - THREAD_ROLE_REGISTER;

	if (role == THREAD_ROLE_SAMPLING)
		return tick_plan_is_look(&t->ticks, t->signal_cpu_ns)
			   ? JXP__COUNTER__COUNTER_SIGNALS_LOOKS
			   : JXP__COUNTER__COUNTER_SIGNALS_TICKS;
	if (reg >= PERF_DEBUG_REGISTERS)
		return JXP__COUNTER__COUNTER_SIGNALS_LATE;
	if (burst_owns(t, reg))
		return loops_at_work(t) ? JXP__COUNTER__COUNTER_SIGNALS_SEARCHES
					: JXP__COUNTER__COUNTER_SIGNALS_LATE;
	switch (t->watchpoints[reg].state) {
	case WATCH_SEEKING:
		return JXP__COUNTER__COUNTER_SIGNALS_SEARCHES;
	case WATCH_PENDING:
		return JXP__COUNTER__COUNTER_SIGNALS_SAMPLED;
	case WATCH_ARMED:
		return JXP__COUNTER__COUNTER_SIGNALS_SECOND;
	case WATCH_FREE:
		break;
	}
	return JXP__COUNTER__COUNTER_SIGNALS_LATE;
}

static void give_up_loops(struct thread *t)
{
	burst_give_up(t);
	trace_give_up(t);
	reading_give_up(t);
}

/* A register that is kept for loops was hit. */
static void loop_register_hit(struct thread *t, unsigned reg, const ucontext_t *uc)
{
	t->signal_traces = t->trace.active || t->reading.active;
	if (t->signal_traces && stack_is_low(t, uc))
		give_up_loops(t);
	else if (t->trace.active)
		trace_hit(t, uc);
	else if (t->reading.active)
		reading_hit(t, uc);
	else
		burst_is_full(t, reg);
}

static void refuse(struct thread *t)
{
	if (sampler_in_use->on_refused)
		sampler_in_use->on_refused(t);
}

static void refuse_low(struct thread *t)
{
	thread_count(t, role_counter(t, THREAD_ROLE_SAMPLING), 1);
	refuse(t);
}

static void sampling_event(struct thread *t, const ucontext_t *uc)
{
	if (sampler_in_use->on_stop && sampler_in_use->on_stop(t))
		return;
	thread_count(t, role_counter(t, THREAD_ROLE_SAMPLING), 1);
	if (sampling_gate_passes(t))
		sampler_in_use->on_event(t, uc);
	else
		refuse(t);
}

static void dispatch(struct thread *t, unsigned role, const ucontext_t *uc)
{
	unsigned reg = role - THREAD_ROLE_REGISTER;

	if (role != THREAD_ROLE_SAMPLING)
		thread_count(t, role_counter(t, role), 1);
	if (atomic_load_explicit(&t->state, memory_order_acquire) == THREAD_READY) {
		enter_epoch(t, uc);
		if (burst_owns(t, reg)) {
			loop_register_hit(t, reg, uc);
			return;
		}
		if (stack_is_low(t, uc)) {
			thread_count(t, JXP__COUNTER__COUNTER_STACK_LOW, 1);
			if (reg < PERF_DEBUG_REGISTERS)
				watchpoint_drop(t, reg, RECORD_ABANDONED);
			else if (role == THREAD_ROLE_SAMPLING)
				refuse_low(t);
			return;
		}
	}
	if (role == THREAD_ROLE_SAMPLING) {
		sampling_event(t, uc);
		return;
	}
	if (reg >= PERF_DEBUG_REGISTERS || burst_owns(t, reg))
		return;
	else if (t->watchpoints[reg].state == WATCH_SEEKING)
		sampler_in_use->on_breakpoint(t, reg, uc);
	else
		watchpoint_trapped(t, reg, uc);
}

/* Signals that are about a handler's own code, or whose context says nothing because the thread had
 * SIGTRAP blocked. What their registers watch, a bit each, is below the stack pointer by now, or
 * handlers read it: either way it is given up, or it would trap again and again. */
static void give_up(struct thread *t, uint32_t signals, uint32_t registers)
{
	thread_count(t, JXP__COUNTER__COUNTER_ASYNC, signals);
	thread_count(t, JXP__COUNTER__COUNTER_SIGNALS_LATE, signals);
	if (atomic_load_explicit(&t->state, memory_order_acquire) != THREAD_READY)
		return;
	for (unsigned reg = 0; reg < PERF_DEBUG_REGISTERS; reg++)
		if (registers & (1u << reg) && burst_owns(t, reg))
			give_up_loops(t);
		else if (registers & (1u << reg))
			watchpoint_drop(t, reg, RECORD_ABANDONED);
}

/* 0 for what is no register's. */
static uint32_t register_bit(unsigned role)
{
	unsigned reg = role - THREAD_ROLE_REGISTER;

	return reg < PERF_DEBUG_REGISTERS ? 1u << reg : 0;
}

/* Another handler of the thread is at work, so nothing of the thread's may be changed: it gives the
 * register up when it is done (take_over). Until then the event is off. Or the session thread
 * changes what the thread has open, maybe for as long as the daemon takes to answer: then the next
 * handler gives it up, as the access that it was to see was missed, and another would be taken for
 * it. Where the register is being closed its number may be another file's already, which knows no
 * such call. */
static void note_nested(struct thread *t, unsigned role)
{
	uint32_t bit = register_bit(role);
	int saved = errno;

	atomic_fetch_add_explicit(&t->nested, 1, memory_order_relaxed);
	atomic_fetch_or_explicit(&t->touched, bit, memory_order_relaxed);
	if (bit) /* Fails where the register's event is not open. */
		(void)perf_disable(t->register_fd[role - THREAD_ROLE_REGISTER]);
	errno = saved;
}

/* What nested handlers have left to this one, or those while the thread was held. */
static void take_over(struct thread *t)
{
	uint32_t nested = atomic_exchange_explicit(&t->nested, 0, memory_order_relaxed);
	uint32_t touched = atomic_exchange_explicit(&t->touched, 0, memory_order_relaxed);

	if (nested == 0)
		return;
	thread_count(t, JXP__COUNTER__COUNTER_SIGNALS, nested);
	give_up(t, nested, touched);
}

static void count_time(struct thread *t, uint64_t cpu_ns)
{
	static const Jxp__Counter parts[ACCOUNT_PARTS] = {
	    [ACCOUNT_CONTEXTS] = JXP__COUNTER__COUNTER_CONTEXTS_NS,
	    [ACCOUNT_CONTROLS] = JXP__COUNTER__COUNTER_CONTROLS_NS,
	    [ACCOUNT_CODE] = JXP__COUNTER__COUNTER_CODE_NS,
	    [ACCOUNT_PLACES] = JXP__COUNTER__COUNTER_PLACING_NS,
	};
	uint64_t ns[ACCOUNT_PARTS];

	account_end(&t->account, cpu_ns, ns);
	for (unsigned i = ACCOUNT_REST + 1; i < ACCOUNT_PARTS; i++)
		thread_count(t, parts[i], ns[i]);
	thread_count(t, JXP__COUNTER__COUNTER_SIGNALS, 1);
	thread_count(t, JXP__COUNTER__COUNTER_HANDLER_NS, cpu_ns);
	if (t->signal_traces) {
		atomic_fetch_add_explicit(&handlers.trace_signals, 1, memory_order_relaxed);
		atomic_fetch_add_explicit(&handlers.trace_ns, cpu_ns, memory_order_relaxed);
	}
}

/* The time in which registers were on, up to this signal. */
static void count_armed(struct thread *t, uint64_t cpu_ns)
{
	uint64_t ns = cpu_ns - t->armed_since_ns;

	if (!t->armed_since_ns)
		return;
	thread_count(t, JXP__COUNTER__COUNTER_ARMED_NS, ns);
	thread_count(t, JXP__COUNTER__COUNTER_REGISTERS_NS,
		     (uint64_t)((double)ns * t->slowdown.fraction));
}

static void note_armed(struct thread *t, uint64_t cpu_ns)
{
	bool on;

	/* Until then its registers are the session thread's. */
	if (atomic_load_explicit(&t->state, memory_order_acquire) != THREAD_READY)
		return;
	on = watchpoint_in_use(t) || loops_at_work(t);
	t->armed_since_ns = on ? cpu_ns : 0;
	if (!on && atomic_load_explicit(&t->registers, memory_order_relaxed) == REGISTERS_USED) {
		atomic_store(&t->registers, REGISTERS_DONE);
		handlers_ask();
	}
	if (sampler_in_use->on_quiet && !watchpoint_is_undecided(t))
		sampler_in_use->on_quiet(t);
}

static void work(struct thread *t, unsigned role, bool own, const ucontext_t *uc)
{
	/* CPU time, not wall time: a thread that is preempted in here costs the target nothing. */
	uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	int saved = errno;

	account_begin(&t->account);
	t->signal_cpu_ns = start;
	t->signal_traces = false;
	count_armed(t, start);
	take_over(t);
	if (own)
		give_up(t, 1, register_bit(role));
	else
		dispatch(t, role, uc);
	take_over(t);
	note_armed(t, start);
	if (atomic_load_explicit(&t->timer_spent, memory_order_relaxed))
		refuse(t); /* The signal was about something else, or nested. */
	count_time(t, clock_ns(CLOCK_THREAD_CPUTIME_ID) - start);
	errno = saved;
}

/* own: the signal is not about the application's code. */
static HANDLER_ENTRY void handle(uint64_t sig_data, bool timer, bool own, const ucontext_t *uc)
{
	unsigned role;
	struct thread *t = thread_of_signal(sig_data, &role);

	if (!t)
		return; /* Late: its event is closed. */
	/* Any process of the same user may send such a signal, and no register is the timer's. */
	if (timer && register_bit(role))
		return;
	if (timer && role == THREAD_ROLE_SAMPLING)
		atomic_store_explicit(&t->timer_spent, true, memory_order_relaxed);
	/* The session thread makes the entry unusable (stopping, ended), then waits for in_handler
	 * to be 0 before it takes anything away. We enter first and look after, sequentially
	 * consistent on both sides, so one of the two sees the other; the generation is looked at
	 * again because the entry may have passed to another thread meanwhile. A thread's signals
	 * come to that thread alone: who finds another handler in here has interrupted it. */
	if (atomic_fetch_add(&t->in_handler, 1) > 0 || atomic_load(&t->held))
		note_nested(t, role);
	else if (!atomic_load(&handlers.stopping) && !atomic_load(&t->ended) &&
		 thread_of_signal(sig_data, &role) == t)
		work(t, role, own, uc);
	if (codemap_has_news())
		handlers_wake();
	atomic_fetch_sub(&t->in_handler, 1);
}

/* Without the library, whose code is none of the outermost. */
static HANDLER_ENTRY pid_t own_tid(void)
{
	long tid;

	__asm__ volatile("syscall" : "=a"(tid) : "a"((long)SYS_gettid) : "rcx", "r11", "memory");
	return (pid_t)tid;
}

/* Where the thread has registers of ours, what they watch and this touches is known to be touched
 * by a handler. */
static HANDLER_ENTRY void handle_process_tick(bool own, const ucontext_t *uc)
{
	pid_t tid = own_tid();
	const struct process_ticks *ticks = process_ticks;
	struct thread *known = thread_find(tid), *t;
	int saved;

	if (known)
		atomic_fetch_add(&known->in_handler, 1);
	saved = errno;
	t = ticks->begin(tid, known != NULL);
	if (t)
		handle(thread_sig_data(t, THREAD_ROLE_SAMPLING), false, own, uc);
	ticks->end(t);
	errno = saved;
	if (known)
		atomic_fetch_sub(&known->in_handler, 1);
}

/* What the process would have done without us. */
static void forward(int signal, siginfo_t *info, void *context)
{
	sigset_t trap;

	atomic_fetch_add_explicit(&foreign, 1, memory_order_relaxed);
	/* As it would be in a handler of its own; the kernel restores what was when ours returns.
	 */
	(void)sigemptyset(&trap);
	(void)sigaddset(&trap, SIGTRAP);
	(void)pthread_sigmask(SIG_BLOCK, &trap, NULL);
	if (previous.sa_flags & SA_SIGINFO) {
		previous.sa_sigaction(signal, info, context);
	} else if (previous.sa_handler == SIG_DFL) {
		/* Terminates: the signal is raised again and delivered when this handler returns.
		 */
		struct sigaction dfl = {.sa_handler = SIG_DFL};

		(void)sigaction(signal, &dfl, NULL);
		(void)raise(signal);
	} else if (previous.sa_handler != SIG_IGN) {
		previous.sa_handler(signal);
	}
}

/* The one byte of INT1. */
#define INT1 0xf1

/* It traps behind itself; on an AMD processor under KVM before, so that who goes on from there
 * comes back at once: seen. */
static bool is_at_int1(const ucontext_t *uc)
{
	uint64_t ip = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
	uint8_t byte = 0;

	return (safe_read(ip - 1, &byte, 1) && byte == INT1) ||
	       (safe_read(ip, &byte, 1) && byte == INT1);
}

/* Traps that nobody asked for, which end the process if they are passed on (exc_debug_user and
 * hw_breakpoint_handler, arch/x86/kernel):
 *
 * - TRAP_BRKPT: the processor named no cause, so the kernel takes it for an INT1. Where there is
 *   none, a breakpoint was hit and its number was lost: seen in a few windows of a thousand on a
 *   virtual machine, whose hypervisor has the status register DR6 read 0, right behind accesses to
 *   watched words.
 * - TRAP_HWBKPT: a breakpoint that is switched off was reported with another one, as processors may
 *   (Intel SDM 17.2.3). Not seen. A debugger's own never come here: they stop the thread.
 * - SI_USER from nobody: the kernel had no memory for perf's account of a signal. */
static bool is_stale(const siginfo_t *info, const ucontext_t *uc)
{
	switch (info->si_code) {
	case TRAP_BRKPT:
		return !is_at_int1(uc);
	case TRAP_HWBKPT:
		return true;
	case SI_USER:
		return info->si_pid == 0;
	default:
		return false;
	}
}

static void on_other_trap(int signal, siginfo_t *info, void *context)
{
	int saved = errno;

	if (is_stale(info, context))
		atomic_fetch_add_explicit(&stale, 1, memory_order_relaxed);
	else
		forward(signal, info, context);
	errno = saved;
}

/* The trap is reported behind the instruction: for the return from here, at its target. */
static HANDLER_ENTRY void on_sigtrap(int signal, siginfo_t *info, void *context)
{
	const ucontext_t *uc = context;
	uint64_t ip = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
	bool timer = info->si_code == SI_TIMER;
	uint64_t sig_data = timer ? (uint64_t)info->si_value.sival_ptr : perf_siginfo_data(info);

	atomic_fetch_add(&active, 1);
	if (timer && sig_data == thread_process_sig_data())
		handle_process_tick(handler_entry_contains(ip), uc);
	else if ((timer || info->si_code == PERF_TRAP_CODE) && thread_signal_is_ours(sig_data))
		handle(sig_data, timer,
		       handler_entry_contains(ip) || ip == (uintptr_t)__builtin_return_address(0) ||
			   (!timer && perf_siginfo_async(info)),
		       uc);
	else
		on_other_trap(signal, info, context);
	atomic_fetch_sub(&active, 1);
}

int signals_install(const struct sampler *sampler)
{
	struct sigaction action = {.sa_sigaction = on_sigtrap,
				   .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK | SA_NODEFER};
	struct sigaction before;

	sampler_in_use = sampler;
	atomic_store(&foreign, 0);
	atomic_store(&stale, 0);
	/* Nothing is blocked in the handler. The JVM's own SIGSEGV handling goes on; and a SIGTRAP
	 * that the kernel forces on a thread, as one of is_stale's, ends the process where it is
	 * blocked (force_sig_info_to_task, kernel/signal.c). */
	(void)sigemptyset(&action.sa_mask);
	if (installed && signals_installed())
		return 0;
	if (sigaction(SIGTRAP, NULL, &before) < 0)
		return -errno;
	/* A handler that an earlier window had to leave in place is not its own predecessor. */
	if (before.sa_sigaction != on_sigtrap)
		previous = before;
	if (sigaction(SIGTRAP, &action, NULL) < 0)
		return -errno;
	installed = true;
	return 0;
}

void signals_take_process_ticks(const struct process_ticks *ticks)
{
	process_ticks = ticks;
}

bool signals_installed(void)
{
	struct sigaction now;

	return sigaction(SIGTRAP, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
	       now.sa_sigaction == on_sigtrap;
}

/* ---------------------------------------------------------------- the end */

static void sleep_a_tick(void)
{
	const struct timespec tick = {.tv_nsec = (long)NS_PER_MS};

	(void)nanosleep(&tick, NULL); /* Too short a sleep does no harm. */
}

void signals_wait_for_handlers(unsigned timeout_ms)
{
	uint64_t deadline = clock_monotonic_ns() + timeout_ms * NS_PER_MS;

	while (atomic_load(&active) != 0 && clock_monotonic_ns() < deadline)
		sleep_a_tick();
}

/* Calls check for each thread of the process that was touched, until one gives false or all gave
 * true.
 */
static bool all_threads(bool (*check)(pid_t tid, uint64_t deadline_ns), uint64_t deadline_ns,
			const struct signals_untouched *untouched)
{
	struct dirent *entry;
	bool all = true;
	DIR *dir = opendir("/proc/self/task");

	if (!dir)
		return false; /* Not known: assume the worse. */
	while (all && (entry = readdir(dir))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0 && !untouched->contains(untouched->arg, tid))
			all = check(tid, deadline_ns);
	}
	(void)closedir(dir); /* Read-only. */
	return all;
}

/* Between the trap and the signal lies a piece of kernel code, run on the way back to user mode,
 * that outlives the event (perf_pending_task, kernel/events/core.c). A thread that was preempted
 * before it shows no pending signal and gets one when it runs again. Whoever sleeps, or has run for
 * a while since the events were closed, is beyond it. */
static bool has_passed(pid_t tid, uint64_t deadline_ns)
{
	struct proc_status status;
	uint64_t start_ns, now_ns;

	if (tid == gettid() || !clock_thread_ns(tid, &start_ns))
		return true;
	while (proc_read_status(getpid(), tid, &status) == 0 && status.state == 'R' &&
	       clock_thread_ns(tid, &now_ns) && now_ns - start_ns < PASSAGE_NS) {
		if (clock_monotonic_ns() >= deadline_ns)
			return false;
		sleep_a_tick();
	}
	return true;
}

static bool has_no_trap_pending(pid_t tid, uint64_t deadline_ns)
{
	const uint64_t mask = UINT64_C(1) << (SIGTRAP - 1);
	struct proc_status status;

	(void)deadline_ns;
	return proc_read_status(getpid(), tid, &status) < 0 || !(status.pending_signals & mask);
}

static bool quiet(const struct signals_untouched *untouched)
{
	if (atomic_load(&active) != 0)
		return false;
	for (unsigned i = 0; i < threads_used(); i++)
		if (atomic_load(&thread_at(i)->in_handler))
			return false;
	return all_threads(has_no_trap_pending, 0, untouched);
}

bool signals_remove(unsigned timeout_ms, const struct signals_untouched *untouched)
{
	uint64_t deadline = clock_monotonic_ns() + timeout_ms * NS_PER_MS;

	if (!installed)
		return true;
	if (!all_threads(has_passed, deadline, untouched))
		return false;
	/* There is nothing to wait on: a handler cannot notify anybody. A signal may be on its way
	 * from one of the places that are looked at to another: all of them have to be empty some
	 * times in a row. */
	for (unsigned in_a_row = 0; in_a_row < QUIET_LOOKS; in_a_row++) {
		if (clock_monotonic_ns() >= deadline)
			return false;
		if (!quiet(untouched))
			in_a_row = 0;
		sleep_a_tick();
	}
	if (signals_installed())
		(void)sigaction(SIGTRAP, &previous, NULL); /* Valid: it came from sigaction. */
	installed = false;
	return true;
}

uint64_t signals_stale(void)
{
	return atomic_load(&stale);
}

uint64_t signals_foreign(void)
{
	return atomic_load(&foreign);
}
