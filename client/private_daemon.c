#include "client/private_daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/clock.h"

#define START_TIMEOUT_MS 10000
/* The daemon gives the agents of its windows a few seconds to leave their JVMs. */
#define STOP_TIMEOUT_MS 15000
#define LOG_TAIL_BYTES  4096

extern char **environ;

struct private_daemon {
	char directory[PATH_MAX];
	char socket[PATH_MAX + 16];
	char notify[PATH_MAX + 16];
	pid_t pid;
	int pidfd;
	int notify_fd;
	int log_fd;
};

/* ---------------------------------------------------------------- its directory */

static int make_notify_socket(struct private_daemon *d, struct err *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	/* The control socket has the longer name of the two. */
	if (strlen(d->socket) >= sizeof(address.sun_path))
		return err_set(err, ENAMETOOLONG,
			       "'%s' is too long for a socket: set TMPDIR to a shorter directory",
			       d->socket);
	strcpy(address.sun_path, d->notify);
	d->notify_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (d->notify_fd < 0)
		return err_set_errno(err, errno, "cannot create a socket");
	if (bind(d->notify_fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return err_set_errno(err, errno, "cannot bind '%s'", d->notify);
	return 0;
}

static int make_directory(struct private_daemon *d, struct err *err)
{
	const char *parent = getenv("TMPDIR");
	char path[PATH_MAX];

	if (!parent || !parent[0])
		parent = "/tmp";
	if (snprintf(path, sizeof(path), "%s/.jxperf-XXXXXX", parent) >= (int)sizeof(path))
		return err_set(err, ENAMETOOLONG, "TMPDIR is longer than a path may be");
	if (!mkdtemp(path))
		return err_set_errno(err, errno,
				     "cannot create a directory in '%s': set TMPDIR to one that "
				     "can be written",
				     parent);
	strcpy(d->directory, path);
	(void)snprintf(d->socket, sizeof(d->socket), "%s/control.sock", path); /* Both fit. */
	(void)snprintf(d->notify, sizeof(d->notify), "%s/notify.sock", path);
	return make_notify_socket(d, err);
}

static void remove_directory(struct private_daemon *d)
{
	if (!d->directory[0])
		return;
	/* The daemon removes its socket unless it was killed. What cannot be removed is empty
	 * files in a directory for temporary ones. */
	(void)unlink(d->socket);
	(void)unlink(d->notify);
	(void)rmdir(d->directory);
}

/* ---------------------------------------------------------------- its process */

/* Copies of the environment's entries, ours instead of any NOTIFY_SOCKET. The strings are borrowed.
 */
static char **make_environment(char *notify)
{
	static const char name[] = "NOTIFY_SOCKET=";
	size_t count = 0, used = 0;
	char **copy;

	while (environ[count])
		count++;
	copy = calloc(count + 2, sizeof(char *));
	if (!copy)
		return NULL;
	for (size_t i = 0; i < count; i++)
		if (strncmp(environ[i], name, sizeof(name) - 1) != 0)
			copy[used++] = environ[i];
	copy[used] = notify;
	return copy;
}

/* The jxperfd beside our own executable, or its bare name, which is then looked up on PATH. */
static void find_program(char *path, size_t size)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (n > 0) {
		self[n] = '\0';
		slash = strrchr(self, '/');
		*slash = '\0'; /* The kernel's path is absolute. */
		if (snprintf(path, size, "%s/jxperfd", self) < (int)size && access(path, X_OK) == 0)
			return;
	}
	(void)snprintf(path, size, "jxperfd"); /* Fits. */
}

/* posix_spawn with its two argument objects prepared. 0 or an errno value. */
static int spawn(struct private_daemon *d, const char *program, char **environment,
		 const struct interrupt *in, posix_spawn_file_actions_t *files,
		 posix_spawnattr_t *attributes)
{
	char *argv[] = {"jxperfd", "--private", "--socket", d->socket, NULL};
	sigset_t usual;
	int r;

	(void)sigemptyset(&usual); /* Cannot fail. */
	(void)sigaddset(&usual, SIGPIPE);
	if ((r = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0)) ||
	    (r = posix_spawn_file_actions_adddup2(files, d->log_fd, STDOUT_FILENO)) ||
	    (r = posix_spawn_file_actions_adddup2(files, d->log_fd, STDERR_FILENO)) ||
	    (r = posix_spawnattr_setsigmask(attributes, &in->previous)) ||
	    (r = posix_spawnattr_setsigdefault(attributes, &usual)) ||
	    (r = posix_spawnattr_setflags(attributes,
					  POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)))
		return r;
	return posix_spawnp(&d->pid, program, files, attributes, argv, environment);
}

static int start_process(struct private_daemon *d, const struct interrupt *in, struct err *err)
{
	_cleanup_free_ char **environment = NULL;
	char notify[sizeof("NOTIFY_SOCKET=") + sizeof(d->notify)];
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	char program[PATH_MAX];
	int r;

	(void)snprintf(notify, sizeof(notify), "NOTIFY_SOCKET=%s", d->notify); /* Fits. */
	environment = make_environment(notify);
	if (!environment)
		return err_set(err, ENOMEM, "out of memory");
	find_program(program, sizeof(program));
	/* In glibc these two fail never. */
	(void)posix_spawn_file_actions_init(&files);
	(void)posix_spawnattr_init(&attributes);
	r = spawn(d, program, environment, in, &files, &attributes);
	(void)posix_spawn_file_actions_destroy(&files);
	(void)posix_spawnattr_destroy(&attributes);
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

/* The daemon sends "READY=1" in a datagram of its own. */
static bool read_ready(struct private_daemon *d)
{
	char text[256];
	ssize_t n = recv(d->notify_fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return false;
	text[n] = '\0';
	return strstr(text, "READY=1") != NULL;
}

static int died(const struct private_daemon *d, struct err *err)
{
	char line[ERR_MESSAGE_MAX];

	private_daemon_last_words(d, line, sizeof(line));
	return err_set(err, ECHILD, "the private daemon ended: %s",
		       line[0] ? line : "it gave no reason");
}

static int wait_until_ready(struct private_daemon *d, struct interrupt *in, struct err *err)
{
	uint64_t deadline_ns = clock_monotonic_ns() + START_TIMEOUT_MS * NS_PER_MS;

	for (;;) {
		uint64_t now_ns = clock_monotonic_ns();
		struct pollfd fds[] = {{.fd = d->notify_fd, .events = POLLIN},
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
		if (fds[1].revents)
			return died(d, err);
	}
}

int private_daemon_start(struct private_daemon **out, struct interrupt *in, struct err *err)
{
	struct private_daemon *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		return err_set(err, ENOMEM, "out of memory");
	d->pidfd = d->notify_fd = -1;
	d->log_fd = memfd_create("jxperfd-log", MFD_CLOEXEC);
	if (d->log_fd < 0)
		r = err_set_errno(err, errno, "cannot create a log in memory");
	else if ((r = make_directory(d, err)) == 0 && (r = start_process(d, in, err)) == 0)
		r = wait_until_ready(d, in, err);
	if (r < 0) {
		private_daemon_stop(d, in);
		return r;
	}
	*out = d;
	return 0;
}

const char *private_daemon_socket(const struct private_daemon *d)
{
	return d->socket;
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
	remove_directory(d);
	cleanup_close(&d->pidfd);
	cleanup_close(&d->notify_fd);
	cleanup_close(&d->log_fd);
	free(d);
}
