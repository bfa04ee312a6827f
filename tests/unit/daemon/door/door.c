#include "tests/unit/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/fd.h"
#include "common/proc.h"
#include "daemon/door/door.h"
#include "daemon/broker/proto.h"
#include "proto/limits.h"
#include "tests/unit/support/broker_fixture.h"

/* A message that never comes fails the test instead of stopping it. */
#define PATIENCE_S 20

static char directory[] = "/tmp/jxperf-door-XXXXXX";
static struct sockaddr_un address;
static int listener = -1;
static pid_t door, target;
static int said = -1; /* its log, or -1: as the test's */
static struct broker_reply reply;

static int setup(void **state)
{
	(void)state;
	strcpy(strrchr(directory, '-'), "-XXXXXX");
	assert_non_null(mkdtemp(directory));
	address = (struct sockaddr_un){.sun_family = AF_UNIX};
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/broker.sock", directory);
	listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(listener, (const struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener, 8), 0);
	target = broker_fixture_start_target();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	(void)close(listener);
	(void)unlink(address.sun_path);
	broker_fixture_end_target(target);
	return rmdir(directory);
}

/* As systemd would: the socket is descriptor 3. */
static void start(const char *user, const char *behaviour)
{
	const char *bundle = broker_fixture_bundle(behaviour);
	char pid[16];

	door = fork();
	assert_true(door >= 0);
	if (door > 0)
		return;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)snprintf(pid, sizeof(pid), "%d", getpid());
	(void)setenv("LISTEN_PID", pid, 1);
	(void)setenv("LISTEN_FDS", "1", 1);
	if (said >= 0)
		(void)dup2(said, STDERR_FILENO);
	(void)dup2(listener, 3);
	(void)fcntl(3, F_SETFD, 0); /* It may have been that before. */
	(void)execl("/proc/self/exe", "jxperfd", BROKER_OPTION_FOR, user, "--bundle", bundle, NULL);
	_exit(1);
}

/* Its exit status. */
static int stop(void)
{
	int status;

	assert_int_equal(kill(door, SIGTERM), 0);
	assert_int_equal(waitpid(door, &status, 0), door);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static const char *me(void)
{
	return getpwuid(geteuid())->pw_name;
}

static int connect_engine(void)
{
	struct timeval limit = {.tv_sec = PATIENCE_S};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)), 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* The error of the next reply; -1 at the end of the stream. Descriptors are closed. */
static int receive(int fd)
{
	int fds[FD_PASS_MAX];
	size_t count = FD_PASS_MAX;
	ssize_t n = fd_recv(fd, &reply, sizeof(reply), fds, &count);

	if (n == 0 || n == -ECONNRESET)
		return -1;
	assert_int_equal(n, sizeof(reply));
	fd_close_all(fds, count);
	return reply.error;
}

static int attach(int fd)
{
	struct broker_request request = {
	    .operation = BROKER_ATTACH, .id = 1, .pid = target, .owner = PROC_ANY_UID};

	assert_int_equal(fd_send(fd, &request, sizeof(request), NULL, 0), sizeof(request));
	return receive(fd);
}

static void assert_served(int fd)
{
	assert_int_equal(receive(fd), 0);
	assert_int_equal(reply.operation, BROKER_HELLO);
	assert_string_equal(reply.message, JXPERF_VERSION);
}

TEST(an_engine_has_a_broker_that_serves, setup, teardown)
{
	int engine;

	start(me(), "ok");
	engine = connect_engine();
	assert_served(engine);
	assert_int_equal(attach(engine), 0);
	(void)close(engine);
	assert_int_equal(stop(), 0);
}

TEST(the_next_engine_finds_nothing_of_the_last_one, setup, teardown)
{
	start(me(), "ok");
	for (int i = 0; i < 3; i++) {
		int engine = connect_engine(); /* At once: it waits until the last one's is gone. */

		assert_served(engine);
		assert_int_equal(attach(engine), 0);
		assert_int_equal(attach(engine), EBUSY);
		(void)close(engine);
	}
	assert_int_equal(stop(), 0);
}

TEST(a_second_engine_is_told_so_and_changes_nothing, setup, teardown)
{
	int first, second;

	start(me(), "ok");
	first = connect_engine();
	assert_served(first);
	assert_int_equal(attach(first), 0);
	second = connect_engine();
	assert_int_equal(receive(second), EBUSY);
	assert_int_equal(reply.operation, BROKER_HELLO);
	assert_int_equal(receive(second), -1);
	assert_int_equal(attach(first), EBUSY); /* Its target is its still. */
	(void)close(second);
	(void)close(first);
	assert_int_equal(stop(), 0);
}

TEST(another_user_is_told_so_and_changes_nothing, setup, teardown)
{
	int other;

	if (geteuid() != 0)
		skip(); /* Nobody else would be this user. */
	start("nobody", "ok");
	for (int i = 0; i < 2; i++) {
		other = connect_engine();
		assert_int_equal(receive(other), EPERM);
		assert_non_null(strstr(reply.message, "'nobody'"));
		assert_int_equal(receive(other), -1);
		(void)close(other);
	}
	assert_int_equal(stop(), 0);
}

/* How often word is in what the door has written. */
static unsigned count_said(const char *word)
{
	static char text[1 << 16];
	ssize_t n = pread(said, text, sizeof(text) - 1, 0);
	unsigned count = 0;

	assert_true(n >= 0);
	text[n] = '\0';
	for (const char *at = text; (at = strstr(at, word)); at++)
		count++;
	return count;
}

TEST(of_many_connections_a_few_are_logged, setup, teardown)
{
	int first, other;

	said = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	assert_true(said >= 0);
	start(me(), "ok");
	first = connect_engine();
	assert_served(first);
	for (int i = 0; i < 100; i++) {
		other = connect_engine();
		assert_int_equal(receive(other), EBUSY);
		(void)close(other);
	}
	assert_in_range(count_said("action=connect"), 2, 10);
	assert_int_equal(count_said("outcome=ok"), 1);
	(void)close(first);
	assert_int_equal(stop(), 0);
	(void)close(said);
	said = -1;
}

TEST(its_end_is_the_brokers_and_seen_by_the_engine, setup, teardown)
{
	int engine;

	start(me(), "wait"); /* A helper that has to be ended in order. */
	engine = connect_engine();
	assert_served(engine);
	assert_int_equal(kill(door, SIGTERM), 0);
	assert_int_equal(receive(engine), -1);
	assert_int_equal(waitpid(door, NULL, 0), door);
	(void)close(engine);
}

static pid_t child_of(pid_t parent)
{
	char path[64];
	pid_t child = 0;
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", parent, parent);
	file = fopen(path, "re");
	if (!file)
		skip(); /* A kernel without CONFIG_PROC_CHILDREN. */
	assert_int_equal(fscanf(file, "%d", &child), 1);
	(void)fclose(file);
	return child;
}

TEST(a_broker_that_is_killed_is_another_one_the_next_time, setup, teardown)
{
	int engine;

	start(me(), "ok");
	engine = connect_engine();
	assert_served(engine);
	assert_int_equal(kill(child_of(door), SIGKILL), 0);
	assert_int_equal(receive(engine), -1);
	(void)close(engine);
	engine = connect_engine();
	assert_served(engine);
	(void)close(engine);
	assert_int_equal(stop(), 0);
}

TEST(without_a_socket_of_the_service_manager_it_does_not_start, setup, teardown)
{
	int status;

	(void)unsetenv("LISTEN_PID");
	door = fork();
	assert_true(door >= 0);
	if (door == 0) {
		(void)execl("/proc/self/exe", "jxperfd", BROKER_OPTION_FOR, me(), "--bundle", "/",
			    NULL);
		_exit(0);
	}
	assert_int_equal(waitpid(door, &status, 0), door);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
}

int main(int argc, char **argv)
{
	return broker_fixture_tests(argc, argv);
}
