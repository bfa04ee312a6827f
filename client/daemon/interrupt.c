#include "client/daemon/interrupt.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* nohup(1), and a shell that starts a job in the background, have children ignore a signal. */
static bool is_ignored(int number)
{
	struct sigaction action;

	return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

int interrupt_init(struct interrupt *in, struct err *err)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
	struct interrupt i = {.fd = -1};
	sigset_t set;

	(void)sigemptyset(&set); /* Like sigaddset, fails only for an invalid signal number. */
	for (size_t k = 0; k < sizeof(ends) / sizeof(ends[0]); k++)
		if (!is_ignored(ends[k]))
			(void)sigaddset(&set, ends[k]);
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
