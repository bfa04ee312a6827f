/* The client against a server that says what a test tells it to. */
#include "tests/unit/support/test.h"

#include <endian.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "client/daemon/exchange.h"
#include "proto/failure.h"
#include "proto/frame.h"
#include "proto/limits.h"

struct fixture {
	char directory[64];
	char path[96];
	int listener;
	struct client client;
	struct buffer answer; /* sent as it is to the next client */
};

static int setup(void **state)
{
	static struct fixture f;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct err err;

	memset(&f, 0, sizeof(f));
	(void)snprintf(f.directory, sizeof(f.directory), "/tmp/jxperf-test-XXXXXX");
	if (!mkdtemp(f.directory))
		return -1;
	(void)snprintf(f.path, sizeof(f.path), "%s/control.sock", f.directory);
	strcpy(address.sun_path, f.path);
	f.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (f.listener < 0 || bind(f.listener, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(f.listener, 4) < 0 || client_init(&f.client, &err) < 0)
		return -1;
	f.client.socket = f.path;
	buffer_init(&f.answer, 1 << 20);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	client_release(&f->client);
	cleanup_close(&f->listener);
	buffer_release(&f->answer);
	(void)unlink(f->path);
	return rmdir(f->directory);
}

static void add_reply(struct fixture *f, Jxp__ControlReply *reply)
{
	reply->protocol = PROTOCOL_VERSION;
	assert_int_equal(frame_append(&f->answer, &reply->base, FRAME_MAX_REPLY), 0);
}

static void add_done(struct fixture *f, const char *message)
{
	Jxp__Done done = JXP__DONE__INIT;
	Jxp__ControlReply reply = JXP__CONTROL_REPLY__INIT;

	done.message = (char *)message;
	reply.body_case = JXP__CONTROL_REPLY__BODY_DONE;
	reply.done = &done;
	add_reply(f, &reply);
}

static void add_failure(struct fixture *f, const char *message, bool usage)
{
	struct failure_reply failure;

	failure_reply_init(&failure, message, usage);
	add_reply(f, &failure.reply);
}

/* Sends a request, has the answer written and the connection closed, unless it is kept in *server.
 */
static int begin(struct fixture *f, struct exchange *x, int *server)
{
	Jxp__StatusRequest status = JXP__STATUS_REQUEST__INIT;
	struct err err;
	int fd, r;

	r = exchange_begin(x, &f->client, JXP__CONTROL_REQUEST__BODY_STATUS, &status, &err);
	if (r < 0)
		return r;
	fd = accept(f->listener, NULL, NULL);
	assert_true(fd >= 0);
	assert_int_equal(send(fd, buffer_head(&f->answer), buffer_length(&f->answer), MSG_NOSIGNAL),
			 buffer_length(&f->answer));
	if (server)
		*server = fd;
	else
		close(fd);
	return r;
}

/* One exchange with the answer of the fixture. */
static int ask(struct fixture *f, Jxp__ControlReply **reply, struct err *err)
{
	_cleanup_exchange_ struct exchange x = EXCHANGE_NONE;

	assert_int_equal(begin(f, &x, NULL), 0);
	return exchange_next(&x, &f->client, 5000, reply, err);
}

TEST(a_reply_is_unpacked, setup, teardown)
{
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;
	struct err err;

	add_done(*state, "well");
	assert_int_equal(ask(*state, &reply, &err), 0);
	assert_int_equal(reply->body_case, JXP__CONTROL_REPLY__BODY_DONE);
	assert_string_equal(reply->done->message, "well");
}

TEST(the_request_arrives_with_our_protocol, setup, teardown)
{
	_cleanup_exchange_ struct exchange x = EXCHANGE_NONE;
	Jxp__ControlRequest *request;
	uint8_t bytes[256];
	ssize_t n;
	int fd = -1;

	assert_int_equal(begin(*state, &x, &fd), 0);
	n = recv(fd, bytes, sizeof(bytes), 0);
	assert_true(n > FRAME_HEADER_BYTES);
	request = jxp__control_request__unpack(NULL, (size_t)n - FRAME_HEADER_BYTES,
					       bytes + FRAME_HEADER_BYTES);
	assert_non_null(request);
	assert_int_equal(request->protocol, PROTOCOL_VERSION);
	assert_int_equal(request->body_case, JXP__CONTROL_REQUEST__BODY_STATUS);
	jxp__control_request__free_unpacked(request, NULL);
	close(fd);
}

TEST(replies_come_one_after_the_other, setup, teardown)
{
	_cleanup_exchange_ struct exchange x = EXCHANGE_NONE;
	struct fixture *f = *state;
	struct err err;

	add_done(f, "one");
	add_done(f, "two");
	assert_int_equal(begin(f, &x, NULL), 0);
	for (int i = 0; i < 2; i++) {
		_cleanup_reply_ Jxp__ControlReply *reply = NULL;

		assert_int_equal(exchange_next(&x, &f->client, 5000, &reply, &err), 0);
		assert_string_equal(reply->done->message, i == 0 ? "one" : "two");
	}
}

TEST(a_large_document_arrives_whole, setup, teardown)
{
	enum { SIZE = 150000 };
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;
	Jxp__Document document = JXP__DOCUMENT__INIT;
	Jxp__ControlReply sent = JXP__CONTROL_REPLY__INIT;
	uint8_t *text = malloc(SIZE);
	struct err err;

	assert_non_null(text);
	memset(text, 'r', SIZE);
	document.text.data = text;
	document.text.len = SIZE;
	sent.body_case = JXP__CONTROL_REPLY__BODY_DOCUMENT;
	sent.document = &document;
	add_reply(*state, &sent);
	assert_int_equal(ask(*state, &reply, &err), 0);
	assert_int_equal(reply->document->text.len, SIZE);
	assert_memory_equal(reply->document->text.data, text, SIZE);
	free(text);
}

TEST(a_failure_is_an_error_in_its_own_words, setup, teardown)
{
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;
	struct err err;

	add_failure(*state, "no window 'w9'", false);
	assert_int_equal(ask(*state, &reply, &err), -EREMOTEIO);
	assert_string_equal(err.message, "no window 'w9'");
	assert_null(reply);
}

TEST(a_failure_for_wrong_usage_is_told_apart, setup, teardown)
{
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;
	struct err err;

	add_failure(*state, "unknown kind", true);
	assert_int_equal(ask(*state, &reply, &err), -EINVAL);
}

TEST(another_protocol_is_refused, setup, teardown)
{
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;
	struct fixture *f = *state;
	Jxp__Done done = JXP__DONE__INIT;
	Jxp__ControlReply sent = JXP__CONTROL_REPLY__INIT;
	struct err err;

	sent.body_case = JXP__CONTROL_REPLY__BODY_DONE;
	sent.done = &done;
	sent.protocol = PROTOCOL_VERSION + 1;
	assert_int_equal(frame_append(&f->answer, &sent.base, FRAME_MAX_REPLY), 0);
	assert_int_equal(ask(f, &reply, &err), -EPROTO);
	assert_non_null(strstr(err.message, "the daemon speaks protocol"));
}

TEST(garbage_is_malformed, setup, teardown)
{
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;
	struct fixture *f = *state;
	struct err err;

	assert_int_equal(buffer_append(&f->answer, "\x04\x00\x00\x00\xff\xff\xff\xff", 8), 0);
	assert_int_equal(ask(f, &reply, &err), -EPROTO);
	assert_string_equal(err.message, "the daemon's reply is malformed");
}

TEST(a_length_outside_the_limits_is_refused_at_once, setup, teardown)
{
	static const char *const headers[] = {"\x00\x00\x00\x00", "\x01\x00\x00\x04"};
	struct fixture *f = *state;
	struct err err;

	for (int i = 0; i < 2; i++) {
		_cleanup_reply_ Jxp__ControlReply *reply = NULL;

		buffer_clear(&f->answer);
		assert_int_equal(buffer_append(&f->answer, headers[i], 4), 0);
		assert_int_equal(ask(f, &reply, &err), -EPROTO);
		assert_non_null(strstr(err.message, "invalid length"));
	}
}

TEST(a_daemon_that_leaves_is_noticed, setup, teardown)
{
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;
	struct err err;

	assert_int_equal(ask(*state, &reply, &err), -ECONNRESET);
	assert_non_null(strstr(err.message, "closed the connection"));
}

TEST(a_reply_that_is_cut_short_is_no_reply, setup, teardown)
{
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;
	struct fixture *f = *state;
	struct err err;

	add_done(f, "well");
	f->answer.end--; /* All but the last byte. */
	assert_int_equal(ask(f, &reply, &err), -ECONNRESET);
}

TEST(a_silent_daemon_is_not_waited_for_for_ever, setup, teardown)
{
	_cleanup_exchange_ struct exchange x = EXCHANGE_NONE;
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;
	struct fixture *f = *state;
	struct err err;
	int fd = -1;

	assert_int_equal(begin(f, &x, &fd), 0);
	assert_int_equal(exchange_next(&x, &f->client, 50, &reply, &err), -ETIMEDOUT);
	close(fd);
}

TEST(a_signal_ends_the_wait_and_the_exchange_goes_on, setup, teardown)
{
	_cleanup_exchange_ struct exchange x = EXCHANGE_NONE;
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;
	struct fixture *f = *state;
	struct err err;
	int fd = -1;

	assert_int_equal(begin(f, &x, &fd), 0);
	assert_int_equal(raise(SIGINT), 0);
	assert_int_equal(exchange_next(&x, &f->client, 5000, &reply, &err), -EINTR);
	assert_int_equal(interrupt_take(&f->client.interrupt), SIGINT);
	assert_int_equal(interrupt_take(&f->client.interrupt), 0);
	add_done(f, "after");
	assert_int_equal(send(fd, buffer_head(&f->answer), buffer_length(&f->answer), 0),
			 buffer_length(&f->answer));
	assert_int_equal(exchange_next(&x, &f->client, 5000, &reply, &err), 0);
	assert_string_equal(reply->done->message, "after");
	close(fd);
}

TEST(no_daemon_is_said_with_the_path, setup, teardown)
{
	struct fixture *f = *state;
	struct err err;

	f->client.socket = "/nonexistent/control.sock";
	assert_int_equal(client_connect(&f->client, &err), -ENOENT);
	assert_non_null(strstr(err.message, "'/nonexistent/control.sock'"));
	f->client.socket = f->path;
	cleanup_close(&f->listener);
	f->listener = -1;
	assert_int_equal(client_connect(&f->client, &err), -ECONNREFUSED);
	assert_non_null(strstr(err.message, f->path));
}

TEST(a_socket_path_that_is_too_long_is_wrong_usage, setup, teardown)
{
	struct fixture *f = *state;
	char path[200];
	struct err err;

	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	f->client.socket = path;
	assert_int_equal(client_connect(&f->client, &err), -EINVAL);
}
