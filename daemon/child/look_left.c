#include "daemon/child/look_left.h"

#include "common/cleanup.h"
#include "common/proc.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#define DONE_NAME "jxlooked"

void look_left_mark(pid_t target)
{
	char name[PROC_NAME_BYTES];

	(void)snprintf(name, sizeof(name), LOOK_LEFT_NAME " %d", target);
	(void)prctl(PR_SET_NAME, name, 0, 0, 0); /* Cannot fail. */
}

void look_left_done(void)
{
	(void)prctl(PR_SET_NAME, DONE_NAME, 0, 0, 0); /* Cannot fail. */
}

/* Which process it looks at by its name, 0 for none. */
static pid_t named_target(pid_t pid)
{
	char name[PROC_NAME_BYTES];
	int target;

	return proc_name(pid, name) == 0 && sscanf(name, LOOK_LEFT_NAME " %d", &target) == 1
		   ? target
		   : 0;
}

/* Does the leader of its group still run, and wait for it? */
static bool has_leader(pid_t pid)
{
	char name[PROC_NAME_BYTES];
	struct proc_status leader;
	pid_t group;

	if (proc_group(pid, &group) < 0)
		return true; /* It has ended. */
	return proc_read_status(group, 0, &leader) == 0 && leader.state != 'Z' &&
	       proc_name(group, name) == 0 && strcmp(name, DONE_NAME) != 0;
}

static bool is_left_behind(pid_t pid, const struct proc_identity *self)
{
	struct proc_identity other;
	struct proc_status status;

	return proc_read_status(pid, 0, &status) == 0 && status.state != 'Z' &&
	       proc_identify(pid, &other) == 0 && other.effective_uid == self->effective_uid &&
	       other.program_inode == self->program_inode &&
	       other.program_device == self->program_device && !has_leader(pid);
}

/* A pid that was given to another process meanwhile is nobody's to wait for. */
static bool began_before(pid_t target, pid_t looker)
{
	uint64_t target_ticks, looker_ticks;

	return proc_start_time(target, &target_ticks) == 0 &&
	       proc_start_time(looker, &looker_ticks) == 0 && target_ticks <= looker_ticks;
}

size_t look_left_find(const pid_t *pids, size_t count, pid_t *targets, size_t max)
{
	struct proc_identity self;
	size_t found = 0;

	if (proc_identify(getpid(), &self) < 0 || self.program_inode == 0)
		return 0;
	for (size_t i = 0; i < count && found < max; i++) {
		pid_t target = named_target(pids[i]);

		if (target <= 0 || !is_left_behind(pids[i], &self))
			continue;
		/* One that waits for nobody any more counts all the same. */
		targets[found++] = began_before(target, pids[i]) ? target : 0;
	}
	return found;
}
