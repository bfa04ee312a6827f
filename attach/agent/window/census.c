#include "attach/agent/window/census.h"

#include <errno.h>

#include "attach/agent/handler/thread.h"
#include "attach/agent/jvm/roster.h"
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

/* Threads that were crowded are listened to again after so long, and then after twice that. */
#define DEAF_FIRST_NS NS_PER_S

void census_init(struct census *c, struct vm *vm, struct monitor *monitor, double budget)
{
	*c = (struct census){.vm = vm,
			     .monitor = monitor,
			     .budget = budget,
			     .listens = true,
			     .deaf_ns = DEAF_FIRST_NS};
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

	if (thread_find(tid) || dormant_contains(&e->census->dormant, tid))
		return;
	note(e->census, tid, e->first);
}

static int enumerate(struct census *c, bool first, struct err *err)
{
	struct enumeration e = {.census = c, .first = first};

	dormant_sort(&c->dormant);
	return vm_each_thread(c->vm, found, &e, err);
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

		r = monitor_add(c->monitor, tid, t.since_ns);
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

static bool is_due(const struct census *c, uint64_t process_ns)
{
	return clock_monotonic_ns() >= c->next_scan_ns && process_ns >= c->next_process_ns;
}

static void count_starts_from(struct census *c, uint64_t process_ns)
{
	c->started = vm_threads_started();
	c->started_process_ns = process_ns;
}

/* Do threads start so often that to be told of each takes more than its share? */
static bool is_crowded(struct census *c, uint64_t process_ns)
{
	uint64_t started = vm_threads_started() - c->started;
	uint64_t passed = process_ns - c->started_process_ns;

	if (passed < JUDGED_NS)
		return false;
	count_starts_from(c, process_ns);
	return (double)started * TOLD_NS > c->budget * TOLD_SHARE * (double)passed;
}

static void listen(struct census *c, bool on, uint64_t process_ns)
{
	c->listens = on;
	c->missed_ends = true;
	count_starts_from(c, process_ns);
	roster_listen(on);
	vm_tell_of_threads(c->vm, on);
}

/* While threads come and go by the thousand, those that stay are found by looking for them. */
static int follow_starts(struct census *c, uint64_t process_ns, struct err *err)
{
	if (!c->listens) {
		if (clock_monotonic_ns() >= c->deaf_until_ns)
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
