#include "attach/agent/window/holdings.h"

#include <errno.h>

#include "attach/agent/handler/burst.h"
#include "attach/agent/handler/handlers.h"
#include "attach/agent/handler/reading.h"
#include "attach/agent/handler/sampler.h"
#include "attach/agent/handler/trace.h"
#include "attach/agent/handler/watchpoint.h"
#include "common/clock.h"
#include "common/fd.h"

/* In thousandths of its CPU time: a thread that is longer in the kernel has its ticks from the
 * timer, which tells in which calls. */
#define KERNEL_PERMILLE 50u

/* Not met running in so long, by the clock on the wall: the phase ends without a sample. */
#define PHASE_WAIT_NS (40 * NS_PER_MS)

/* Further apart than there are windows: there are none. */
#define PHASES_APART_MAX_NS (10000 * NS_PER_S)

/* Descriptors that are left for registers before one is taken for a perf clock. */
#define CLOCK_FDS_MIN 16u

static unsigned sampling_events(const struct holdings *h)
{
	return h->settings->sampling.event_count;
}

unsigned holdings_least(const struct holdings *h)
{
	return sampling_events(h) > 0 ? sampling_events(h) + 1 : 0;
}

/* ---------------------------------------------------------------- ticks */

/* Opens one of the sampler's events, disabled. */
static int open_sampling_event(struct holdings *h, struct thread *t, unsigned i)
{
	uint64_t sig_data = thread_sig_data(t, THREAD_ROLE_SAMPLING);
	int fd = sampling_events(h) == 0
		     ? opener_clock(h->opener, t->tid, t->ticks.length_ns, sig_data)
		     : opener_hardware(h->opener, t->tid, i, handlers.period, sig_data);

	if (fd < 0)
		return fd;
	t->sampling_fd[i] = fd;
	t->period = handlers.period;
	h->fds_left--;
	if (!sampling_gate_attach(h->gate, fd))
		h->totals[JXP__COUNTER__COUNTER_GATE_UNATTACHED]++;
	return 0;
}

static void enable_sampling(struct holdings *h, const struct thread *t)
{
	for (unsigned i = 0; i < SAMPLING_EVENTS; i++)
		if (t->sampling_fd[i] >= 0 && perf_enable(t->sampling_fd[i]) < 0)
			h->totals[JXP__COUNTER__COUNTER_EVENT_ERRORS]++;
}

static int begin_hardware(struct holdings *h, struct thread *t)
{
	int r = 0;

	t->fd_reserved = true; /* A sampling event without a register finds nothing. */
	h->fds_left--;
	for (unsigned i = 0; i < sampling_events(h) && r == 0; i++)
		if (sampler_wants_event(i, h->objects))
			r = open_sampling_event(h, t, i);
	if (r == 0)
		enable_sampling(h, t);
	return r;
}

/* The timer comes when the next tick is due, or a moment before (sampler_clock.c). */
static void set_timer(struct holdings *h, const struct thread *t, uint64_t cpu_ns)
{
	uint64_t left = t->ticks.due_ns > cpu_ns ? t->ticks.due_ns - cpu_ns : 1;

	if (t->timer >= 0 && cpu_timer_set(t->timer, left) < 0)
		h->totals[JXP__COUNTER__COUNTER_EVENT_ERRORS]++;
}

/* The perf clock brings the ticks from now on. */
static int turn_clock_on(struct holdings *h, struct thread *t)
{
	int r = open_sampling_event(h, t, 0);

	if (r < 0)
		return r;
	t->event_ns = t->ticks.length_ns;
	t->ticks.look = false;
	t->kernel_owed_ns = 0;
	t->clock_on = true;
	atomic_store(&t->timer_spent, false);
	if (t->timer >= 0)
		(void)cpu_timer_set(t->timer, 0); /* Off; valid arguments. */
	enable_sampling(h, t);
	return 0;
}

static void set_timer_again(struct holdings *h, struct thread *t)
{
	uint64_t cpu_ns;

	atomic_store(&t->timer_spent, false);
	if (clock_thread_ns(t->tid, &cpu_ns))
		set_timer(h, t, cpu_ns);
}

static bool has_spent_timer(const struct thread *t)
{
	return !t->clock_on && atomic_load(&t->timer_spent);
}

static void turn_clock_off(struct holdings *h, struct thread *t)
{
	(void)perf_disable(t->sampling_fd[0]); /* A forked process may have a copy. */
	fd_close_all(t->sampling_fd, 1);
	h->fds_left++;
	t->clock_on = false;
	t->ticks.look = false;
	set_timer_again(h, t);
}

/* Where a user has no timers left (RLIMIT_SIGPENDING), a perf clock does. */
int holdings_begin(struct holdings *h, struct thread *t, uint64_t from_ns)
{
	uint64_t cpu_ns;
	int timer;

	if (sampling_events(h) > 0)
		return begin_hardware(h, t);
	if (!clock_thread_ns(t->tid, &cpu_ns))
		return -ESRCH;
	tick_plan_begin(&t->ticks, &t->random, handlers.period,
			from_ns < cpu_ns ? from_ns : cpu_ns);
	timer = h->timers_left > 0
		    ? cpu_timer_create(t->tid, thread_sig_data(t, THREAD_ROLE_SAMPLING))
		    : -EAGAIN;
	if (timer == -EINVAL)
		return -ESRCH;
	if (timer < 0)
		return h->fds_left > 0 ? turn_clock_on(h, t) : -EMFILE;
	t->timer = timer;
	h->timers_left--;
	set_timer(h, t, cpu_ns);
	return 0;
}

void holdings_set_period(struct holdings *h, struct thread *t)
{
	if (sampling_events(h) == 0 || t->period == handlers.period)
		return;
	t->period = handlers.period;
	for (unsigned i = 0; i < SAMPLING_EVENTS; i++)
		if (t->sampling_fd[i] >= 0 && perf_set_period(t->sampling_fd[i], t->period) < 0)
			h->totals[JXP__COUNTER__COUNTER_EVENT_ERRORS]++;
}

/* ---------------------------------------------------------------- registers */

/* A window for pairs has a register for each that may wait, one for loops one for each place that
 * is counted. One for objects alone needs one, to stop a thread at the access that is looked for;
 * one for ticks alone, none. */
static unsigned registers_wanted(const struct holdings *h)
{
	if (h->registers_refused)
		return 0;
	if (h->settings->sampling.kind_count > 0 || h->settings->sampling.loops)
		return h->settings->registers;
	return h->settings->objects.max > 0 ? 1 : 0;
}

/* A thread takes at most half of what is left, so that a few busy threads do not leave the others
 * with nothing. */
static unsigned registers_for(const struct holdings *h, const struct thread *t)
{
	unsigned wanted = registers_wanted(h), most = t->fd_reserved + (h->fds_left + 1) / 2;

	return most < wanted ? most : wanted;
}

/* What a burst takes at the least: a header, and a place. */
#define BURST_REGISTERS_MIN 2u

/* The registers for bursts, of so many that accesses to objects leave over: without pairs all of
 * them, beside pairs two where they have one still. */
static unsigned registers_for_bursts(const struct holdings *h, unsigned left)
{
	if (!h->settings->sampling.loops || left < BURST_REGISTERS_MIN)
		return 0;
	if (h->settings->sampling.kind_count == 0)
		return left;
	return left > BURST_REGISTERS_MIN ? BURST_REGISTERS_MIN : 0;
}

/* The last register of a thread is kept for finding the accesses that objects are sampled by, so
 * that it displaces no pair, unless the thread has only one. Those before it are for bursts. */
static void share_registers(const struct holdings *h, struct thread *t, unsigned count)
{
	bool others = h->settings->sampling.kind_count > 0 || h->settings->sampling.loops;
	unsigned own = h->objects && others && count > 1;
	unsigned bursts = registers_for_bursts(h, count - own);

	t->access_register = h->objects ? (int)count - 1 : -1;
	burst_own(t, count - own - bursts, bursts);
	reservoir_init(&t->reservoir, count - own - bursts);
}

static void count_short_of_fds(struct holdings *h, struct thread *t)
{
	h->totals[JXP__COUNTER__COUNTER_THREADS_NO_DESCRIPTORS] += !t->short_of_fds;
	t->short_of_fds = true;
}

/* As many debug registers as the window wants, or as a debugger has left us. */
static int open_registers(struct holdings *h, struct thread *t)
{
	unsigned count = registers_for(h, t);
	int r = -EMFILE;

	if (count < registers_wanted(h))
		count_short_of_fds(h, t);
	while (count > 0) {
		r = opener_breakpoints(h->opener, t->tid, count,
				       thread_sig_data(t, THREAD_ROLE_REGISTER), t->register_fd);
		if (r != -ENOSPC)
			break;
		count--;
	}
	if (r == -EMFILE)
		count_short_of_fds(h, t);
	if (r < 0)
		return r;
	share_registers(h, t, count);
	h->fds_left -= count - t->fd_reserved;
	t->fd_reserved = false;
	return 0;
}

static void close_registers(struct holdings *h, struct thread *t)
{
	for (unsigned i = 0; i < PERF_DEBUG_REGISTERS; i++)
		h->fds_left += t->register_fd[i] >= 0;
	burst_note_counts(t);
	fd_close_all(t->register_fd, PERF_DEBUG_REGISTERS);
}

/* Takes them from a thread that is held, and goes on without. */
static void take_registers(struct holdings *h, struct thread *t)
{
	for (unsigned i = 0; i < PERF_DEBUG_REGISTERS; i++)
		if (t->register_fd[i] >= 0)
			(void)perf_disable(t->register_fd[i]); /* A process may have a copy. */
	close_registers(h, t);
	watchpoint_expire(t, RECORD_REPLACED);
	burst_expire(t);
	trace_expire(t);
	reading_expire(t);
	burst_own(t, 0, 0);
	t->access_register = -1;
	t->armed_since_ns = 0;
	t->reservoir = (struct reservoir){0};
}

/* ---------------------------------------------------------------- what a thread can afford */

static double switches_per_ns(const struct thread *t)
{
	return (double)atomic_load(&t->switches_per_s) / (double)NS_PER_S;
}

static bool affords(const struct holdings *h, const struct thread *t, double cost_ns, bool held)
{
	return switches_per_ns(t) * cost_ns <= ledger_most(h->ledger, LEDGER_HELD) * (held ? 2 : 1);
}

static bool affords_registers(const struct holdings *h, const struct thread *t)
{
	return sampling_events(h) > 0 || t->timer < 0 ||
	       affords(h, t, handlers.switch_costs.held_ns,
		       atomic_load(&t->registers) == REGISTERS_HELD);
}

/* Where accesses are sampled a tick should be at any moment; where ticks are all, the timer tells
 * more of them, unless they are to come faster than it does. */
static bool gains_by_clock(const struct holdings *h)
{
	return h->settings->sampling.kind_count > 0 || h->objects ||
	       handlers.period < 2 * handlers.scheduler_tick_ns;
}

static bool affords_clock(const struct holdings *h, const struct thread *t)
{
	if (t->timer < 0)
		return t->clock_on; /* It has nothing else. */
	return gains_by_clock(h) && affords(h, t, handlers.switch_costs.clock_ns, t->clock_on) &&
	       atomic_load(&t->kernel_permille) <= KERNEL_PERMILLE * (t->clock_on ? 2 : 1) &&
	       (t->clock_on || (!h->clocks_refused && h->fds_left >= CLOCK_FDS_MIN));
}

static void set_phase_period(const struct holdings *h, struct thread *t, double cost_ns)
{
	double period = ledger_apart_ns(h->ledger, LEDGER_PHASES, cost_ns);

	if (!(period >
	      (double)handlers.period)) /* Also where the machine's costs are no numbers. */
		period = (double)handlers.period;
	if (period > (double)PHASES_APART_MAX_NS)
		period = (double)PHASES_APART_MAX_NS;
	atomic_store(&t->phase_period, (uint64_t)period);
}

/* Accesses are sampled in phases from here on. */
static void begin_phases(const struct holdings *h, struct thread *t)
{
	const struct switch_costs *costs = &handlers.switch_costs;
	uint64_t cpu_ns;

	atomic_store(&t->registers, REGISTERS_NONE);
	t->phase_after_ns = 0;
	if (registers_wanted(h) == 0 || !clock_thread_ns(t->tid, &cpu_ns))
		return;
	t->phase_cost_ns = LEDGER_PHASE_WORK_NS + switches_per_ns(t) * LEDGER_PHASE_CPU_NS *
						      (costs->held_ns + costs->armed_ns);
	set_phase_period(h, t, t->phase_cost_ns);
	tick_plan_begin(&t->phases, &t->random, t->phase_period, cpu_ns);
}

static int hold_registers(struct holdings *h, struct thread *t)
{
	int r = open_registers(h, t);

	if (r == 0)
		atomic_store(&t->registers, REGISTERS_HELD);
	return r;
}

int holdings_give(struct holdings *h, struct thread *t)
{
	int r = 0;

	if (registers_wanted(h) == 0)
		return 0;
	if (affords_registers(h, t)) {
		r = hold_registers(h, t);
		/* Where descriptors are short, or a debugger has all registers, its ticks go on. */
		if ((r != -EMFILE && r != -ENOSPC) || sampling_events(h) > 0)
			return r;
	}
	begin_phases(h, t);
	return 0;
}

/* ---------------------------------------------------------------- following it */

/* Not of a thread that has asked for a phase or is in one: those that are open are the phase's, and
 * would be lost, and go on, if others were put in their place. */
static bool registers_due(const struct holdings *h, const struct thread *t)
{
	uint8_t watch = atomic_load(&t->registers);

	return registers_wanted(h) > 0 && (watch == REGISTERS_HELD || watch == REGISTERS_NONE) &&
	       affords_registers(h, t) != (watch == REGISTERS_HELD);
}

static int change_registers(struct holdings *h, struct thread *t)
{
	if (!registers_due(h, t))
		return 0;
	if (atomic_load(&t->registers) != REGISTERS_HELD)
		return hold_registers(h, t);
	take_registers(h, t);
	begin_phases(h, t);
	return 0;
}

static int change_clock(struct holdings *h, struct thread *t)
{
	int r;

	if (affords_clock(h, t) == t->clock_on)
		return 0;
	if (t->clock_on) {
		turn_clock_off(h, t);
		return 0;
	}
	r = turn_clock_on(h, t);
	h->clocks_refused = r < 0 && r != -ESRCH && r != -EMFILE && !opener_session_is_over(r);
	return r;
}

/* Each try may be a message to the daemon, with the thread held. */
#define RETRY_NS NS_PER_S

static bool is_due(const struct holdings *h, const struct thread *t)
{
	return (registers_due(h, t) || affords_clock(h, t) != t->clock_on) &&
	       clock_monotonic_ns() >= t->retry_ns;
}

static int change(struct holdings *h, struct thread *t)
{
	int r = change_registers(h, t);

	if (r == 0)
		r = change_clock(h, t);
	if (r < 0)
		t->retry_ns = clock_monotonic_ns() + RETRY_NS;
	return opener_session_is_over(r) ? r : 0;
}

void holdings_mend(struct holdings *h, struct thread *t)
{
	if (!has_spent_timer(t) || !thread_hold(t))
		return;
	set_timer_again(h, t);
	thread_let_go(t);
}

int holdings_follow(struct holdings *h, struct thread *t)
{
	bool due;
	int r = 0;

	if (sampling_events(h) > 0)
		return 0;
	due = is_due(h, t);
	if ((!due && !has_spent_timer(t)) || !thread_hold(t))
		return 0;
	if (due)
		r = change(h, t);
	/* Also for signals that came while it was held. */
	if (!t->clock_on)
		set_timer_again(h, t);
	thread_let_go(t);
	return r;
}

bool holdings_is_gone(struct thread *t)
{
	bool gone;

	if (t->timer < 0)
		return false;
	if (t->clock_on)
		return cpu_timer_set(t->timer, 0) == -ESRCH;
	/* One that fired is set by the handler, or here: a moment early does no harm. */
	if (cpu_timer_is_set(t->timer) || !thread_hold(t))
		return false;
	gone = cpu_timer_set(t->timer, 1) == -ESRCH;
	thread_let_go(t);
	return gone;
}

/* ---------------------------------------------------------------- phases */

static int begin_phase(struct holdings *h, struct thread *t)
{
	uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	int r = open_registers(h, t);

	if (r < 0) {
		/* As if a phase had come and brought nothing. */
		h->totals[JXP__COUNTER__COUNTER_PHASES_MISSED]++;
		begin_phases(h, t);
		return opener_session_is_over(r) ? r : 0;
	}
	h->phases++;
	t->phase_since_ns = clock_monotonic_ns();
	if (!clock_thread_ns(t->tid, &t->phase_cpu_ns))
		t->phase_cpu_ns = 0;
	t->phase_work_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
	atomic_store(&t->registers, REGISTERS_LENT);
	/* The next tick of the scheduler is the phase's: a moment that nothing has chosen. */
	atomic_store(&t->timer_spent, false);
	if (t->timer >= 0)
		(void)cpu_timer_set(t->timer, 1); /* Fails when the thread has ended. */
	return 0;
}

/* What phases cost changes with what the thread does: the mean of those of late. After one that was
 * missed the next one, whose sample then stands for more, is as far away as after any other: it
 * costs as much. */
static void end_phase(struct holdings *h, struct thread *t, bool missed)
{
	uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID), cpu_ns = t->phase_cpu_ns;
	double lost, cost;

	take_registers(h, t);
	h->phases--;
	/* Else it has ended, and maybe its number is another thread's. */
	if (!clock_thread_ns(t->tid, &cpu_ns) || cpu_ns < t->phase_cpu_ns)
		cpu_ns = t->phase_cpu_ns;
	lost =
	    (double)(cpu_ns - t->phase_cpu_ns) * switches_per_ns(t) * handlers.switch_costs.held_ns;
	h->totals[JXP__COUNTER__COUNTER_SWITCHES_NS] += (uint64_t)lost;
	cost = lost * (1 + handlers.switch_costs.armed_ns / (handlers.switch_costs.held_ns + 1)) +
	       (double)(t->phase_work_ns + clock_ns(CLOCK_THREAD_CPUTIME_ID) - start);
	t->phase_cost_ns += (cost - t->phase_cost_ns) / 4;
	set_phase_period(h, t, t->phase_cost_ns);
	t->phase_after_ns = missed ? cpu_ns + atomic_load(&t->phase_period) : 0;
	atomic_store(&t->registers, REGISTERS_NONE);
}

int holdings_phase(struct holdings *h, struct thread *t)
{
	uint8_t watch = atomic_load(&t->registers);
	bool late =
	    watch == REGISTERS_LENT && clock_monotonic_ns() > t->phase_since_ns + PHASE_WAIT_NS;
	int r = 0;

	if (watch != REGISTERS_ASKED && watch != REGISTERS_DONE && !late)
		return 0;
	if (!thread_hold(t)) {
		/* As a rule the one that asked: we woke before it was done. It does not ask again.
		 */
		h->put_off = true;
		return 0;
	}
	/* Only the session thread moves it on, now. */
	watch = atomic_load(&t->registers);
	if (watch == REGISTERS_ASKED) {
		h->totals[JXP__COUNTER__COUNTER_PHASES]++;
		r = begin_phase(h, t);
	} else if (watch != REGISTERS_USED) {
		h->totals[JXP__COUNTER__COUNTER_PHASES_MISSED] += watch == REGISTERS_LENT;
		end_phase(h, t, watch == REGISTERS_LENT);
	}
	if (!t->clock_on && atomic_exchange(&t->timer_spent, false))
		(void)cpu_timer_set(t->timer, 1); /* As above. */
	thread_let_go(t);
	return r;
}

/* ---------------------------------------------------------------- the end */

void holdings_disable(const struct thread *t)
{
	/* Closing is not enough: a ring's mapping keeps its event going, and so does a process that
	 * was forked and has not run a program, or never will. It fails only for what is not open.
	 */
	for (unsigned i = 0; i < SAMPLING_EVENTS; i++)
		if (t->sampling_fd[i] >= 0)
			(void)perf_disable(t->sampling_fd[i]);
	for (unsigned i = 0; i < PERF_DEBUG_REGISTERS; i++)
		if (t->register_fd[i] >= 0)
			(void)perf_disable(t->register_fd[i]);
	if (t->timer >= 0)
		(void)cpu_timer_set(t->timer, 0);
}

void holdings_end(struct holdings *h, struct thread *t)
{
	uint8_t watch = atomic_load(&t->registers);

	holdings_disable(t);
	h->timers_left += t->timer >= 0;
	cpu_timer_delete(t->timer);
	t->timer = -1;
	for (unsigned i = 0; i < SAMPLING_EVENTS; i++)
		h->fds_left += t->sampling_fd[i] >= 0;
	h->fds_left += t->fd_reserved;
	t->fd_reserved = false;
	fd_close_all(t->sampling_fd, SAMPLING_EVENTS);
	h->phases -= watch == REGISTERS_LENT || watch == REGISTERS_USED || watch == REGISTERS_DONE;
	atomic_store(&t->registers, REGISTERS_NONE);
	close_registers(h, t);
}
