#include "tests/unit/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/broker/start.h"
#include "daemon/inspector/startup.h"
#include "tests/unit/support/broker_fixture.h"

static pid_t process = -1;
static int process_fd = -1, connection = -1;
static struct err err;

static int start(const char *program)
{
	const struct startup startup = {
	    .agent = broker_fixture_agent("ok"), .environment = "", .pod_labels = ""};

	err.message[0] = '\0';
	return broker_start(&process, &process_fd, &connection, program, &startup, &err);
}

TEST(a_broker_serves_until_its_socket_is_closed)
{
	struct pollfd p;
	char byte;
	int status;

	assert_int_equal(start("/proc/self/exe"), 0);
	assert_int_equal(read(connection, &byte, 1), -1); /* It does not block. */
	assert_int_equal(errno, EAGAIN);
	p = (struct pollfd){.fd = process_fd, .events = POLLIN};
	assert_int_equal(poll(&p, 1, 0), 0); /* It runs. */
	(void)close(connection);
	assert_int_equal(waitpid(process, &status, 0), process);
	assert_int_equal(status, 0);
	(void)close(process_fd);
	process = process_fd = connection = -1;
}

static void assert_nothing_is_left(void)
{
	assert_int_equal(process, -1);
	assert_int_equal(process_fd, -1);
	assert_int_equal(connection, -1);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

TEST(a_program_that_is_not_there_is_named)
{
	assert_int_equal(start("/nonexistent/jxperfd"), -ENOENT);
	assert_non_null(strstr(err.message, "'/nonexistent/jxperfd'"));
	assert_nothing_is_left();
}

TEST(a_program_that_does_not_say_hello_is_none)
{
	assert_int_equal(start("/bin/true"), -EPROTO);
	assert_non_null(strstr(err.message, "does not start"));
	assert_nothing_is_left();
}

int main(int argc, char **argv)
{
	return broker_fixture_tests(argc, argv);
}
