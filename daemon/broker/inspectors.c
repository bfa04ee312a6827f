#include "daemon/broker/inspectors.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "daemon/child/spawn.h"

#define NUMBER_BYTES        16
#define INSPECTOR_ARGUMENTS 13 /* besides what it is started with */

static struct broker_inspector *find_free(struct broker_inspectors *i)
{
	for (size_t k = 0; k < BROKER_INSPECTORS_MAX; k++)
		if (i->all[k].pid == 0)
			return &i->all[k];
	return NULL;
}

int broker_inspectors_start(struct broker_inspectors *i, const struct inspector_question *question,
			    const struct startup *startup, const struct check_reasons *reasons,
			    struct err *err)
{
	char pid_text[NUMBER_BYTES], owner_text[NUMBER_BYTES];
	char *argv[INSPECTOR_ARGUMENTS + STARTUP_ARGUMENTS + 1] = {(char *)"jxperfd",
								   (char *)INSPECTOR_OPTION_FD,
								   (char *)CHILD_FD_TEXT,
								   (char *)INSPECTOR_OPTION_PID,
								   pid_text,
								   (char *)INSPECTOR_OPTION_OWNER,
								   owner_text,
								   (char *)INSPECTOR_OPTION_ONLY,
								   (char *)question->only,
								   (char *)INSPECTOR_OPTION_GATE,
								   (char *)reasons->gate,
								   (char *)INSPECTOR_OPTION_TOUCH,
								   (char *)reasons->touch};
	struct broker_inspector *one;
	int socket, r;

	broker_inspectors_tend(i);
	one = find_free(i);
	if (!one)
		return err_set(err, EAGAIN,
			       "%d questions about processes are being answered, and that is the "
			       "limit: try again",
			       BROKER_INSPECTORS_MAX);
	startup_arguments(startup, argv + INSPECTOR_ARGUMENTS);
	(void)snprintf(pid_text, sizeof(pid_text), "%d", question->pid);
	(void)snprintf(owner_text, sizeof(owner_text), "%d", (int)question->owner);
	r = child_spawn(&one->pid, &one->pidfd, &socket, SOCK_STREAM, "/proc/self/exe", argv);
	if (r < 0)
		return err_set_errno(err, -r, "cannot look at processes");
	one->kill_at_ns = clock_monotonic_ns() + INSPECTOR_TIMEOUT_MS * NS_PER_MS;
	return socket;
}

nfds_t broker_inspectors_poll(const struct broker_inspectors *i, struct pollfd *p,
			      uint64_t *first_ns)
{
	nfds_t count = 0;

	for (size_t k = 0; k < BROKER_INSPECTORS_MAX; k++) {
		const struct broker_inspector *one = &i->all[k];

		if (one->pid == 0)
			continue;
		p[count++] = (struct pollfd){.fd = one->pidfd, .events = POLLIN};
		if (one->kill_at_ns < *first_ns)
			*first_ns = one->kill_at_ns;
	}
	return count;
}

void broker_inspectors_tend(struct broker_inspectors *i)
{
	uint64_t now = clock_monotonic_ns();

	for (size_t k = 0; k < BROKER_INSPECTORS_MAX; k++) {
		struct broker_inspector *one = &i->all[k];

		if (one->pid == 0)
			continue;
		if (now >= one->kill_at_ns) {
			(void)kill(one->pid, SIGKILL); /* Not reaped yet, so it is ours. */
			one->kill_at_ns = UINT64_MAX;
		}
		if (waitpid(one->pid, NULL, WNOHANG) == one->pid) {
			cleanup_close(&one->pidfd);
			one->pid = 0;
		}
	}
}

void broker_inspectors_end(struct broker_inspectors *i)
{
	for (size_t k = 0; k < BROKER_INSPECTORS_MAX; k++)
		i->all[k].kill_at_ns = 0;
	broker_inspectors_tend(i);
}
