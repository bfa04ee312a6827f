#include "daemon/serve/control_socket.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/fd.h"

#define BACKLOG 16

static int make_address(const char *path, struct sockaddr_un *address, struct err *err)
{
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof(address->sun_path))
		return err_set(err, ENAMETOOLONG,
			       "socket path '%s' is longer than %zu bytes: use a shorter --socket",
			       path, sizeof(address->sun_path) - 1);
	strcpy(address->sun_path, path);
	return 0;
}

/* Makes way for our socket: removes one that nobody listens on. */
static int clear_path(const struct sockaddr_un *address, struct err *err)
{
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (lstat(address->sun_path, &st) < 0)
		return errno == ENOENT
			   ? 0
			   : err_set_errno(err, errno, "cannot look at '%s'", address->sun_path);
	if (!S_ISSOCK(st.st_mode))
		return err_set(err, EEXIST,
			       "'%s' exists and is not a socket: remove it or use "
			       "another --socket",
			       address->sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_set_errno(err, errno, "cannot create a socket");
	/* EAGAIN: its backlog is full, so there is a daemon. */
	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 || errno == EAGAIN)
		return err_set(err, EADDRINUSE,
			       "another jxperfd answers on '%s': stop it or use another --socket",
			       address->sun_path);
	if (errno != ECONNREFUSED)
		return err_set_errno(err, errno, "cannot tell whether '%s' is in use",
				     address->sun_path);
	if (unlink(address->sun_path) < 0 && errno != ENOENT)
		return err_set_errno(err, errno, "cannot remove stale socket '%s'",
				     address->sun_path);
	return 0;
}

int control_socket_listen(const char *path, bool group_may_connect, struct err *err)
{
	_cleanup_close_ int fd = -1;
	struct sockaddr_un address;
	mode_t mask;
	int r = make_address(path, &address, err);

	if (r < 0)
		return r;
	r = clear_path(&address, err);
	if (r < 0)
		return r;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_set_errno(err, errno, "cannot create a socket");
	fd_refuse_descriptors(fd); /* Before a client's first message can be on its way. */
	/* The socket must never be open to more, not even for a moment. */
	mask = umask(group_may_connect ? 0117 : 0177);
	r = bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
	(void)umask(mask); /* Always succeeds. */
	if (r < 0)
		return err_set_errno(err, -r, "cannot bind '%s'", path);
	if (listen(fd, BACKLOG) < 0)
		return err_set_errno(err, errno, "cannot listen on '%s'", path);
	return TAKE_FD(fd);
}
