#include "attach/agent/window/census.h"

#include <errno.h>
#include <unistd.h>

#include "attach/agent/handler/handlers.h"
#include "attach/agent/handler/thread.h"
#include "attach/agent/jvm/java_threads.h"
#include "attach/agent/window/guests.h"
#include "common/clock.h"

/* As many threads are profiled from the first moment on. More wait for the first scans: opening the
 * events of one costs as much as fifty readings of its clock. */
#define START_MAX 32u

/* Scans come soon after the start, then less often, as the ledger allows. */
#define SCAN_FIRST_NS    (50 * NS_PER_MS)
#define SCAN_INTERVAL_NS (250 * NS_PER_MS)

/* Where threads start, it is looked for new ones so often, until none has for so long. */
#define NEWS_INTERVAL_NS (20 * NS_PER_MS)
#define NEWS_LAST_NS     NS_PER_S

void census_init(struct census *c, struct monitor *monitor, const struct ledger *ledger,
		 const _Atomic uint64_t *starts)
{
	*c = (struct census){.monitor = monitor, .ledger = ledger, .starts = starts};
}

void census_release(struct census *c)
{
	dormant_release(&c->dormant);
	strangers_release(&c->strangers);
}

/* ---------------------------------------------------------------- enumeration */

struct enumeration {
	struct census *census;
	bool eager; /* who is new is taken on at once */
	int result;
};

/* All of the CPU time of a thread that was not there before is this window's. */
static void note(struct census *c, pid_t tid)
{
	int r = dormant_add(&c->dormant, tid, true);

	if (r < 0 && r != -ESRCH)
		c->lost++;
}

/* From where on a thread's own ticks tell of it, which has used CPU time that they would tell from
 * since_ns on. */
static uint64_t told_from(uint64_t since_ns)
{
	return guests_are_on() ? UINT64_MAX : since_ns;
}

static void found(void *arg, pid_t tid)
{
	struct enumeration *e = arg;
	struct census *c = e->census;

	if (tid == gettid() || thread_find(tid) || dormant_contains(&c->dormant, tid))
		return;
	if (e->eager && e->result == 0 && monitor_room(c->monitor) > 0)
		e->result = monitor_add(c->monitor, tid, told_from(0));
	else
		note(c, tid);
}

/* False where the list cannot be had. */
static bool enumerate(struct census *c, bool eager, int *result)
{
	struct enumeration e = {.census = c, .eager = eager};
	bool all;

	if (c->starts)
		c->started = atomic_load_explicit(c->starts, memory_order_relaxed);
	dormant_sort(&c->dormant);
	all = java_threads_each(found, &e);
	*result = e.result;
	return all;
}

static int cannot_open(int error, struct err *err)
{
	return error < 0 ? err_set_errno(err, -error, "cannot open events for the JVM's threads")
			 : 0;
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

		r = monitor_add(c->monitor, tid, told_from(t.since_ns));
		dormant_remove(&c->dormant, tid);
	}
	return cannot_open(r, err);
}

/* The CPU time of all is told from now on, whoever was chosen by what it used before. */
static int wake_busiest(struct census *c, struct err *err)
{
	size_t awake = dormant_scan(&c->dormant, DORMANT_AWAKE_NS);

	dormant_rebase(&c->dormant);
	return wake(c, awake, START_MAX, err);
}

/* Are ticks a profile? */
static bool is_profile(const struct census *c)
{
	const struct sampling *s = &c->monitor->settings->sampling;

	return s->cpu && s->event_count == 0;
}

static bool is_java(void *arg, pid_t tid)
{
	const struct census *c = arg;

	return thread_find(tid) || dormant_contains(&c->dormant, tid);
}

static void look_at_strangers(struct census *c)
{
	if (!is_profile(c))
		return;
	dormant_sort(&c->dormant);
	strangers_look(&c->strangers, is_java, c);
}

int census_start(struct census *c, struct err *err)
{
	int r;

	if (!enumerate(c, false, &r))
		return err_set(err, EOPNOTSUPP, "the JVM's list of its threads cannot be read");
	guests_start(c->monitor->settings->max_frames,
		     is_profile(c)
			 ? (uint64_t)ledger_apart_ns(c->ledger, LEDGER_GUESTS, LEDGER_GUEST_TICK_NS)
			 : 0);
	look_at_strangers(c);
	r = wake_busiest(c, err);
	c->interval_ns = SCAN_FIRST_NS;
	c->next_scan_ns = clock_monotonic_ns() + c->interval_ns;
	return r;
}

/* ---------------------------------------------------------------- scans */

/* Have threads started since they were listed, as far as the JVM counts that? */
static bool have_started(const struct census *c)
{
	return !c->starts || atomic_load_explicit(c->starts, memory_order_relaxed) != c->started;
}

static bool is_due(const struct census *c, uint64_t process_ns)
{
	return clock_monotonic_ns() >= c->next_scan_ns && process_ns >= c->next_process_ns;
}

int census_scan(struct census *c, uint64_t process_ns, struct err *err)
{
	uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID), cost;
	size_t awake;
	int r = 0;

	if (!is_due(c, process_ns))
		return 0;
	monitor_sweep(c->monitor);
	if (have_started(c))
		(void)enumerate(c, false, &r); /* What cannot be read now is later. */
	look_at_strangers(c);
	awake = dormant_scan(&c->dormant, turnover_is_high(&c->monitor->turnover)
					      ? DORMANT_AWAKE_TURNOVER_NS
					      : DORMANT_AWAKE_NS);
	cost = clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
	c->next_process_ns =
	    process_ns + (uint64_t)ledger_apart_ns(c->ledger, LEDGER_SCANS, (double)cost);
	c->interval_ns =
	    c->interval_ns * 2 < SCAN_INTERVAL_NS ? c->interval_ns * 2 : SCAN_INTERVAL_NS;
	c->next_scan_ns = clock_monotonic_ns() + c->interval_ns;
	return wake(c, awake, SIZE_MAX, err);
}

/* ---------------------------------------------------------------- news */

/* While threads start, looks are this far apart, and farther as the ledger demands. */
int census_news(struct census *c, bool eager, struct err *err)
{
	uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID), now = clock_monotonic_ns(), cost, apart;
	int r;

	if (!eager || now < c->next_news_ns || !have_started(c))
		return 0;
	(void)enumerate(c, true, &r); /* What cannot be read now is by the next scan. */
	c->news_ns = now;
	cost = clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
	apart = (uint64_t)ledger_apart_ns(c->ledger, LEDGER_NEWS, (double)cost);
	c->next_news_ns = now + (apart > NEWS_INTERVAL_NS ? apart : NEWS_INTERVAL_NS);
	return cannot_open(r, err);
}

uint64_t census_next_ns(const struct census *c, bool eager)
{
	bool busy = c->news_ns && clock_monotonic_ns() < c->news_ns + NEWS_LAST_NS;

	return eager && busy ? c->next_news_ns : UINT64_MAX;
}

uint64_t census_strangers_ns(const struct census *c)
{
	return strangers_ns(&c->strangers);
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
