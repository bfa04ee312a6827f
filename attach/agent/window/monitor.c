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
#include "attach/agent/window/allowance.h"
#include "attach/agent/window/guests.h"
#include "common/clock.h"

void monitor_init(struct monitor *m, const struct settings *settings, const struct ledger *ledger,
		  struct opener *opener, const struct sampling_gate *gate, struct drain *drain)
{
	*m = (struct monitor){.settings = settings,
			      .drain = drain,
			      .holdings = {.settings = settings,
					   .ledger = ledger,
					   .opener = opener,
					   .gate = gate,
					   .fds_left = fd_allowance(),
					   .timers_left = timer_allowance(),
					   .totals = m->totals}};
}

unsigned monitor_room(const struct monitor *m)
{
	unsigned entries = THREADS_MAX - threads_in_use(), least = holdings_least(&m->holdings);
	/* The clock's threads take a timer, or else a descriptor. */
	uint64_t ticks = least ? m->holdings.fds_left / least
			       : (uint64_t)m->holdings.timers_left + m->holdings.fds_left;

	return ticks < entries ? (unsigned)ticks : entries;
}

/* A handler takes microseconds; one whose thread is not scheduled is not waited for longer. */
#define HANDLERS_TIMEOUT_MS 200u

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

int monitor_add(struct monitor *m, pid_t tid, uint64_t from_ns)
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
	thread_enter_epoch(t, handlers_epoch());
	r = holdings_begin(&m->holdings, t, from_ns);
	if (r < 0) {
		holdings_end(&m->holdings, t);
		thread_recycle(t);
		if (opener_session_is_over(r))
			return r;
		count_unopened(m, r);
		return 0;
	}
	m->totals[JXP__COUNTER__COUNTER_THREADS]++;
	turnover_taken(&m->turnover);
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

/* One data page: 63 records, of which the handler takes one a signal. */
#define RING_PAGES 1u

/* The rings of hardware samplers. Only threads that run Java code get them: they are locked memory,
 * of which a user has little (perf_event_mlock_kb and RLIMIT_MEMLOCK). */
static int map_rings(const struct monitor *m, struct thread *t)
{
	int r = 0;

	for (unsigned i = 0; i < m->settings->sampling.event_count && r == 0; i++)
		if (t->sampling_fd[i] >= 0)
			r = perf_ring_map(&t->sampling_ring[i], t->sampling_fd[i], RING_PAGES,
					  PERF_HARDWARE_SAMPLE_TYPE);
	return r;
}

/* What samples of a thread take. */
static int make_ready(struct monitor *m, struct thread *t)
{
	int r = thread_allocate(t, m->settings->max_frames);

	if (r == 0)
		r = map_rings(m, t);
	if (r == 0)
		r = holdings_give(&m->holdings, t);
	if (r < 0) {
		if (opener_session_is_over(r))
			return r;
		count_unopened(m, r);
		atomic_store(&t->state, THREAD_FAILED);
		return 0;
	}
	find_stack(t, atomic_load(&t->wanted_sp));
	t->announced = true;
	t->settled_ns = clock_monotonic_ns();
	/* The period may have changed since its events were opened. */
	holdings_set_period(&m->holdings, t);
	/* Release: the handler sees descriptors, memory and stack bounds before it uses them. */
	atomic_store_explicit(&t->state, THREAD_READY, memory_order_release);
	return drain_announce(m->drain, t, false);
}

static void take_counters(struct monitor *m, const struct thread *t)
{
	for (unsigned i = 0; i < JXP__COUNTER__COUNTER_MAX; i++)
		m->totals[i] += atomic_load(&t->counters[i]);
}

/* Only the counters of a thread whose handler did not return are known: what they say was armed and
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

	holdings_disable(t);
	if (!may_close(t))
		return 0; /* At the next update. */
	holdings_end(&m->holdings, t);
	if (atomic_load(&t->in_handler))
		return 0;              /* As above. */
	r = drain_thread(m->drain, t); /* Makes room in the ring. */
	watchpoint_expire(t, RECORD_EXPIRED_WINDOW);
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

static int update_ready(struct monitor *m, struct thread *t)
{
	int r;

	if (ring_used(&t->memory->ring) > m->fullest)
		m->fullest = ring_used(&t->memory->ring);
	r = drain_thread(m->drain, t);
	return r == 0 ? holdings_follow(&m->holdings, t) : r;
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
		if (t->guest) {
			r = guests_follow(m->drain, t, m->totals);
			continue;
		}
		if (atomic_load(&t->ended)) {
			r = retire(m, t);
			continue;
		}
		/* A thread that has had no tick is left alone. */
		if (atomic_load(&t->counters[JXP__COUNTER__COUNTER_TICKS]))
			holdings_set_period(&m->holdings, t);
		if (state == THREAD_WANTED) {
			m->newcomers = true;
			r = make_ready(m, t);
		} else if (state == THREAD_READY) {
			r = update_ready(m, t);
		} else {
			holdings_mend(&m->holdings, t);
		}
	}
	if (r == 0)
		m->settled_ns = settled;
	return r;
}

void monitor_sweep(const struct monitor *m)
{
	threads_sweep();
	if (holdings_least(&m->holdings) > 0)
		return;
	for (unsigned i = 0; i < threads_used(); i++) {
		struct thread *t = thread_at(i);

		if (thread_is_used(t) && !t->guest && !atomic_load(&t->ended) &&
		    holdings_is_gone(t))
			atomic_store(&t->ended, true);
	}
}

bool monitor_has_phases(const struct monitor *m)
{
	return m->holdings.phases > 0 || m->holdings.put_off;
}

int monitor_phases(struct monitor *m)
{
	int r = 0;

	m->holdings.put_off = false;
	for (unsigned i = 0; i < threads_used() && r == 0; i++) {
		struct thread *t = thread_at(i);

		if (atomic_load(&t->state) == THREAD_READY && !atomic_load(&t->ended))
			r = holdings_phase(&m->holdings, t);
	}
	return r;
}

bool monitor_close_events(struct monitor *m)
{
	bool all = true;

	for (unsigned i = 0; i < threads_used(); i++)
		if (thread_is_used(thread_at(i)))
			holdings_disable(thread_at(i));
	/* One that began before may have armed a register since. */
	signals_wait_for_handlers(HANDLERS_TIMEOUT_MS);
	for (unsigned i = 0; i < threads_used(); i++) {
		if (!thread_is_used(thread_at(i)))
			continue;
		if (may_close(thread_at(i)))
			holdings_end(&m->holdings, thread_at(i));
		else
			all = false;
	}
	return all;
}

int monitor_finish(struct monitor *m)
{
	int r = 0;

	for (unsigned i = 0; i < threads_used(); i++) {
		struct thread *t = thread_at(i);

		if (!thread_is_used(t))
			continue;
		if (t->guest && r == 0)
			r = guests_follow(m->drain, t, m->totals);
		if (atomic_load(&t->in_handler)) {
			/* It has been for seconds; its events are not to go on. */
			holdings_end(&m->holdings, t);
			give_up(m, t);
			thread_abandon(t);
		} else if (r == 0) {
			r = retire(m, t);
		} else {
			holdings_end(&m->holdings, t); /* As far as handlers were in the way. */
			thread_recycle(t);
		}
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
