#include "attach/agent/window/guests.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "attach/agent/handler/handlers.h"
#include "attach/agent/handler/thread.h"
#include "attach/agent/jvm/roster.h"
#include "attach/agent/stream/drain.h"
#include "common/clock.h"

/* Threads of tens of microseconds are a few at a time. */
#define GUESTS_MAX 64u

/* Of the thread table there is more than that left, or there are no guests. */
#define ROOM_MIN 256u

/* One that has not used its first CPU time by then waits for something. */
#define STAY_NS NS_PER_S

/* For a thread that is about to begin, or to end; it takes microseconds unless it is not scheduled.
 */
#define STOP_TIMEOUT_NS (200 * NS_PER_MS)

/* Their sum says little about how many there should be. */
#define TICKS_FEW 4

/* A thread that starts has this much on its stack at most; what has more may be on another one. */
#define STACK_ABOVE_BYTES (64u << 10)

/* To make a timer, set it and delete it, and to read the clock twice: measured 1.8 us. */
#define GUEST_NS 2000u

enum guest_state {
	GUEST_NONE, /* no entry */
	GUEST_IDLE,
	GUEST_ARMING,  /* the thread's that starts */
	GUEST_LIVE,    /* nobody's: the thread runs */
	GUEST_CLOSING, /* the thread's that ends, or the session thread's */
	GUEST_ENDED,   /* the session thread's: there are records */
	GUEST_STUCK,   /* the window ended, and its thread was in the middle of something */
};

struct guest {
	_Atomic uint32_t state;
	struct thread *t;
	_Atomic uint64_t since_ns,
	    cpu_ns; /* by the clock on the wall, and the thread's CPU time then */
};

/* Global because the threads that begin and end get nothing of ours. */
static struct guest pool[GUESTS_MAX];
static _Atomic pid_t tids[GUESTS_MAX]; /* of those that live; dense, for threads that end */
static _Atomic unsigned turn;
static _Atomic uint64_t open_until_ns, stands_for_ns;
static _Atomic uint64_t begun, missed;
static _Atomic uint64_t used_ns, ticks_seen; /* of those that are no guests any more */
static unsigned frames;                      /* session thread alone, and: is there a pool? */
static bool filled;

static bool move(struct guest *g, uint32_t from, uint32_t to)
{
	return atomic_compare_exchange_strong(&g->state, &from, to);
}

static uint64_t ticks(const struct thread *t)
{
	return atomic_load(&t->counters[JXP__COUNTER__COUNTER_TICKS]);
}

/* By the party that has it. What was given up meanwhile is never used again; its place is. */
static bool pass(struct guest *g, uint32_t from, uint32_t to)
{
	if (move(g, from, to))
		return true;
	atomic_store(&g->state, GUEST_NONE);
	return false;
}

/* ---------------------------------------------------------------- in threads that start and end */

static struct guest *take(void)
{
	unsigned first = atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed);

	for (unsigned i = 0; i < GUESTS_MAX; i++) {
		struct guest *g = &pool[(first + i) % GUESTS_MAX];

		if (atomic_load_explicit(&g->state, memory_order_relaxed) == GUEST_IDLE &&
		    move(g, GUEST_IDLE, GUEST_ARMING))
			return g;
	}
	return NULL;
}

/* Those that were missed are stood for by those that were not. And on a busy processor a new thread
 * often begins right after the scheduler's tick, so that fewer ticks than there should be find one
 * running: ticks tell where, how much is told by the threads' clocks. */
static uint64_t tick_ns(void)
{
	double got = (double)atomic_load(&begun) + 1, lost = (double)atomic_load(&missed);
	double tick = (double)handlers.scheduler_tick_ns;
	double used = (double)atomic_load(&used_ns) + TICKS_FEW * tick;
	double seen = ((double)atomic_load(&ticks_seen) + TICKS_FEW) * tick;

	return (uint64_t)((double)atomic_load(&stands_for_ns) * (got + lost) / got * used / seen);
}

/* One has used the thread's CPU time up to cpu_ns as a guest. */
static void note_used(const struct guest *g, uint64_t cpu_ns)
{
	uint64_t from = atomic_load(&g->cpu_ns), to = cpu_ns < GUEST_CPU_NS ? cpu_ns : GUEST_CPU_NS;

	atomic_fetch_add_explicit(&used_ns, to > from ? to - from : 0, memory_order_relaxed);
	atomic_fetch_add_explicit(&ticks_seen, ticks(g->t), memory_order_relaxed);
}

/* glibc has a thread's own data at the high end of its stack. */
static uint64_t stack_high(void)
{
	uint64_t here = (uintptr_t)__builtin_frame_address(0), high = (uintptr_t)pthread_self();

	return high > here && high - here < STACK_ABOVE_BYTES ? high : 0;
}

static bool arm(struct guest *g, pid_t tid, uint64_t now_ns)
{
	struct thread *t = g->t;
	int timer;

	thread_lend(t, tid);
	memset(&t->sides, 0, sizeof(t->sides));
	t->guest_tick_ns = tick_ns();
	t->stack_high = stack_high();
	atomic_store(&t->timer_spent, false);
	timer = cpu_timer_create(tid, thread_sig_data(t, THREAD_ROLE_SAMPLING));
	if (timer < 0) {
		thread_lend(t, 0);
		(void)pass(g, GUEST_ARMING, GUEST_IDLE); /* Either way it is not ours any more. */
		return false;
	}
	t->timer = timer;
	atomic_store(&g->since_ns, now_ns);
	atomic_store(&g->cpu_ns, clock_ns(CLOCK_THREAD_CPUTIME_ID));
	if (!pass(g, GUEST_ARMING, GUEST_LIVE)) {
		cpu_timer_delete(timer);
		return false;
	}
	atomic_store(&tids[g - pool], tid);
	/* No tick before the entry is complete. Numbers of timers are not used again for long: one
	 * that was deleted meanwhile is not found. */
	(void)cpu_timer_set(timer, 1);
	return true;
}

void guests_begin(pid_t tid)
{
	uint64_t until = atomic_load_explicit(&open_until_ns, memory_order_relaxed), now;
	struct guest *g;

	if (until == 0)
		return;
	now = clock_monotonic_ns();
	if (now >= until)
		return;
	g = take();
	atomic_fetch_add_explicit(g && arm(g, tid, now) ? &begun : &missed, 1,
				  memory_order_relaxed);
}

bool guests_end(pid_t tid)
{
	unsigned i = 0;
	struct guest *g;

	while (i < GUESTS_MAX && atomic_load_explicit(&tids[i], memory_order_relaxed) != tid)
		i++;
	if (i == GUESTS_MAX)
		return false;
	g = &pool[i];
	if (!move(g, GUEST_LIVE, GUEST_CLOSING))
		return true; /* The session thread closes it. */
	/* A signal that is pending is delivered on the way back from here. */
	cpu_timer_delete(g->t->timer);
	g->t->timer = -1;
	note_used(g, clock_ns(CLOCK_THREAD_CPUTIME_ID));
	atomic_store(&tids[i], 0);
	thread_lend(g->t, 0);
	(void)pass(g, GUEST_CLOSING, ticks(g->t) ? GUEST_ENDED : GUEST_IDLE); /* As above. */
	return true;
}

/* ---------------------------------------------------------------- the pool */

static bool fill(struct guest *g)
{
	struct thread *t;

	if (THREADS_MAX - threads_in_use() < ROOM_MIN)
		return false;
	t = thread_take(0);
	if (!t)
		return false;
	if (thread_allocate(t, frames) < 0) {
		thread_recycle(t);
		return false;
	}
	t->guest = (unsigned)(g - pool) + 1;
	t->epoch = handlers_epoch();
	t->settled_ns = clock_monotonic_ns();
	g->t = t;
	atomic_store(&tids[g - pool], 0);
	atomic_store(&t->state, THREAD_READY);
	atomic_store(&g->state, GUEST_IDLE);
	return true;
}

static void fill_pool(void)
{
	bool room = true;

	filled = true;
	for (unsigned i = 0; i < GUESTS_MAX && room; i++)
		if (atomic_load(&pool[i].state) == GUEST_NONE)
			room = fill(&pool[i]);
}

void guests_start(unsigned max_frames)
{
	frames = max_frames;
	atomic_store(&begun, 0);
	atomic_store(&missed, 0);
	atomic_store(&used_ns, 0);
	atomic_store(&ticks_seen, 0);
}

void guests_open(uint64_t until_ns, uint64_t stands_ns)
{
	if (!filled)
		fill_pool();
	atomic_store(&stands_for_ns, stands_ns);
	atomic_store(&open_until_ns, until_ns);
}

/* ---------------------------------------------------------------- what they tell */

static int tell(struct drain *drain, struct thread *t)
{
	int r = 0;

	/* Until the entry is given back it is this thread's. */
	if (ticks(t) == 0)
		return 0;
	if (!t->announced)
		r = drain_announce(drain, t, false);
	t->announced = true;
	return r == 0 ? drain_thread(drain, t) : r;
}

/* Nobody else has the entry, and its signals are late. */
static int give_back(struct guest *g, struct drain *drain, uint64_t *totals)
{
	struct thread *t = g->t;
	int r = tell(drain, t);

	if (r == 0 && t->announced)
		r = drain_announce(drain, t, true);
	t->announced = false;
	for (unsigned i = 0; i < JXP__COUNTER__COUNTER_MAX; i++)
		totals[i] += atomic_exchange(&t->counters[i], 0);
	atomic_store(&t->nested, 0);
	atomic_store(&t->touched, 0);
	atomic_store(&g->state, filled ? GUEST_IDLE : GUEST_NONE);
	return r;
}

/* A handler that is at work may set the timer again. False while there is one. */
static bool dismiss(struct guest *g)
{
	struct thread *t = g->t;
	bool held = thread_hold(t);

	if (held && move(g, GUEST_LIVE, GUEST_CLOSING)) {
		cpu_timer_delete(t->timer);
		t->timer = -1;
		atomic_store(&tids[g - pool], 0);
		thread_lend(t, 0);
		atomic_store(&g->state, GUEST_ENDED);
	}
	if (held)
		thread_let_go(t);
	return held;
}

/* Sends away who has ended untold, has used its first CPU time, or waits. */
static void look_after(struct guest *g, pid_t *stays)
{
	pid_t tid = atomic_load(&tids[g - pool]);
	uint64_t cpu_ns = 0;
	bool here;

	if (tid == 0)
		return;
	here = clock_thread_ns(tid, &cpu_ns);
	if (here && cpu_ns < GUEST_CPU_NS && clock_monotonic_ns() < g->since_ns + STAY_NS)
		return;
	if (!dismiss(g) || !here)
		return;
	note_used(g, cpu_ns);
	if (cpu_ns >= GUEST_CPU_NS)
		*stays = tid;
	else
		roster_add(tid);
}

int guests_follow(struct drain *drain, struct thread *t, uint64_t *totals, pid_t *stays)
{
	struct guest *g = &pool[t->guest - 1];
	int r = 0;

	*stays = 0;
	if (atomic_load(&g->state) == GUEST_LIVE) {
		r = tell(drain, t);
		look_after(g, stays);
	}
	if (r == 0 && atomic_load(&g->state) == GUEST_ENDED)
		r = give_back(g, drain, totals);
	return r;
}

/* ---------------------------------------------------------------- the end */

static void stop(struct guest *g, uint64_t deadline_ns)
{
	const struct timespec moment = {.tv_nsec = (long)NS_PER_MS};

	for (;;) {
		uint32_t state = atomic_load(&g->state);

		if (state == GUEST_NONE || state == GUEST_ENDED || state == GUEST_STUCK ||
		    (state == GUEST_IDLE && move(g, GUEST_IDLE, GUEST_NONE)))
			return;
		if (state == GUEST_LIVE && dismiss(g))
			continue;
		if (clock_monotonic_ns() >= deadline_ns) {
			/* Its thread may go on at any time: nobody else gets the entry. */
			atomic_fetch_add(&g->t->in_handler, 1);
			if (move(g, state, GUEST_STUCK)) {
				atomic_store(&tids[g - pool], 0);
				return;
			}
			atomic_fetch_sub(&g->t->in_handler, 1);
		}
		(void)nanosleep(&moment, NULL); /* Too short a sleep does no harm. */
	}
}

void guests_stop(void)
{
	uint64_t deadline = clock_monotonic_ns() + STOP_TIMEOUT_NS;

	filled = false;
	atomic_store(&open_until_ns, 0);
	for (unsigned i = 0; i < GUESTS_MAX; i++)
		stop(&pool[i], deadline);
}

/* ---------------------------------------------------------------- the account */

uint64_t guests_cost_ns(void)
{
	return atomic_load(&begun) * GUEST_NS;
}

void guests_counters(uint64_t *counters)
{
	counters[JXP__COUNTER__COUNTER_GUESTS] = atomic_load(&begun);
	counters[JXP__COUNTER__COUNTER_GUESTS_MISSED] = atomic_load(&missed);
}

uint64_t guests_told_ns(uint64_t from_ns)
{
	return filled && from_ns < GUEST_CPU_NS ? GUEST_CPU_NS : from_ns;
}
