#include "daemon/child/sigtrap_probe.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/perf/events.h"

#define DEADLINE_MS 2000

/* The signal is raised on the way out of the trap, or by an interrupt right behind it (irq_work,
 * before Linux 6.1): this is for a virtual machine that takes its time over the interrupt. */
#define PENDING_NS (100 * NS_PER_MS)

/* ---------------------------------------------------------------- the child's part */

static volatile uint64_t watched;
static volatile sig_atomic_t told; /* that it had been blocked */

static void on_sigtrap(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	told = info->si_code == PERF_TRAP_CODE && perf_siginfo_async(info);
}

static bool becomes_pending(void)
{
	uint64_t until = clock_monotonic_ns() + PENDING_NS;
	sigset_t pending;

	do {
		if (sigpending(&pending) == 0 && sigismember(&pending, SIGTRAP) == 1)
			return true;
	} while (clock_monotonic_ns() < until);
	return false;
}

int sigtrap_trial(void)
{
	struct sigaction action = {.sa_sigaction = on_sigtrap, .sa_flags = SA_SIGINFO};
	struct perf_event_attr attr;
	_cleanup_close_ int fd = -1;
	sigset_t trap;
	int r;

	(void)sigemptyset(&trap);
	(void)sigaddset(&trap, SIGTRAP); /* A valid number: cannot fail. */
	if (sigaction(SIGTRAP, &action, NULL) < 0 || sigprocmask(SIG_BLOCK, &trap, NULL) < 0)
		return errno;
	perf_attr_breakpoint(&attr, HW_BREAKPOINT_W, (uintptr_t)&watched, sizeof(watched), 0);
	fd = perf_open(&attr, 0);
	if (fd < 0)
		return -fd;
	r = perf_enable(fd);
	if (r < 0)
		return -r;
	watched = 1; /* A kernel without the change ends us here, */
	if (!becomes_pending())
		return ENODATA;
	(void)sigprocmask(SIG_UNBLOCK, &trap, NULL); /* and one with it calls the handler here. */
	return told ? 0 : SIGTRAP_TRIAL_UNTOLD;
}

/* ---------------------------------------------------------------- the parent's part */

_Noreturn static void run(sigtrap_trial_fn trial, pid_t parent)
{
	/* Neither a core file nor a run of the system's crash handler, which RLIMIT_CORE alone
	 * would not prevent. Both calls cannot fail with these arguments. */
	(void)prctl(PR_SET_DUMPABLE, 0);
	/* Our copies of the parent's sockets must not outlive it. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(ESRCH); /* It died before it could take us along. */
	_exit(trial());
}

static int wait_for_end(int pidfd)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};
	int r;

	do {
		r = poll(&p, 1, DEADLINE_MS);
	} while (r < 0 && errno == EINTR);
	if (r < 0)
		return -errno;
	return r == 0 ? -ETIMEDOUT : 0;
}

/* Waits until pid has ended by itself, and kills it when that cannot be waited for. Nothing that it
 * does can keep it from dying. Only pid is reaped: the caller has other children. */
static int finish(pid_t pid, int *status)
{
	_cleanup_close_ int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	int r = pidfd < 0 ? -errno : wait_for_end(pidfd);
	pid_t reaped;

	if (r < 0)
		(void)kill(pid, SIGKILL); /* Not reaped yet, so it is ours and exists. */
	do {
		reaped = waitpid(pid, status, 0);
	} while (reaped < 0 && errno == EINTR);
	if (r == 0 && reaped < 0)
		r = -errno;
	return r;
}

static enum sigtrap_verdict judge(int status, int *error)
{
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGTRAP)
		return SIGTRAP_KILLS;
	if (WIFEXITED(status) && WEXITSTATUS(status) == SIGTRAP_TRIAL_UNTOLD)
		return SIGTRAP_KILLS;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return SIGTRAP_WAITS;
	*error = WIFEXITED(status) ? -WEXITSTATUS(status) : -EIO;
	return SIGTRAP_UNKNOWN;
}

enum sigtrap_verdict sigtrap_probe(sigtrap_trial_fn trial, int *error)
{
	pid_t parent = getpid(), pid = fork();
	int status = 0, r;

	if (pid == 0)
		run(trial, parent);
	r = pid < 0 ? -errno : finish(pid, &status);
	if (r < 0) {
		*error = r;
		return SIGTRAP_UNKNOWN;
	}
	return judge(status, error);
}
