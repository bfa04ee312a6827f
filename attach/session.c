#include "attach/session.h"

#include "attach/bundle.h"
#include "attach/helper_proto.h"
#include "attach/private_dir.h"
#include "attach/protocol.h"
#include "attach/target.h"
#include "attach/target_fs.h"
#include "attach/watch.h"
#include "common/cleanup.h"
#include "common/fd.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define OPTION_BYTES \
	(sizeof(ATTACH_OPTION_SOCKET) + PRIVATE_DIR_PATH_BYTES + sizeof(PRIVATE_DIR_SOCKET))
#define WAIT_AGENT "the agent's connection"

struct session {
	struct watch watch;
	struct target target;
	struct bundle bundle;
	struct private_dir dir;
	int listener;
	char library[PATH_MAX]; /* as the target is to load it */
};

/* ---------------------------------------------------------------- a place */

/* Appends one candidate's reason to the list that is shown when none will do. */
static void add_reason(char *reasons, size_t size, const struct err *why)
{
	size_t used = strlen(reasons);

	(void)snprintf(reasons + used, size - used, "%s%s", used ? ", " : "", why->message);
}

/* Makes the private directory, with a copy of the bundle when the target needs one. */
static int make_place(struct session *s, bool copy, struct err *err)
{
	char reasons[ERR_MESSAGE_MAX / 2] = "";

	for (unsigned i = 0; i < PRIVATE_DIR_CANDIDATES; i++) {
		struct err why = {""};
		int r = private_dir_create(&s->dir, &s->target, i, copy, &why);

		if (r == 0 && copy) {
			r = bundle_copy(&s->bundle, s->dir.fd, &why);
			if (r < 0)
				private_dir_remove(&s->dir);
		}
		if (r == 0)
			return 0;
		if (why.message[0])
			add_reason(reasons, sizeof(reasons), &why);
	}
	return err_set(
	    err, EACCES,
	    "process %d has no directory for the agent's %s: %s; give it a writable /tmp%s",
	    s->target.jvm.pid, copy ? "files" : "socket", reasons, copy ? " without noexec" : "");
}

/* Where the target is to find the library. A library that it has loaded before must keep its path:
 * glibc knows loaded objects by name, and another name would be another copy. */
static int choose_library(struct session *s, struct err *err)
{
	bool loaded = s->target.jvm.agent_path[0];
	bool copy = !loaded && !bundle_visible(&s->bundle, s->target.root_fd);
	int r = make_place(s, copy, err);

	if (r < 0)
		return r;
	if (loaded) /* Both arrays hold any path. */
		return target_fs_inside_root(s->target.root_fd, s->target.jvm.agent_path,
					     s->library, sizeof(s->library));
	r = snprintf(s->library, sizeof(s->library), "%s/%s", copy ? s->dir.path : s->bundle.path,
		     AGENT_LIBRARY);
	return r < (int)sizeof(s->library)
		   ? 0
		   : err_set(err, ENAMETOOLONG, "the path '%s' is too long", s->bundle.path);
}

static int open_listener(struct session *s, struct err *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	s->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	target_fs_self_path(address.sun_path, s->dir.fd, PRIVATE_DIR_SOCKET);
	if (s->listener < 0 ||
	    bind(s->listener, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(s->listener, 1) < 0)
		return err_set_errno(err, errno, "cannot listen in '%s' of process %d", s->dir.path,
				     s->target.jvm.pid);
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
static int accept_agent(struct session *s, struct err *err)
{
	for (;;) {
		_cleanup_close_ int fd = -1;
		int r = watch_wait(&s->watch, s->listener, POLLIN, -1, WAIT_AGENT, err);

		if (r < 0)
			return r;
		fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0 && errno != EAGAIN && errno != ECONNABORTED && errno != EINTR)
			return err_set_errno(err, errno, "cannot accept the agent of process %d",
					     s->target.jvm.pid);
		if (fd >= 0 && is_target(fd, &s->target))
			return TAKE_FD(fd);
	}
}

static int load_agent(struct session *s, struct err *err)
{
	_cleanup_close_ int jvm = protocol_connect(&s->target, &s->watch, err);
	char options[OPTION_BYTES];

	if (jvm < 0)
		return jvm;
	(void)snprintf(options, sizeof(options), ATTACH_OPTION_SOCKET "%s/" PRIVATE_DIR_SOCKET,
		       s->dir.path);
	return protocol_load(jvm, &s->target, &s->watch, s->library, options, err);
}

static int run(struct session *s, pid_t pid, const char *bundle_dir, unsigned timeout_ms,
	       struct err *err)
{
	int r = watch_open(&s->watch, pid, timeout_ms, err);

	if (r == 0)
		r = target_open(&s->target, pid, err);
	if (r == 0)
		r = bundle_open(&s->bundle, bundle_dir, err);
	if (r == 0)
		r = target_become_owner(&s->target, err);
	if (r == 0)
		r = choose_library(s, err);
	if (r == 0)
		r = open_listener(s, err);
	if (r == 0)
		r = load_agent(s, err);
	return r < 0 ? r : accept_agent(s, err);
}

int session_attach(pid_t pid, const char *bundle_dir, unsigned timeout_ms, struct err *err)
{
	struct session s = {
	    .watch = {.pidfd = -1, .signal_fd = -1},
	    .target = {.root_fd = -1, .cwd_fd = -1},
	    .dir = {.parent_fd = -1, .fd = -1},
	    .listener = -1,
	};
	mode_t mask = umask(077);
	int r = run(&s, pid, bundle_dir, timeout_ms, err);

	private_dir_remove(&s.dir);
	cleanup_close(&s.listener);
	bundle_close(&s.bundle);
	target_close(&s.target);
	watch_close(&s.watch);
	(void)umask(mask); /* Cannot fail. */
	return r;
}
