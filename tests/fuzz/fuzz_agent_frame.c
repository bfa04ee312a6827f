/*
 * Fuzzes what an agent may send: the frame decoder, the run's states, the intake, and the
 * reports that are made of what arrived. libFuzzer entry point.
 *
 * The first byte chooses how the rest is sent: bit 0 as it is (raw bytes, so that lengths are
 * fuzzed too), else cut into frames by two-byte lengths; bit 1 after a good hello, so that most
 * inputs reach a running window.
 *
 * How many of the loops that the analysis of code found came into windows is said at the end: that
 * inputs come so far is what the seeds are for.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "common/buffer.h"
#include "common/fd.h"
#include "common/proc.h"
#include "daemon/broker/client.h"
#include "daemon/engine/run.h"
#include "report/report.h"
#include "proto/frame.h"
#include "proto/limits.h"
#include "tests/unit/support/sample_findings.h"
#include "tests/unit/support/whole_report.h"

/* Inputs are cut here: libFuzzer's own limit is far below. */
#define STREAM_MAX (1u << 20)
/* Enough to render what an input of that size can hold. */
#define REPORT_MAX (16u << 20)

enum {
	SEND_RAW = 1,
	SEND_HELLO = 2,
};

/* Analyses of code at a time: one of loops, one of who makes accesses. */
#define WORKS_MAX 2u

struct harness {
	uv_loop_t loop;
	struct run *run;
	struct window_result *window; /* kept */
	bool ended;
	broker_reply_fn attached; /* what the broker was asked, until the agent is there */
	void *attached_arg;
	uv_work_t *works[WORKS_MAX]; /* analyses of code, the oldest first */
	uv_after_work_cb after_works[WORKS_MAX];
	size_t work_count;
};

static struct harness harness;
static uint64_t analyses, mapped_loops;

__attribute__((destructor)) static void tell(void)
{
	fprintf(stderr, "%ju analyses of code, %ju mapped loops\n", (uintmax_t)analyses,
		(uintmax_t)mapped_loops);
}

/* ---------------------------------------------------------------- the broker */

int broker_client_ask(struct broker_client *client, const struct broker_request *request,
		      broker_reply_fn fn, void *arg)
{
	(void)client;
	if (request->operation != BROKER_ATTACH)
		return -EAGAIN;
	harness.attached = fn;
	harness.attached_arg = arg;
	return 1;
}

void broker_client_forget(struct broker_client *client, int id)
{
	(void)client;
	(void)id;
}

/* ---------------------------------------------------------------- the pool */

/* In place of the loop's own: no thread comes too late, so that an input does the same each time.
 */
int uv_queue_work(uv_loop_t *loop, uv_work_t *work, uv_work_cb fn, uv_after_work_cb after)
{
	(void)loop;
	if (harness.work_count == WORKS_MAX)
		abort();
	harness.works[harness.work_count] = work;
	harness.after_works[harness.work_count++] = after;
	fn(work);
	analyses++;
	return 0;
}

/* Tells of the analyses, each of which may bring another one. */
static void finish_work(struct harness *h)
{
	while (h->work_count > 0) {
		uv_work_t *work = h->works[0];
		uv_after_work_cb after = h->after_works[0];

		h->work_count--;
		h->works[0] = h->works[1];
		h->after_works[0] = h->after_works[1];
		after(work, 0);
	}
}

/* ---------------------------------------------------------------- the run */

static void on_started(void *arg, const struct run *r)
{
	(void)arg;
	(void)r;
}

static void on_ended(void *arg, struct run *r, int error, const char *message)
{
	struct harness *h = arg;

	(void)error; /* Any end will do. */
	(void)message;
	h->ended = true;
	run_free(r);
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

/* Of the stream's first frame, header included, as far as it is there. */
static size_t first_frame(const struct buffer *stream)
{
	const uint8_t *head = buffer_head(stream);
	size_t length = buffer_length(stream), frame = FRAME_HEADER_BYTES;

	if (length < FRAME_HEADER_BYTES)
		return length;
	for (size_t i = 0; i < FRAME_HEADER_BYTES; i++)
		frame += (size_t)head[i] << 8 * i;
	return frame < length ? frame : length;
}

/* Sends a frame at a time, so that the code that came with one is known before the next, and reads
 * nothing back. */
static void feed(struct harness *h, int fd, struct buffer *stream)
{
	size_t left = 0; /* of the frame that is being sent */

	while (buffer_length(stream) > 0 && !h->ended) {
		ssize_t n;

		if (left == 0)
			left = first_frame(stream);
		n = send(fd, buffer_head(stream), left, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n > 0) {
			buffer_consume(stream, (size_t)n);
			left -= (size_t)n;
		}
		(void)uv_run(&h->loop, UV_RUN_NOWAIT);
		finish_work(h);
	}
	(void)close(fd);
	while (!h->ended)
		(void)uv_run(&h->loop, UV_RUN_ONCE);
	finish_work(h);
}

static void render(const struct window_result *w)
{
	for (int format = JXP__FORMAT__FORMAT_TEXT; format <= JXP__FORMAT__FORMAT_SPEEDSCOPE;
	     format++) {
		char *text;
		size_t size;

		if (report_new(w, (Jxp__Format)format, 0, REPORT_MAX, &text, &size, NULL) == 0)
			free(text);
	}
}

static void count_loops(const struct loop_profile *l)
{
	for (size_t i = 0; i < l->row_count; i++)
		mapped_loops += l->rows[i].key.mapped;
}

static void run(struct harness *h, struct buffer *stream)
{
	static const struct window_request request = {.kinds = {false, true, true, true},
						      .kinds[JXP__KIND__KIND_OBJECTS] = true,
						      .kinds[JXP__KIND__KIND_CPU] = true,
						      .kinds[JXP__KIND__KIND_LOOPS] = true,
						      .objects_max = 256,
						      .duration_ns = UINT64_C(60000000000),
						      .budget = 0.01,
						      .registers = 4,
						      .max_frames = 128};
	const struct run_callbacks callbacks = {
	    .arg = h, .started = on_started, .progressed = on_started, .ended = on_ended};
	const struct run_context context = {.loop = &h->loop, .patience_ms = 30000};
	const struct broker_reply attached = {.fds = 1};
	int pair[2];

	h->window = window_result_new(1, 42, &request, &sample_findings);
	if (!h->window || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 ||
	    run_new(&h->run, &context, window_result_keep(h->window), &callbacks, NULL) < 0 ||
	    run_begin(h->run, NULL) < 0)
		abort(); /* The machine, not the input. */
	h->attached(h->attached_arg, &attached, &pair[0]);
	feed(h, pair[1], stream);
	count_loops(&h->window->loops);
	render(h->window);
	window_result_free(h->window);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buffer stream;

	if (size < 1)
		return 0;
	harness = (struct harness){0};
	buffer_init(&stream, STREAM_MAX);
	if (data[0] & SEND_HELLO)
		append_hello(&stream);
	if (data[0] & SEND_RAW)
		(void)buffer_append(&stream, data + 1, size - 1); /* Too long: the hello alone. */
	else
		append_frames(&stream, data + 1, size - 1);
	if (uv_loop_init(&harness.loop) < 0)
		abort(); /* The machine, not the input. */
	run(&harness, &stream);
	(void)uv_run(&harness.loop, UV_RUN_DEFAULT); /* Until every handle is closed. */
	if (uv_loop_close(&harness.loop) < 0)
		abort(); /* A handle was leaked. */
	buffer_release(&stream);
	return 0;
}
