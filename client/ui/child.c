#include "client/ui/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/fd.h"

/* How soon a child is ended after *stop is set. */
#define LOOK_MS    100
#define READ_BYTES ((size_t)64 << 10)

extern char **environ;

/* Signals have their usual effect in it. ends become its stdout and stderr, and it has no input;
 * NULL: it has what we have. 0 or an errno value. */
static int spawn(const char *program, char *const argv[], const int ends[2], pid_t *pid)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t none;
	int r = posix_spawn_file_actions_init(&files);

	if (r != 0)
		return r;
	r = posix_spawnattr_init(&attributes);
	if (r != 0) {
		(void)posix_spawn_file_actions_destroy(&files);
		return r;
	}
	(void)sigemptyset(&none);
	if (ends &&
	    (r = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY,
						  0)) == 0 &&
	    (r = posix_spawn_file_actions_adddup2(&files, ends[0], STDOUT_FILENO)) == 0)
		r = posix_spawn_file_actions_adddup2(&files, ends[1], STDERR_FILENO);
	if (r == 0 && (r = posix_spawnattr_setsigmask(&attributes, &none)) == 0 &&
	    (r = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK)) == 0)
		r = posix_spawnp(pid, program, &files, &attributes, argv, environ);
	(void)posix_spawnattr_destroy(&attributes);
	(void)posix_spawn_file_actions_destroy(&files);
	return r;
}

/* Takes what there is to read; what is too much for a message of errors is left out. 0 at the end,
 * below 0 where there is no room for it. */
static int take(int fd, struct buffer *b, bool cut)
{
	uint8_t scratch[READ_BYTES];
	ssize_t n = read(fd, scratch, sizeof(scratch));

	if (n < 0 && errno == EINTR)
		return 1;
	if (n <= 0)
		return 0;
	return buffer_append(b, scratch, (size_t)n) == 0 || cut ? 1 : -ENOBUFS;
}

/* Until both are closed. False where the child is to be killed. */
static bool collect(int output, int error, const atomic_bool *stop, struct child_result *result)
{
	struct pollfd fds[2] = {{.fd = output, .events = POLLIN}, {.fd = error, .events = POLLIN}};
	struct buffer *const buffers[2] = {&result->output, &result->error};

	while (fds[0].fd >= 0 || fds[1].fd >= 0) {
		if (atomic_load(stop))
			return false;
		if (poll(fds, 2, LOOK_MS) < 0 && errno != EINTR)
			return false;
		for (int i = 0; i < 2; i++) {
			int r = fds[i].revents ? take(fds[i].fd, buffers[i], i == 1) : 1;

			if (r < 0)
				return false;
			if (r == 0)
				fds[i].fd = -1;
			fds[i].revents = 0;
		}
	}
	return true;
}

int child_run(char *const argv[], const atomic_bool *stop, struct child_result *result)
{
	_cleanup_close_ int output = -1, error = -1;
	int out[2], in[2], wait_status = 0, r;
	pid_t pid = 0;

	*result = (struct child_result){.status = -1};
	buffer_init(&result->output, CHILD_OUTPUT_MAX);
	buffer_init(&result->error, CHILD_ERROR_MAX);
	if (pipe2(out, O_CLOEXEC) < 0)
		return -errno;
	output = out[0];
	if (pipe2(in, O_CLOEXEC) < 0) {
		r = -errno;
		(void)close(out[1]);
		return r;
	}
	error = in[0];
	r = -spawn("/proc/self/exe", argv, (int[]){out[1], in[1]}, &pid);
	(void)close(out[1]);
	(void)close(in[1]);
	if (r < 0)
		return r;
	if (!collect(output, error, stop, result))
		(void)kill(pid, SIGKILL); /* It is ours and not waited for yet. */
	while (waitpid(pid, &wait_status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(wait_status))
		result->status = WEXITSTATUS(wait_status);
	return 0;
}

int child_start(char *const argv[])
{
	return -spawn(argv[0], argv, NULL, &(pid_t){0});
}

void child_result_release(struct child_result *result)
{
	buffer_release(&result->output);
	buffer_release(&result->error);
}
