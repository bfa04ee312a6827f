#include "attach/agent/window/guests.h"

#include <stdatomic.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "attach/agent/code/safe_read.h"
#include "attach/agent/handler/handlers.h"
#include "attach/agent/handler/signals.h"
#include "attach/agent/handler/thread.h"
#include "attach/agent/jvm/java_threads.h"
#include "attach/agent/stream/drain.h"
#include "common/clock.h"
#include "common/mix.h"

/* Samples between two looks of the session thread. */
#define GUESTS_MAX 64u

/* The thread table has more than that left, or there are no guests. */
#define ROOM_MIN 256u

/* For a handler that is at work; it takes microseconds unless it is not scheduled. */
#define STOP_TIMEOUT_NS (200 * NS_PER_MS)

/* Their sum says little about how many there should be. */
#define TICKS_FEW 4

#define ONE (UINT64_C(1) << 16)

/* How far ticks can be from what clocks say: what there is of such threads that no tick found yet
 * is not told by the next alone. */
#define TIMES_MAX 8
#define SCALE_MAX (TIMES_MAX * ONE)

enum guest_state {
	GUEST_NONE, /* no entry */
	GUEST_IDLE,
	GUEST_BUSY,  /* the handler's */
	GUEST_FULL,  /* the session thread's: there is a sample */
	GUEST_STUCK, /* the window ended, and a handler was in the middle of something */
};

struct guest {
	_Atomic uint32_t state;
	struct thread *t;
	char name[THREAD_NAME_BYTES];
};

/* Global because handlers get nothing of ours. */
static struct guest pool[GUESTS_MAX];
static struct java_threads java; /* written once: a handler of the window before may read it */
static _Atomic pid_t session;    /* the session thread */
static unsigned frames;
static _Atomic int timer = -1;
static _Atomic uint64_t period_ns;
static _Atomic uint64_t last_ns,
    owed_ns; /* the process's CPU time at the last tick; and told by none */
static _Atomic uint64_t turn, scale;
static _Atomic uint64_t begun, missed, in_vain;
static _Atomic uint64_t seen_ns, told_ns; /* by ticks of guests: as the clock says, and scaled */

/* ---------------------------------------------------------------- in handlers */

/* The JavaThread of this thread; 0 when it is none that runs Java code. */
static uint64_t java_thread_here(void)
{
	uint64_t thread = own_word_read(&java.own), functions;

	return thread && safe_read(thread, &functions, sizeof(functions)) &&
		       functions == java.functions
		   ? thread
		   : 0;
}

static struct guest *take(void)
{
	unsigned first = (unsigned)atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed);

	for (unsigned i = 0; i < GUESTS_MAX; i++) {
		struct guest *g = &pool[(first + i) % GUESTS_MAX];
		uint32_t idle = GUEST_IDLE;

		if (atomic_compare_exchange_strong(&g->state, &idle, GUEST_BUSY))
			return g;
	}
	return NULL;
}

static void find_stack(struct thread *t, uint64_t thread)
{
	uint64_t here = (uintptr_t)__builtin_frame_address(0), size;

	t->stack_high = *(const uint64_t *)(uintptr_t)(thread + java.stack_base);
	size = *(const uint64_t *)(uintptr_t)(thread + java.stack_size);
	t->stack_low = t->stack_high - size;
	/* An application may have other stacks. */
	if (here < t->stack_low || here >= t->stack_high)
		t->stack_low = t->stack_high = 0;
}

/* CPU time of the process since the last tick. */
static uint64_t passed_ns(void)
{
	uint64_t now = clock_ns(CLOCK_PROCESS_CPUTIME_ID), last = atomic_exchange(&last_ns, now);

	return now > last ? now - last : 0;
}

static struct thread *begin(pid_t tid, bool known)
{
	uint64_t ns = passed_ns(), thread;
	struct guest *g;

	if (atomic_load(&handlers.stopping))
		return NULL;
	thread = known || tid == session ? 0 : java_thread_here();
	if (!thread) {
		atomic_fetch_add_explicit(&in_vain, 1, memory_order_relaxed);
		return NULL;
	}
	g = take();
	if (!g) {
		atomic_fetch_add_explicit(&missed, 1, memory_order_relaxed);
		atomic_fetch_add_explicit(&owed_ns, ns, memory_order_relaxed);
		return NULL;
	}
	ns += atomic_exchange(&owed_ns, 0);
	atomic_fetch_add_explicit(&seen_ns, ns, memory_order_relaxed);
	ns = ns * atomic_load_explicit(&scale, memory_order_relaxed) / ONE;
	atomic_fetch_add_explicit(&told_ns, ns, memory_order_relaxed);
	atomic_fetch_add_explicit(&begun, 1, memory_order_relaxed);
	thread_lend(g->t, tid);
	g->t->guest_tick_ns = ns;
	thread_enter_epoch(g->t, handlers_epoch());
	g->t->epoch_in_java = false;
	find_stack(g->t, thread);
	if (prctl(PR_GET_NAME, g->name) < 0)
		g->name[0] = '\0'; /* Cannot be. */
	return g->t;
}

/* The timer's next expiry is drawn: half a period to one and a half. */
static void set_timer(void)
{
	uint64_t random = mix_upper(atomic_load_explicit(&last_ns, memory_order_relaxed)) >> 48;

	/* One that was deleted meanwhile is not found: its number is not used again for long. */
	(void)cpu_timer_set(timer, period_ns / 2 + (period_ns * random >> 16));
}

static void end(struct thread *t)
{
	struct guest *g = t ? &pool[t->guest - 1] : NULL;
	uint32_t busy = GUEST_BUSY;

	if (g) {
		thread_lend(t, 0);
		/* What was given up meanwhile is never used again. */
		if (!atomic_compare_exchange_strong(&g->state, &busy, GUEST_FULL))
			atomic_store(&g->state, GUEST_NONE);
	}
	if (!atomic_load(&handlers.stopping))
		set_timer();
}

static const struct process_ticks process_ticks = {begin, end};

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
	t->settled_ns = clock_monotonic_ns();
	g->t = t;
	atomic_store(&t->state, THREAD_READY);
	atomic_store(&g->state, GUEST_IDLE);
	return true;
}

/* Before Linux 6.4 a process's timer comes to its first thread, whoever runs. */
static bool comes_to_who_runs(void)
{
	struct utsname kernel;
	unsigned major, minor;

	return uname(&kernel) == 0 && sscanf(kernel.release, "%u.%u", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 4));
}

static bool know_java(void)
{
	return java.functions || java_threads_facts(&java);
}

void guests_start(unsigned max_frames, uint64_t apart_ns)
{
	bool room = true;

	frames = max_frames;
	session = gettid();
	atomic_store(&begun, 0);
	atomic_store(&missed, 0);
	atomic_store(&in_vain, 0);
	atomic_store(&seen_ns, 0);
	atomic_store(&told_ns, 0);
	atomic_store(&owed_ns, 0);
	atomic_store(&scale, ONE);
	atomic_store(&last_ns, clock_ns(CLOCK_PROCESS_CPUTIME_ID));
	timer = -1;
	if (apart_ns == 0 || !comes_to_who_runs() || !know_java())
		return;
	period_ns = apart_ns < handlers.scheduler_tick_ns ? handlers.scheduler_tick_ns : apart_ns;
	for (unsigned i = 0; i < GUESTS_MAX && room; i++)
		if (atomic_load(&pool[i].state) == GUEST_NONE)
			room = fill(&pool[i]);
	signals_take_process_ticks(&process_ticks);
	timer = cpu_timer_create_for_process(thread_process_sig_data());
	if (timer >= 0)
		set_timer();
}

bool guests_are_on(void)
{
	return timer >= 0;
}

/* ---------------------------------------------------------------- what they tell */

static int tell(struct drain *drain, struct thread *t, const char *name)
{
	int r = drain_announce_as(drain, t, name, false);

	if (r == 0)
		r = drain_thread(drain, t);
	return r == 0 ? drain_announce(drain, t, true) : r;
}

int guests_follow(struct drain *drain, struct thread *t, uint64_t *totals)
{
	struct guest *g = &pool[t->guest - 1];
	int r;

	if (atomic_load(&g->state) != GUEST_FULL)
		return 0;
	r = tell(drain, t, g->name);
	for (unsigned i = 0; i < JXP__COUNTER__COUNTER_MAX; i++)
		totals[i] += atomic_exchange(&t->counters[i], 0);
	atomic_store(&t->nested, 0);
	atomic_store(&t->touched, 0);
	atomic_store(&g->state, timer >= 0 ? GUEST_IDLE : GUEST_NONE);
	return r;
}

void guests_steer(uint64_t process_ns, uint64_t all_told_ns, uint64_t strangers_ns)
{
	uint64_t by_guests = atomic_load(&told_ns);
	uint64_t others = all_told_ns - (by_guests < all_told_ns ? by_guests : all_told_ns);
	double used = (double)process_ns - (double)others - (double)strangers_ns;
	double few = (double)(TICKS_FEW * period_ns);
	double now = ((used > 0 ? used : 0) + few) / ((double)atomic_load(&seen_ns) + few);

	atomic_store(&scale, now < TIMES_MAX ? (uint64_t)(now * (double)ONE) : SCALE_MAX);
	/* A signal that was not taken, because its thread ended first, has set no timer. */
	if (timer >= 0 && !cpu_timer_is_set(timer))
		set_timer();
}

/* ---------------------------------------------------------------- the end */

static void stop(struct guest *g, uint64_t deadline_ns)
{
	const struct timespec moment = {.tv_nsec = (long)NS_PER_MS};

	for (;;) {
		uint32_t state = atomic_load(&g->state);

		if (state == GUEST_NONE || state == GUEST_FULL || state == GUEST_STUCK ||
		    (state == GUEST_IDLE &&
		     atomic_compare_exchange_strong(&g->state, &state, GUEST_NONE)))
			return;
		if (state == GUEST_BUSY && clock_monotonic_ns() >= deadline_ns) {
			/* Its thread may go on at any time: nobody else gets the entry. */
			atomic_fetch_add(&g->t->in_handler, 1);
			if (atomic_compare_exchange_strong(&g->state, &state, GUEST_STUCK))
				return;
			atomic_fetch_sub(&g->t->in_handler, 1);
		}
		(void)nanosleep(&moment, NULL); /* Too short a sleep does no harm. */
	}
}

void guests_stop(void)
{
	uint64_t deadline = clock_monotonic_ns() + STOP_TIMEOUT_NS;

	cpu_timer_delete(timer);
	timer = -1;
	for (unsigned i = 0; i < GUESTS_MAX; i++)
		stop(&pool[i], deadline);
}

/* ---------------------------------------------------------------- the account */

uint64_t guests_cost_ns(uint64_t signal_ns)
{
	return (atomic_load(&in_vain) + atomic_load(&missed)) * signal_ns;
}

void guests_counters(uint64_t *counters)
{
	counters[JXP__COUNTER__COUNTER_GUESTS] = atomic_load(&begun);
	counters[JXP__COUNTER__COUNTER_GUESTS_MISSED] = atomic_load(&missed);
}
