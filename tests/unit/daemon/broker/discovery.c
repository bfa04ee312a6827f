#include "tests/unit/support/test.h"

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf/processes.h"
#include "common/clock.h"
#include "daemon/broker/discovery.h"
#include "daemon/broker/polls.h"

/* The real programs on processes of this test; SKIP where the kernel does not permit them. Other
 * processes of the machine are told of, too, and ignored. */

#define CHILDREN_MAX 1200
#define SOON_S       5

static struct broker_discovery *discovery;
static struct err why_not;
static char self[] = "/proc/self/exe";

static struct {
	pid_t pid; /* that this is about */
	unsigned started;
	unsigned last_look;
	unsigned ended;
	uint64_t missed;
} told;

static void on_started(void *arg, pid_t pid, unsigned look)
{
	(void)arg;
	if (pid != told.pid)
		return;
	told.started++;
	told.last_look = look;
}

static void on_ended(void *arg, pid_t pid)
{
	(void)arg;
	told.ended += pid == told.pid;
}

static void on_missed(void *arg, uint64_t count)
{
	(void)arg;
	told.missed += count;
}

static int set_up(void **state)
{
	static const struct broker_discovery_sink sink = {
	    .started = on_started, .ended = on_ended, .missed = on_missed};

	(void)state;
	memset(&told, 0, sizeof(told));
	discovery = NULL;
	if (broker_discovery_open(&discovery, &sink, &why_not) == 0)
		(void)broker_discovery_set(discovery, true, &why_not);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	broker_discovery_free(discovery);
	return 0;
}

static void need_discovery(void)
{
	if (discovery)
		return;
	print_message("# SKIP %s\n", why_not.message);
	skip();
}

/* Runs this program again, with so many threads more. */
static pid_t run(const char *threads)
{
	char *argv[] = {self, (char *)threads, NULL}, *none[] = {NULL};
	pid_t pid;

	assert_int_equal(posix_spawn(&pid, self, NULL, NULL, argv, none), 0);
	return pid;
}

static void end(pid_t pid)
{
	(void)kill(pid, SIGKILL); /* A child that was not waited for: it is there. */
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* As the broker does, until it is so or for so long. */
static void tend(bool (*is_so)(void), uint64_t ms)
{
	uint64_t end_ns = clock_monotonic_ns() + ms * NS_PER_MS;

	while (clock_monotonic_ns() < end_ns && !(is_so && is_so())) {
		struct broker_polls p = {.first_ns = end_ns};
		uint64_t now = clock_monotonic_ns();

		broker_discovery_poll(discovery, &p);
		(void)poll(p.fds, p.count,
			   p.first_ns > now ? (int)((p.first_ns - now) / NS_PER_MS) + 1 : 0);
		broker_discovery_tend(discovery);
	}
}

static bool has_started(void)
{
	return told.started > 0;
}

static bool has_ended(void)
{
	return told.ended > 0;
}

static bool has_missed(void)
{
	return told.missed > 0;
}

TEST(a_process_with_threads_is_told_of_and_again_later, set_up, tear_down)
{
	need_discovery();
	told.pid = run("4");
	tend(has_started, SOON_S * 1000);
	assert_int_equal(told.started, 1);
	assert_int_equal(told.last_look, 0);
	told.started = 0;
	tend(has_started, SOON_S * 1000);
	assert_int_equal(told.last_look, 1);
	end(told.pid);
}

TEST(a_process_without_threads_is_not, set_up, tear_down)
{
	need_discovery();
	told.pid = run("0");
	tend(NULL, 1200);
	assert_int_equal(told.started, 0);
	end(told.pid);
}

TEST(what_is_over_at_once_is_not_either, set_up, tear_down)
{
	need_discovery();
	told.pid = run("4");
	(void)usleep(50000);
	end(told.pid);
	tend(NULL, 1200);
	assert_int_equal(told.started + told.ended, 0);
}

TEST(the_end_of_one_that_is_followed_is_told_at_once, set_up, tear_down)
{
	uint64_t began_ns;

	need_discovery();
	told.pid = run("0");
	broker_discovery_follow(discovery, told.pid);
	broker_discovery_follow(discovery, told.pid);
	tend(NULL, 100);
	assert_int_equal(told.ended, 0);
	began_ns = clock_monotonic_ns();
	end(told.pid);
	tend(has_ended, SOON_S * 1000);
	assert_int_equal(told.ended, 1);
	assert_true(clock_monotonic_ns() - began_ns < 400 * NS_PER_MS);
}

TEST(one_that_has_ended_before_is_told_of_at_once, set_up, tear_down)
{
	need_discovery();
	told.pid = run("0");
	end(told.pid);
	broker_discovery_follow(discovery, told.pid);
	assert_int_equal(told.ended, 1);
}

TEST(what_does_not_fit_is_counted_and_told, set_up, tear_down)
{
	static pid_t children[CHILDREN_MAX];

	need_discovery();
	for (size_t i = 0; i < CHILDREN_MAX; i++) {
		children[i] = fork();
		assert_true(children[i] >= 0);
		if (children[i] == 0) {
			(void)pause();
			_exit(0);
		}
		broker_discovery_follow(discovery, children[i]);
	}
	for (size_t i = 0; i < CHILDREN_MAX; i++)
		end(children[i]);
	tend(has_missed, SOON_S * 1000);
	/* A record takes its four bytes and eight more, in eights. */
	assert_in_range(told.missed, CHILDREN_MAX - PROCESSES_RING_BYTES / 16,
			CHILDREN_MAX - PROCESSES_RING_BYTES / 16 + 8);
}

TEST(switched_off_it_says_nothing_and_forgets, set_up, tear_down)
{
	need_discovery();
	told.pid = run("4");
	tend(NULL, 100); /* posix_spawn(3) returns before the tracepoint. */
	broker_discovery_follow(discovery, told.pid);
	assert_int_equal(broker_discovery_set(discovery, false, NULL), 0);
	tend(NULL, 600);
	assert_int_equal(broker_discovery_set(discovery, true, NULL), 0);
	tend(NULL, 600);
	end(told.pid);
	tend(NULL, 600);
	assert_int_equal(told.started + told.ended, 0);
}

TEST(a_trial_says_that_it_works_and_leaves_it_off, set_up, tear_down)
{
	need_discovery();
	assert_int_equal(broker_discovery_set(discovery, false, NULL), 0);
	assert_int_equal(broker_discovery_trial(discovery, &why_not), 0);
	told.pid = run("0");
	broker_discovery_follow(discovery, told.pid);
	end(told.pid);
	tend(NULL, 100);
	assert_int_equal(told.ended, 0);
}

static void *wait_forever(void *arg)
{
	(void)pause();
	return arg;
}

/* What `run` runs. */
static int be_a_child(unsigned threads)
{
	pthread_t unused;

	while (threads-- > 0)
		if (pthread_create(&unused, NULL, wait_forever, NULL) != 0)
			return 1;
	(void)pause();
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2)
		return be_a_child((unsigned)argv[1][0] - '0');
	return tests_run(NULL, NULL);
}
