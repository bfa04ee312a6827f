/*
 * Fuzzes what a client may send to the control socket: the frame decoder, every request's
 * validation and its reply. libFuzzer entry point.
 *
 * The broker is stood in for: it is no parser of this input, and it would touch the machine.
 *
 * The first byte's bit 0 chooses raw bytes; otherwise the rest is one frame's payload.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "common/buffer.h"
#include "common/fd.h"
#include "daemon/broker/client.h"
#include "daemon/serve/connection.h"
#include "daemon/answer/render.h"
#include "daemon/serve/reports.h"
#include "daemon/serve/request.h"
#include "proto/frame.h"
#include "proto/limits.h"

enum {
	SEND_RAW = 1,
};

struct harness {
	uv_loop_t loop;
	bool closed;
	broker_reply_fn waiting_fn; /* a question to the broker that waits, or NULL */
	void *waiting_arg;
};

static struct harness harness;

static int wait_for_broker(broker_reply_fn fn, void *arg)
{
	harness.waiting_fn = fn;
	harness.waiting_arg = arg;
	return 1;
}

int broker_client_ask(struct broker_client *client, const struct broker_request *request,
		      broker_reply_fn fn, void *arg)
{
	(void)client;
	if (request->operation != BROKER_ATTACH && request->operation != BROKER_INSPECT)
		return -EAGAIN;
	return wait_for_broker(fn, arg);
}

bool broker_client_serves(const struct broker_client *client)
{
	(void)client;
	return true;
}

void broker_client_forget(struct broker_client *client, int id)
{
	(void)client;
	if (id == 1)
		harness.waiting_fn = NULL;
}

static void on_closed(void *arg, struct connection *connection)
{
	struct harness *h = arg;

	(void)connection;
	h->closed = true;
}

static void on_refused(void *arg, const struct audit_entry *entry, bool connection)
{
	(void)arg;
	(void)connection;
	if (!entry->who || !entry->action[0] || !entry->reason[0])
		abort(); /* The log is to say whom, and why. */
}

/* The broker's answer to what the input asked of it. */
static void answer(struct harness *h)
{
	struct broker_reply reply = {.error = ESRCH, .message = "no such process"};
	broker_reply_fn fn = h->waiting_fn;

	h->waiting_fn = NULL;
	if (fn)
		fn(h->waiting_arg, &reply, NULL);
}

static void feed(struct harness *h, int fd, struct buffer *stream)
{
	char reply[4096];
	ssize_t n;

	while (buffer_length(stream) > 0 && !h->closed) {
		n = send(fd, buffer_head(stream), buffer_length(stream),
			 MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n > 0)
			buffer_consume(stream, (size_t)n);
		(void)uv_run(&h->loop, UV_RUN_NOWAIT);
		while (read(fd, reply, sizeof(reply)) > 0)
			;
		answer(h);
	}
	(void)shutdown(fd, SHUT_WR); /* Fails only when the daemon closed first. */
	while (!h->closed) {
		(void)uv_run(&h->loop, UV_RUN_NOWAIT);
		while (read(fd, reply, sizeof(reply)) > 0)
			;
		answer(h);
	}
	(void)close(fd);
}

static void run(struct harness *h, struct buffer *stream)
{
	struct control_context context = {.handle = request_handle,
					  .report = reports_send_window,
					  .refused = on_refused,
					  .loop = &h->loop,
					  .http = "",
					  .renders = renders_new(&h->loop)};
	const struct window_asker asker = {.uid = 1000, .pid = 1, .sees = 1000};
	struct connection *connection;
	int pair[2];

	if (!context.renders ||
	    engine_new(&context.engine, &h->loop, NULL, &engine_limits_usual, NULL) < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 ||
	    fd_set_nonblocking(pair[1], true) < 0 ||
	    connection_new(&connection, &context, &asker, pair[0], on_closed, h, NULL) < 0)
		abort(); /* The machine, not the input. */
	feed(h, pair[1], stream);
	answer(h);
	engine_free(context.engine);
	renders_free(context.renders);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t header[FRAME_HEADER_BYTES] = {0};
	struct buffer stream;

	if (size < 1 || size > FRAME_MAX_CONTROL)
		return 0;
	harness = (struct harness){0};
	buffer_init(&stream, FRAME_MAX_CONTROL + FRAME_HEADER_BYTES);
	header[0] = (uint8_t)(size - 1);
	header[1] = (uint8_t)((size - 1) >> 8);
	if (!(data[0] & SEND_RAW))
		(void)buffer_append(&stream, header, sizeof(header)); /* There is room. */
	(void)buffer_append(&stream, data + 1, size - 1);
	if (uv_loop_init(&harness.loop) < 0)
		abort(); /* The machine, not the input. */
	run(&harness, &stream);
	(void)uv_run(&harness.loop, UV_RUN_DEFAULT); /* Until every handle is closed. */
	if (uv_loop_close(&harness.loop) < 0)
		abort(); /* A handle was leaked. */
	buffer_release(&stream);
	return 0;
}
