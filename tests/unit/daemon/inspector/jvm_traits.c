#include "tests/unit/support/test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/process/jvm_step.h"
#include "daemon/inspector/jvm_traits.h"

#define PIECE_BYTES (64u << 10) /* a string of an environment may have twice as much */
#define PIECES      (JVM_ENVIRON_READ / PIECE_BYTES)

/* A program that only waits, with this environment. */
static pid_t start(char *const environment[])
{
	char *const argv[] = {(char *)"cat", (char *)"-", (char *)"a b", NULL};
	int running[2], input[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe2(running, O_CLOEXEC), 0);
	assert_int_equal(pipe2(input, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)dup2(input[0], 0);
		(void)fcntl(input[1], F_SETFD, 0); /* Its own end keeps it waiting. */
		(void)execve("/bin/cat", argv, environment);
		_exit(127);
	}
	(void)close(running[1]);
	assert_int_equal(read(running[0], &byte, 1), 0); /* It is that program now. */
	(void)close(running[0]);
	(void)close(input[0]);
	(void)close(input[1]);
	return pid;
}

static void end(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void read_traits(struct jvm_traits *t, pid_t pid, const char *names)
{
	const struct startup startup = {.agent = {"", ""}, .environment = names, .pod_labels = ""};
	static struct jvm_info info;
	char step[JVM_STEP_BYTES] = "";

	info = (struct jvm_info){.pid = pid};
	jvm_traits_read(t, &info, &startup, step);
}

static void look_at(struct jvm_traits *t, char *const environment[], const char *names)
{
	pid_t pid = start(environment);

	read_traits(t, pid, names);
	end(pid);
}

TEST(only_variables_that_were_asked_for_are_there)
{
	static struct jvm_traits t;
	char *const environment[] = {(char *)"TEAM=web", (char *)"TEAMS=all", (char *)"SECRET=1",
				     (char *)"REGION=eu=1", NULL};

	look_at(&t, environment, "REGION,TEAM,ABSENT");
	assert_int_equal(t.environment_count, 2);
	assert_string_equal(t.environment[0], "REGION=eu=1");
	assert_string_equal(t.environment[1], "TEAM=web");
	look_at(&t, environment, "TEA,EAM,");
	assert_int_equal(t.environment_count, 0);
}

TEST(without_names_there_is_none)
{
	static struct jvm_traits t;
	char *const environment[] = {(char *)"TEAM=web", (char *)"=odd", NULL};

	look_at(&t, environment, "");
	assert_int_equal(t.environment_count, 0);
}

TEST(a_value_is_whole_or_missing)
{
	static struct jvm_traits t;
	char fits[JVM_VARIABLE_BYTES], longer[JVM_VARIABLE_BYTES + 1];
	char *const environment[] = {fits, longer, NULL};

	memset(fits, 'x', sizeof(fits));
	memcpy(fits, "FITS=", 5);
	fits[sizeof(fits) - 1] = '\0';
	memset(longer, 'x', sizeof(longer));
	memcpy(longer, "LONGER=", 7);
	longer[sizeof(longer) - 1] = '\0';
	look_at(&t, environment, "LONGER,FITS");
	assert_int_equal(t.environment_count, 1);
	assert_string_equal(t.environment[0], fits);
}

TEST(what_is_cut_where_reading_ends_is_missing)
{
	static struct jvm_traits t;
	static char filler[PIECES][PIECE_BYTES];
	static const char before[] = "SEEN=yes", cut[] = "REGION=eu-secret";
	char *environment[PIECES + 3] = {(char *)before};
	size_t room = JVM_ENVIRON_READ - 1 - sizeof(before) - strlen("REGION=eu");

	for (size_t i = 0; i < PIECES; i++) {
		size_t bytes = room < PIECE_BYTES ? room : PIECE_BYTES;

		memset(filler[i], 'x', bytes - 1);
		environment[1 + i] = filler[i];
		room -= bytes;
	}
	assert_int_equal(room, 0);
	environment[1 + PIECES] = (char *)cut;
	look_at(&t, environment, "SEEN,REGION");
	assert_int_equal(t.environment_count, 1);
	assert_string_equal(t.environment[0], before);
}

TEST(control_characters_are_not_shown)
{
	static struct jvm_traits t;
	char *const environment[] = {(char *)"TEAM=a\nb\033[2J", NULL};

	look_at(&t, environment, "TEAM");
	assert_int_equal(t.environment_count, 1);
	assert_null(strpbrk(t.environment[0], "\n\033"));
}

TEST(the_words_of_the_command_line_are_told_by_spaces)
{
	static struct jvm_traits t;
	char *const environment[] = {NULL};

	look_at(&t, environment, "");
	assert_string_equal(t.command, "cat - a b");
}

TEST(nothing_is_known_of_a_process_that_has_ended)
{
	static struct jvm_traits t;
	char *const environment[] = {NULL};
	pid_t pid = start(environment);

	end(pid);
	memset(&t, 0xff, sizeof(t));
	read_traits(&t, pid, "TEAM");
	assert_int_equal(t.cpu_ns, 0);
	assert_string_equal(t.command, "");
	assert_string_equal(t.cgroup, "");
	assert_int_equal(t.environment_count, 0);
}
