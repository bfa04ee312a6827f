/* More processes that never wait than there are processors, for as long as a test says. */
#ifndef JXPERF_TESTS_UNIT_SUPPORT_BUSY_MACHINE_H
#define JXPERF_TESTS_UNIT_SUPPORT_BUSY_MACHINE_H

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define SPINNERS_MAX 1026

static struct {
	pid_t spinners[SPINNERS_MAX];
	size_t count;
} busy_machine;

static pid_t start_spinner(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (volatile unsigned i = 0;; i++)
			;
	}
	return pid;
}

static void busy_machine_begin(void)
{
	size_t wanted = (size_t)sysconf(_SC_NPROCESSORS_ONLN) + 2;

	assert_true(wanted <= SPINNERS_MAX);
	for (busy_machine.count = 0; busy_machine.count < wanted; busy_machine.count++) {
		busy_machine.spinners[busy_machine.count] = start_spinner();
		assert_true(busy_machine.spinners[busy_machine.count] > 0);
	}
}

static void busy_machine_end(void)
{
	while (busy_machine.count > 0) {
		pid_t pid = busy_machine.spinners[--busy_machine.count];

		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, NULL, 0);
	}
}

#endif
