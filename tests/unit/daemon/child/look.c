/* Looking at processes that may not answer. What "hangs" here is a look that never returns. */
#include "tests/unit/support/test.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "daemon/child/look.h"
#include "tests/unit/support/sleepers.h"

#define DEADLINE_MS  600
#define PIDS         70
#define IMPATIENT_MS 10000 /* more than any of this takes on a busy machine */

/* Nobody's pids, so that what was looked at earlier plays no part; users are those of nobody. */
#define FIRST_PID 5000000

static struct seen {
	size_t answers;
	size_t hangs;
	pid_t last_hanging;
	char step[256];
	bool right;
} seen;

/* Which child looked: shared with them. */
static pid_t *lookers;
static pid_t hanging_from, hanging_to;

static size_t look(void *arg, pid_t pid, char *step, uint8_t answer[LOOK_ANSWER_BYTES])
{
	(void)arg;
	lookers[pid - FIRST_PID] = getpid();
	strcpy(step, "its number");
	while (pid >= hanging_from && pid < hanging_to)
		(void)pause();
	memcpy(answer, &pid, sizeof(pid));
	return sizeof(pid);
}

static void answered(void *arg, pid_t pid, const uint8_t *answer, size_t size)
{
	(void)arg;
	seen.answers++;
	seen.right &= size == sizeof(pid) && memcmp(answer, &pid, sizeof(pid)) == 0;
}

static void hangs(void *arg, pid_t pid, const char *step)
{
	(void)arg;
	seen.hangs++;
	seen.last_hanging = pid;
	(void)snprintf(seen.step, sizeof(seen.step), "%s", step);
}

static const struct look_task task = {
    .look = look, .answered = answered, .hangs = hangs, .deadline_ms = DEADLINE_MS};

static int setup(void **state)
{
	(void)state;
	memset(&seen, 0, sizeof(seen));
	seen.right = true;
	hanging_from = hanging_to = 0;
	lookers = mmap(NULL, PIDS * sizeof(*lookers), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return lookers == MAP_FAILED ? -1 : 0;
}

static int teardown(void **state)
{
	(void)state;
	return munmap(lookers, PIDS * sizeof(*lookers));
}

static int look_at_pids(size_t count, size_t *passed_over)
{
	pid_t pids[PIDS];
	struct err err;

	for (size_t i = 0; i < count; i++)
		pids[i] = FIRST_PID + (pid_t)i;
	return look_at_all(&task, pids, count, passed_over, &err);
}

/* ---------------------------------------------------------------- */

TEST(one_child_looks_at_all_that_answer, setup, teardown)
{
	size_t passed_over = 1, changes = 0;

	assert_int_equal(look_at_pids(PIDS, &passed_over), 0);
	assert_int_equal(seen.answers, PIDS);
	assert_int_equal(seen.hangs, 0);
	assert_int_equal(passed_over, 0);
	assert_true(seen.right);
	for (int i = 1; i < PIDS; i++) {
		assert_true(lookers[i] != 0 && lookers[i] != getpid());
		changes += lookers[i] != lookers[i - 1];
	}
	/* Another takes over where the machine leaves the first no time. */
	assert_true(changes < PIDS / 4);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* Nobody is left. */
}

TEST(who_does_not_answer_is_given_up_and_the_others_are_seen, setup, teardown)
{
	size_t passed_over;

	hanging_from = FIRST_PID + 5;
	hanging_to = FIRST_PID + 7;
	assert_int_equal(look_at_pids(PIDS, &passed_over), 0);
	assert_int_equal(seen.answers, PIDS - 2);
	assert_int_equal(seen.hangs, 2);
	assert_string_equal(seen.step, "its number");
	assert_true(seen.right);
	assert_int_equal(passed_over, 0);
	assert_int_equal(kill(lookers[5], 0), -1); /* It could be killed, and is gone. */
}

static size_t die(void *arg, pid_t pid, char *step, uint8_t answer[LOOK_ANSWER_BYTES])
{
	if (pid == FIRST_PID + 3)
		abort();
	return look(arg, pid, step, answer);
}

TEST(a_child_that_dies_is_a_process_that_does_not_answer, setup, teardown)
{
	struct look_task dying = task;
	pid_t pids[] = {FIRST_PID + 3, FIRST_PID + 4};
	size_t passed_over;
	struct err err;

	dying.look = die;
	assert_int_equal(look_at_all(&dying, pids, 2, &passed_over, &err), 0);
	assert_int_equal(seen.hangs, 1);
	assert_int_equal(seen.last_hanging, FIRST_PID + 3);
	assert_int_equal(seen.answers, 1);
}

__attribute__((noreturn)) static size_t hang(void *arg, pid_t pid, char *step,
					     uint8_t answer[LOOK_ANSWER_BYTES])
{
	(void)arg;
	(void)pid;
	(void)step;
	(void)answer;
	for (;;)
		(void)pause();
}

/* Real processes of one user, ourselves: the number of those that hang is bounded. */
TEST(when_many_of_a_user_hang_the_others_of_that_user_are_passed_over, setup, teardown)
{
	pid_t pids[LOOK_HANGING_PER_USER + 6];
	size_t count = sizeof(pids) / sizeof(pids[0]), passed_over = 0;
	struct look_task hanging = task;
	struct err err;
	uint64_t before = clock_monotonic_ns();

	hanging.look = hang;
	sleepers_start(pids, count);
	assert_int_equal(look_at_all(&hanging, pids, count, &passed_over, &err), 0);
	assert_int_equal(seen.hangs, LOOK_HANGING_PER_USER);
	assert_int_equal(passed_over, count - LOOK_HANGING_PER_USER);
	assert_true(clock_monotonic_ns() - before < IMPATIENT_MS * NS_PER_MS);
	sleepers_end(pids, count);
}

TEST(what_an_earlier_look_hangs_on_is_not_looked_at_again, setup, teardown)
{
	struct look_task hanging = task;
	pid_t pids[2], left;
	size_t passed_over;
	struct err err;

	sleepers_start(pids, 2);
	left = sleepers_leave_behind(pids[0]);
	hanging.look = hang;
	assert_int_equal(look_at_all(&hanging, pids, 1, &passed_over, &err), 0);
	assert_int_equal(seen.hangs, 1);
	assert_int_equal(seen.last_hanging, pids[0]);
	assert_non_null(strstr(seen.step, "earlier look"));
	assert_int_equal(kill(left, SIGKILL), 0);
	sleepers_end(pids, 2);
}
