#include "client/daemon/client.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "client/daemon/private_daemon.h"
#include "common/cleanup.h"
#include "common/proc.h"

/* systemctl(1) makes it where the service is enabled: jxperfd is meant to run here. */
#define SERVICE_ENABLED "/etc/systemd/system/multi-user.target.wants/jxperfd.service"

int client_init(struct client *c, struct err *err)
{
	const char *socket = getenv("JXPERF_SOCKET");

	*c =
	    (struct client){.socket = socket && socket[0] ? socket : NULL, .interrupt = {.fd = -1}};
	return interrupt_init(&c->interrupt, err);
}

const char *client_socket(const struct client *c)
{
	return c->socket ? c->socket : CLIENT_SOCKET_DEFAULT;
}

void client_release(struct client *c)
{
	private_daemon_stop(c->own, &c->interrupt);
	c->own = NULL;
	interrupt_release(&c->interrupt);
}

void client_settle_format(const struct client *c, Jxp__Format *format)
{
	if (*format == FORMAT_UNASKED)
		*format = c->json ? JXP__FORMAT__FORMAT_JSON : JXP__FORMAT__FORMAT_TEXT;
}

int client_connect(const struct client *c, struct err *err)
{
	const char *path = client_socket(c);
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	_cleanup_close_ int fd = -1;

	if (c->own)
		return private_daemon_connect(c->own, err);
	if (c->own_daemon)
		return err_set(err, EINVAL,
			       "a private daemon would end with this command: leave --private out, "
			       "or use it with attach (without --background), check or list");
	if (strlen(path) >= sizeof(address.sun_path))
		return err_set(err, EINVAL,
			       "socket path '%s' is longer than %zu bytes: use a shorter --socket",
			       path, sizeof(address.sun_path) - 1);
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_set_errno(err, errno, "cannot create a socket");
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return TAKE_FD(fd);
	switch (errno) {
	case ENOENT:
	case ECONNREFUSED:
		return err_set(err, errno,
			       "no daemon answers on '%s': start jxperfd, or name another socket "
			       "with --socket",
			       path);
	case EACCES:
		return err_set(err, EACCES,
			       "cannot connect to '%s': permission denied: run as root or as a "
			       "member of the socket's group",
			       path);
	}
	/* connect's EINVAL is not the user's mistake. */
	return err_set_errno(err, errno == EINVAL ? EIO : errno, "cannot connect to '%s'", path);
}

/* Root's private daemon would profile beside the budget, the store and the audit of the host. */
static int check_service(struct err *err)
{
	if (geteuid() != 0 || faccessat(AT_FDCWD, SERVICE_ENABLED, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	return err_set(err, ENOENT,
		       "jxperfd is enabled here and does not answer on '%s': start it with "
		       "'systemctl start jxperfd', or use a daemon of your own with --private",
		       CLIENT_SOCKET_DEFAULT);
}

int client_allow_private(struct client *c, struct err *err)
{
	_cleanup_close_ int fd = -1;
	int r;

	if (c->own)
		return 0;
	if (!c->own_daemon) {
		fd = client_connect(c, err);
		if (fd >= 0)
			return 0;
		if (c->socket || (fd != -ENOENT && fd != -ECONNREFUSED))
			return fd;
		r = check_service(err);
		if (r < 0)
			return r;
	}
	r = proc_check_numbers(err);
	if (r < 0)
		return r;
	if (!c->own_daemon)
		(void)fprintf(stderr, "jxperfctl: no daemon on '%s': starting a private one\n",
			      CLIENT_SOCKET_DEFAULT);
	return private_daemon_start(&c->own, &c->interrupt, err);
}
