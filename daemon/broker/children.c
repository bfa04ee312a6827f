#include "daemon/broker/children.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "daemon/broker/polls.h"
#include "daemon/child/spawn.h"
#include "daemon/watcher/watcher.h"

#define NUMBER_BYTES        16
#define INSPECTOR_ARGUMENTS 13 /* besides a switch, and what it is started with */

/* A free one of the places from first on, before end; NULL: all are taken. */
static struct broker_child *find_free(struct broker_children *c, size_t first, size_t end)
{
	broker_children_tend(c);
	for (size_t i = first; i < end; i++)
		if (c->all[i].pid == 0)
			return &c->all[i];
	return NULL;
}

/* The socket, or -errno. */
static int start(struct broker_child *one, int program, char *const *argv, pid_t target,
		 uint64_t kill_at_ns)
{
	int socket;
	int r = child_spawn_open(&one->pid, &one->pidfd, &socket, SOCK_STREAM, program, argv);

	if (r < 0)
		return r;
	one->target = target;
	one->kill_at_ns = kill_at_ns;
	return socket;
}

int broker_children_inspect(struct broker_children *c, const struct inspector_question *question,
			    const struct startup *startup, const struct check_reasons *reasons,
			    struct err *err)
{
	char pid_text[NUMBER_BYTES], owner_text[NUMBER_BYTES];
	char *argv[INSPECTOR_ARGUMENTS + 1 + STARTUP_ARGUMENTS + 1] = {
	    (char *)CHILD_PROGRAM,
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
	char **more = argv + INSPECTOR_ARGUMENTS;
	struct broker_child *one = find_free(c, 0, BROKER_INSPECTORS_MAX);
	int r;

	if (!one)
		return err_set(err, EAGAIN,
			       "%d questions about processes are being answered, and that is the "
			       "limit: try again",
			       BROKER_INSPECTORS_MAX);
	if (question->jars)
		*more++ = (char *)INSPECTOR_OPTION_JARS;
	startup_arguments(startup, more);
	(void)snprintf(pid_text, sizeof(pid_text), "%d", question->pid);
	(void)snprintf(owner_text, sizeof(owner_text), "%d", (int)question->owner);
	r = start(one, c->program, argv, 0,
		  clock_monotonic_ns() + INSPECTOR_TIMEOUT_MS * NS_PER_MS);
	return r < 0 ? err_set_errno(err, -r, "cannot look at processes") : r;
}

int broker_children_watch(struct broker_children *c, pid_t target, uid_t owner, struct err *err)
{
	char pid_text[NUMBER_BYTES], owner_text[NUMBER_BYTES];
	char *const argv[] = {(char *)CHILD_PROGRAM,
			      (char *)WATCHER_OPTION_FD,
			      (char *)CHILD_FD_TEXT,
			      (char *)WATCHER_OPTION_PID,
			      pid_text,
			      (char *)WATCHER_OPTION_OWNER,
			      owner_text,
			      NULL};
	struct broker_child *one = find_free(c, BROKER_INSPECTORS_MAX, BROKER_CHILDREN_MAX);
	int r;

	if (!one)
		return err_set(err, EAGAIN, "%d processes are being watched, and that is the limit",
			       BROKER_WATCHERS_MAX);
	(void)snprintf(pid_text, sizeof(pid_text), "%d", target);
	(void)snprintf(owner_text, sizeof(owner_text), "%d", (int)owner);
	r = start(one, c->program, argv, target, UINT64_MAX);
	return r < 0 ? err_set_errno(err, -r, "cannot watch process %d", target) : r;
}

/* Not reaped yet, so it is ours. */
static void kill_one(struct broker_child *one)
{
	(void)kill(one->pid, SIGKILL);
	one->kill_at_ns = UINT64_MAX;
}

void broker_children_stop(struct broker_children *c, pid_t target)
{
	for (size_t i = BROKER_INSPECTORS_MAX; i < BROKER_CHILDREN_MAX; i++)
		if (c->all[i].pid && c->all[i].target == target)
			kill_one(&c->all[i]);
}

void broker_children_poll(const struct broker_children *c, struct broker_polls *p)
{
	for (size_t i = 0; i < BROKER_CHILDREN_MAX; i++)
		if (c->all[i].pid)
			(void)broker_polls_add(p, c->all[i].pidfd, POLLIN, c->all[i].kill_at_ns);
}

void broker_children_tend(struct broker_children *c)
{
	uint64_t now = clock_monotonic_ns();

	for (size_t i = 0; i < BROKER_CHILDREN_MAX; i++) {
		struct broker_child *one = &c->all[i];

		if (one->pid == 0)
			continue;
		if (now >= one->kill_at_ns)
			kill_one(one);
		if (waitpid(one->pid, NULL, WNOHANG) == one->pid) {
			cleanup_close(&one->pidfd);
			*one = (struct broker_child){0};
		}
	}
}

void broker_children_end(struct broker_children *c)
{
	for (size_t i = 0; i < BROKER_CHILDREN_MAX; i++)
		if (c->all[i].pid)
			kill_one(&c->all[i]);
	broker_children_tend(c);
}
