#include "tests/unit/support/test.h"

#include <stdio.h>

#include "daemon/child/look_left.h"
#include "tests/unit/support/sleepers.h"

TEST(who_is_left_behind_tells_what_it_hangs_on)
{
	pid_t target, left, found[2] = {0};

	sleepers_start(&target, 1);
	left = sleepers_leave_behind(target);
	assert_int_equal(look_left_find(&left, 1, found, 2), 1);
	assert_int_equal(found[0], target);
	assert_int_equal(kill(left, SIGKILL), 0);
	sleepers_end(&target, 1);
}

/* Its pid may be another's by now. */
TEST(a_target_that_has_ended_is_nobody_and_counts)
{
	pid_t target, left, found[2] = {7, 7};

	sleepers_start(&target, 1);
	left = sleepers_leave_behind(target);
	sleepers_end(&target, 1);
	assert_int_equal(look_left_find(&left, 1, found, 2), 1);
	assert_int_equal(found[0], 0);
	assert_int_equal(kill(left, SIGKILL), 0);
}

/* As a child of an inspector that waits for it: of a group whose leader still runs. */
TEST(who_is_still_waited_for_is_not_left_behind)
{
	pid_t pids[2], found[2];
	int ready[2];
	char byte;

	sleepers_start(pids, 1);
	assert_int_equal(setpgid(0, 0), 0);
	assert_int_equal(pipe(ready), 0);
	pids[1] = fork();
	assert_true(pids[1] >= 0);
	if (pids[1] == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		look_left_mark(pids[0]);
		(void)!write(ready[1], "r", 1);
		for (;;)
			(void)pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(look_left_find(&pids[1], 1, found, 2), 0);
	look_left_done(); /* Not any more. */
	assert_int_equal(look_left_find(&pids[1], 1, found, 2), 1);
	assert_int_equal(found[0], pids[0]);
	sleepers_end(pids, 2);
	(void)close(ready[0]);
	(void)close(ready[1]);
}

/* Anybody can have a program of that name. */
TEST(only_our_own_program_counts_as_left_behind)
{
	char name[64];
	pid_t target, other, pids[2], found[2];

	sleepers_start(&target, 1);
	(void)snprintf(name, sizeof(name), "/tmp/" LOOK_LEFT_NAME " %d", target);
	(void)unlink(name);
	assert_int_equal(symlink("/bin/sleep", name), 0);
	other = fork();
	if (other == 0) {
		(void)setpgid(0, 0);
		(void)execl(name, name, "60", NULL);
		_exit(1);
	}
	pids[0] = target;
	pids[1] = other;
	assert_int_equal(look_left_find(pids, 2, found, 2), 0);
	(void)unlink(name);
	sleepers_end(pids, 2);
}
