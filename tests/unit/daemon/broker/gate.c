#include "tests/unit/support/test.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/perf/events.h"
#include "daemon/broker/gate.h"
#include "daemon/broker/gate_trial.h"

/* Real events of this process with the real program on them; SKIP where the kernel does not permit
 * it or has no such gate. Page faults are events that come when they are told to. */

#define TICK_NS      (100 * UINT64_C(1000))
#define SPIN_NS      (20 * NS_PER_MS)
#define LONG_NS      (GATE_TIME_MAX_NS / 16)
#define SHORT_BURST  3
#define REFILL_NS    (200 * NS_PER_MS)
#define FOREVER_NS   UINT64_MAX
#define OTHER_FAULTS 5

static struct broker_gate *gate;
static struct err why_not;
static int event = -1;
static volatile sig_atomic_t signals;

static void on_sigtrap(int number)
{
	(void)number;
	signals++;
}

static int open_gate(void **state)
{
	(void)state;
	if (broker_gate_open(&gate, &why_not) == 0 && broker_gate_trial(gate, &why_not) < 0) {
		broker_gate_free(gate);
		gate = NULL;
	}
	return signal(SIGTRAP, on_sigtrap) == SIG_ERR ? -1 : 0;
}

static int free_gate(void **state)
{
	(void)state;
	broker_gate_free(gate);
	return 0;
}

static int close_event(void **state)
{
	(void)state;
	fd_close_all(&event, 1);
	if (gate)
		broker_gate_remove(gate, getpid(), NULL);
	return 0;
}

static void need_gate(void)
{
#ifdef __SANITIZE_THREAD__
	/* They are counted at once here. */
	print_message("# ThreadSanitizer puts signals off\n");
	skip();
#endif
	if (!gate) {
		print_message("# %s\n", why_not.message);
		skip();
	}
	signals = 0;
}

static void open_event(uint64_t config, uint64_t period)
{
	struct perf_event_attr attr;

	perf_attr_clock(&attr, period, 0);
	attr.config = config;
	event = perf_open(&attr, 0);
	assert_true(event >= 0);
	assert_int_equal(broker_gate_attach(gate, event), 0);
}

static void open_faults(void)
{
	open_event(PERF_COUNT_SW_PAGE_FAULTS, 1);
	assert_int_equal(perf_enable(event), 0);
}

static void open_ticks(void)
{
	open_event(PERF_COUNT_SW_TASK_CLOCK, TICK_NS);
	assert_int_equal(perf_enable(event), 0);
}

static void limit(uint64_t window_end_ns, uint64_t interval_ns, uint64_t burst_ns)
{
	const struct gate_limits limits = {window_end_ns, interval_ns, burst_ns};

	assert_int_equal(broker_gate_set(gate, getpid(), &limits), 0);
}

/* One page fault; how many signals it raised. */
static int fault(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *page =
	    mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int before;

	assert_true(page != MAP_FAILED);
	before = signals;
	*page = 1;
	before = signals - before;
	assert_int_equal(munmap((void *)page, size), 0);
	return before;
}

/* Uses CPU time; how many signals came meanwhile. */
static int spin(void)
{
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + SPIN_NS;
	int before = signals;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
	return signals - before;
}

static struct gate_counts counts(void)
{
	struct gate_counts c;

	assert_int_equal(broker_gate_counts(gate, getpid(), &c), 0);
	return c;
}

static uint64_t sum(const struct gate_counts *c)
{
	uint64_t n = 0;

	for (int o = 0; o < GATE_UNKNOWN; o++)
		n += c->samples[o];
	return n;
}

/* ---------------------------------------------------------------- tests */

TEST(ticks_pass_while_the_window_lasts_and_not_after, NULL, close_event)
{
	struct gate_counts after;
	int passed;

	need_gate();
	limit(FOREVER_NS, 1, NS_PER_S);
	open_ticks();
	passed = spin();
	assert_true(passed > 0);
	limit(clock_monotonic_ns(), 1, NS_PER_S);
	signals = 0;
	assert_int_equal(spin(), 0);
	assert_int_equal(perf_disable(event), 0);
	after = counts();
	assert_true(after.samples[GATE_PASSED] >= (uint64_t)passed);
	assert_true(after.samples[GATE_WINDOW_OVER] > 0);
	assert_int_equal(after.samples[GATE_BUDGET_SPENT], 0);
}

TEST(the_window_ends_by_itself, NULL, close_event)
{
	uint64_t end = clock_monotonic_ns() + SPIN_NS;

	need_gate();
	limit(end, 1, NS_PER_S);
	open_ticks();
	while (clock_monotonic_ns() < end)
		;
	assert_int_equal(spin(), 0);
	assert_true(counts().samples[GATE_WINDOW_OVER] > 0);
}

TEST(a_burst_passes_and_then_nothing, NULL, close_event)
{
	struct gate_counts c;

	need_gate();
	limit(FOREVER_NS, LONG_NS, SHORT_BURST * LONG_NS);
	open_faults();
	for (int i = 0; i < SHORT_BURST; i++)
		assert_int_equal(fault(), 1);
	for (int i = 0; i < OTHER_FAULTS; i++)
		assert_int_equal(fault(), 0);
	assert_int_equal(perf_disable(event), 0);
	c = counts();
	assert_int_equal(c.samples[GATE_PASSED], SHORT_BURST);
	assert_true(c.samples[GATE_BUDGET_SPENT] >= OTHER_FAULTS);
	assert_int_equal(sum(&c), SHORT_BURST + c.samples[GATE_BUDGET_SPENT]);
}

TEST(a_spent_budget_comes_back_in_time, NULL, close_event)
{
	need_gate();
	limit(FOREVER_NS, REFILL_NS, REFILL_NS);
	open_faults();
	assert_int_equal(fault(), 1);
	assert_int_equal(fault(), 0);
	assert_int_equal(usleep(REFILL_NS / 1000), 0);
	assert_int_equal(fault(), 1);
}

TEST(new_limits_keep_what_was_spent, NULL, close_event)
{
	need_gate();
	limit(FOREVER_NS, LONG_NS, LONG_NS);
	open_faults();
	assert_int_equal(fault(), 1);
	limit(FOREVER_NS, LONG_NS / 2, LONG_NS);
	assert_int_equal(fault(), 0);
}

TEST(faster_limits_are_not_held_up_by_what_slower_ones_let_pass, NULL, close_event)
{
	need_gate();
	limit(FOREVER_NS, LONG_NS, LONG_NS);
	open_faults();
	assert_int_equal(fault(), 1);
	limit(FOREVER_NS, NS_PER_MS, NS_PER_MS);
	assert_int_equal(usleep(2 * NS_PER_MS / 1000), 0);
	assert_int_equal(fault(), 1);
}

TEST(a_process_without_a_gate_has_its_samples_dropped_and_counted, NULL, close_event)
{
	const struct gate_limits limits = {FOREVER_NS, 1, NS_PER_S};
	struct gate_counts before, after;

	need_gate();
	assert_int_equal(broker_gate_set(gate, getppid(), &limits), 0);
	assert_int_equal(broker_gate_counts(gate, getppid(), &before), 0);
	open_faults();
	assert_int_equal(fault(), 0);
	assert_int_equal(perf_disable(event), 0);
	broker_gate_remove(gate, getppid(), &after);
	assert_true(after.samples[GATE_UNKNOWN] > before.samples[GATE_UNKNOWN]);
	assert_int_equal(sum(&after), 0);
}

TEST(removing_a_gate_gives_its_counts_and_closes_it, NULL, close_event)
{
	struct gate_counts c;

	need_gate();
	limit(FOREVER_NS, 1, NS_PER_S);
	open_faults();
	assert_int_equal(fault(), 1);
	broker_gate_remove(gate, getpid(), &c);
	assert_true(c.samples[GATE_PASSED] >= 1);
	assert_int_equal(fault(), 0);
	assert_int_equal(broker_gate_counts(gate, getpid(), &c), -ENOENT);
}

TEST(freeing_the_gate_closes_it_for_events_that_go_on, NULL, close_event)
{
	struct broker_gate *other = NULL;
	const struct gate_limits limits = {FOREVER_NS, 1, NS_PER_S};
	struct perf_event_attr attr;
	struct err err;

	need_gate();
	assert_int_equal(broker_gate_open(&other, &err), 0);
	assert_int_equal(broker_gate_set(other, getpid(), &limits), 0);
	perf_attr_clock(&attr, 1, 0);
	attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	event = perf_open(&attr, 0);
	assert_true(event >= 0);
	assert_int_equal(broker_gate_attach(other, event), 0);
	assert_int_equal(perf_enable(event), 0);
	assert_int_equal(fault(), 1);
	broker_gate_free(other);
	assert_int_equal(fault(), 0);
}

TEST(an_event_takes_the_program_once, NULL, close_event)
{
	need_gate();
	open_event(PERF_COUNT_SW_PAGE_FAULTS, 1);
	assert_int_equal(broker_gate_attach(gate, event), -EEXIST);
}

TEST(the_trial_leaves_no_gate_behind, NULL, close_event)
{
	struct broker_gate *tried = NULL;
	struct gate_counts counts;
	struct err err;

	need_gate();
	assert_int_equal(broker_gate_open(&tried, &err), 0);
	assert_int_equal(broker_gate_trial(tried, &err), 0);
	assert_int_equal(broker_gate_counts(tried, getpid(), &counts), -ENOENT);
	broker_gate_free(tried);
}

TEST(limits_out_of_range_are_refused, NULL, close_event)
{
	static const struct gate_limits wrong[] = {
	    {FOREVER_NS, 0, NS_PER_S},
	    {FOREVER_NS, 2, 1},
	    {FOREVER_NS, 1, GATE_TIME_MAX_NS + 1},
	};

	need_gate();
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(broker_gate_set(gate, getpid(), &wrong[i]), -EINVAL);
}

TEST(one_more_process_than_there_is_room_for_is_refused, NULL, close_event)
{
	const struct gate_limits limits = {FOREVER_NS, 1, NS_PER_S};

	need_gate();
	for (int i = 0; i < GATE_TARGETS_MAX; i++)
		assert_int_equal(broker_gate_set(gate, 1000000 + i, &limits), 0);
	assert_int_equal(broker_gate_set(gate, 2000000, &limits), -E2BIG);
	for (int i = 0; i < GATE_TARGETS_MAX; i++)
		broker_gate_remove(gate, 1000000 + i, NULL);
}

TEST(without_permission_the_reason_says_what_to_do, NULL, close_event)
{
	struct broker_gate *none = NULL;
	struct err err = {""};
	int status;
	pid_t child;

	if (geteuid() != 0) {
		print_message("# not root: permission cannot be given up\n");
		skip();
	}
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		if (setuid(65534) < 0)
			_exit(1);
		if (broker_gate_open(&none, &err) != -EPERM || none)
			_exit(2);
		_exit(strstr(err.message, "CAP_BPF and CAP_PERFMON") ? 0 : 3);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

int main(void)
{
	return tests_run(open_gate, free_gate);
}
