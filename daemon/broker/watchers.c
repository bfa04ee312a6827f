#include "daemon/broker/watchers.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "common/cleanup.h"
#include "daemon/child/spawn.h"
#include "daemon/watcher/watcher.h"

#define NUMBER_BYTES 16

static struct broker_watcher *find_free(struct broker_watchers *w)
{
	for (size_t i = 0; i < BROKER_WATCHERS_MAX; i++)
		if (w->all[i].pid == 0)
			return &w->all[i];
	return NULL;
}

int broker_watchers_start(struct broker_watchers *w, pid_t target, uid_t owner, struct err *err)
{
	char pid_text[NUMBER_BYTES], owner_text[NUMBER_BYTES];
	char *const argv[] = {(char *)"jxperfd",
			      (char *)WATCHER_OPTION_FD,
			      (char *)CHILD_FD_TEXT,
			      (char *)WATCHER_OPTION_PID,
			      pid_text,
			      (char *)WATCHER_OPTION_OWNER,
			      owner_text,
			      NULL};
	struct broker_watcher *one;
	int socket, r;

	broker_watchers_tend(w);
	one = find_free(w);
	if (!one)
		return err_set(err, EAGAIN, "%d processes are being watched, and that is the limit",
			       BROKER_WATCHERS_MAX);
	(void)snprintf(pid_text, sizeof(pid_text), "%d", target);
	(void)snprintf(owner_text, sizeof(owner_text), "%d", (int)owner);
	r = child_spawn(&one->pid, &one->pidfd, &socket, SOCK_STREAM, "/proc/self/exe", argv);
	if (r < 0)
		return err_set_errno(err, -r, "cannot watch process %d", target);
	one->target = target;
	return socket;
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
