/* The agent's end of the session socket, where it may not have the descriptor that comes with a
 * frame. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "attach/agent/link.h"
#include "common/fd.h"
#include "proto/frame.h"
#include "proto/limits.h"

struct ends {
	struct link link;
	int engine;
};

/* The abstract namespace is not for link_connect, so the socket's file is removed at once. */
static void connect_ends(struct ends *e)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char directory[] = "/tmp/jxperf-link-XXXXXX";
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_non_null(mkdtemp(directory));
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/s", directory);
	assert_int_equal(bind(listener, (const struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(link_connect(&e->link, address.sun_path), 0);
	e->engine = accept(listener, NULL, NULL);
	assert_true(e->engine >= 0);
	assert_int_equal(unlink(address.sun_path), 0);
	assert_int_equal(rmdir(directory), 0);
	assert_int_equal(close(listener), 0);
}

static void send_start(const struct ends *e, const int *fds, size_t count)
{
	Jxp__WindowStart start = JXP__WINDOW_START__INIT;
	Jxp__EngineFrame frame = JXP__ENGINE_FRAME__INIT;
	struct buffer bytes;

	start.registers = 3;
	frame.body_case = JXP__ENGINE_FRAME__BODY_START;
	frame.start = &start;
	buffer_init(&bytes, FRAME_MAX_AGENT);
	assert_int_equal(frame_append(&bytes, &frame.base, FRAME_MAX_AGENT), 0);
	assert_int_equal(fd_send(e->engine, buffer_head(&bytes), buffer_length(&bytes), fds, count),
			 buffer_length(&bytes));
	buffer_release(&bytes);
}

static void assert_start_received(struct ends *e)
{
	Jxp__EngineFrame *frame = NULL;

	assert_int_equal(link_receive(&e->link, 1000, &frame), 1);
	assert_int_equal(frame->body_case, JXP__ENGINE_FRAME__BODY_START);
	assert_int_equal(frame->start->registers, 3);
	jxp__engine_frame__free_unpacked(frame, NULL);
}

static void release(struct ends *e)
{
	link_close(&e->link);
	assert_int_equal(close(e->engine), 0);
}

static void a_descriptor_comes_with_its_frame(void **state)
{
	int sent = open("/dev/null", O_RDONLY | O_CLOEXEC), got = -1;
	struct ends e;

	(void)state;
	connect_ends(&e);
	send_start(&e, &sent, 1);
	assert_start_received(&e);
	assert_int_equal(link_take_fds(&e.link, &got, 1), 1);
	assert_int_equal(close(got), 0);
	assert_int_equal(close(sent), 0);
	release(&e);
}

static void a_frame_whose_descriptor_is_refused_arrives_without(void **state)
{
	int sent = open("/dev/null", O_RDONLY | O_CLOEXEC), got = -1;
	struct rlimit limit, none;
	struct ends e;

	(void)state;
	connect_ends(&e);
	send_start(&e, &sent, 1);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	/* poll(2) takes no more entries than the limit says, so it is one. */
	none = (struct rlimit){.rlim_cur = 1, .rlim_max = limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_start_received(&e);
	assert_int_equal(link_take_fds(&e.link, &got, 1), 0);
	assert_int_equal(got, -1);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	/* The stream is in step: the next frame has its descriptor. */
	send_start(&e, &sent, 1);
	assert_start_received(&e);
	assert_int_equal(link_take_fds(&e.link, &got, 1), 1);
	assert_int_equal(close(got), 0);
	assert_int_equal(close(sent), 0);
	release(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_descriptor_comes_with_its_frame),
	    cmocka_unit_test(a_frame_whose_descriptor_is_refused_arrives_without),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
