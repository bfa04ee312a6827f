/*
 * The agent's side of a session, for tests: packs real frames and reads the engine's. Everything is
 * static so that each test stays one file. Uses the blocking end of a socket pair and must
 * therefore only read what the engine has surely sent.
 */
#ifndef JXPERF_TESTS_UNIT_SUPPORT_FAKE_AGENT_H
#define JXPERF_TESTS_UNIT_SUPPORT_FAKE_AGENT_H

#include <sys/socket.h>
#include <unistd.h>

#include "common/buffer.h"
#include "common/fd.h"
#include "proto/frame.h"
#include "proto/jxperf.pb-c.h"
#include "proto/limits.h"

__attribute__((unused)) static void agent_send(int fd, const Jxp__AgentFrame *frame)
{
	struct buffer out;

	buffer_init(&out, FRAME_HEADER_BYTES + FRAME_MAX_AGENT);
	assert_int_equal(frame_append(&out, &frame->base, FRAME_MAX_AGENT), 0);
	assert_int_equal(fd_write_all(fd, buffer_head(&out), buffer_length(&out)), 0);
	buffer_release(&out);
}

__attribute__((unused)) static void agent_send_hello(int fd, uint32_t protocol)
{
	Jxp__AgentHello hello = JXP__AGENT_HELLO__INIT;
	Jxp__AgentFrame frame = JXP__AGENT_FRAME__INIT;

	hello.protocol = protocol;
	hello.jdk = (char *)"17.0.12+7";
	hello.vm = (char *)"OpenJDK 64-Bit Server VM";
	hello.gc = (char *)"G1";
	frame.body_case = JXP__AGENT_FRAME__BODY_HELLO;
	frame.hello = &hello;
	agent_send(fd, &frame);
}

__attribute__((unused)) static void agent_send_batch(int fd, Jxp__Batch *batch)
{
	Jxp__AgentFrame frame = JXP__AGENT_FRAME__INIT;

	frame.body_case = JXP__AGENT_FRAME__BODY_BATCH;
	frame.batch = batch;
	agent_send(fd, &frame);
}

__attribute__((unused)) static void agent_send_perf_open(int fd, uint32_t tid)
{
	Jxp__PerfOpenRequest request = JXP__PERF_OPEN_REQUEST__INIT;
	Jxp__AgentFrame frame = JXP__AGENT_FRAME__INIT;

	request.tid = tid;
	request.breakpoints = 4;
	frame.body_case = JXP__AGENT_FRAME__BODY_PERF_OPEN;
	frame.perf_open = &request;
	agent_send(fd, &frame);
}

__attribute__((unused)) static void agent_send_ended(int fd, const char *error)
{
	Jxp__WindowEnded ended = JXP__WINDOW_ENDED__INIT;
	Jxp__AgentFrame frame = JXP__AGENT_FRAME__INIT;

	ended.error = (char *)error;
	frame.body_case = JXP__AGENT_FRAME__BODY_ENDED;
	frame.ended = &ended;
	agent_send(fd, &frame);
}

/* The last frame, and the end of the stream as it follows in a JVM. */
__attribute__((unused)) static void agent_leave(int fd, const char *error)
{
	agent_send_ended(fd, error);
	(void)close(fd);
}

/* The next frame, to be freed, with its descriptors in fds (FD_PASS_MAX) and their number in count.
 */
__attribute__((unused)) static Jxp__EngineFrame *agent_receive(int fd, int *fds, size_t *count)
{
	uint8_t bytes[4096];
	uint32_t length;
	size_t more = 0;
	int none[1];
	Jxp__EngineFrame *frame;

	*count = FD_PASS_MAX;
	assert_int_equal(fd_recv(fd, bytes, FRAME_HEADER_BYTES, fds, count), FRAME_HEADER_BYTES);
	length = bytes[0] | (uint32_t)bytes[1] << 8; /* The engine's frames are small. */
	assert_in_range(length, 1, sizeof(bytes));
	assert_int_equal(fd_recv(fd, bytes, length, none, &more), length);
	frame = jxp__engine_frame__unpack(NULL, length, bytes);
	assert_non_null(frame);
	return frame;
}

/* Reads one frame and checks what it is. */
__attribute__((unused)) static void agent_expect(int fd, Jxp__EngineFrame__BodyCase body)
{
	int fds[FD_PASS_MAX];
	size_t count;
	Jxp__EngineFrame *frame = agent_receive(fd, fds, &count);

	assert_int_equal(frame->body_case, body);
	assert_int_equal(count, 0);
	jxp__engine_frame__free_unpacked(frame, NULL);
}

#endif
