/* Processes that only wait: to be looked at, or left behind by a look (daemon/child/look_left.h).
 */
#ifndef JXPERF_TESTS_UNIT_SUPPORT_SLEEPERS_H
#define JXPERF_TESTS_UNIT_SUPPORT_SLEEPERS_H

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/child/look_left.h"

static void sleepers_start(pid_t *pids, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (pids[i] == 0) {
			(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				(void)pause();
		}
	}
}

static void sleepers_end(const pid_t *pids, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(kill(pids[i], SIGKILL), 0);
		assert_int_equal(waitpid(pids[i], NULL, 0), pids[i]);
	}
}

/* What a look leaves behind that cannot be killed: a process of a group whose leader has ended. */
static pid_t sleepers_leave_behind(pid_t target)
{
	int ready[2];
	pid_t leader, left;

	assert_int_equal(pipe(ready), 0);
	leader = fork();
	assert_true(leader >= 0);
	if (leader == 0) {
		(void)setpgid(0, 0);
		left = fork();
		if (left == 0) {
			look_left_mark(target);
			left = getpid();
			(void)write(ready[1], &left, sizeof(left));
			(void)alarm(60);
			for (;;)
				(void)pause();
		}
		_exit(0);
	}
	assert_int_equal(waitpid(leader, NULL, 0), leader);
	assert_int_equal(read(ready[0], &left, sizeof(left)), sizeof(left));
	(void)close(ready[0]);
	(void)close(ready[1]);
	return left;
}

#endif
