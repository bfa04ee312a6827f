#include "tests/unit/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/buffer.h"
#include "common/fd.h"
#include "profile/intake/stream.h"
#include "proto/frame.h"
#include "tests/unit/support/loop_helper.h"

#define UNUSED_UID 54321

struct fixture {
	uv_loop_t loop;
	struct stream *stream;
	int own; /* the stream's */
	int peer;
	size_t frames;
	size_t last_size;
	bool got_frame;
	bool free_in_frame;
	bool slow; /* a frame takes a millisecond */
	bool ended;
	bool flushed;
	bool idle;
	char reason[128];
};

static void on_frame(void *arg, const uint8_t *payload, size_t size)
{
	struct fixture *f = arg;

	(void)payload;
	f->frames++;
	f->last_size = size;
	f->got_frame = true;
	if (f->slow)
		(void)usleep(1000);
	if (!f->free_in_frame)
		return;
	stream_free(f->stream);
	f->stream = NULL;
}

static void on_end(void *arg, const char *reason)
{
	struct fixture *f = arg;

	assert_false(f->ended);
	f->ended = true;
	(void)snprintf(f->reason, sizeof(f->reason), "%s", reason ? reason : "(clean)");
}

static void on_flushed(void *arg)
{
	((struct fixture *)arg)->flushed = true;
}

static void on_idle(void *arg)
{
	((struct fixture *)arg)->idle = true;
}

static int set_up(void **state)
{
	static struct fixture f;
	static const struct stream_limits limits = {
	    .in_frame = 1000, .out_frame = 1u << 20, .out_queue = 1u << 20};
	struct stream_callbacks callbacks = {
	    .arg = &f, .frame = on_frame, .end = on_end, .flushed = on_flushed, .idle = on_idle};
	int pair[2];

	f = (struct fixture){0};
	assert_int_equal(uv_loop_init(&f.loop), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(stream_new(&f.stream, &f.loop, pair[0], &limits, &callbacks, NULL), 0);
	f.own = pair[0];
	f.peer = pair[1];
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	stream_free(f->stream);
	if (f->peer >= 0)
		(void)close(f->peer);
	loop_finish(&f->loop);
	return 0;
}

static void peer_write(struct fixture *f, const void *bytes, size_t size)
{
	assert_int_equal(fd_write_all(f->peer, bytes, size), 0);
}

static void peer_close(struct fixture *f)
{
	(void)close(f->peer);
	f->peer = -1;
}

/* A message of about size bytes. */
static int send_text(struct fixture *f, size_t size, const int *fds, size_t count)
{
	static char text[1u << 20];
	Jxp__EngineHello hello = JXP__ENGINE_HELLO__INIT;
	Jxp__EngineFrame frame = JXP__ENGINE_FRAME__INIT;

	memset(text, 'x', size);
	text[size] = '\0';
	hello.refusal = text;
	frame.body_case = JXP__ENGINE_FRAME__BODY_HELLO;
	frame.hello = &hello;
	return stream_send(f->stream, &frame.base, fds, count);
}

TEST(a_frame_that_comes_in_pieces_is_delivered_once, set_up, tear_down)
{
	struct fixture *f = *state;

	peer_write(f, "\5\0", 2);
	loop_settle(&f->loop);
	peer_write(f, "\0\0abc", 5);
	loop_settle(&f->loop);
	assert_int_equal(f->frames, 0);
	peer_write(f, "de", 2);
	loop_until(&f->loop, &f->got_frame);
	assert_int_equal(f->frames, 1);
	assert_int_equal(f->last_size, 5);
}

TEST(frames_that_come_together_are_all_delivered, set_up, tear_down)
{
	struct fixture *f = *state;

	peer_write(f, "\1\0\0\0a\2\0\0\0bc\3\0\0\0def", 18);
	loop_until(&f->loop, &f->got_frame);
	assert_int_equal(f->frames, 3);
	assert_int_equal(f->last_size, 3);
}

TEST(a_length_above_the_limit_ends_the_stream_at_once, set_up, tear_down)
{
	struct fixture *f = *state;

	peer_write(f, "\xe9\3\0\0", 4); /* 1001 */
	loop_until(&f->loop, &f->ended);
	assert_non_null(strstr(f->reason, "limits"));
	assert_int_equal(f->frames, 0);
}

TEST(a_length_of_0_ends_the_stream, set_up, tear_down)
{
	struct fixture *f = *state;

	peer_write(f, "\0\0\0\0", 4);
	loop_until(&f->loop, &f->ended);
	assert_non_null(strstr(f->reason, "limits"));
}

TEST(an_end_between_frames_is_clean, set_up, tear_down)
{
	struct fixture *f = *state;

	peer_write(f, "\1\0\0\0a", 5);
	peer_close(f);
	loop_until(&f->loop, &f->ended);
	assert_int_equal(f->frames, 1);
	assert_string_equal(f->reason, "(clean)");
}

TEST(an_end_inside_a_frame_has_a_reason, set_up, tear_down)
{
	struct fixture *f = *state;

	peer_write(f, "\5\0\0\0ab", 6);
	peer_close(f);
	loop_until(&f->loop, &f->ended);
	assert_non_null(strstr(f->reason, "inside a frame"));
}

TEST(an_end_with_our_frame_unread_is_clean_too, set_up, tear_down)
{
	struct fixture *f = *state;

	assert_int_equal(send_text(f, 10, NULL, 0), 0);
	loop_settle(&f->loop);
	peer_write(f, "\1\0\0\0a", 5);
	peer_close(f); /* with our frame unread: ECONNRESET */
	loop_until(&f->loop, &f->ended);
	assert_int_equal(f->frames, 1);
	assert_string_equal(f->reason, "(clean)");
}

/* As an agent does that is done while it is told something: what it said counts. */
TEST(a_peer_that_has_left_is_read_to_its_end, set_up, tear_down)
{
	struct fixture *f = *state;
	const size_t many = 20;

	f->slow = true; /* The turn is over before all is read. */
	for (size_t i = 0; i < many; i++)
		peer_write(f, "\3\0\0\0abc", 7);
	assert_int_equal(send_text(f, 10, NULL, 0), 0);
	peer_close(f);
	loop_settle(&f->loop);
	assert_int_equal(f->frames, many);
	assert_string_equal(f->reason, "(clean)");
}

/* The socket is neither readable nor writable then. */
TEST(what_was_read_of_a_peer_that_does_not_read_is_delivered, set_up, tear_down)
{
	struct fixture *f = *state;
	const size_t many = 20;

	while (stream_is_idle(f->stream)) {
		assert_int_equal(send_text(f, 100000, NULL, 0), 0);
		loop_settle(&f->loop);
	}
	f->slow = true; /* The turn is over before all is delivered. */
	for (size_t i = 0; i < many; i++)
		peer_write(f, "\3\0\0\0abc", 7);
	loop_settle(&f->loop);
	assert_int_equal(f->frames, many);
}

/* A kernel that can refuses them to the sender; none of them may become ours to close. */
TEST(descriptors_nobody_asked_for_end_the_stream_or_are_not_sent, set_up, tear_down)
{
	struct fixture *f = *state;
	ssize_t sent = fd_send(f->peer, "\1\0\0\0a", 5, (int[]){STDIN_FILENO}, 1);
	struct utsname kernel;
	int major, minor;

	assert_int_equal(uname(&kernel), 0);
	assert_int_equal(sscanf(kernel.release, "%d.%d", &major, &minor), 2);
	if (major > 6 || (major == 6 && minor >= 16)) {
		assert_int_equal(sent, -EPERM);
		return;
	}
	assert_int_equal(sent, 5);
	loop_until(&f->loop, &f->ended);
	assert_int_equal(f->frames, 0);
}

TEST(a_callback_may_free_the_stream, set_up, tear_down)
{
	struct fixture *f = *state;

	f->free_in_frame = true;
	peer_write(f, "\1\0\0\0a\1\0\0\0b", 10);
	loop_until(&f->loop, &f->got_frame);
	loop_settle(&f->loop);
	assert_int_equal(f->frames, 1);
	assert_false(f->ended);
}

static bool same_file(int a, int b)
{
	struct stat x, y;

	assert_int_equal(fstat(a, &x), 0);
	assert_int_equal(fstat(b, &y), 0);
	return x.st_ino == y.st_ino && x.st_dev == y.st_dev;
}

/* Reads one frame as an agent would; descriptors that came with it in fds. */
static void peer_read_frame(struct fixture *f, int *fds, size_t *count)
{
	char bytes[256];
	size_t none = 0;

	*count = FD_PASS_MAX;
	assert_int_equal(fd_recv(f->peer, bytes, FRAME_HEADER_BYTES, fds, count),
			 FRAME_HEADER_BYTES);
	assert_int_equal(fd_recv(f->peer, bytes + 4, (size_t)bytes[0], fds + *count, &none),
			 bytes[0]);
}

TEST(descriptors_arrive_with_the_first_byte_of_their_frame, set_up, tear_down)
{
	struct fixture *f = *state;
	int first[2], second[2], got[FD_PASS_MAX];
	size_t count;

	assert_int_equal(pipe2(first, O_CLOEXEC), 0);
	assert_int_equal(pipe2(second, O_CLOEXEC), 0);
	assert_int_equal(send_text(f, 5, NULL, 0), 0);
	assert_int_equal(send_text(f, 6, (int[]){dup(first[0])}, 1), 0);
	assert_int_equal(send_text(f, 7, NULL, 0), 0);
	assert_int_equal(send_text(f, 8, (int[]){dup(second[0]), dup(second[1])}, 2), 0);
	loop_settle(&f->loop);
	peer_read_frame(f, got, &count);
	assert_int_equal(count, 0);
	peer_read_frame(f, got, &count);
	assert_int_equal(count, 1);
	assert_true(same_file(got[0], first[0]));
	fd_close_all(got, count);
	peer_read_frame(f, got, &count);
	assert_int_equal(count, 0);
	peer_read_frame(f, got, &count);
	assert_int_equal(count, 2);
	assert_true(same_file(got[0], second[0]));
	fd_close_all(got, count);
	fd_close_all(first, 2);
	fd_close_all(second, 2);
}

TEST(freeing_closes_descriptors_that_were_not_sent, set_up, tear_down)
{
	struct fixture *f = *state;
	int ends[2];
	char byte;

	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(send_text(f, 5, (int[]){ends[1]}, 1), 0);
	stream_free(f->stream);
	f->stream = NULL;
	assert_int_equal(read(ends[0], &byte, 1), 0); /* No writer is left. */
	(void)close(ends[0]);
}

TEST(a_peer_that_does_not_read_meets_the_queue_limit, set_up, tear_down)
{
	struct fixture *f = *state;
	int r = 0;

	for (int i = 0; i < 100 && r == 0; i++) {
		r = send_text(f, 100000, NULL, 0);
		loop_settle(&f->loop);
	}
	assert_int_equal(r, -ENOBUFS);
	assert_false(f->ended);
}

TEST(descriptors_that_are_not_taken_away_meet_a_limit, set_up, tear_down)
{
	struct fixture *f = *state;
	int fd, r;

	for (int i = 0; i < STREAM_ATTACHMENTS_MAX; i++)
		assert_int_equal(send_text(f, 5, (int[]){dup(STDIN_FILENO)}, 1), 0);
	fd = dup(STDIN_FILENO);
	r = send_text(f, 5, &fd, 1);
	assert_int_equal(r, -ENOBUFS);
	assert_int_equal(close(fd), 0); /* It is still ours. */
}

TEST(an_owner_can_wait_until_the_peer_has_read, set_up, tear_down)
{
	struct fixture *f = *state;
	int smallest = 1, none[1];
	uint8_t bytes[4096];
	size_t count = 0;

	assert_int_equal(setsockopt(f->own, SOL_SOCKET, SO_SNDBUF, &smallest, sizeof(smallest)), 0);
	assert_true(stream_is_idle(f->stream));
	assert_int_equal(send_text(f, 1000, NULL, 0), 0);
	assert_false(stream_is_idle(f->stream)); /* It is queued, */
	stream_await_idle(f->stream);
	loop_settle(&f->loop);
	assert_false(stream_is_idle(f->stream)); /* and now it is sent. */
	assert_false(f->idle);
	assert_true(fd_recv(f->peer, bytes, sizeof(bytes), none, &count) > 1000);
	loop_until(&f->loop, &f->idle);
	assert_true(stream_is_idle(f->stream));
}

/* In a child without privileges, since the kernel does not hold others to the limit. The status
 * that it exits with. */
static int in_an_ordinary_process(void (*body)(struct fixture *f), struct fixture *f)
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		const struct rlimit few = {.rlim_cur = 32, .rlim_max = 32};

		/* What fails in it ends it. */
		(void)setenv("CMOCKA_TEST_ABORT", "1", 1);
		if (setrlimit(RLIMIT_NOFILE, &few) < 0 ||
		    (geteuid() == 0 && setresuid(UNUSED_UID, UNUSED_UID, UNUSED_UID) < 0) ||
		    uv_loop_fork(&f->loop) < 0)
			_exit(EXIT_FAILURE);
		body(f);
		_exit(EXIT_SUCCESS);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

/* Sends descriptors that nobody takes until the kernel lets our user send no more. */
static void fill_what_may_be_on_its_way(int pair[2])
{
	ssize_t n;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	do
		n = fd_send(pair[0], "x", 1, (int[]){0, 0, 0, 0}, 4);
	while (n == 1);
	assert_int_equal(n, -ETOOMANYREFS);
}

static void send_while_there_is_no_room(struct fixture *f)
{
	int filler[2], fds[FD_PASS_MAX];
	size_t count = FD_PASS_MAX;
	uint8_t byte;

	fill_what_may_be_on_its_way(filler);
	assert_int_equal(send_text(f, 5, (int[]){dup(STDIN_FILENO)}, 1), 0);
	loop_settle(&f->loop);
	assert_false(f->ended);
	assert_int_equal(recv(f->peer, &byte, 1, MSG_DONTWAIT), -1); /* It waits. */
	fd_close_all(filler, 2);
	while (recv(f->peer, &byte, 1, MSG_DONTWAIT | MSG_PEEK) < 0)
		(void)uv_run(&f->loop, UV_RUN_ONCE);
	peer_read_frame(f, fds, &count);
	assert_int_equal(count, 1);
	assert_false(f->ended);
}

TEST(descriptors_wait_while_the_kernel_has_no_room_for_them, set_up, tear_down)
{
	assert_int_equal(in_an_ordinary_process(send_while_there_is_no_room, *state), 0);
}

TEST(finish_flushes_a_large_queue_to_a_slow_reader, set_up, tear_down)
{
	struct fixture *f = *state;
	static char bytes[64 << 10];
	size_t received = 0;

	assert_int_equal(send_text(f, 1000000, NULL, 0), 0);
	stream_finish(f->stream);
	assert_int_equal(fd_set_nonblocking(f->peer, true), 0);
	for (int i = 0; i < 10000 && !f->flushed; i++) {
		ssize_t n;

		(void)uv_run(&f->loop, UV_RUN_NOWAIT);
		while ((n = read(f->peer, bytes, sizeof(bytes))) > 0)
			received += (size_t)n;
	}
	assert_true(f->flushed);
	assert_true(received > 1000000);
}

TEST(finish_towards_a_closed_peer_is_over_at_once, set_up, tear_down)
{
	struct fixture *f = *state;

	assert_int_equal(send_text(f, 10, NULL, 0), 0);
	peer_close(f);
	stream_finish(f->stream);
	loop_until(&f->loop, &f->flushed);
	assert_false(f->ended);
}

TEST(a_last_word_can_be_sent_after_a_bad_frame, set_up, tear_down)
{
	struct fixture *f = *state;
	char bytes[64];

	peer_write(f, "\0\0\0\0", 4);
	loop_until(&f->loop, &f->ended);
	assert_int_equal(send_text(f, 10, NULL, 0), 0);
	stream_finish(f->stream);
	loop_until(&f->loop, &f->flushed);
	assert_true(read(f->peer, bytes, sizeof(bytes)) > 10);
}

TEST(a_flood_of_frames_leaves_the_other_streams_their_turn, set_up, tear_down)
{
	enum { FRAMES = 200 };
	struct fixture *f = *state, other = {0};
	static const struct stream_limits limits = {
	    .in_frame = 1000, .out_frame = 1000, .out_queue = 1000};
	struct stream_callbacks callbacks = {
	    .arg = &other, .frame = on_frame, .end = on_end, .flushed = on_flushed};
	static const char frame[] = {1, 0, 0, 0, 'x'};
	size_t most = 0;
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(stream_new(&other.stream, &f->loop, pair[0], &limits, &callbacks, NULL),
			 0);
	f->slow = true;
	for (int i = 0; i < FRAMES; i++)
		peer_write(f, frame, sizeof(frame));
	peer_close(f);
	while (!f->ended) {
		size_t before = f->frames, others = other.frames;

		assert_int_equal(fd_write_all(pair[1], frame, sizeof(frame)), 0);
		(void)uv_run(&f->loop, UV_RUN_ONCE);
		assert_int_equal(other.frames, others + 1);
		if (f->frames - before > most)
			most = f->frames - before;
	}
	assert_in_range(most, 1, 3);
	assert_int_equal(f->frames, FRAMES);
	assert_string_equal(f->reason, "(clean)");
	stream_free(other.stream);
	(void)close(pair[1]);
}
