#include "daemon/child/spawn.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cleanup.h"

#define OPEN_PATH_BYTES 32

static void default_signals(sigset_t *set)
{
	(void)sigemptyset(set);
	(void)sigaddset(set, SIGTERM); /* Valid numbers: cannot fail. */
	(void)sigaddset(set, SIGINT);
	(void)sigaddset(set, SIGHUP);
	(void)sigaddset(set, SIGPIPE);
}

static int spawn(pid_t *pid, const char *path, char *const argv[], int fd)
{
	char *const environment[] = {NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, standard;
	int r;

	(void)sigemptyset(&none);
	default_signals(&standard);
	r = posix_spawn_file_actions_init(&actions);
	if (r)
		return -r;
	r = posix_spawnattr_init(&attributes);
	if (r) {
		(void)posix_spawn_file_actions_destroy(&actions);
		return -r;
	}
	r = posix_spawn_file_actions_adddup2(&actions, fd, CHILD_FD);
	/* These only store their arguments. */
	(void)posix_spawnattr_setsigmask(&attributes, &none);
	(void)posix_spawnattr_setsigdefault(&attributes, &standard);
	(void)posix_spawnattr_setpgroup(&attributes, 0);
	(void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
							POSIX_SPAWN_SETPGROUP);
	if (!r)
		r = posix_spawn(pid, path, &actions, &attributes, argv, environment);
	(void)posix_spawn_file_actions_destroy(&actions);
	(void)posix_spawnattr_destroy(&attributes);
	return -r;
}

int child_spawn(pid_t *pid, int *pidfd, int *out_socket, int type, const char *path,
		char *const argv[])
{
	_cleanup_close_ int ours = -1, theirs = -1;
	int pair[2], r;
	pid_t child = 0;

	if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	ours = pair[0];
	theirs = pair[1];
	r = spawn(&child, path, argv, theirs);
	if (r < 0)
		return r;
	r = (int)syscall(SYS_pidfd_open, child, 0); /* Close-on-exec by itself. */
	if (r < 0) {
		r = -errno;
		(void)kill(child, SIGKILL);
		(void)waitpid(child, NULL, 0); /* Ours, and just begun: nothing holds it up. */
		return r;
	}
	*pid = child;
	*pidfd = r;
	*out_socket = TAKE_FD(ours);
	return 0;
}

int child_spawn_open(pid_t *pid, int *pidfd, int *socket, int type, int program, char *const argv[])
{
	char path[OPEN_PATH_BYTES];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", program);
	return child_spawn(pid, pidfd, socket, type, path, argv);
}
