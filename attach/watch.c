#include "attach/watch.h"

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/proc.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>

static int open_signals(void)
{
	static const int signals[] = {SIGTERM, SIGINT, SIGHUP};
	sigset_t set;
	int fd;

	(void)sigemptyset(&set);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		(void)sigaddset(&set, signals[i]); /* Valid numbers: cannot fail. */
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

int watch_open(struct watch *w, pid_t pid, unsigned timeout_ms, unsigned overloaded_ms,
	       struct err *err)
{
	w->pid = pid;
	w->timeout_ms = timeout_ms;
	w->overloaded_ms = overloaded_ms;
	w->begin_ns = clock_monotonic_ns();
	w->deadline_ns = w->begin_ns + timeout_ms * NS_PER_MS;
	w->cpu_ns = 0;
	(void)proc_cpu_time(pid, &w->cpu_ns); /* 0 of one that has ended: so it is said to have. */
	w->pidfd = -1;
	w->signal_fd = open_signals();
	if (w->signal_fd < 0)
		return err_set_errno(err, -w->signal_fd, "cannot watch for signals");
	w->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (w->pidfd >= 0)
		return 0;
	if (errno == ESRCH)
		return proc_absent(pid, err);
	return err_set_errno(err, errno, "cannot watch process %d", pid);
}

void watch_close(struct watch *w)
{
	cleanup_close(&w->pidfd);
	cleanup_close(&w->signal_fd);
	w->pidfd = -1;
	w->signal_fd = -1;
}

/* Milliseconds to wait now, rounded up so that the deadline has passed when they have. */
static int wait_ms(const struct watch *w, int at_most_ms)
{
	uint64_t now = clock_monotonic_ns(), left;

	if (now >= w->deadline_ns)
		return 0;
	left = (w->deadline_ns - now + NS_PER_MS - 1) / NS_PER_MS;
	if (at_most_ms >= 0 && left > (uint64_t)at_most_ms)
		return at_most_ms;
	return left > INT_MAX ? INT_MAX : (int)left;
}

/* It has no processor for us, which takes time and nothing else. */
static bool is_prolonged(struct watch *w)
{
	unsigned timeout_ms = w->overloaded_ms;
	uint64_t cpu_ns;

	w->overloaded_ms = 0;
	if (timeout_ms <= w->timeout_ms || !proc_machine_is_busy() ||
	    proc_cpu_time(w->pid, &cpu_ns) < 0 || cpu_ns == w->cpu_ns)
		return false;
	w->timeout_ms = timeout_ms;
	w->deadline_ns = w->begin_ns + timeout_ms * NS_PER_MS;
	return true;
}

/* Tells what is known of it, with what to do. */
static const char *why_late(const struct watch *w)
{
	if (watch_target_is_stopped(w))
		return "stopped, by a signal or a debugger: continue it";
	if (proc_machine_is_busy())
		return "starved of CPU, since more threads are ready to run than there are "
		       "processors, or at a long safepoint: wait longer with --timeout, or try "
		       "again later";
	return "stopped (by a debugger?), starved of CPU or at a long safepoint; try again later";
}

int watch_wait(struct watch *w, int fd, short events, int at_most_ms, const char *waiting_for,
	       struct err *err)
{
	struct pollfd p[] = {
	    {.fd = fd, .events = events},
	    {.fd = w->pidfd, .events = POLLIN},
	    {.fd = w->signal_fd, .events = POLLIN},
	};
	int r;

	do {
		r = poll(p, sizeof(p) / sizeof(p[0]), wait_ms(w, at_most_ms));
	} while (r < 0 && errno == EINTR);
	if (r < 0)
		return err_set_errno(err, errno, "cannot wait for %s", waiting_for);
	if (p[2].revents)
		return err_set(err, EINTR, "attaching to process %d was interrupted", w->pid);
	if (p[0].revents)
		return 1;
	if (p[1].revents)
		return err_set(err, ESRCH, "process %d ended while it was being attached to",
			       w->pid);
	if (clock_monotonic_ns() < w->deadline_ns || is_prolonged(w))
		return 0;
	return err_set(err, ETIMEDOUT, "process %d: no sign of %s within %u ms: it is %s", w->pid,
		       waiting_for, w->timeout_ms, why_late(w));
}

bool watch_target_is_stopped(const struct watch *w)
{
	struct proc_status status;

	return proc_read_status(w->pid, 0, &status) == 0 &&
	       (status.state == 'T' || status.state == 't');
}

bool watch_target_ended(const struct watch *w, int at_most_ms)
{
	struct pollfd p = {.fd = w->pidfd, .events = POLLIN};

	return w->pidfd >= 0 && poll(&p, 1, at_most_ms) > 0;
}
