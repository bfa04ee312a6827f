#include "daemon/broker/start.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/fd.h"
#include "common/proc.h"
#include "daemon/broker/broker.h"
#include "daemon/broker/proto.h"
#include "daemon/child/spawn.h"
#include "proto/limits.h"

/* Beside CHILD_FD, its socket, a broker has the program of its children. */
#define CHILDREN_FD      4
#define CHILDREN_FD_TEXT "4"
#define HELLO_TIMEOUT_MS 20000 /* a few milliseconds as a rule */
#define BROKER_ARGUMENTS 5     /* besides what it is started with */

/* From bin/jxperfd to it. */
#define CHILDREN_FROM_BINARY "../lib/jxperf/" CHILD_PROGRAM

int broker_open_children(struct err *err)
{
	_cleanup_close_ int fd = -1;
	char path[PATH_MAX];
	int r = proc_beside_self(path, sizeof(path), CHILDREN_FROM_BINARY);

	if (r < 0)
		return err_set_errno(err, -r, "the program's own path is not known");
	fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return err_set_errno(err, errno, "cannot open '%s'; reinstall jxperf", path);
	/* What starts a process may put another descriptor in the place of a lower one. */
	r = fcntl(fd, F_DUPFD_CLOEXEC, CHILDREN_FD + 1);
	return r < 0 ? err_set_errno(err, errno, "cannot keep '%s' open", path) : r;
}

int broker_spawn(pid_t *pid, const char *daemon_path, const struct startup *startup, int socket)
{
	char *argv[BROKER_ARGUMENTS + STARTUP_ARGUMENTS + 1] = {
	    (char *)"jxperfd", (char *)BROKER_OPTION_FD, (char *)CHILD_FD_TEXT,
	    (char *)BROKER_OPTION_CHILDREN_FD, (char *)CHILDREN_FD_TEXT};
	posix_spawn_file_actions_t actions;
	int r = posix_spawn_file_actions_init(&actions);

	if (r)
		return -r;
	startup_arguments(startup, argv + BROKER_ARGUMENTS);
	r = posix_spawn_file_actions_adddup2(&actions, socket, CHILD_FD);
	/* Second: the socket may be what was in its place. */
	if (!r)
		r = posix_spawn_file_actions_adddup2(&actions, startup->children_fd, CHILDREN_FD);
	if (!r)
		r = posix_spawn(pid, daemon_path, &actions, NULL, argv, environ);
	(void)posix_spawn_file_actions_destroy(&actions);
	return -r;
}

int broker_check_hello(struct broker_reply *reply, ssize_t n, struct err *err)
{
	if (n != (ssize_t)sizeof(*reply) || reply->operation != BROKER_HELLO || reply->error < 0)
		return err_set(err, EPROTO,
			       "the privileged half of jxperfd does not start; reinstall jxperf");
	reply->message[sizeof(reply->message) - 1] = '\0';
	if (reply->error)
		return err_set(err, reply->error, "%s", reply->message);
	if (strcmp(reply->message, JXPERF_VERSION) != 0)
		return err_set(err, EPROTO,
			       "the privileged half of jxperfd is of another version: restart "
			       "jxperf-broker and jxperfd");
	return 0;
}

/* It serves from then on, with the privileges that it is to have: 0, or -errno with its reason. */
static int wait_for_hello(int socket, struct err *err)
{
	struct pollfd p = {.fd = socket, .events = POLLIN};
	struct broker_reply reply;
	size_t no_fds = 0;
	ssize_t n = 0;
	int r;

	do {
		r = poll(&p, 1, HELLO_TIMEOUT_MS);
	} while (r < 0 && errno == EINTR);
	if (r > 0)
		n = fd_recv(socket, &reply, sizeof(reply), NULL, &no_fds);
	return broker_check_hello(&reply, n, err);
}

/* Ours, and of no use: its end is waited for. */
static void end(pid_t process)
{
	(void)kill(process, SIGKILL);
	(void)waitpid(process, NULL, 0);
}

int broker_start(pid_t *process, int *process_fd, int *out_socket, const char *daemon_path,
		 const struct startup *startup, struct err *err)
{
	_cleanup_close_ int pidfd = -1, socket = -1;
	pid_t pid = 0;
	int pair[2], r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_set_errno(err, errno, "cannot make a socket pair");
	socket = pair[0];
	r = broker_spawn(&pid, daemon_path, startup, pair[1]);
	cleanup_close(&pair[1]);
	if (r < 0)
		return err_set_errno(err, -r, "cannot start '%s' as broker", daemon_path);
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0); /* Close-on-exec by itself. */
	r = pidfd < 0 ? -errno : fd_set_nonblocking(socket, true);
	r = r < 0 ? err_set_errno(err, -r, "cannot watch the broker") : wait_for_hello(socket, err);
	if (r < 0) {
		end(pid);
		return r;
	}
	*process = pid;
	*process_fd = TAKE_FD(pidfd);
	*out_socket = TAKE_FD(socket);
	return 0;
}
