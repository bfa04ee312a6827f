#include "attach/agent/window/monitor.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include "attach/agent/handler/burst.h"
#include "attach/agent/handler/handlers.h"
#include "attach/agent/handler/sampler.h"
#include "attach/agent/handler/sampling_gate.h"
#include "attach/agent/handler/signals.h"
#include "attach/agent/handler/thread.h"
#include "attach/agent/handler/reading.h"
#include "attach/agent/handler/trace.h"
#include "attach/agent/handler/watchpoint.h"
#include "attach/agent/window/fd_allowance.h"
#include "common/clock.h"

void monitor_init(struct monitor *m, const struct settings *settings, struct opener *opener,
		  const struct sampling_gate *gate, struct drain *drain)
{
	*m = (struct monitor){.settings = settings,
			      .opener = opener,
			      .gate = gate,
			      .drain = drain,
			      .fds_left = fd_allowance()};
}

static unsigned sampling_events(const struct monitor *m)
{
	return m->settings->sampling.event_count;
}

unsigned monitor_room(const struct monitor *m)
{
	unsigned entries = THREADS_MAX - threads_in_use();
	unsigned events = sampling_events(m) ? sampling_events(m) : 1;
	unsigned fds = m->fds_left / (events + 1); /* One more for a register. */

	return fds < entries ? fds : entries;
}

static bool is_fatal(int error)
{
	return error == -EPIPE || error == -EPROTO || error == -ETIMEDOUT;
}

/* Opens one of the sampler's events, disabled. */
static int open_sampling_event(struct monitor *m, struct thread *t, unsigned i)
{
	uint64_t sig_data = thread_sig_data(t, THREAD_ROLE_SAMPLING);
	int fd = sampling_events(m) == 0
		     ? opener_clock(m->opener, t->tid, handlers.period, sig_data)
		     : opener_hardware(m->opener, t->tid, i, handlers.period, sig_data);

	if (fd < 0)
		return fd;
	t->sampling_fd[i] = fd;
	t->period = handlers.period;
	m->fds_left--;
	if (!sampling_gate_attach(m->gate, fd))
		m->totals[JXP__COUNTER__COUNTER_GATE_UNATTACHED]++;
	return 0;
}

/* On failure some may be open. */
static int open_sampling(struct monitor *m, struct thread *t)
{
	int r = 0;

	if (sampling_events(m) == 0)
		return open_sampling_event(m, t, 0);
	for (unsigned i = 0; i < sampling_events(m) && r == 0; i++)
		if (sampler_wants_event(i, m->objects))
			r = open_sampling_event(m, t, i);
	return r;
}

/* A handler takes microseconds; one whose thread is not scheduled is not waited for longer. */
#define HANDLERS_TIMEOUT_MS 200u

/* Closing is not enough: a ring's mapping keeps its event going, and so does a process that was
 * forked and has not run a program, or never will. */
static void disable_events(const struct thread *t)
{
	/* It fails only for what is not open. */
	for (unsigned i = 0; i < SAMPLING_EVENTS; i++)
		if (t->sampling_fd[i] >= 0)
			(void)perf_disable(t->sampling_fd[i]);
	for (unsigned i = 0; i < PERF_DEBUG_REGISTERS; i++)
		if (t->register_fd[i] >= 0)
			(void)perf_disable(t->register_fd[i]);
}

static void close_events(struct monitor *m, struct thread *t)
{
	disable_events(t);
	for (unsigned i = 0; i < SAMPLING_EVENTS; i++)
		m->fds_left += t->sampling_fd[i] >= 0;
	for (unsigned i = 0; i < PERF_DEBUG_REGISTERS; i++)
		m->fds_left += t->register_fd[i] >= 0;
	m->fds_left += t->fd_reserved;
	t->fd_reserved = false;
	fd_close_all(t->sampling_fd, SAMPLING_EVENTS);
	burst_note_counts(t);
	fd_close_all(t->register_fd, PERF_DEBUG_REGISTERS);
}

/* A handler may be about to read an event's count: its descriptor must not become another file's.
 * Handlers that begin from now on do nothing. */
static bool may_close(const struct thread *t)
{
	return t->burst_registers == 0 || atomic_load(&t->in_handler) == 0;
}

void monitor_refused(struct monitor *m)
{
	m->totals[threads_in_use() >= THREADS_MAX ? JXP__COUNTER__COUNTER_THREADS_OVER_LIMIT
						  : JXP__COUNTER__COUNTER_THREADS_NO_DESCRIPTORS]++;
}

/* A thread whose events could not be opened. One that has ended meanwhile is not missed. */
static void count_unopened(struct monitor *m, int error)
{
	if (error == -EMFILE)
		m->totals[JXP__COUNTER__COUNTER_THREADS_NO_DESCRIPTORS]++;
	else if (error != -ESRCH)
		m->totals[JXP__COUNTER__COUNTER_THREADS_FAILED]++;
}

int monitor_add(struct monitor *m, pid_t tid)
{
	struct thread *t;
	int r;

	if (thread_find(tid))
		return 0;
	t = monitor_room(m) > 0 ? thread_take(tid) : NULL;
	if (!t) {
		monitor_refused(m);
		return 0;
	}
	t->epoch = atomic_load(&handlers.epoch);
	t->fd_reserved = true; /* A sampling event without a register finds nothing. */
	m->fds_left--;
	r = open_sampling(m, t);
	if (r < 0) {
		close_events(m, t);
		thread_recycle(t);
		if (is_fatal(r))
			return r;
		count_unopened(m, r);
		return 0;
	}
	m->totals[JXP__COUNTER__COUNTER_THREADS]++;
	turnover_taken(&m->turnover);
	for (unsigned i = 0; i < SAMPLING_EVENTS; i++)
		if (t->sampling_fd[i] >= 0 && perf_enable(t->sampling_fd[i]) < 0)
			m->totals[JXP__COUNTER__COUNTER_EVENT_ERRORS]++;
	return 0;
}

/* The stack of a thread is the writable mapping its stack pointer lies in; guard pages are separate
 * mappings. */
static void find_stack(struct thread *t, uint64_t sp)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long low, high;
	char line[512], access[5];

	if (!maps)
		return;
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %4s", &low, &high, access) != 3 || sp < low || sp >= high)
			continue;
		t->stack_low = low;
		t->stack_high = high;
		break;
	}
	(void)fclose(maps); /* Read-only. */
}

/* A window for pairs has a register for each that may wait, one for loops one for each place that
 * is counted. One for objects alone needs one, to stop a thread at the access that is looked for;
 * one for ticks alone, none. */
static unsigned registers_wanted(const struct monitor *m)
{
	if (m->settings->sampling.kind_count > 0 || m->settings->sampling.loops)
		return m->settings->registers;
	return m->settings->objects.max > 0 ? 1 : 0;
}

/* One register is certain. Of what else is left a thread takes at most half, so that a few busy
 * threads do not leave the others with nothing. */
static unsigned registers_for(const struct monitor *m)
{
	unsigned wanted = registers_wanted(m);

	return 1 + m->fds_left / 2 < wanted ? 1 + m->fds_left / 2 : wanted;
}

/* What a burst takes at the least: a header, and a place. */
#define BURST_REGISTERS_MIN 2u

/* Of so many that accesses to objects leave over: without pairs all of them, beside pairs two
 * where they have one still. */
static unsigned registers_for_bursts(const struct monitor *m, unsigned left)
{
	if (!m->settings->sampling.loops || left < BURST_REGISTERS_MIN)
		return 0;
	if (m->settings->sampling.kind_count == 0)
		return left;
	return left > BURST_REGISTERS_MIN ? BURST_REGISTERS_MIN : 0;
}

/* The last register of a thread is kept for finding the accesses that objects are sampled by, so
 * that it displaces no pair, unless the thread has only one. Those before it are for bursts. */
static void share_registers(const struct monitor *m, struct thread *t, unsigned count)
{
	bool others = m->settings->sampling.kind_count > 0 || m->settings->sampling.loops;
	unsigned own = m->objects && others && count > 1;
	unsigned bursts = registers_for_bursts(m, count - own);

	t->access_register = m->objects ? (int)count - 1 : -1;
	burst_own(t, count - own - bursts, bursts);
	reservoir_init(&t->reservoir, count - own - bursts);
}

/* As many debug registers as the window wants, or as a debugger has left us. */
static int open_registers(struct monitor *m, struct thread *t)
{
	unsigned count = registers_for(m);
	int r;

	if (registers_wanted(m) == 0)
		return 0;
	if (count < registers_wanted(m))
		m->totals[JXP__COUNTER__COUNTER_THREADS_NO_DESCRIPTORS]++;
	do {
		r = opener_breakpoints(m->opener, t->tid, count,
				       thread_sig_data(t, THREAD_ROLE_REGISTER), t->register_fd);
	} while (r == -ENOSPC && --count > 0);
	if (r == 0) {
		share_registers(m, t, count);
		t->fd_reserved = false;
		m->fds_left -= count - 1;
	}
	return r;
}

static void set_period(struct monitor *m, struct thread *t)
{
	t->period = handlers.period;
	for (unsigned i = 0; i < SAMPLING_EVENTS; i++)
		if (t->sampling_fd[i] >= 0 && perf_set_period(t->sampling_fd[i], t->period) < 0)
			m->totals[JXP__COUNTER__COUNTER_EVENT_ERRORS]++;
}

/* One data page: 63 records, of which the handler takes one a signal. */
#define RING_PAGES 1u

/* The rings of hardware samplers. Only threads that run Java code get them: they are locked memory,
 * of which a user has little (perf_event_mlock_kb and RLIMIT_MEMLOCK). */
static int map_rings(const struct monitor *m, struct thread *t)
{
	int r = 0;

	for (unsigned i = 0; i < sampling_events(m) && r == 0; i++)
		if (t->sampling_fd[i] >= 0)
			r = perf_ring_map(&t->sampling_ring[i], t->sampling_fd[i], RING_PAGES,
					  PERF_HARDWARE_SAMPLE_TYPE);
	return r;
}

static int give_registers(struct monitor *m, struct thread *t)
{
	int r = thread_allocate(t, m->settings->max_frames);

	if (r == 0)
		r = map_rings(m, t);
	if (r == 0)
		r = open_registers(m, t);
	if (r < 0) {
		if (is_fatal(r))
			return r;
		count_unopened(m, r);
		atomic_store(&t->state, THREAD_FAILED);
		return 0;
	}
	find_stack(t, atomic_load(&t->wanted_sp));
	t->announced = true;
	t->settled_ns = clock_monotonic_ns();
	/* The period may have changed since its events were opened. */
	set_period(m, t);
	/* Release: the handler sees descriptors, memory and stack bounds before it uses them. */
	atomic_store_explicit(&t->state, THREAD_READY, memory_order_release);
	return drain_announce(m->drain, t, false);
}

static void take_counters(struct monitor *m, const struct thread *t)
{
	for (unsigned i = 0; i < JXP__COUNTER__COUNTER_MAX; i++)
		m->totals[i] += atomic_load(&t->counters[i]);
}

/* Of a thread whose handler did not return only the counters are known: what they say was armed and
 * not closed is watched no more. */
static void give_up(struct monitor *m, const struct thread *t)
{
	static const Jxp__Counter closed[] = {
	    JXP__COUNTER__COUNTER_TRAPS, JXP__COUNTER__COUNTER_REPLACED,
	    JXP__COUNTER__COUNTER_EXPIRED_GC, JXP__COUNTER__COUNTER_EXPIRED_WINDOW,
	    JXP__COUNTER__COUNTER_ABANDONED};
	uint64_t open = atomic_load(&t->counters[JXP__COUNTER__COUNTER_ARMED]);

	for (unsigned i = 0; i < sizeof(closed) / sizeof(closed[0]); i++)
		open -= atomic_load(&t->counters[closed[i]]);
	take_counters(m, t);
	if (open <= PERF_DEBUG_REGISTERS) /* Else it counted on meanwhile. */
		m->totals[JXP__COUNTER__COUNTER_EXPIRED_WINDOW] += open;
}

static int retire(struct monitor *m, struct thread *t)
{
	int r;

	disable_events(t);
	if (!may_close(t))
		return 0; /* At the next update. */
	close_events(m, t);
	if (atomic_load(&t->in_handler))
		return 0;              /* Likewise. */
	r = drain_thread(m->drain, t); /* Makes room in the ring. */
	watchpoint_expire(t);
	burst_expire(t);
	trace_expire(t);
	reading_expire(t);
	if (r == 0)
		r = drain_thread(m->drain, t);
	if (r == 0 && t->announced)
		r = drain_announce(m->drain, t, true);
	take_counters(m, t);
	turnover_ended(&m->turnover, atomic_load(&t->counters[JXP__COUNTER__COUNTER_TICKS]));
	thread_recycle(t);
	return r;
}

/* For every thread that runs, in Java code or not: a tick costs the target the same anywhere, and
 * the gate's limits follow the period. A thread that has had no tick is left alone. */
static void follow_period(struct monitor *m, struct thread *t)
{
	if (t->period != handlers.period && atomic_load(&t->counters[JXP__COUNTER__COUNTER_TICKS]))
		set_period(m, t);
}

int monitor_update(struct monitor *m)
{
	uint64_t now = clock_monotonic_ns(), settled = now;
	int r = 0;

	m->fullest = 0;
	m->newcomers = false;
	for (unsigned i = 0; i < threads_used() && r == 0; i++) {
		struct thread *t = thread_at(i);
		uint32_t state = atomic_load_explicit(&t->state, memory_order_acquire);

		if (!thread_is_used(t))
			continue;
		/* A handler that begins after this look gives its records a later time than now;
		 * those of earlier ones are in the ring, which is drained next. */
		if (atomic_load(&t->in_handler) == 0)
			t->settled_ns = now;
		else if (t->memory && t->settled_ns < settled)
			settled = t->settled_ns;
		if (atomic_load(&t->ended)) {
			r = retire(m, t);
			continue;
		}
		follow_period(m, t);
		if (state == THREAD_WANTED) {
			m->newcomers = true;
			r = give_registers(m, t);
		} else if (state == THREAD_READY) {
			if (ring_used(&t->memory->ring) > m->fullest)
				m->fullest = ring_used(&t->memory->ring);
			r = drain_thread(m->drain, t);
		}
	}
	if (r == 0)
		m->settled_ns = settled;
	return r;
}

void monitor_close_events(struct monitor *m)
{
	for (unsigned i = 0; i < threads_used(); i++)
		if (thread_is_used(thread_at(i)))
			disable_events(thread_at(i));
	/* One that began before may have armed a register since. */
	signals_wait_for_handlers(HANDLERS_TIMEOUT_MS);
	for (unsigned i = 0; i < threads_used(); i++)
		if (thread_is_used(thread_at(i)) && may_close(thread_at(i)))
			close_events(m, thread_at(i));
}

int monitor_finish(struct monitor *m)
{
	int r = 0;

	for (unsigned i = 0; i < threads_used(); i++) {
		struct thread *t = thread_at(i);

		if (!thread_is_used(t))
			continue;
		if (atomic_load(&t->in_handler)) {
			/* It has been for seconds; its events are not to go on. */
			close_events(m, t);
			give_up(m, t);
			thread_abandon(t);
		} else if (r == 0)
			r = retire(m, t);
		else
			thread_recycle(t);
	}
	return r;
}

void monitor_counters(const struct monitor *m, uint64_t *counters)
{
	memcpy(counters, m->totals, sizeof(m->totals));
	for (unsigned i = 0; i < threads_used(); i++) {
		struct thread *t = thread_at(i);

		if (!thread_is_used(t))
			continue;
		for (unsigned c = 0; c < JXP__COUNTER__COUNTER_MAX; c++)
			counters[c] += atomic_load_explicit(&t->counters[c], memory_order_relaxed);
	}
}
