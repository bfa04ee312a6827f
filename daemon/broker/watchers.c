#include "daemon/broker/watchers.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "daemon/child/spawn.h"
#include "daemon/watcher/watcher.h"

#define NUMBER_BYTES 16

static int run(struct broker_watcher *one, pid_t target, int socket)
{
	char fd_text[NUMBER_BYTES], pid_text[NUMBER_BYTES];
	char *const argv[] = {(char *)"jxperfd", (char *)WATCHER_OPTION_FD,
			      fd_text,           (char *)WATCHER_OPTION_PID,
			      pid_text,          NULL};
	pid_t child;
	int r, pidfd;

	(void)snprintf(fd_text, sizeof(fd_text), "%d", BROKER_SPAWN_FD);
	(void)snprintf(pid_text, sizeof(pid_text), "%d", target);
	r = broker_spawn(&child, "/proc/self/exe", argv, socket);
	if (r < 0)
		return r;
	pidfd = (int)syscall(SYS_pidfd_open, child, 0); /* Close-on-exec by itself. */
	if (pidfd < 0) {
		r = -errno;
		(void)kill(child, SIGKILL);
		(void)waitpid(child, NULL, 0); /* Ours, and just begun: nothing holds it up. */
		return r;
	}
	*one = (struct broker_watcher){.pid = child, .pidfd = pidfd, .target = target};
	return 0;
}

int broker_watchers_start(struct broker_watchers *w, pid_t target, struct err *err)
{
	struct broker_watcher *one = NULL;
	int pair[2], r;

	broker_watchers_tend(w);
	for (size_t i = 0; i < BROKER_WATCHERS_MAX && !one; i++)
		if (w->all[i].pid == 0)
			one = &w->all[i];
	if (!one)
		return err_set(err, EAGAIN, "%d processes are being watched, and that is the limit",
			       BROKER_WATCHERS_MAX);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return err_set_errno(err, errno, "cannot make a socket pair");
	r = run(one, target, pair[1]);
	cleanup_close(&pair[1]);
	if (r < 0) {
		cleanup_close(&pair[0]);
		return err_set_errno(err, -r, "cannot watch process %d", target);
	}
	return pair[0];
}

/* Not reaped yet, so it is ours. */
static void kill_one(const struct broker_watcher *one)
{
	if (one->pid)
		(void)kill(one->pid, SIGKILL);
}

void broker_watchers_stop(struct broker_watchers *w, pid_t target)
{
	for (size_t i = 0; i < BROKER_WATCHERS_MAX; i++)
		if (w->all[i].target == target)
			kill_one(&w->all[i]);
}

nfds_t broker_watchers_poll(const struct broker_watchers *w, struct pollfd *p)
{
	nfds_t count = 0;

	for (size_t i = 0; i < BROKER_WATCHERS_MAX; i++)
		if (w->all[i].pid)
			p[count++] = (struct pollfd){.fd = w->all[i].pidfd, .events = POLLIN};
	return count;
}

void broker_watchers_tend(struct broker_watchers *w)
{
	for (size_t i = 0; i < BROKER_WATCHERS_MAX; i++) {
		struct broker_watcher *one = &w->all[i];

		if (one->pid && waitpid(one->pid, NULL, WNOHANG) == one->pid) {
			cleanup_close(&one->pidfd);
			*one = (struct broker_watcher){0};
		}
	}
}

void broker_watchers_end(struct broker_watchers *w)
{
	for (size_t i = 0; i < BROKER_WATCHERS_MAX; i++)
		kill_one(&w->all[i]);
	broker_watchers_tend(w);
}
