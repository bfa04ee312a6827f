#include "tests/unit/support/broker_fixture.h"
#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/clock.h"
#include "daemon/broker/polls.h"
#include "daemon/broker/worker.h"
#include "daemon/broker/workers.h"

/* Workers that end by themselves as soon as they run, as those of a program that was replaced by
 * another one do. Whether they do is the name of this process, since they have no environment. */
#define GOOD "good"
#define BAD  "bad"

static struct broker_workers workers;
static unsigned answers; /* of any sort */
static int last_error;

static void ask_again(void);

static void on_answered(void *arg, const struct worker_question *question,
			const struct worker_answer *answer, int *fds)
{
	(void)arg;
	(void)question;
	(void)fds;
	answers++;
	last_error = answer->reply.error;
	ask_again();
}

static void on_given_up(void *arg, pid_t target)
{
	(void)arg;
	(void)target;
}

static int ask(void)
{
	const struct worker_question question = {
	    .request = {.operation = BROKER_ATTACH, .id = 1, .pid = getpid()}};

	return broker_workers_ask(&workers, &question, NULL);
}

/* As one who does not give up does; what cannot be asked is asked again in the next turn. */
static void ask_again(void)
{
	(void)ask();
}

static void run_for(uint64_t ms)
{
	static struct broker_polls p;
	uint64_t end_ns = clock_monotonic_ns() + ms * NS_PER_MS;

	while (clock_monotonic_ns() < end_ns) {
		broker_polls_clear(&p);
		broker_workers_poll(&workers, &p);
		(void)poll(p.fds, p.count, 5);
		broker_workers_tend(&workers, &p);
		if (p.count == 0)
			ask_again();
	}
}

static int set_up(void **state)
{
	(void)state;
	workers = (struct broker_workers){
	    .answered = on_answered, .given_up = on_given_up, .program = broker_fixture_children()};
	answers = 0;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	broker_workers_end(&workers);
	(void)close(workers.program);
	return 0;
}

static void be(const char *name)
{
	assert_int_equal(prctl(PR_SET_NAME, name), 0);
}

TEST(those_that_end_by_themselves_are_put_off_longer_and_longer, set_up, tear_down)
{
	be(BAD);
	run_for(2000);
	/* Two at once, then after 100, 200, 400 and 800 ms, and by then no more; a slow machine
	 * begins fewer. */
	assert_in_range(workers.given_up_count, 1, 6);
	while (workers.given_up_count < 3 || ask() != -EAGAIN)
		run_for(50);
	assert_int_equal(last_error, EIO);
}

TEST(one_that_answers_ends_that, set_up, tear_down)
{
	be(BAD);
	run_for(300);
	be(GOOD);
	run_for(1000);
	assert_int_equal(last_error, 0);
	assert_true(answers > workers.given_up_count + 1);
	for (size_t i = 0; i < BROKER_WORKERS_BROKEN_TARGETS; i++)
		assert_int_equal(workers.broken[i].target, 0);
}

static bool parent_is(const char *name)
{
	char path[64], text[64] = "";
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%d/comm", (int)getppid());
	file = fopen(path, "re");
	if (!file)
		return false;
	(void)!fgets(text, sizeof(text), file);
	(void)fclose(file);
	text[strcspn(text, "\n")] = '\0';
	return strcmp(text, name) == 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], WORKER_OPTION_FD) == 0)
		return parent_is(GOOD) ? worker_main(atoi(argv[2])) : EXIT_FAILURE;
	return tests_run(NULL, NULL);
}
