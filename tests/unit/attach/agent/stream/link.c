/* The agent's end of the session socket, where it may not have the descriptor that comes with a
 * frame. */
#include "tests/unit/support/test.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "tests/unit/support/agent/link_ends.h"

static void send_start(const struct ends *e, const int *fds, size_t count)
{
	Jxp__WindowStart start = JXP__WINDOW_START__INIT;
	Jxp__EngineFrame frame = JXP__ENGINE_FRAME__INIT;

	start.registers = 3;
	frame.body_case = JXP__ENGINE_FRAME__BODY_START;
	frame.start = &start;
	send_to_agent(e, &frame, fds, count);
}

static void assert_start_received(struct ends *e)
{
	Jxp__EngineFrame *frame = NULL;

	assert_int_equal(link_receive(&e->link, 1000, &frame), 1);
	assert_int_equal(frame->body_case, JXP__ENGINE_FRAME__BODY_START);
	assert_int_equal(frame->start->registers, 3);
	jxp__engine_frame__free_unpacked(frame, NULL);
}

TEST(a_descriptor_comes_with_its_frame)
{
	int sent = open("/dev/null", O_RDONLY | O_CLOEXEC), got = -1;
	struct ends e;

	connect_ends(&e);
	send_start(&e, &sent, 1);
	assert_start_received(&e);
	assert_int_equal(link_take_fds(&e.link, &got, 1), 1);
	assert_int_equal(close(got), 0);
	assert_int_equal(close(sent), 0);
	close_ends(&e);
}

TEST(a_frame_whose_descriptor_is_refused_arrives_without)
{
	int sent = open("/dev/null", O_RDONLY | O_CLOEXEC), got = -1;
	struct rlimit limit, none;
	struct ends e;

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
	close_ends(&e);
}

static void send_some(struct ends *e, int *result)
{
	Jxp__Instruction part = JXP__INSTRUCTION__INIT, *parts[] = {&part};
	Jxp__AgentFrame frame = JXP__AGENT_FRAME__INIT;
	Jxp__Batch batch = JXP__BATCH__INIT;
	char text[5000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	part.text = text;
	batch.instructions = parts;
	batch.n_instructions = 1;
	frame.body_case = JXP__AGENT_FRAME__BODY_BATCH;
	frame.batch = &batch;
	*result = link_send(&e->link, &frame);
}

static void take_what_is_there(const struct ends *e, struct buffer *in)
{
	for (;;) {
		uint8_t *to = buffer_reserve(in, 4096);
		ssize_t n = recv(e->engine, to, 4096, MSG_DONTWAIT);

		if (n <= 0)
			return;
		buffer_commit(in, (size_t)n);
	}
}

/* As when the engine was stuck for longer than the time limit, and then goes on. */
TEST(what_follows_a_frame_cut_by_the_time_limit_is_not_read_as_its_rest)
{
	const struct timeval limit = {.tv_usec = 10000};
	Jxp__AgentFrame ended = JXP__AGENT_FRAME__INIT, *got = NULL;
	Jxp__WindowEnded body = JXP__WINDOW_ENDED__INIT;
	struct buffer in;
	struct ends e;
	int sent = 0, r;

	connect_ends(&e);
	buffer_init(&in, FRAME_MAX_AGENT);
	assert_int_equal(setsockopt(e.link.fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)), 0);
	for (send_some(&e, &r); r == 0; send_some(&e, &r))
		sent++;
	assert_int_equal(r, -ETIMEDOUT);
	assert_true(buffer_length(&e.link.out) > 0);
	take_what_is_there(&e, &in);

	body.error = (char *)"too slow";
	ended.body_case = JXP__AGENT_FRAME__BODY_ENDED;
	ended.ended = &body;
	assert_int_equal(link_send(&e.link, &ended), 0);
	take_what_is_there(&e, &in);
	for (int i = 0; i <= sent + 1; i++) {
		const uint8_t *payload;
		int64_t size = frame_peek(&in, FRAME_MAX_AGENT, &payload);

		assert_true(size > 0);
		got = jxp__agent_frame__unpack(NULL, (size_t)size, payload);
		assert_non_null(got);
		assert_int_equal(got->body_case, i <= sent ? JXP__AGENT_FRAME__BODY_BATCH
							   : JXP__AGENT_FRAME__BODY_ENDED);
		frame_consume(&in, (size_t)size);
		if (i <= sent)
			jxp__agent_frame__free_unpacked(got, NULL);
	}
	assert_string_equal(got->ended->error, "too slow");
	jxp__agent_frame__free_unpacked(got, NULL);
	buffer_release(&in);
	close_ends(&e);
}
