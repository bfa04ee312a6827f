#include "tests/unit/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/process/jvm.h"
#include "common/proc.h"
#include "tests/unit/support/fake_jvm_fixture.h"
#include "tests/unit/support/tree_fixture.h"

static struct jvm_info info;
static struct err err;

/* A JDK's directories, with a library of no content that matters. */
static int setup(void **state)
{
	static char page[4097];

	(void)state;
	memset(page, 'x', sizeof(page) - 1);
	memset(&info, 0, sizeof(info));
	memset(&err, 0, sizeof(err));
	(void)tree_make();
	tree_add_directory("lib");
	tree_add_directory("lib/server");
	tree_add_file("lib/server/libjvm.so", page);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	tree_remove();
	return 0;
}

/* Inspects a fake JVM that runs with an option or two. */
static void inspect(const char *option, const char *more, const char *environment)
{
	struct fake_jvm jvm = {
	    .libraries = {tree_path("lib/server/libjvm.so")},
	    .options = {"-Xmx1g", "Main"},
	    .environment = environment,
	};
	pid_t pid;

	if (option) {
		jvm.options[0] = option;
		jvm.options[1] = more ? more : "Main";
		jvm.options[2] = more ? "Main" : NULL;
	}
	pid = fake_jvm_start(&jvm);
	assert_int_equal(jvm_inspect(pid, PROC_ANY_UID, &info, &err), 0);
	assert_int_equal(info.pid, pid);
	fake_jvm_end(pid);
}

static void assert_obstacle(enum jvm_obstacle obstacle, const char *words)
{
	assert_int_equal(info.obstacle, obstacle);
	assert_non_null(strstr(info.reason, words));
}

TEST(a_jvm_is_described, setup, teardown)
{
	struct passwd *user = getpwuid(geteuid());

	tree_add_file("release", "JAVA_VERSION=\"17.0.15\"\n");
	inspect("-XX:+UseZGC", NULL, NULL);
	assert_int_equal(info.obstacle, JVM_ATTACHABLE);
	assert_string_equal(info.reason, "");
	assert_string_equal(info.name, "Main");
	assert_string_equal(info.jdk, "17.0.15");
	assert_string_equal(info.gc, "ZGC");
	assert_string_equal(info.agent_path, "");
	assert_true(info.same_mount_namespace);
	assert_int_equal(info.euid, geteuid());
	assert_true(info.start_ticks > 0);
	if (user)
		assert_string_equal(info.user, user->pw_name);
}

TEST(the_applications_jar_is_that_of_the_command_line, setup, teardown)
{
	inspect("-jar", "lib/app.jar", NULL);
	assert_string_equal(info.name, "app.jar");
	assert_string_equal(info.jar, "lib/app.jar");
	inspect("-jar", "/srv/app",
		NULL); /* Which the JVM takes as well, and no rule of names does. */
	assert_string_equal(info.jar, "");
	inspect("-cp", "/srv/app.jar", NULL); /* Only performance data say what it came to. */
	assert_string_equal(info.jar, "");
	inspect(NULL, NULL, NULL);
	assert_string_equal(info.jar, "");
}

TEST(a_process_without_libjvm_is_no_jvm, setup, teardown)
{
	assert_int_equal(jvm_inspect(getpid(), PROC_ANY_UID, &info, &err), 0);
	assert_obstacle(JVM_NOT_A_JVM, "is not a JVM");
}

TEST(a_jvm_of_another_processor_is_named, setup, teardown)
{
	struct fake_jvm jvm = {.options = {"Main"}};
	pid_t pid;

	tree_add_file("lib/ld-linux-aarch64.so.1", "x");
	jvm.libraries[0] = tree_path("lib/server/libjvm.so");
	jvm.libraries[1] = tree_path("lib/ld-linux-aarch64.so.1");
	pid = fake_jvm_start(&jvm);
	assert_int_equal(jvm_inspect(pid, PROC_ANY_UID, &info, &err), 0);
	assert_obstacle(JVM_OTHER_PROCESSOR, "arm64");
	fake_jvm_end(pid);
}

TEST(openj9_is_not_hotspot, setup, teardown)
{
	struct fake_jvm jvm = {.options = {"Main"}};
	pid_t pid;

	tree_add_file("lib/libj9vm29.so", "x");
	jvm.libraries[0] = tree_path("lib/server/libjvm.so");
	jvm.libraries[1] = tree_path("lib/libj9vm29.so");
	pid = fake_jvm_start(&jvm);
	assert_int_equal(jvm_inspect(pid, PROC_ANY_UID, &info, &err), 0);
	assert_obstacle(JVM_NOT_HOTSPOT, "OpenJ9");
	fake_jvm_end(pid);
}

/* A 32-bit program that only waits: pause() through int 0x80, again and again. */
static const unsigned char elf32[] = {
    0x7f,
    'E',
    'L',
    'F',
    1,
    1,
    1,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    2,
    0,
    3,
    0,
    1,
    0,
    0,
    0,
    0x54,
    0x80,
    0x04,
    0x08,
    52,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    52,
    0,
    32,
    0,
    1,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    /* Program header: the whole file, at 0x08048000, readable and executable. */
    1,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0x80,
    0x04,
    0x08,
    0,
    0x80,
    0x04,
    0x08,
    0x5d,
    0,
    0,
    0,
    0x5d,
    0,
    0,
    0,
    5,
    0,
    0,
    0,
    0,
    0x10,
    0,
    0,
    /* mov eax, 29; int 0x80; jmp back */
    0xb8,
    29,
    0,
    0,
    0,
    0xcd,
    0x80,
    0xeb,
    0xf7,
};

/* The program itself is called libjvm.so, so it has one mapped. */
TEST(a_32_bit_jvm_is_refused, setup, teardown)
{
	char path[256], byte;
	int ready[2], fd, r;
	bool runs;
	pid_t pid;

	strcpy(path, tree_path("lib/libjvm.so"));
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	assert_int_equal(write(fd, elf32, sizeof(elf32)), sizeof(elf32));
	(void)close(fd);
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)execl(path, path, NULL);
		(void)!write(ready[1], "x", 1);
		_exit(1);
	}
	(void)close(ready[1]);
	runs = read(ready[0], &byte, 1) == 0; /* Closed by the exec. */
	(void)close(ready[0]);
	r = runs ? jvm_inspect(pid, PROC_ANY_UID, &info, &err) : 0;
	fake_jvm_end(pid);
	if (!runs)
		skip(); /* This kernel has no 32-bit programs. */
	assert_int_equal(r, 0);
	assert_obstacle(JVM_32_BIT, "32-bit");
}

TEST(an_old_jdk_is_refused_by_its_version, setup, teardown)
{
	tree_add_file("release", "JAVA_VERSION=\"10.0.2\"\n");
	inspect(NULL, NULL, NULL);
	assert_obstacle(JVM_TOO_OLD, "runs JDK 10.0.2: the agent needs JDK 11");
}

TEST(a_jdk_between_two_that_can_be_read_is_refused, setup, teardown)
{
	tree_add_file("release", "JAVA_VERSION=\"24.0.1\"\n");
	inspect(NULL, NULL, NULL);
	assert_obstacle(JVM_UNREAD_RELEASE, "runs JDK 24.0.1, whose debug information");
}

TEST(jdk_8_is_told_by_its_directories, setup, teardown)
{
	struct fake_jvm jvm = {.options = {"Main"}};
	pid_t pid;

	tree_add_directory("lib/amd64");
	tree_add_directory("lib/amd64/server");
	tree_add_file("lib/amd64/server/libjvm.so", "x");
	jvm.libraries[0] = tree_path("lib/amd64/server/libjvm.so");
	pid = fake_jvm_start(&jvm);
	assert_int_equal(jvm_inspect(pid, PROC_ANY_UID, &info, &err), 0);
	assert_obstacle(JVM_TOO_OLD, "JDK 8");
	fake_jvm_end(pid);
}

TEST(an_unknown_version_is_tried, setup, teardown)
{
	inspect(NULL, NULL, NULL);
	assert_int_equal(info.obstacle, JVM_ATTACHABLE);
	assert_string_equal(info.jdk, "");
}

TEST(disabled_attaching_is_seen_wherever_it_is_said, setup, teardown)
{
	inspect("-XX:+DisableAttachMechanism", NULL, NULL);
	assert_obstacle(JVM_ATTACH_DISABLED, "-XX:+DisableAttachMechanism");
	inspect("-XX:-EnableDynamicAgentLoading", NULL, NULL);
	assert_obstacle(JVM_DYNAMIC_LOADING_DISABLED, "-XX:-EnableDynamicAgentLoading");
	inspect(NULL, NULL, "JAVA_TOOL_OPTIONS=-XX:+DisableAttachMechanism");
	assert_obstacle(JVM_ATTACH_DISABLED, "restart it");
	inspect(NULL, NULL, "_JAVA_OPTIONS=-XX:+DisableAttachMechanism");
	assert_obstacle(JVM_ATTACH_DISABLED, "restart it");
	inspect("-XX:+DisableAttachMechanism", "-XX:-DisableAttachMechanism", NULL);
	assert_int_equal(info.obstacle, JVM_ATTACHABLE);
}

/* Another's file, and a link to it, do not say which JDK a user's JVM is. */
TEST(the_release_file_is_read_as_the_jvms_user, setup, teardown)
{
	struct fake_jvm jvm = {.options = {"Main"}, .as_nobody = true};
	pid_t pid;

	if (geteuid() != 0) {
		print_message("# SKIP needs root\n");
		skip();
	}
	assert_int_equal(chmod(tree_path(""), 0755), 0);
	tree_add_file("secret", "JAVA_VERSION=\"99.secret\"\n");
	assert_int_equal(chmod(tree_path("secret"), 0600), 0);
	assert_int_equal(symlink("secret", tree_path("release")), 0);
	jvm.libraries[0] = tree_path("lib/server/libjvm.so");
	pid = fake_jvm_start(&jvm);
	assert_int_equal(jvm_inspect(pid, PROC_ANY_UID, &info, &err), 0);
	assert_string_equal(info.jdk, "");
	assert_int_equal(chmod(tree_path("secret"), 0644), 0);
	assert_int_equal(jvm_inspect(pid, PROC_ANY_UID, &info, &err), 0);
	assert_string_equal(info.jdk, "99.secret");
	fake_jvm_end(pid);
}

TEST(a_jvm_of_another_owner_is_none, setup, teardown)
{
	struct fake_jvm jvm = {.libraries = {tree_path("lib/server/libjvm.so")},
			       .options = {"Main"}};
	struct err absent;
	pid_t pid = fake_jvm_start(&jvm);

	(void)proc_absent(pid, &absent);
	assert_int_equal(jvm_inspect(pid, geteuid() + 1, &info, &err), -ESRCH);
	assert_string_equal(err.message, absent.message);
	assert_int_equal(info.pid, 0);
	assert_int_equal(jvm_inspect(pid, geteuid(), &info, &err), 0);
	assert_true(jvm_is_unchanged(&info));
	info.one_uid = false;
	assert_false(jvm_is_unchanged(&info));
	fake_jvm_end(pid);
}

TEST(option_files_are_read_through_the_targets_root, setup, teardown)
{
	char option[256];

	tree_add_file("flags", "+DisableAttachMechanism\n");
	(void)snprintf(option, sizeof(option), "-XX:Flags=%s", tree_path("flags"));
	inspect(option, NULL, NULL);
	assert_obstacle(JVM_ATTACH_DISABLED, "restart it");
	tree_add_file("arguments", "-XX:+DisableAttachMechanism");
	(void)snprintf(option, sizeof(option), "@%s", tree_path("arguments"));
	inspect(option, NULL, NULL);
	assert_obstacle(JVM_ATTACH_DISABLED, "restart it");
}

TEST(an_option_file_that_its_user_may_not_read_is_not_read_for_it, setup, teardown)
{
	struct fake_jvm jvm = {.libraries = {tree_path("lib/server/libjvm.so")}, .as_nobody = true};
	char option[256];
	pid_t pid;

	if (geteuid() != 0)
		skip(); /* Only root may read what others may not. */
	tree_add_file("secret", "root:hash");
	(void)snprintf(option, sizeof(option), "@%s", tree_path("secret"));
	jvm.options[0] = option;
	pid = fake_jvm_start(&jvm);
	assert_int_equal(jvm_inspect(pid, PROC_ANY_UID, &info, &err), 0);
	assert_string_equal(info.name, "root:hash"); /* Readable by everyone so far. */
	assert_int_equal(chmod(tree_path("secret"), 0600), 0);
	assert_int_equal(jvm_inspect(pid, PROC_ANY_UID, &info, &err), 0);
	assert_null(strstr(info.name, "hash"));
	fake_jvm_end(pid);
}

TEST(an_option_file_that_its_user_cannot_reach_is_not_read_for_it, setup, teardown)
{
	struct fake_jvm jvm = {.as_nobody = true};
	char option[256];
	pid_t pid;

	if (geteuid() != 0)
		skip(); /* Only root may go where others may not. */
	tree_add_directory("closed");
	tree_add_file("closed/secret", "root:hash");
	(void)snprintf(option, sizeof(option), "@%s", tree_path("closed/secret"));
	jvm.libraries[0] = tree_path("lib/server/libjvm.so");
	jvm.options[0] = option;
	pid = fake_jvm_start(&jvm);
	assert_int_equal(jvm_inspect(pid, PROC_ANY_UID, &info, &err), 0);
	assert_string_equal(info.name, "root:hash"); /* Open to everyone so far. */
	assert_int_equal(chmod(tree_path("closed"), 0700), 0);
	assert_int_equal(jvm_inspect(pid, PROC_ANY_UID, &info, &err), 0);
	assert_null(strstr(info.name, "hash"));
	fake_jvm_end(pid);
}

TEST(a_process_that_would_die_of_sigquit_is_refused, setup, teardown)
{
	struct fake_jvm jvm = {
	    .libraries = {tree_path("lib/server/libjvm.so")},
	    .options = {"Main"},
	    .ignores_sigquit = true,
	};
	pid_t pid = fake_jvm_start(&jvm);

	assert_int_equal(jvm_inspect(pid, PROC_ANY_UID, &info, &err), 0);
	assert_obstacle(JVM_SIGQUIT_NOT_CAUGHT, "does not catch SIGQUIT");
	fake_jvm_end(pid);
}

TEST(with_an_attach_socket_no_signal_is_needed, setup, teardown)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct fake_jvm jvm = {
	    .libraries = {tree_path("lib/server/libjvm.so")},
	    .options = {"Main"},
	    .ignores_sigquit = true,
	};
	pid_t pid = fake_jvm_start(&jvm);
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "/tmp/.java_pid%d", pid);
	assert_int_equal(bind(s, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(jvm_inspect(pid, PROC_ANY_UID, &info, &err), 0);
	assert_int_equal(unlink(address.sun_path), 0);
	assert_int_equal(info.obstacle, JVM_ATTACHABLE);
	assert_true(info.socket_exists);
	(void)close(s);
	fake_jvm_end(pid);
}

TEST(a_stopped_process_is_refused, setup, teardown)
{
	struct fake_jvm jvm = {
	    .libraries = {tree_path("lib/server/libjvm.so")},
	    .options = {"Main"},
	};
	pid_t pid = fake_jvm_start(&jvm);

	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
	assert_int_equal(jvm_inspect(pid, PROC_ANY_UID, &info, &err), 0);
	assert_obstacle(JVM_STOPPED, "kill -CONT");
	fake_jvm_end(pid);
}

TEST(the_agent_is_found_where_it_was_loaded_from, setup, teardown)
{
	struct fake_jvm jvm = {.options = {"Main"}};
	char path[256];
	pid_t pid;

	tree_add_file("libjxperf-agent.so", "x");
	strcpy(path, tree_path("libjxperf-agent.so"));
	jvm.libraries[0] = tree_path("lib/server/libjvm.so");
	jvm.libraries[1] = path;
	pid = fake_jvm_start(&jvm);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(jvm_inspect(pid, PROC_ANY_UID, &info, &err), 0);
	assert_string_equal(info.agent_path, path);
	fake_jvm_end(pid);
}

TEST(what_is_no_process_is_an_error_and_changes_nothing, setup, teardown)
{
	struct fake_jvm jvm = {.options = {"Main"}};
	pid_t pid = fake_jvm_start(&jvm);

	info.pid = 77;
	assert_int_equal(jvm_inspect(0, PROC_ANY_UID, &info, &err), -EINVAL);
	assert_int_equal(jvm_inspect(-5, PROC_ANY_UID, &info, &err), -EINVAL);
	assert_int_equal(jvm_inspect(INT_MAX, PROC_ANY_UID, &info, &err), -ESRCH);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
	assert_int_equal(jvm_inspect(pid, PROC_ANY_UID, &info, &err), -ESRCH); /* Not reaped yet. */
	assert_non_null(strstr(err.message, "has ended"));
	assert_int_equal(info.pid, 77);
	fake_jvm_end(pid);
}

static void *inspect_self(void *arg)
{
	*(int *)arg = jvm_inspect((pid_t)syscall(SYS_gettid), PROC_ANY_UID, &info, &err);
	return NULL;
}

TEST(a_thread_is_not_a_process, setup, teardown)
{
	pthread_t thread;
	int r = 0;

	assert_int_equal(pthread_create(&thread, NULL, inspect_self, &r), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(r, -ESRCH);
	assert_non_null(strstr(err.message, "is a thread"));
}

/* ---------------------------------------------------------------- all of them */

TEST(an_obstacle_is_listed_and_another_program_is_not, setup, teardown)
{
	inspect("-XX:+DisableAttachMechanism", NULL, NULL);
	assert_true(jvm_is_listed(&info));
	assert_int_equal(jvm_inspect(getpid(), PROC_ANY_UID, &info, &err), 0);
	assert_false(jvm_is_listed(&info));
}

int main(void)
{
	fake_jvm_main();
	return tests_run(NULL, NULL);
}
