#include "tests/unit/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/proc.h"

#define TICK_NS (NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK))

/* A pid that no process has: one of ours that has ended and was reaped. */
static pid_t dead_pid(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return pid;
}

TEST(a_file_is_read_whole_and_terminated)
{
	char text[64];

	assert_int_equal(proc_read("/proc/sys/kernel/ostype", text, sizeof(text)), 6);
	assert_string_equal(text, "Linux\n");
}

TEST(a_longer_file_is_cut)
{
	char text[4];

	assert_int_equal(proc_read("/proc/sys/kernel/ostype", text, sizeof(text)), 3);
	assert_string_equal(text, "Lin");
}

TEST(a_file_that_is_not_there_is_an_error)
{
	char text[4];

	assert_int_equal(proc_read("/proc/self/no-such-file", text, sizeof(text)), -ENOENT);
}

TEST(our_own_status_is_what_the_system_calls_say)
{
	struct proc_status s;

	assert_int_equal(proc_read_status(getpid(), 0, &s), 0);
	assert_int_equal(s.effective_uid, geteuid());
	assert_int_equal(s.effective_gid, getegid());
	assert_int_equal(s.namespace_tgid, getpid());
	assert_int_equal(s.namespace_tid, getpid());
	assert_int_equal(s.state, 'R');
}

static void on_signal(int number)
{
	(void)number;
}

TEST(a_caught_signal_is_told_from_others)
{
	struct proc_status s;

	assert_ptr_not_equal(signal(SIGQUIT, on_signal), SIG_ERR);
	assert_int_equal(proc_read_status(getpid(), 0, &s), 0);
	assert_true(proc_catches_signal(&s, SIGQUIT));
	assert_false(proc_catches_signal(&s, SIGUSR2));
	assert_ptr_not_equal(signal(SIGQUIT, SIG_DFL), SIG_ERR);
	assert_int_equal(proc_read_status(getpid(), 0, &s), 0);
	assert_false(proc_catches_signal(&s, SIGQUIT));
}

TEST(a_pending_signal_of_a_thread_is_seen)
{
	struct proc_status s;
	sigset_t set;
	int taken;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	assert_int_equal(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
	assert_int_equal(pthread_kill(pthread_self(), SIGUSR1), 0);
	assert_int_equal(proc_read_status(getpid(), gettid(), &s), 0);
	assert_true(s.pending_signals & (UINT64_C(1) << (SIGUSR1 - 1)));
	assert_int_equal(sigwait(&set, &taken), 0);
	assert_int_equal(pthread_sigmask(SIG_UNBLOCK, &set, NULL), 0);
}

TEST(a_process_that_is_gone_is_enoent_and_changes_nothing)
{
	struct proc_status s = {.namespace_tgid = 7};
	uint64_t value = 7;
	pid_t pid = dead_pid();

	assert_int_equal(proc_read_status(pid, 0, &s), -ENOENT);
	assert_int_equal(s.namespace_tgid, 7);
	assert_int_equal(proc_start_time(pid, &value), -ENOENT);
	assert_int_equal(value, 7);
}

/* The name may hold everything that separates the fields of /proc/PID/stat. */
TEST(a_command_name_of_parentheses_and_blanks_does_not_confuse)
{
	uint64_t ticks, again;

	assert_int_equal(proc_start_time(getpid(), &ticks), 0);
	assert_int_equal(prctl(PR_SET_NAME, ") R 1 (2) 3"), 0);
	assert_int_equal(proc_start_time(getpid(), &again), 0);
	assert_true(again == ticks);
}

TEST(the_cpu_time_is_that_of_the_whole_process)
{
	uint64_t before = clock_ns(CLOCK_PROCESS_CPUTIME_ID), ns;

	assert_int_equal(proc_cpu_time(getpid(), &ns), 0);
	/* In clock ticks. */
	assert_true(ns + NS_PER_S / 10 >= before);
	assert_true(ns <= clock_ns(CLOCK_PROCESS_CPUTIME_ID) + NS_PER_S / 10);
	assert_int_equal(proc_cpu_time(INT_MAX, &ns), -ENOENT);
}

TEST(a_process_is_in_its_group)
{
	pid_t group = 0;

	assert_int_equal(proc_group(getpid(), &group), 0);
	assert_int_equal(group, getpgrp());
	assert_int_equal(proc_group(0x3fffff, &group), -ENOENT);
}

TEST(the_start_time_tells_processes_apart)
{
	uint64_t ours, childs;
	pid_t child;

	assert_int_equal(usleep((useconds_t)(2 * TICK_NS / 1000)), 0);
	child = fork();
	if (child == 0)
		for (;;)
			pause();
	assert_int_equal(proc_start_time(getpid(), &ours), 0);
	assert_int_equal(proc_start_time(child, &childs), 0);
	assert_true(childs > ours);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

TEST(our_own_thread_is_found_under_its_number)
{
	assert_int_equal(proc_find_thread(getpid(), gettid()), gettid());
	assert_int_equal(proc_find_thread(getpid(), dead_pid()), -ESRCH);
}

/* The first process of a new pid namespace, which calls itself 1. */
static pid_t fork_into_namespace(void)
{
	int fds[2];
	pid_t inner = -1, outer;

	assert_int_equal(pipe(fds), 0);
	outer = fork();
	if (outer == 0) {
		if (unshare(CLONE_NEWPID) == 0) {
			inner = fork();
			if (inner == 0) {
				(void)alarm(60); /* Its end when the test does not get there. */
				for (;;)
					pause();
			}
		}
		_exit(write(fds[1], &inner, sizeof(inner)) == sizeof(inner) ? 0 : 1);
	}
	assert_int_equal(read(fds[0], &inner, sizeof(inner)), sizeof(inner));
	assert_int_equal(waitpid(outer, NULL, 0), outer);
	close(fds[0]);
	close(fds[1]);
	return inner;
}

TEST(a_process_in_a_namespace_has_two_numbers)
{
	struct proc_status s;
	pid_t inner;

	if (geteuid() != 0)
		skip(); /* Needs a namespace, which takes root. */
	inner = fork_into_namespace();
	assert_true(inner > 1);
	assert_int_equal(proc_read_status(inner, 0, &s), 0);
	assert_int_equal(s.namespace_tgid, 1);
	assert_int_equal(s.namespace_tid, 1);
	assert_false(s.in_our_namespace);
	assert_int_equal(proc_read_status(getpid(), 0, &s), 0);
	assert_true(s.in_our_namespace);
	assert_int_equal(proc_find_thread(inner, 1), inner);
	/* Not 2: a sanitizer may have a thread of its own there. */
	assert_int_equal(proc_find_thread(inner, 9999), -ESRCH);
	assert_int_equal(kill(inner, SIGKILL), 0);
}

TEST(the_processes_are_found_in_order_of_pid)
{
	pid_t *pids = NULL;
	size_t count;
	bool self = false;

	assert_int_equal(proc_pids(&pids, &count), 0);
	for (size_t i = 0; i < count; i++) {
		self |= pids[i] == getpid();
		assert_true(i == 0 || pids[i] > pids[i - 1]);
	}
	assert_true(self);
	free(pids);
}

TEST(a_process_is_called_what_its_first_thread_is)
{
	char name[PROC_NAME_BYTES], before[PROC_NAME_BYTES] = "";

	assert_int_equal(prctl(PR_GET_NAME, before), 0);
	assert_int_equal(prctl(PR_SET_NAME, "fifteen letters"), 0);
	assert_int_equal(proc_name(getpid(), name), 0);
	assert_string_equal(name, "fifteen letters");
	assert_int_equal(prctl(PR_SET_NAME, before), 0);
	assert_int_equal(proc_name(0x3fffff, name), -ENOENT);
	assert_string_equal(name, "");
}

static atomic_bool spinning;

static void *spin(void *arg)
{
	(void)arg;
	while (atomic_load(&spinning))
		;
	return NULL;
}

/* Not the other way round: others may keep the machine busy. */
TEST(more_runnable_threads_than_processors_are_a_busy_machine)
{
	pthread_t threads[65];
	long count = sysconf(_SC_NPROCESSORS_ONLN) + 1;

	if (count > 65)
		skip();
	atomic_store(&spinning, true);
	for (long i = 0; i < count; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, spin, NULL), 0);
	while (!proc_machine_is_busy())
		(void)sched_yield(); /* Until all have begun. */
	atomic_store(&spinning, false);
	for (long i = 0; i < count; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
}

TEST(a_process_of_another_user_is_as_good_as_none)
{
	struct err mine, absent;
	pid_t dead = dead_pid();

	assert_int_equal(proc_check_owner(getpid(), geteuid(), NULL), 0);
	assert_int_equal(proc_check_owner(getpid(), PROC_ANY_UID, NULL), 0);
	assert_int_equal(proc_check_owner(dead, PROC_ANY_UID, NULL), -ESRCH);
	assert_int_equal(proc_check_owner(getpid(), geteuid() + 1, &mine), -ESRCH);
	assert_int_equal(proc_absent(getpid(), &absent), -ESRCH);
	assert_string_equal(mine.message, absent.message);
}

/* Its user could have it run something with the rights that it can take back. */
TEST(a_process_that_can_become_another_user_is_nobodys)
{
	struct proc_identity identity;
	int ready[2];
	char byte;
	pid_t pid;

	if (geteuid() != 0) {
		print_message("# SKIP needs root\n");
		skip();
	}
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		if (setresuid(1000, 1000, 0) == 0)
			(void)!write(ready[1], "", 1);
		for (;;)
			(void)pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(proc_check_owner(pid, 1000, NULL), -ESRCH);
	assert_int_equal(proc_check_owner(pid, 0, NULL), -ESRCH);
	assert_int_equal(proc_check_owner(pid, PROC_ANY_UID, NULL), 0);
	assert_int_equal(proc_identify(pid, &identity), 0);
	assert_int_equal(proc_owner(&identity), PROC_ANY_UID);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	(void)close(ready[0]);
	(void)close(ready[1]);
}

TEST(a_process_that_changes_its_user_is_not_what_it_was)
{
	struct proc_status status;
	uint64_t start;
	int go[2], done[2];
	char byte;
	pid_t pid;

	if (geteuid() != 0) {
		print_message("# SKIP needs root\n");
		skip();
	}
	assert_int_equal(pipe(go), 0);
	assert_int_equal(pipe(done), 0);
	pid = fork();
	if (pid == 0) {
		if (read(go[0], &byte, 1) == 1 && setresuid(1000, 1000, 1000) == 0)
			(void)!write(done[1], "", 1);
		for (;;)
			(void)pause();
	}
	assert_int_equal(proc_read_status(pid, 0, &status), 0);
	assert_int_equal(proc_start_time(pid, &start), 0);
	assert_true(proc_is_unchanged(pid, start, &status));
	assert_false(proc_is_unchanged(pid, start + 1, &status));
	assert_int_equal(write(go[1], "", 1), 1);
	assert_int_equal(read(done[0], &byte, 1), 1);
	assert_false(proc_is_unchanged(pid, start, &status));
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	for (int i = 0; i < 2; i++) {
		(void)close(go[i]);
		(void)close(done[i]);
	}
}

/* 0: they are ours; 1: they are not, and the line says so. */
static int numbers_in_new_namespaces(int flags, bool mount_anew)
{
	struct err err = {""};
	int status;
	pid_t pid;

	if (unshare(flags) < 0)
		_exit(77);
	pid = fork();
	if (pid == 0) {
		if (mount_anew && (mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
				   mount("proc", "/proc", "proc", 0, NULL) < 0))
			_exit(77);
		if (proc_check_numbers(&err) == 0)
			_exit(0);
		_exit(strstr(err.message, "pid namespace") ? 1 : 2);
	}
	(void)waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

static int in_child(int flags, bool mount_anew)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(numbers_in_new_namespaces(flags, mount_anew));
	(void)waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

TEST(the_numbers_of_another_namespace_are_not_ours)
{
	struct err err = {""};
	int other;

	assert_int_equal(proc_check_numbers(&err), 0);
	assert_string_equal(err.message, "");
	other = in_child(CLONE_NEWPID | CLONE_NEWNS, false);
	if (other == 77) {
		print_message("# SKIP needs root, for namespaces\n");
		skip();
	}
	assert_int_equal(other, 1);
	assert_int_equal(in_child(CLONE_NEWPID | CLONE_NEWNS, true), 0);
}
