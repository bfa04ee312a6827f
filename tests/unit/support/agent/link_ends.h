/* The agent's link with a test at its other end, the engine's. */
#ifndef JXPERF_TESTS_UNIT_SUPPORT_AGENT_LINK_ENDS_H
#define JXPERF_TESTS_UNIT_SUPPORT_AGENT_LINK_ENDS_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "attach/agent/stream/link.h"
#include "common/buffer.h"
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

static inline void send_to_agent(const struct ends *e, const Jxp__EngineFrame *frame,
				 const int *fds, size_t count)
{
	struct buffer bytes;

	buffer_init(&bytes, FRAME_MAX_AGENT);
	assert_int_equal(frame_append(&bytes, &frame->base, FRAME_MAX_AGENT), 0);
	assert_int_equal(fd_send(e->engine, buffer_head(&bytes), buffer_length(&bytes), fds, count),
			 buffer_length(&bytes));
	buffer_release(&bytes);
}

static void close_ends(struct ends *e)
{
	link_close(&e->link);
	assert_int_equal(close(e->engine), 0);
}

#endif
