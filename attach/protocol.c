#include "attach/protocol.h"

#include "attach/process/connections.h"
#include "attach/process/target_fs.h"
#include "attach/reply.h"
#include "attach/room.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/proc.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/un.h>

#define NAME_BYTES       32
#define REQUEST_MAX      (2 * PATH_MAX)
#define RECHECK_MS       100 /* for file systems where inotify does not see the JVM's own changes */
#define BACKLOG_RETRY_MS 20
#define OTHER_TOOL_MS    1000 /* after which a trigger file that is not ours counts as forgotten */
#define WAIT_SOCKET      "its attach socket"
#define WAIT_ANSWER      "its answer to 'load'"

/* ---------------------------------------------------------------- the JVM's socket */

static int check_peer(int fd, const struct target *t, struct err *err)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return err_set_errno(err, errno, "cannot tell who listens for process %d",
				     t->jvm.pid);
	if (peer.pid == t->jvm.pid)
		return 0;
	return err_set(
	    err, EPERM,
	    "'/tmp/.java_pid%d' in the root of process %d belongs to another process (%d): "
	    "remove it",
	    t->jvm.namespace_pid, t->jvm.pid, peer.pid);
}

/* Its one thread for requests has another's connection. */
static int held_by_another(const struct target *t, struct err *err)
{
	return err_set(
	    err, EBUSY,
	    "another tool holds the attach listener of process %d ('/tmp/.java_pid%d'), which "
	    "serves one at a time: end that tool (jcmd, jstack, another agent's loader), or try "
	    "again later",
	    t->jvm.pid, t->jvm.namespace_pid);
}

/* r is that of a wait. Who is stopped serves nobody, whoever waits. */
static int blame_another(int r, bool held, const struct target *t, struct watch *w, struct err *err)
{
	return r == -ETIMEDOUT && held && !watch_target_is_stopped(w) ? held_by_another(t, err) : r;
}

/* connect to the object behind an O_PATH descriptor. -EAGAIN: the listener's queue is full. */
static int connect_object(int object)
{
	_cleanup_close_ int fd = -1;
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	target_fs_self_path(address.sun_path, object, NULL);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	return TAKE_FD(fd);
}

/* A connection, or -ENOENT without err when nobody listens yet: no socket, or one that a former JVM
 * with this pid left behind (the JVM replaces it when asked). */
static int try_connect(const struct target *t, struct watch *w, struct err *err)
{
	_cleanup_close_ int object = -1;
	_cleanup_close_ int fd = -1;
	char path[NAME_BYTES];
	struct stat st;
	int r;

	(void)snprintf(path, sizeof(path), "/tmp/.java_pid%d", t->jvm.namespace_pid);
	object = target_fs_open(&t->root, path, O_PATH | O_NOFOLLOW);
	if (object == -ENOENT)
		return -ENOENT;
	if (object < 0 || fstat(object, &st) < 0)
		return err_set_errno(err, object < 0 ? -object : errno,
				     "cannot open '%s' of process %d", path, t->jvm.pid);
	if (!S_ISSOCK(st.st_mode) || (st.st_uid != t->jvm.euid && st.st_uid != 0))
		return err_set(
		    err, EPERM,
		    "'%s' in the root of process %d is not a socket of its user: remove it", path,
		    t->jvm.pid);
	while ((fd = connect_object(object)) == -EAGAIN) {
		r = watch_wait(w, -1, 0, BACKLOG_RETRY_MS, WAIT_SOCKET, err);
		if (r < 0)
			return blame_another(r, true, t, w, err);
	}
	if (fd == -ECONNREFUSED)
		return -ENOENT;
	/* It is root's, with mode 0600. The JVM cannot replace it where /tmp is sticky. */
	if (fd == -EACCES && st.st_uid != t->jvm.euid)
		return err_set(err, EACCES,
			       "'%s' in the root of process %d is left from a process of root's "
			       "that had its number: remove it",
			       path, t->jvm.pid);
	if (fd < 0)
		return err_set_errno(err, -fd, "cannot connect to '%s' of process %d", path,
				     t->jvm.pid);
	r = check_peer(fd, t, err);
	return r < 0 ? r : TAKE_FD(fd);
}

/* ---------------------------------------------------------------- asking for it */

/* Why the user cannot make files there, in words, and whether only room is missing; NULL when it
 * can. */
static const char *unwritable(int directory, bool *full)
{
	char self[TARGET_FS_PROC_PATH_BYTES];
	struct statvfs fs;

	if (directory < 0)
		return "cannot be opened";
	if (fstatvfs(directory, &fs) < 0)
		return "cannot be read";
	if (fs.f_flag & ST_RDONLY)
		return "is read-only";
	target_fs_self_path(self, directory, NULL);
	/* Effective ids: the helper has become the target's user. */
	if (faccessat(AT_FDCWD, self, W_OK | X_OK, AT_EACCESS) < 0)
		return "is closed to its user";
	*full = !room_for(&fs, 0);
	return *full ? "has no room for another file" : NULL;
}

int protocol_check_tmp(const struct target *t, struct err *err)
{
	_cleanup_close_ int tmp = target_fs_open(&t->root, "/tmp", O_PATH | O_DIRECTORY);
	bool full = false;
	const char *why = unwritable(tmp, &full);

	return why ? err_set(err, full ? ENOSPC : EROFS,
			     "the JVM of process %d cannot make the socket that one attaches by, "
			     "since its '/tmp' %s: %s",
			     t->jvm.pid, why,
			     full ? "remove what is not needed there"
				  : "mount a writable one there, which may be noexec")
		   : 0;
}

/* The file that tells SIGQUIT's handler to open the socket. */
struct trigger {
	int dir_fd;
	bool ours;
	char name[NAME_BYTES];
};

static void trigger_remove(struct trigger *g)
{
	if (g->ours)
		(void)unlinkat(g->dir_fd, g->name, 0); /* Gone already is as good. */
	cleanup_close(&g->dir_fd);
}

/* The JVM accepts a regular file of its own user or root. */
static bool accepted(const struct stat *st, const struct target *t)
{
	return S_ISREG(st->st_mode) && (st->st_uid == t->jvm.euid || st->st_uid == 0);
}

static bool is_full(int error)
{
	return error == ENOSPC || error == EDQUOT;
}

/* 0: a file that the JVM will accept is in dir_fd. -ENOENT: not possible here; -ENOSPC: there is no
 * room. Any other: do not go on, since the JVM would look at this one only and print a thread dump.
 * Takes dir_fd. */
static int trigger_in(struct trigger *g, int dir_fd, const struct target *t, struct err *err)
{
	_cleanup_close_ int dir = dir_fd;
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (dir < 0)
		return -ENOENT;
	fd = openat(dir, g->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0 && fstat(fd, &st) == 0 && accepted(&st, t)) {
		g->ours = true;
		g->dir_fd = TAKE_FD(dir);
		return 0;
	}
	if (fd >= 0) { /* A file system that has owners of its own. */
		(void)unlinkat(dir, g->name, 0);
		return -ENOENT;
	}
	if (errno != EEXIST)
		return is_full(errno) ? -ENOSPC : -ENOENT;
	/* Somebody else is attaching, or did and died. */
	if (fstatat(dir, g->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && accepted(&st, t))
		return 0;
	return err_set(err, EPERM,
		       "'%s' of process %d exists and is not a file of its user: remove it",
		       g->name, t->jvm.pid);
}

/* In the order in which the JVM looks. */
static int trigger_create(struct trigger *g, const struct target *t, struct err *err)
{
	int r;

	*g = (struct trigger){.dir_fd = -1};
	(void)snprintf(g->name, sizeof(g->name), ".attach_pid%d", t->jvm.namespace_pid);
	r = trigger_in(g, t->cwd.fd < 0 ? -1 : fcntl(t->cwd.fd, F_DUPFD_CLOEXEC, 0), t, err);
	if (r == -ENOENT || r == -ENOSPC)
		r = trigger_in(g, target_fs_open(&t->root, "/tmp", O_PATH | O_DIRECTORY), t, err);
	if (r == -ENOSPC)
		return err_set(err, ENOSPC,
			       "user '%s' has no room for a file in the '/tmp' of process %d, so "
			       "its JVM cannot be asked for a connection: make some",
			       t->jvm.user, t->jvm.pid);
	if (r == -ENOENT)
		return err_set(
		    err, EACCES,
		    "user '%s' can write neither to the working directory of process %d nor "
		    "to its '/tmp', so its JVM cannot be asked for a connection",
		    t->jvm.user, t->jvm.pid);
	return r;
}

static int send_sigquit(const struct target *t, struct watch *w, struct err *err)
{
	struct proc_status status;
	int r = proc_read_status(t->jvm.pid, 0, &status);

	/* The default action of SIGQUIT ends the process. */
	if (r == 0 && !proc_catches_signal(&status, SIGQUIT))
		return err_set(err, EAGAIN, "process %d does not catch SIGQUIT", t->jvm.pid);
	if (r == 0 && syscall(SYS_pidfd_send_signal, w->pidfd, SIGQUIT, NULL, 0) < 0)
		r = -errno;
	return r < 0 ? err_set_errno(err, -r, "cannot signal process %d", t->jvm.pid) : 0;
}

/* A descriptor that becomes readable when something appears in the target's /tmp; -1 when that
 * cannot be had, and time alone has to do. */
static int watch_tmp(const struct target *t)
{
	_cleanup_close_ int tmp = target_fs_open(&t->root, "/tmp", O_PATH | O_DIRECTORY);
	_cleanup_close_ int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	char path[TARGET_FS_PROC_PATH_BYTES];

	if (tmp < 0 || fd < 0)
		return -1;
	target_fs_self_path(path, tmp, NULL);
	/* The JVM binds under another name and renames (AttachListener::pd_init). */
	if (inotify_add_watch(fd, path, IN_CREATE | IN_MOVED_TO) < 0)
		return -1;
	return TAKE_FD(fd);
}

/* At most at_most_ms (-1: until the deadline); -ENOENT, without err, when they have passed. */
static int wait_for_socket(const struct target *t, struct watch *w, int changes, int at_most_ms,
			   struct err *err)
{
	uint64_t until = clock_monotonic_ns() + (uint64_t)at_most_ms * NS_PER_MS;
	char events[4096];

	for (;;) {
		int fd = try_connect(t, w, err);
		int r;

		if (fd != -ENOENT || (at_most_ms >= 0 && clock_monotonic_ns() >= until))
			return fd;
		r = watch_wait(w, changes, POLLIN, RECHECK_MS, WAIT_SOCKET, err);
		if (r < 0)
			return r;
		if (r > 0) /* What changed is seen by trying. */
			(void)!read(changes, events, sizeof(events));
	}
}

/* As many as were there before us. */
static bool has_others(const struct target *t)
{
	struct connections c = connections_of(t->jvm.pid, t->jvm.namespace_pid);

	return c.served + c.waiting > 0;
}

/* One is served, and we wait behind it. */
static bool is_held(const struct target *t)
{
	struct connections c = connections_of(t->jvm.pid, t->jvm.namespace_pid);

	return c.served > 0 && c.waiting > 0;
}

int protocol_connect(const struct target *t, struct watch *w, bool *others, struct err *err)
{
	_cleanup_(trigger_remove) struct trigger trigger = {.dir_fd = -1};
	_cleanup_close_ int changes = -1;
	int r;

	*others = has_others(t);
	r = try_connect(t, w, err);
	if (r != -ENOENT)
		return r;
	r = protocol_check_tmp(t, err);
	if (r < 0)
		return r;
	changes = watch_tmp(t);
	r = trigger_create(&trigger, t, err);
	if (r < 0)
		return r;
	/* A JVM that listens already takes SIGQUIT for a wish to see a thread dump. So look once
	 * more, and let another tool that is just attaching finish. */
	r = wait_for_socket(t, w, changes, trigger.ours ? 0 : OTHER_TOOL_MS, err);
	if (r != -ENOENT)
		return r;
	r = send_sigquit(t, w, err);
	return r < 0 ? r : wait_for_socket(t, w, changes, -1, err);
}

/* A request that takes no longer than this keeps nobody from attaching. */
static int wait_for_others(const struct target *t, struct watch *w, struct err *err)
{
	uint64_t until = clock_monotonic_ns() + OTHER_TOOL_MS * NS_PER_MS;
	int r = 0;

	while (r == 0 && is_held(t)) {
		if (clock_monotonic_ns() >= until)
			return held_by_another(t, err);
		r = watch_wait(w, -1, 0, RECHECK_MS, WAIT_SOCKET, err);
	}
	return r;
}

int protocol_probe(const struct target *t, struct watch *w, struct err *err)
{
	_cleanup_(trigger_remove) struct trigger trigger = {.dir_fd = -1};
	_cleanup_close_ int fd = -1;
	bool others = has_others(t);
	int r;

	fd = try_connect(t, w, err);
	if (fd >= 0)
		return others ? wait_for_others(t, w, err) : 0;
	if (fd != -ENOENT)
		return fd;
	r = protocol_check_tmp(t, err);
	return r < 0 ? r : trigger_create(&trigger, t, err);
}

/* ---------------------------------------------------------------- load */

/* Version 1 of the protocol, which all JDKs speak: version, command and three arguments, each
 * NUL-terminated. "true": the path is absolute. */
static int make_request(char *request, size_t size, const char *library, const char *options,
			struct err *err)
{
	int n = snprintf(request, size, "1%cload%c%s%ctrue%c%s", 0, 0, library, 0, 0, options);

	if (n < 0 || (size_t)n >= size)
		return err_set(err, ENAMETOOLONG, "the path '%s' is too long", library);
	return n + 1;
}

static int send_request(int socket, struct watch *w, const char *request, size_t size,
			struct err *err)
{
	while (size > 0) {
		ssize_t n = send(socket, request, size, MSG_NOSIGNAL);
		int r;

		if (n >= 0) {
			request += n;
			size -= (size_t)n;
		} else if (errno == EAGAIN) {
			r = watch_wait(w, socket, POLLOUT, -1, WAIT_ANSWER, err);
			if (r < 0)
				return r;
		} else if (errno != EINTR) {
			return err_set_errno(err, errno, "cannot send a request to process %d",
					     w->pid);
		}
	}
	return 0;
}

/* Reads until the JVM closes the connection; bytes beyond size are read and dropped. */
static ssize_t receive_reply(int socket, struct watch *w, char *reply, size_t size, struct err *err)
{
	size_t used = 0;

	for (;;) {
		char more[512];
		bool full = used == size;
		ssize_t n = full ? recv(socket, more, sizeof(more), 0)
				 : recv(socket, reply + used, size - used, 0);
		int r;

		if (n == 0 || (n < 0 && errno == ECONNRESET))
			return (ssize_t)used;
		if (n > 0) {
			used += full ? 0 : (size_t)n;
		} else if (errno == EAGAIN) {
			r = watch_wait(w, socket, POLLIN, -1, WAIT_ANSWER, err);
			if (r < 0)
				return r;
		} else if (errno != EINTR) {
			return err_set_errno(err, errno, "cannot read the answer of process %d",
					     w->pid);
		}
	}
}

int protocol_load(int socket, const struct target *t, struct watch *w, bool others,
		  const char *library, const char *options, struct err *err)
{
	char request[REQUEST_MAX], reply[REPLY_MAX_BYTES];
	ssize_t n;
	int r;

	r = make_request(request, sizeof(request), library, options, err);
	if (r < 0)
		return r;
	r = send_request(socket, w, request, (size_t)r, err);
	if (r < 0)
		return r;
	n = receive_reply(socket, w, reply, sizeof(reply), err);
	if (n < 0)
		return blame_another((int)n, others && is_held(t), t, w, err);
	return reply_parse(reply, (size_t)n, t->jvm.pid, library, err);
}
