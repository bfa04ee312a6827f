#include "client/daemon/interrupt.h"

#include <errno.h>
#include <sys/signalfd.h>
#include <unistd.h>

int interrupt_init(struct interrupt *in, struct err *err)
{
	struct interrupt i = {.fd = -1};
	sigset_t set;

	(void)sigemptyset(&set); /* These three fail only for an invalid signal number. */
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGHUP);
	i.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (i.fd < 0)
		return err_set_errno(err, errno, "cannot create a signal descriptor");
	(void)sigprocmask(SIG_BLOCK, &set, &i.previous); /* Fails only for invalid arguments. */
	*in = i;
	return 0;
}

int interrupt_take(struct interrupt *in)
{
	struct signalfd_siginfo info;

	if (read(in->fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return 0;
	return (int)info.ssi_signo;
}

void interrupt_release(struct interrupt *in)
{
	if (in->fd < 0)
		return;
	(void)close(in->fd); /* Nothing is buffered in a signalfd. */
	in->fd = -1;
	(void)sigprocmask(SIG_SETMASK, &in->previous, NULL); /* As above. */
}
