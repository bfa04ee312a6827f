#include "client/daemon/private_daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/proc.h"

#define START_TIMEOUT_MS 10000
/* The daemon gives the agents of its windows a few seconds to leave their JVMs. */
#define STOP_TIMEOUT_MS 15000
#define LOG_TAIL_BYTES  4096

extern char **environ;

/* The daemon's end of the link, in the daemon. */
#define LINK_FD      3
#define LINK_FD_TEXT "3"

struct private_daemon {
	pid_t pid;
	int pidfd;
	int link; /* our end: daemon/serve/private_link.h */
	int log_fd;
};

/* ---------------------------------------------------------------- its process */

/* The jxperfd beside our own executable, or its bare name, which is then looked up on PATH. */
static void find_program(char *path, size_t size)
{
	if (proc_beside_self(path, size, "jxperfd") == 0 && access(path, X_OK) == 0)
		return;
	(void)snprintf(path, size, "jxperfd"); /* Fits. */
}

/* posix_spawn with its two argument objects prepared. 0 or an errno value. */
static int spawn(struct private_daemon *d, const char *program, int link,
		 const struct interrupt *in, posix_spawn_file_actions_t *files,
		 posix_spawnattr_t *attributes)
{
	char *argv[] = {"jxperfd", "--client-fd", LINK_FD_TEXT, NULL};
	sigset_t usual;
	int r;

	(void)sigemptyset(&usual); /* Cannot fail. */
	(void)sigaddset(&usual, SIGPIPE);
	/* The link last: any of the others may have its number. */
	if ((r = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0)) ||
	    (r = posix_spawn_file_actions_adddup2(files, d->log_fd, STDOUT_FILENO)) ||
	    (r = posix_spawn_file_actions_adddup2(files, d->log_fd, STDERR_FILENO)) ||
	    (r = posix_spawn_file_actions_adddup2(files, link, LINK_FD)) ||
	    (r = posix_spawnattr_setsigmask(attributes, &in->previous)) ||
	    (r = posix_spawnattr_setsigdefault(attributes, &usual)) ||
	    (r = posix_spawnattr_setflags(attributes,
					  POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)))
		return r;
	return posix_spawnp(&d->pid, program, files, attributes, argv, environ);
}

/* Both ends get numbers above those of the standard streams: in the child, these are replaced
 * before the link is put in its place. */
static int make_link(int ends[2])
{
	int made[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, made) < 0)
		return -errno;
	for (int i = 0; i < 2; i++) {
		ends[i] = fcntl(made[i], F_DUPFD_CLOEXEC, LINK_FD);
		(void)close(made[i]); /* There is another. */
	}
	return ends[0] < 0 || ends[1] < 0 ? -EMFILE : 0;
}

static int start_process(struct private_daemon *d, const struct interrupt *in, struct err *err)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	char program[PATH_MAX];
	int ends[2] = {-1, -1};
	int r = make_link(ends);

	d->link = ends[0];
	if (r < 0) {
		cleanup_close(&ends[1]);
		return err_set_errno(err, -r, "cannot create a socket");
	}
	find_program(program, sizeof(program));
	/* In glibc these two fail never. */
	(void)posix_spawn_file_actions_init(&files);
	(void)posix_spawnattr_init(&attributes);
	r = spawn(d, program, ends[1], in, &files, &attributes);
	(void)posix_spawn_file_actions_destroy(&files);
	(void)posix_spawnattr_destroy(&attributes);
	cleanup_close(&ends[1]);
	if (r == ENOENT)
		return err_set(err, r,
			       "cannot find 'jxperfd' beside jxperfctl or on PATH: install it, or "
			       "name a running daemon with --socket");
	if (r)
		return err_set_errno(err, r, "cannot run '%s'", program);
	d->pidfd = pidfd_open(d->pid, 0);
	return d->pidfd < 0 ? err_set_errno(err, errno, "cannot watch jxperfd") : 0;
}

/* ---------------------------------------------------------------- readiness */

/* Its first message says so; the end of the link, that it has ended or is about to. */
static bool read_ready(struct private_daemon *d)
{
	char byte;

	return recv(d->link, &byte, sizeof(byte), MSG_DONTWAIT) == sizeof(byte);
}

static int died(const struct private_daemon *d, struct err *err)
{
	char line[ERR_MESSAGE_MAX];

	private_daemon_last_words(d, line, sizeof(line));
	return err_set(err, ECHILD, "the private daemon ended: %s",
		       line[0] ? line : "it gave no reason");
}

/* Waits until the process has ended; false when a signal or the deadline came first. */
static bool wait_until_gone(const struct private_daemon *d, struct interrupt *in)
{
	struct pollfd fds[] = {{.fd = d->pidfd, .events = POLLIN},
			       {.fd = in ? in->fd : -1, .events = POLLIN}};
	int n;

	do {
		n = poll(fds, 2, STOP_TIMEOUT_MS);
	} while (n < 0 && errno == EINTR);
	return n > 0 && fds[0].revents;
}

static int wait_until_ready(struct private_daemon *d, struct interrupt *in, struct err *err)
{
	uint64_t deadline_ns = clock_monotonic_ns() + START_TIMEOUT_MS * NS_PER_MS;

	for (;;) {
		uint64_t now_ns = clock_monotonic_ns();
		struct pollfd fds[] = {{.fd = d->link, .events = POLLIN},
				       {.fd = d->pidfd, .events = POLLIN},
				       {.fd = in->fd, .events = POLLIN}};

		if (now_ns >= deadline_ns)
			return err_set(err, ETIMEDOUT, "the private daemon was not ready in %d s",
				       START_TIMEOUT_MS / 1000);
		if (poll(fds, 3, (int)((deadline_ns - now_ns) / NS_PER_MS) + 1) < 0 &&
		    errno != EINTR)
			return err_set_errno(err, errno, "cannot wait for the private daemon");
		if (fds[2].revents)
			return err_set(err, EINTR, "interrupted");
		if (fds[0].revents && read_ready(d))
			return 0;
		/* A link that ended stays readable: its process is about to follow. */
		if (fds[1].revents || (fds[0].revents && wait_until_gone(d, in)))
			return died(d, err);
	}
}

int private_daemon_start(struct private_daemon **out, struct interrupt *in, struct err *err)
{
	struct private_daemon *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		return err_set(err, ENOMEM, "out of memory");
	d->pidfd = d->link = -1;
	d->log_fd = memfd_create("jxperfd-log", MFD_CLOEXEC);
	if (d->log_fd < 0)
		r = err_set_errno(err, errno, "cannot create a log in memory");
	else if ((r = start_process(d, in, err)) == 0)
		r = wait_until_ready(d, in, err);
	if (r < 0) {
		private_daemon_stop(d, in);
		return r;
	}
	*out = d;
	return 0;
}

int private_daemon_connect(const struct private_daemon *d, struct err *err)
{
	int ends[2];
	ssize_t n;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return err_set_errno(err, errno, "cannot create a socket");
	n = fd_send(d->link, "c", 1, &ends[1], 1);
	(void)close(ends[1]); /* The daemon's; a copy is on its way. */
	if (n == 1)
		return ends[0];
	(void)close(ends[0]); /* Nothing was sent. */
	return died(d, err);
}

void private_daemon_last_words(const struct private_daemon *d, char *line, size_t size)
{
	off_t end = lseek(d->log_fd, 0, SEEK_END);
	off_t from = end > LOG_TAIL_BYTES ? end - LOG_TAIL_BYTES : 0;
	char text[LOG_TAIL_BYTES + 1];
	ssize_t n = pread(d->log_fd, text, LOG_TAIL_BYTES, from);
	const char *last;

	while (n > 0 && text[n - 1] == '\n')
		n--;
	text[n > 0 ? n : 0] = '\0';
	last = strrchr(text, '\n');
	(void)snprintf(line, size, "%s", last ? last + 1 : text); /* A cut line still tells. */
}

/* ---------------------------------------------------------------- the end */

static void end_process(const struct private_daemon *d, struct interrupt *in)
{
	if (d->pid <= 0)
		return;
	if (in && in->fd >= 0)
		(void)interrupt_take(
		    in); /* The one that brought us here; the next is impatience. */
	/* The child is not reaped yet, so its pid cannot be somebody else's. */
	(void)kill(d->pid, SIGTERM);
	if (d->pidfd < 0 || !wait_until_gone(d, in))
		(void)kill(d->pid, SIGKILL);
	while (waitpid(d->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

void private_daemon_stop(struct private_daemon *d, struct interrupt *in)
{
	if (!d)
		return;
	end_process(d, in);
	cleanup_close(&d->pidfd);
	cleanup_close(&d->link);
	cleanup_close(&d->log_fd);
	free(d);
}
