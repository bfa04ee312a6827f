#include "daemon/serve/login.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/fd.h"
#include "common/proc.h"

/* include/uapi/asm-generic/socket.h; Debian 12's headers are older. */
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

/* Or -errno. */
static int open_peer(int socket, pid_t pid)
{
	int fd = -1;
	socklen_t size = sizeof(fd);

	if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &fd, &size) == 0)
		return fd;
	if (errno != ENOPROTOOPT)
		return -errno;
	fd = (int)syscall(SYS_pidfd_open, pid, 0); /* Close-on-exec by itself. */
	return fd < 0 ? -errno : fd;
}

static void end(struct login *l)
{
	l->request = 0;
	cleanup_close(&l->process_fd);
}

static void on_reply(void *arg, const struct broker_reply *reply, int *fds)
{
	struct login *l = arg;
	bool known =
	    !reply->error && reply->login != PROC_ANY_UID && !fd_process_has_ended(l->process_fd);

	(void)fds; /* There are none. */
	end(l);
	l->done(l->arg, known, reply->login);
}

bool login_ask(struct login *l, struct broker_client *broker, int socket,
	       const struct window_asker *who, login_done_fn done, void *arg)
{
	const struct broker_request request = {
	    .operation = BROKER_LOGIN, .pid = who->pid, .owner = who->uid};
	_cleanup_close_ int fd = who->pid > 0 ? open_peer(socket, who->pid) : -ESRCH;
	int r = fd < 0 ? fd : broker_client_ask(broker, &request, on_reply, l);

	if (r < 0)
		return false;
	*l = (struct login){
	    .broker = broker, .request = r, .process_fd = TAKE_FD(fd), .done = done, .arg = arg};
	return true;
}

void login_forget(struct login *l)
{
	if (!l->request)
		return;
	broker_client_forget(l->broker, l->request);
	end(l);
}
