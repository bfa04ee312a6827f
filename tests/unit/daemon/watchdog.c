#include "tests/unit/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

#include "daemon/watchdog.h"

static void set_environment(const char *period_us, int pid)
{
	char text[16];

	(void)snprintf(text, sizeof(text), "%d", pid);
	assert_int_equal(setenv("WATCHDOG_USEC", period_us, 1), 0);
	assert_int_equal(setenv("WATCHDOG_PID", text, 1), 0);
}

static int manager(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char name[64];
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	(void)snprintf(name, sizeof(name), "@jxperf-watchdog-%d", (int)getpid());
	memcpy(address.sun_path, name, strlen(name));
	address.sun_path[0] = '\0';
	assert_int_equal(bind(fd, (struct sockaddr *)&address,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name))),
			 0);
	assert_int_equal(setenv("NOTIFY_SOCKET", name, 1), 0);
	return fd;
}

TEST(it_is_heard_of_only_while_the_loop_turns)
{
	char text[32] = {0};
	uv_timer_t timer;
	uv_loop_t loop;
	int fd = manager();

	set_environment("20000", getpid());
	assert_int_equal(uv_loop_init(&loop), 0);
	assert_int_equal(uv_timer_init(&loop, &timer), 0);
	watchdog_start(&timer);
	for (int i = 0; i < 3; i++) {
		(void)uv_run(&loop, UV_RUN_ONCE);
		assert_int_equal(recv(fd, text, sizeof(text) - 1, 0), 10);
		assert_string_equal(text, "WATCHDOG=1");
		while (recv(fd, text, sizeof(text), MSG_DONTWAIT) > 0)
			; /* A turn may have been due twice. */
		(void)usleep(30000);
		assert_int_equal(recv(fd, text, sizeof(text), MSG_DONTWAIT), -1);
	}
	uv_close((uv_handle_t *)&timer, NULL);
	assert_int_equal(uv_run(&loop, UV_RUN_DEFAULT), 0);
	assert_int_equal(uv_loop_close(&loop), 0);
	(void)close(fd);
}

TEST(the_watchdog_of_another_process_is_none_of_ours)
{
	set_environment("20000", getpid());
	assert_int_equal(watchdog_period_ms(), 20);
	set_environment("20000", getppid());
	assert_int_equal(watchdog_period_ms(), 0);
	assert_int_equal(unsetenv("WATCHDOG_PID"), 0);
	assert_int_equal(unsetenv("WATCHDOG_USEC"), 0);
	assert_int_equal(watchdog_period_ms(), 0);
}
