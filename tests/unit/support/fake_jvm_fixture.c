#include "tests/unit/support/fake_jvm_fixture.h"

#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROLE      "JXPERF_FAKE_JVM=" /* libraries, separated by colons */
#define QUIT      "JXPERF_FAKE_JVM_QUIT=1"
#define NOBODY    "JXPERF_FAKE_JVM_NOBODY=1"
#define READY     3
#define MAP_BYTES 4096

static void on_signal(int signal)
{
	(void)signal;
}

static void map_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert(fd >= 0);
	assert(mmap(NULL, MAP_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) != MAP_FAILED);
	(void)close(fd);
}

void fake_jvm_main(void)
{
	char *libraries = getenv("JXPERF_FAKE_JVM");

	if (!libraries)
		return;
	for (char *l = strtok(libraries, ":"); l; l = strtok(NULL, ":"))
		map_file(l);
	if (getenv("JXPERF_FAKE_JVM_QUIT"))
		(void)signal(SIGQUIT, on_signal);
	if (getenv("JXPERF_FAKE_JVM_NOBODY"))
		assert(setgid(FAKE_JVM_NOBODY) == 0 && setuid(FAKE_JVM_NOBODY) == 0);
	assert(write(READY, "x", 1) == 1);
	(void)close(READY);
	for (;;)
		(void)pause();
}

static void exec_fake(const struct fake_jvm *jvm, int ready)
{
	char role[1024] = ROLE;
	const char *arguments[8] = {"java"}, *environment[5] = {role};
	int n = 1;

	for (int i = 0; jvm->libraries[i]; i++) {
		strcat(role, jvm->libraries[i]);
		strcat(role, ":");
	}
	for (int i = 0; jvm->options[i]; i++)
		arguments[i + 1] = jvm->options[i];
	if (!jvm->ignores_sigquit)
		environment[n++] = QUIT;
	if (jvm->as_nobody)
		environment[n++] = NOBODY;
	if (jvm->environment)
		environment[n++] = jvm->environment;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)dup2(ready, READY);
	(void)execve("/proc/self/exe", (char *const *)arguments, (char *const *)environment);
	_exit(1);
}

pid_t fake_jvm_start(const struct fake_jvm *jvm)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert(pipe2(ready, O_CLOEXEC) == 0);
	pid = fork();
	assert(pid >= 0);
	if (pid == 0)
		exec_fake(jvm, ready[1]);
	(void)close(ready[1]);
	assert(read(ready[0], &byte, 1) == 1);
	(void)close(ready[0]);
	return pid;
}

void fake_jvm_end(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
}
