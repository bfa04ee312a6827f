#include "tests/unit/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/child/spawn.h"

static char *const *shell(const char *script)
{
	static char *argv[] = {(char *)"sh", (char *)"-c", NULL, NULL};

	argv[2] = (char *)script;
	return argv;
}

/* What the child writes to CHILD_FD; it ends well. */
static const char *text_of(pid_t pid, int pidfd, int socket)
{
	static char text[4096];
	size_t used = 0;
	ssize_t n;
	int status;

	while ((n = read(socket, text + used, sizeof(text) - 1 - used)) > 0)
		used += (size_t)n;
	text[used] = '\0';
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	(void)close(pidfd);
	(void)close(socket);
	return text;
}

static const char *run(const char *script)
{
	int pidfd = -1, socket = -1;
	pid_t pid = 0;

	assert_int_equal(child_spawn(&pid, &pidfd, &socket, SOCK_STREAM, "/bin/sh", shell(script)),
			 0);
	return text_of(pid, pidfd, socket);
}

TEST(a_child_talks_on_its_socket)
{
	assert_string_equal(run("echo hello >&" CHILD_FD_TEXT), "hello\n");
	assert_int_equal(strtol(CHILD_FD_TEXT, NULL, 10), CHILD_FD);
}

TEST(a_child_inherits_no_environment)
{
	assert_int_equal(setenv("JXPERF_TEST_SECRET", "x", 1), 0);
	assert_string_equal(run("echo \"<$JXPERF_TEST_SECRET>\" >&" CHILD_FD_TEXT), "<>\n");
	assert_int_equal(unsetenv("JXPERF_TEST_SECRET"), 0);
}

TEST(a_child_has_signals_as_they_are_by_default)
{
	unsigned long blocked, ignored;
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	(void)signal(SIGPIPE, SIG_IGN);
	/* The shell's own: it reads the file itself. */
	assert_int_equal(sscanf(run("while read -r name value; do case $name in "
				    "SigBlk: | SigIgn:) echo $value;; "
				    "esac; done </proc/self/status >&" CHILD_FD_TEXT),
				"%lx %lx", &blocked, &ignored),
			 2);
	assert_int_equal(blocked, 0);
	assert_int_equal(ignored & (1ul << (SIGPIPE - 1)), 0); /* Two are the C library's. */
	(void)signal(SIGPIPE, SIG_DFL);
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
}

TEST(a_child_leads_a_process_group_of_its_own)
{
	char group[32];
	const char *text = run("read -r pid name state parent group rest </proc/self/stat; "
			       "echo $group $$ >&" CHILD_FD_TEXT);

	assert_int_equal(sscanf(text, "%31s", group), 1);
	assert_string_equal(strchr(text, ' ') + 1, strcat(group, "\n"));
}

/* As an upgrade of the package does it. */
TEST(an_open_program_is_run_whatever_its_name_leads_to_by_then)
{
	char path[] = "/tmp/jxperf-test-XXXXXX", command[128];
	int pidfd = -1, socket = -1, opened, program;
	pid_t pid = 0;

	(void)close(mkstemp(path));
	(void)snprintf(command, sizeof(command), "cp /bin/sh %s && chmod 755 %s", path, path);
	assert_int_equal(system(command), 0);
	opened = open(path, O_PATH | O_CLOEXEC);
	program = fcntl(opened, F_DUPFD_CLOEXEC, CHILD_FD + 1);
	(void)close(opened);
	(void)snprintf(command, sizeof(command), "cp /bin/false %s.new && mv %s.new %s", path, path,
		       path);
	assert_int_equal(system(command), 0);
	for (int round = 0; round < 2; round++) {
		assert_int_equal(child_spawn_open(&pid, &pidfd, &socket, SOCK_STREAM, program,
						  shell("echo hello >&" CHILD_FD_TEXT)),
				 0);
		assert_string_equal(text_of(pid, pidfd, socket), "hello\n");
		(void)unlink(path); /* In the second round there is no file any more. */
	}
	(void)close(program);
}

TEST(a_program_that_is_not_there_is_an_error_and_leaves_nothing)
{
	char *const argv[] = {(char *)"nobody", NULL};
	int pidfd = -1, socket = -1, before = dup(0);
	pid_t pid = 0;

	(void)close(before);
	assert_int_equal(
	    child_spawn(&pid, &pidfd, &socket, SOCK_STREAM, "/nonexistent/program", argv), -ENOENT);
	assert_int_equal(pidfd, -1);
	assert_int_equal(socket, -1);
	assert_int_equal(dup(0), before);
	(void)close(before);
}
