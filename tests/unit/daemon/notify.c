#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/notify.h"

TEST(without_a_manager_nothing_is_sent)
{
	assert_int_equal(unsetenv("NOTIFY_SOCKET"), 0);
	assert_int_equal(notify_send("READY=1"), 0);
}

TEST(the_manager_receives_the_state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char text[32] = {0}, name[64];
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	(void)snprintf(name, sizeof(name), "@jxperf-test-%d", (int)getpid());
	memcpy(address.sun_path, name, strlen(name));
	address.sun_path[0] = '\0';
	assert_int_equal(bind(fd, (struct sockaddr *)&address,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name))),
			 0);
	assert_int_equal(setenv("NOTIFY_SOCKET", name, 1), 0);
	assert_int_equal(notify_send("READY=1"), 0);
	assert_int_equal(recv(fd, text, sizeof(text) - 1, 0), 7);
	assert_string_equal(text, "READY=1");
	(void)close(fd);
}

TEST(a_manager_that_is_not_there_is_an_error)
{
	assert_int_equal(setenv("NOTIFY_SOCKET", "/nonexistent/notify", 1), 0);
	assert_int_equal(notify_send("READY=1"), -ENOENT);
}
