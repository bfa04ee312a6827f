#include "attach/agent/window/census.h"

#include <errno.h>
#include <unistd.h>

#include "attach/agent/handler/handlers.h"
#include "attach/agent/handler/thread.h"
#include "attach/agent/jvm/java_threads.h"
#include "attach/agent/jvm/roster.h"
#include "attach/agent/window/guests.h"
#include "common/clock.h"

/* As many threads are profiled from the first moment on. More wait for the first scans: opening the
 * events of one costs as much as fifty readings of its clock. */
#define START_MAX 32u

/* Scans come soon after the start, then less often, and never take more than this share of the
 * budget. */
#define SCAN_FIRST_NS    (50 * NS_PER_MS)
#define SCAN_INTERVAL_NS (250 * NS_PER_MS)
#define SCAN_SHARE       0.1

/* What it takes to be told of one thread that starts, and ends, and what of the budget that may be.
 */
#define TOLD_NS    4000
#define TOLD_SHARE 0.1

/* Of the process's CPU time: in less than that one start is a crowd. */
#define JUDGED_NS (100 * NS_PER_MS)
/* Guests: what that leaves. A cycle, the least of it that is worth switching the JVM's events on
 * and off, the share before anything is known, and what a tick of a guest costs. */
#define CYCLE_NS      (250 * NS_PER_MS)
#define SPAN_MIN_NS   (2 * NS_PER_MS)
#define SHARE_FIRST   0.02
#define GUEST_TICK_NS 25000

/* Threads that were crowded are listened to again after so long, and then after twice that. */
#define DEAF_FIRST_NS NS_PER_S

void census_init(struct census *c, struct vm *vm, struct monitor *monitor, double budget)
{
	*c = (struct census){.vm = vm,
			     .monitor = monitor,
			     .budget = budget,
			     .listens = true,
			     .deaf_ns = DEAF_FIRST_NS,
			     .start_ns = clock_monotonic_ns(),
			     .spans = {.told = budget * TOLD_SHARE / SHARE_FIRST}};
	c->scan_ns = c->start_ns;
	random_seed(&c->spans.random, c->start_ns);
	guests_start(monitor->settings->max_frames);
}

void census_release(struct census *c)
{
	dormant_release(&c->dormant);
}

/* ---------------------------------------------------------------- enumeration */

struct enumeration {
	struct census *census;
	bool first;
};

static void note(struct census *c, pid_t tid, bool whole)
{
	int r = dormant_add(&c->dormant, tid, whole);

	if (r < 0 && r != -ESRCH)
		c->lost++;
}

static void found(void *arg, pid_t tid)
{
	const struct enumeration *e = arg;

	if (tid == gettid() || thread_find(tid) || dormant_contains(&e->census->dormant, tid))
		return;
	note(e->census, tid, e->first);
}

static int enumerate(struct census *c, bool first, struct err *err)
{
	struct enumeration e = {.census = c, .first = first};

	dormant_sort(&c->dormant);
	return java_threads_each(found, &e)
		   ? 0
		   : err_set(err, EOPNOTSUPP, "the JVM's list of its threads cannot be read");
}

/* ---------------------------------------------------------------- waking */

/* Counts a thread that cannot be profiled, once, and leaves it where it is: others end. */
static void refuse(struct census *c, struct dormant_thread *t)
{
	if (!t->refused)
		monitor_refused(c->monitor);
	t->refused = true;
}

/* Profiles the first `awake` of the dormant threads, at most limit of them. */
static int wake(struct census *c, size_t awake, size_t limit, struct err *err)
{
	size_t end = awake < limit ? awake : limit;
	int r = 0;

	/* From the last to the first, because removing one puts the last of all in its place. */
	while (end > monitor_room(c->monitor))
		refuse(c, &c->dormant.threads[--end]);
	while (end > 0 && r == 0) {
		struct dormant_thread t = c->dormant.threads[--end];
		pid_t tid = t.tid;

		r = monitor_add(c->monitor, tid, guests_told_ns(t.since_ns));
		dormant_remove(&c->dormant, tid);
	}
	return r < 0 ? err_set_errno(err, -r, "cannot open events for the JVM's threads") : 0;
}

/* The CPU time of all is told from now on, whoever was chosen by what it used before. */
static int wake_busiest(struct census *c, struct err *err)
{
	size_t awake = dormant_scan(&c->dormant, DORMANT_AWAKE_NS);

	dormant_rebase(&c->dormant);
	return wake(c, awake, START_MAX, err);
}

int census_start(struct census *c, struct err *err)
{
	int r = enumerate(c, true, err);

	if (r < 0)
		return r;
	r = wake_busiest(c, err);
	c->interval_ns = SCAN_FIRST_NS;
	c->next_scan_ns = clock_monotonic_ns() + c->interval_ns;
	return r;
}

/* ---------------------------------------------------------------- guests */

static void count_starts_from(struct census *c, uint64_t process_ns)
{
	c->started = vm_threads_started();
	c->started_process_ns = process_ns;
}

static void listen(struct census *c, bool on, uint64_t process_ns)
{
	c->listens = on;
	c->missed_ends = true;
	count_starts_from(c, process_ns);
	roster_listen(on);
	vm_tell_of_threads(c->vm, on);
}

static bool may_have_guests(const struct census *c)
{
	const struct sampling *s = &c->monitor->settings->sampling;

	return s->cpu && s->event_count == 0;
}

static bool wants_guests(const struct census *c)
{
	return may_have_guests(c) && (!c->listens || turnover_is_high(&c->monitor->turnover));
}

/* Threads that start, and ticks, are to take no more than may be used to be told of threads. */
static uint64_t length_ns(const struct census *c)
{
	double ticks = (double)GUEST_TICK_NS / (double)handlers.scheduler_tick_ns;
	double share = c->budget * TOLD_SHARE / (c->spans.told + ticks);
	uint64_t ns = share < 1 ? (uint64_t)((double)CYCLE_NS * share) : CYCLE_NS;

	return ns > SPAN_MIN_NS ? ns : SPAN_MIN_NS;
}

/* So many in so much CPU time; what is new counts for so much. */
static void note_starts(struct census *c, uint64_t started, double cpu_ns, double weight)
{
	double most = c->budget * TOLD_SHARE / SHARE_FIRST;
	double told = cpu_ns > 0 ? (double)started * TOLD_NS / cpu_ns : most;

	c->spans.told += ((told < most ? told : most) - c->spans.told) * weight;
}

static void begin_cycle(struct census *c, uint64_t from_ns)
{
	struct guest_spans *s = &c->spans;

	s->told_until_ns = from_ns;
	s->length_ns = length_ns(c);
	s->begin_ns =
	    from_ns + ((CYCLE_NS - s->length_ns) * random_below(&s->random, 1u << 16) >> 16);
}

/* What it has missed, because the session thread was late by more than a cycle, it stands for, too.
 */
static void begin_span(struct census *c, uint64_t now)
{
	struct guest_spans *s = &c->spans;
	uint64_t end = s->told_until_ns + CYCLE_NS;

	if (end < now)
		end = now;
	if (!c->listens)
		vm_tell_of_threads(c->vm, true);
	s->open_ns = clock_monotonic_ns();
	s->started = vm_threads_started();
	guests_open(s->open_ns + s->length_ns,
		    (uint64_t)((double)handlers.scheduler_tick_ns *
			       (double)(end - s->told_until_ns) / (double)s->length_ns));
	s->told_until_ns = end;
}

/* Where no more start than one may be told of, one is again. */
static void end_span(struct census *c, uint64_t now, uint64_t process_ns)
{
	struct guest_spans *s = &c->spans;
	double cpu_ns =
	    (double)process_ns / (double)(now - c->start_ns) * (double)(now - s->open_ns);

	note_starts(c, vm_threads_started() - s->started, cpu_ns, 0.5);
	s->open_ns = 0;
	if (!c->listens && s->told < c->budget * TOLD_SHARE / 2)
		listen(c, true, process_ns);
	else if (!c->listens)
		vm_tell_of_threads(c->vm, false);
	begin_cycle(c, s->told_until_ns);
}

void census_guests(struct census *c, uint64_t process_ns)
{
	struct guest_spans *s = &c->spans;
	uint64_t now = clock_monotonic_ns();

	if (s->open_ns && now >= s->open_ns + s->length_ns)
		end_span(c, now, process_ns);
	if (!s->open_ns && !wants_guests(c))
		begin_cycle(
		    c, c->scan_ns); /* Where they start by the thousand few were taken on since. */
	else if (!s->open_ns && now >= s->begin_ns)
		begin_span(c, now);
}

uint64_t census_next_ns(const struct census *c)
{
	const struct guest_spans *s = &c->spans;

	if (s->open_ns)
		return s->open_ns + s->length_ns;
	return wants_guests(c) ? s->begin_ns : UINT64_MAX;
}

/* ---------------------------------------------------------------- scans */

static bool is_due(const struct census *c, uint64_t process_ns)
{
	return clock_monotonic_ns() >= c->next_scan_ns && process_ns >= c->next_process_ns;
}

/* Do threads start so often that to be told of each takes more than its share? */
static bool is_crowded(struct census *c, uint64_t process_ns)
{
	uint64_t started = vm_threads_started() - c->started;
	uint64_t passed = process_ns - c->started_process_ns;

	if (passed < JUDGED_NS)
		return false;
	count_starts_from(c, process_ns);
	note_starts(c, started, (double)passed, 1);
	return (double)started * TOLD_NS > c->budget * TOLD_SHARE * (double)passed;
}

/* While threads come and go by the thousand, those that stay are found by looking for them. */
static int follow_starts(struct census *c, uint64_t process_ns, struct err *err)
{
	if (!c->listens) {
		if (!may_have_guests(c) && clock_monotonic_ns() >= c->deaf_until_ns)
			listen(c, true, process_ns);
		return enumerate(c, false, err);
	}
	if (!is_crowded(c, process_ns)) {
		c->deaf_ns = DEAF_FIRST_NS;
		return 0;
	}
	listen(c, false, process_ns);
	c->deaf_until_ns = clock_monotonic_ns() + c->deaf_ns;
	c->deaf_ns *= 2;
	return 0;
}

int census_scan(struct census *c, uint64_t process_ns, struct err *err)
{
	uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID), cost;
	size_t awake;
	int r;

	if (!is_due(c, process_ns))
		return 0;
	r = follow_starts(c, process_ns, err);
	if (r < 0)
		return r;
	c->scan_ns = clock_monotonic_ns();
	monitor_sweep(c->monitor, c->missed_ends);
	c->missed_ends = !c->listens;
	awake = dormant_scan(&c->dormant, turnover_is_high(&c->monitor->turnover)
					      ? DORMANT_AWAKE_TURNOVER_NS
					      : DORMANT_AWAKE_NS);
	cost = clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
	c->next_process_ns = process_ns + (uint64_t)((double)cost / (c->budget * SCAN_SHARE));
	c->interval_ns =
	    c->interval_ns * 2 < SCAN_INTERVAL_NS ? c->interval_ns * 2 : SCAN_INTERVAL_NS;
	c->next_scan_ns = clock_monotonic_ns() + c->interval_ns;
	return wake(c, awake, SIZE_MAX, err);
}

/* ---------------------------------------------------------------- news */

static int started(struct census *c, pid_t tid, bool eager, struct err *err)
{
	int r = 0;

	/* A thread that had the tid before has ended. */
	dormant_remove(&c->dormant, tid);
	if (eager && monitor_room(c->monitor) > 0)
		r = monitor_add(c->monitor, tid, 0);
	else if (!thread_find(tid))
		note(c, tid, false);
	return r < 0 ? err_set_errno(err, -r, "cannot open events for the JVM's threads") : 0;
}

int census_news(struct census *c, bool eager, struct err *err)
{
	pid_t tids[64];
	bool overflowed;
	size_t n;
	int r = 0;

	do {
		n = roster_take(tids, sizeof(tids) / sizeof(tids[0]), &overflowed);
		for (size_t i = 0; i < n && r == 0; i++)
			r = started(c, tids[i], eager, err);
		if (r == 0 && overflowed)
			r = enumerate(c, false, err);
	} while (r == 0 && n > 0);
	return r;
}

void census_settle(struct census *c)
{
	dormant_sort(&c->dormant);
}

bool census_is_dormant(const void *census, pid_t tid)
{
	const struct census *c = census;

	return dormant_contains(&c->dormant, tid);
}

void census_counters(const struct census *c, uint64_t *counters)
{
	counters[JXP__COUNTER__COUNTER_THREADS_IDLE] = c->dormant.count;
	counters[JXP__COUNTER__COUNTER_THREADS_OVER_LIMIT] += c->lost;
}
