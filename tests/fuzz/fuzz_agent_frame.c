/*
 * Fuzzes what an agent may send: the frame decoder, the session's states, the intake, and the
 * reports that are made of what arrived. libFuzzer entry point.
 *
 * The first byte chooses how the rest is sent: bit 0 as it is (raw bytes, so that lengths are
 * fuzzed too), else cut into frames by two-byte lengths; bit 1 after a good hello, so that most
 * inputs reach a running window.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "common/buffer.h"
#include "common/fd.h"
#include "daemon/engine/session.h"
#include "daemon/report/report.h"
#include "proto/frame.h"
#include "proto/limits.h"
#include "tests/unit/support/sample_findings.h"

/* Inputs are cut here: libFuzzer's own limit is far below. */
#define STREAM_MAX (1u << 20)
/* Enough to render what an input of that size can hold. */
#define REPORT_MAX (16u << 20)

enum {
	SEND_RAW = 1,
	SEND_HELLO = 2,
};

struct harness {
	uv_loop_t loop;
	struct session *session;
	struct window *window;
	bool ended;
};

static void on_started(void *arg)
{
	(void)arg;
}

static void on_perf_open(void *arg, const Jxp__PerfOpenRequest *request)
{
	struct harness *h = arg;

	session_perf_opened(h->session, request->tid, 1, NULL, 0);
}

static void on_ended(void *arg)
{
	struct harness *h = arg;

	h->ended = true;
	session_free(h->session);
	h->session = NULL;
}

static void append_hello(struct buffer *out)
{
	Jxp__AgentHello hello = JXP__AGENT_HELLO__INIT;
	Jxp__AgentFrame frame = JXP__AGENT_FRAME__INIT;

	hello.protocol = PROTOCOL_VERSION;
	frame.body_case = JXP__AGENT_FRAME__BODY_HELLO;
	frame.hello = &hello;
	(void)frame_append(out, &frame.base, FRAME_MAX_AGENT); /* Small, into an empty buffer. */
}

static void append_frames(struct buffer *out, const uint8_t *data, size_t size)
{
	while (size > 2) {
		size_t length = data[0] | (size_t)data[1] << 8;
		uint8_t header[FRAME_HEADER_BYTES] = {0};

		data += 2;
		size -= 2;
		if (length > size)
			length = size;
		header[0] = (uint8_t)length;
		header[1] = (uint8_t)(length >> 8);
		if (buffer_append(out, header, sizeof(header)) < 0 ||
		    buffer_append(out, data, length) < 0)
			return;
		data += length;
		size -= length;
	}
}

/* Sends the stream as fast as the session takes it, reading nothing back. */
static void feed(struct harness *h, int fd, struct buffer *stream)
{
	while (buffer_length(stream) > 0 && !h->ended) {
		ssize_t n = send(fd, buffer_head(stream), buffer_length(stream),
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n > 0)
			buffer_consume(stream, (size_t)n);
		(void)uv_run(&h->loop, UV_RUN_NOWAIT);
	}
	(void)close(fd);
	while (!h->ended)
		(void)uv_run(&h->loop, UV_RUN_ONCE);
}

static void render(const struct window *w)
{
	for (int format = JXP__FORMAT__FORMAT_TEXT; format <= JXP__FORMAT__FORMAT_COLLAPSED;
	     format++) {
		char *text;
		size_t size;

		if (report_new(w, (Jxp__Format)format, 0, REPORT_MAX, &text, &size, NULL) == 0)
			free(text);
	}
}

static void run(struct harness *h, struct buffer *stream)
{
	static const struct window_request request = {.kinds = {false, true, true, true},
						      .objects = true,
						      .objects_max = 256,
						      .duration_ns = UINT64_C(60000000000),
						      .budget = 0.01,
						      .registers = 4,
						      .max_frames = 128};
	struct session_callbacks callbacks = {.arg = h,
					      .started = on_started,
					      .progressed = on_started,
					      .perf_open = on_perf_open,
					      .ended = on_ended};
	int pair[2];

	h->window = window_new(1, 42, &request, &sample_findings);
	if (!h->window || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 ||
	    session_new(&h->session, &h->loop, pair[0], h->window, &callbacks, NULL) < 0)
		abort(); /* The machine, not the input. */
	feed(h, pair[1], stream);
	render(h->window);
	window_free(h->window);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct harness h = {0};
	struct buffer stream;

	if (size < 1)
		return 0;
	buffer_init(&stream, STREAM_MAX);
	if (data[0] & SEND_HELLO)
		append_hello(&stream);
	if (data[0] & SEND_RAW)
		(void)buffer_append(&stream, data + 1, size - 1); /* Too long: the hello alone. */
	else
		append_frames(&stream, data + 1, size - 1);
	if (uv_loop_init(&h.loop) < 0)
		abort(); /* The machine, not the input. */
	run(&h, &stream);
	(void)uv_run(&h.loop, UV_RUN_DEFAULT); /* Until every handle is closed. */
	if (uv_loop_close(&h.loop) < 0)
		abort(); /* A handle was leaked. */
	buffer_release(&stream);
	return 0;
}
