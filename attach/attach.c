#include "attach/attach.h"

#include "attach/bundle.h"
#include "attach/image.h"
#include "attach/private_dir.h"
#include "attach/process/headroom.h"
#include "attach/process/target_fs.h"
#include "attach/protocol.h"
#include "attach/target.h"
#include "attach/watch.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/fd.h"
#include "proto/helper.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define OPTION_BYTES \
	(sizeof(ATTACH_OPTION_SOCKET) + PRIVATE_DIR_PATH_BYTES + sizeof(PRIVATE_DIR_SOCKET))
#define EXIT_MS    200   /* between the closing of a process's sockets and its end */
#define RETRY_MS   20    /* between requests to a JVM that is still starting */
#define BUSY_MS    2000u /* for an agent to end a window that is over for its engine */
#define WAIT_AGENT "the agent's connection"

struct attach {
	struct watch watch;
	struct target target;
	struct bundle bundle;
	struct private_dir dir;
	int listener;
	char library[PATH_MAX]; /* as the target is to load it; "": a copy that is yet to be made */
	const char *image_path; /* where its image may have it, or "" */
	struct err not_in_image; /* why that is of no use; "" when nobody asked */
};

/* ---------------------------------------------------------------- a place */

/* Appends one candidate's reason to the list that is shown when none will do. */
static void add_reason(char *reasons, size_t size, const struct err *why)
{
	size_t used = strlen(reasons);

	(void)snprintf(reasons + used, size - used, "%s%s", used ? ", " : "", why->message);
}

static int no_place(const struct attach *a, bool copy, const char *reasons, struct err *err)
{
	return err_set(
	    err, EACCES,
	    "process %d has no directory for the agent's %s: %s%s%s; give it a writable /tmp "
	    "with room%s",
	    a->target.jvm.pid, copy ? "files" : "socket", reasons,
	    a->not_in_image.message[0] ? ", " : "", a->not_in_image.message,
	    copy ? " and without noexec, or an image with the agent at 'agent-path'" : "");
}

/* Puts the bundle into the private directory, which is gone when that fails. */
static int fill_place(struct attach *a, struct err *err)
{
	struct err why;
	int r = bundle_copy(&a->bundle, a->dir.fd, &why);

	if (r == 0)
		return 0;
	r = err_set(err, -r, "'%s': %s", a->dir.path, why.message);
	private_dir_remove(&a->dir);
	return r;
}

/* Tells what a place has to have room for beside the socket. */
static uint64_t copy_bytes(const struct attach *a, bool copy)
{
	return copy ? bundle_copy_bytes(&a->bundle) : 0;
}

/* Makes the private directory, with a copy of the bundle when the target needs one. */
static int make_place(struct attach *a, bool copy, struct err *err)
{
	char reasons[ERR_MESSAGE_MAX / 2] = "";

	for (unsigned i = 0; i < PRIVATE_DIR_CANDIDATES; i++) {
		struct err why = {""};
		int r = private_dir_create(&a->dir, &a->target, i, copy_bytes(a, copy), &why);

		if (r == 0 && copy)
			r = fill_place(a, &why);
		if (r == 0)
			return 0;
		if (why.message[0])
			add_reason(reasons, sizeof(reasons), &why);
	}
	return no_place(a, copy, reasons, err);
}

/* The directory that make_place would use, if nothing goes wrong there. */
static int find_place(struct attach *a, bool copy, char path[PRIVATE_DIR_PATH_BYTES],
		      struct err *err)
{
	char reasons[ERR_MESSAGE_MAX / 2] = "";

	for (unsigned i = 0; i < PRIVATE_DIR_CANDIDATES; i++) {
		_cleanup_close_ int parent = -1;
		struct err why = {""};

		if (private_dir_probe(&a->target, i, copy_bytes(a, copy), &parent, path, &why) == 0)
			return 0;
		if (why.message[0])
			add_reason(reasons, sizeof(reasons), &why);
	}
	return no_place(a, copy, reasons, err);
}

static int library_in(struct attach *a, const char *directory, struct err *err)
{
	int n = snprintf(a->library, sizeof(a->library), "%s/" AGENT_LIBRARY, directory);

	return n < (int)sizeof(a->library)
		   ? 0
		   : err_set(err, ENAMETOOLONG, "the path '%s' is too long", directory);
}

/* A library that the target has loaded before must keep its path: glibc knows loaded objects by
 * name, also after their files are gone, and another name would be another copy. */
static int find_library(struct attach *a, struct err *err)
{
	if (a->target.jvm.agent_path[0])
		strcpy(a->library, a->target.jvm.agent_path); /* Both arrays hold any path. */
	else if (bundle_visible(&a->bundle, &a->target.root))
		return library_in(a, a->bundle.path, err);
	else if (a->image_path[0])
		(void)image_library(&a->target, &a->bundle, a->image_path, a->library,
				    &a->not_in_image); /* Then a copy may do. */
	return 0;
}

static int choose_library(struct attach *a, struct err *err)
{
	int r = find_library(a, err);
	bool copy = !a->library[0];

	if (r == 0)
		r = make_place(a, copy, err);
	return r == 0 && copy ? library_in(a, a->dir.path, err) : r;
}

static int open_listener(struct attach *a, struct err *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	a->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	target_fs_self_path(address.sun_path, a->dir.fd, PRIVATE_DIR_SOCKET);
	fd_refuse_descriptors(a->listener); /* Accepted sockets inherit it. */
	if (a->listener < 0 ||
	    bind(a->listener, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(a->listener, 1) < 0)
		return err_set_errno(err, errno, "cannot listen in '%s' of process %d", a->dir.path,
				     a->target.jvm.pid);
	return 0;
}

/* ---------------------------------------------------------------- the agent */

static bool is_target(int fd, const struct target *t)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid == t->jvm.pid;
}

/* Connections of other processes are closed; the deadline bounds them. */
static int accept_agent(struct attach *a, struct err *err)
{
	for (;;) {
		_cleanup_close_ int fd = -1;
		int r = watch_wait(&a->watch, a->listener, POLLIN, -1, WAIT_AGENT, err);

		if (r < 0)
			return r;
		fd = accept4(a->listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0 && errno != EAGAIN && errno != ECONNABORTED && errno != EINTR)
			return err_set_errno(err, errno, "cannot accept the agent of process %d",
					     a->target.jvm.pid);
		if (fd >= 0 && is_target(fd, &a->target))
			return TAKE_FD(fd);
	}
}

static int try_to_load(struct attach *a, struct err *err)
{
	char options[OPTION_BYTES];
	bool others;
	_cleanup_close_ int jvm = protocol_connect(&a->target, &a->watch, &others, err);

	if (jvm < 0)
		return jvm;
	(void)snprintf(options, sizeof(options), ATTACH_OPTION_SOCKET "%s/" PRIVATE_DIR_SOCKET,
		       a->dir.path);
	return protocol_load(jvm, &a->target, &a->watch, others, a->library, options, err);
}

/* Does the JVM say that it may be ready soon? Then one that is still starting gets the time that is
 * left, one whose agent has just been told to end its last window some of it. */
static bool is_worth_waiting(int result, uint64_t since_ns)
{
	return result == -EINPROGRESS ||
	       (result == -EBUSY && clock_monotonic_ns() < since_ns + BUSY_MS * NS_PER_MS);
}

static int load_agent(struct attach *a, struct err *err)
{
	uint64_t start = clock_monotonic_ns();
	struct err why;
	int r;

	while (is_worth_waiting(r = try_to_load(a, &why), start)) {
		r = watch_wait(
		    &a->watch, -1, 0, RETRY_MS,
		    r == -EBUSY ? "the end of its last window" : "the end of its JVM's start", err);
		if (r < 0)
			return r;
	}
	if (r < 0)
		*err = why;
	return r;
}

/* Everything up to the point where something changes in the target. */
static int prepare(struct attach *a, pid_t pid, uid_t owner, const struct agent_files *agent,
		   unsigned timeout_ms, bool force, struct err *err)
{
	char room[ERR_MESSAGE_MAX];
	int r;

	*a = (struct attach){
	    .watch = {.pidfd = -1, .signal_fd = -1},
	    .target = {.root = TARGET_DIR_NONE, .cwd = TARGET_DIR_NONE},
	    .dir = {.parent_fd = -1, .fd = -1},
	    .listener = -1,
	    .image_path = agent->image_path,
	};
	r = watch_open(&a->watch, pid, timeout_ms ? timeout_ms : ATTACH_TIMEOUT_MS_DEFAULT,
		       timeout_ms ? 0 : ATTACH_TIMEOUT_MS_OVERLOADED, err);
	if (r == 0)
		r = target_open(&a->target, pid, owner, err);
	if (r == 0 && !force) /* While we may read all cgroups' files. */
		r = headroom_check("", pid, room, err);
	if (r == 0)
		r = bundle_open(&a->bundle, agent->bundle_dir, err);
	if (r == 0)
		r = target_become_owner(&a->target, err);
	if (r == 0 && !a->target.jvm.socket_exists)
		r = protocol_check_tmp(&a->target, err);
	return r;
}

static void clean_up(struct attach *a)
{
	private_dir_remove(&a->dir);
	cleanup_close(&a->listener);
	bundle_close(&a->bundle);
	target_close(&a->target);
	watch_close(&a->watch);
}

/* A failure is often but the sign of the target's end, and its sockets close a little before that
 * can be seen. */
static int explain(const struct attach *a, int r, struct err *err)
{
	bool closed = r == -EPIPE || r == -ECONNRESET;

	if (r >= 0 || r == -EINTR || r == -ESRCH ||
	    !watch_target_ended(&a->watch, closed ? EXIT_MS : 0))
		return r;
	return err_set(err, ESRCH, "process %d ended while it was being attached to", a->watch.pid);
}

int attach_to(pid_t pid, uid_t owner, const struct agent_files *agent, unsigned timeout_ms,
	      bool force, char name[ATTACH_NAME_BYTES], struct err *err)
{
	mode_t mask = umask(077);
	struct attach a;
	int r = prepare(&a, pid, owner, agent, timeout_ms, force, err);

	if (r == 0)
		r = choose_library(&a, err);
	if (r == 0)
		r = open_listener(&a, err);
	if (r == 0)
		r = load_agent(&a, err);
	if (r == 0)
		r = accept_agent(&a, err);
	if (r >= 0)
		(void)snprintf(name, ATTACH_NAME_BYTES, "%s", a.target.jvm.name); /* Same size. */
	r = explain(&a, r, err);
	clean_up(&a);
	(void)umask(mask); /* Cannot fail. */
	return r;
}

static int describe_place(struct attach *a, char text[ERR_MESSAGE_MAX], struct err *err)
{
	char path[PRIVATE_DIR_PATH_BYTES];
	struct err said; /* formatted like a message, on one line */
	int r = find_library(a, err);

	if (r == 0)
		r = find_place(a, !a->library[0], path, err);
	if (r < 0)
		return r;
	if (!a->library[0])
		(void)err_set(&said, 0, "it cannot read '%s': a copy goes to '%s' while attaching",
			      a->bundle.path, path);
	else
		(void)err_set(&said, 0, "%s '%s'; the socket goes to '%s' while attaching",
			      a->target.jvm.agent_path[0] ? "loaded before, from" : "it can read",
			      a->library, path);
	strcpy(text, said.message);
	return 0;
}

int attach_probe(pid_t pid, uid_t owner, const struct agent_files *agent, unsigned timeout_ms,
		 char text[ERR_MESSAGE_MAX], bool *unasked, struct err *err)
{
	mode_t mask = umask(077);
	struct attach a;
	int r = prepare(&a, pid, owner, agent, timeout_ms, true, err);

	*unasked = false;
	if (r == 0) {
		r = protocol_probe(&a.target, &a.watch, err);
		*unasked = r < 0;
	}
	if (r == 0)
		r = describe_place(&a, text, err);
	clean_up(&a);
	(void)umask(mask); /* Cannot fail. */
	return r;
}
