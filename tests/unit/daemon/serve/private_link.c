#include "tests/unit/support/test.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fd.h"
#include "daemon/serve/private_link.h"
#include "tests/unit/support/loop_helper.h"

struct fixture {
	uv_loop_t loop;
	struct private_link *link;
	int client;
	int connected; /* the last one, or -1 */
	bool arrived;
	bool gone;
};

static void on_connected(void *arg, int fd)
{
	struct fixture *f = arg;

	f->connected = fd;
	f->arrived = true;
}

static void on_gone(void *arg)
{
	((struct fixture *)arg)->gone = true;
}

static int set_up(void **state)
{
	static struct fixture f;
	struct private_link_callbacks callbacks = {
	    .arg = &f, .connected = on_connected, .gone = on_gone};
	int ends[2];

	f = (struct fixture){.connected = -1};
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	assert_int_equal(uv_loop_init(&f.loop), 0);
	f.client = ends[0];
	assert_int_equal(private_link_new(&f.link, &f.loop, ends[1], &callbacks, NULL), 0);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	private_link_free(f->link);
	loop_finish(&f->loop);
	fd_close_all(&f->client, 1);
	fd_close_all(&f->connected, 1);
	return 0;
}

TEST(a_descriptor_that_is_sent_is_a_connection, set_up, tear_down)
{
	struct fixture *f = *state;
	int ends[2];
	char byte;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	assert_int_equal(fd_send(f->client, "c", 1, &ends[1], 1), 1);
	loop_until(&f->loop, &f->arrived);
	assert_int_equal(write(f->connected, "x", 1), 1);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	fd_close_all(ends, 2);
}

TEST(the_client_is_told_that_connections_are_served, set_up, tear_down)
{
	struct fixture *f = *state;
	char byte;

	assert_int_equal(private_link_ready(f->link), 0);
	assert_int_equal(read(f->client, &byte, 1), 1);
}

TEST(the_end_of_the_client_is_told_once, set_up, tear_down)
{
	struct fixture *f = *state;

	assert_int_equal(fd_send(f->client, "c", 1, NULL, 0), 1); /* No connection. */
	fd_close_all(&f->client, 1);
	loop_until(&f->loop, &f->gone);
	assert_false(f->arrived);
	f->gone = false;
	for (int i = 0; i < 3; i++)
		(void)uv_run(&f->loop, UV_RUN_NOWAIT);
	assert_false(f->gone);
}

TEST(a_descriptor_that_is_no_socket_is_refused, set_up, tear_down)
{
	const struct private_link_callbacks none = {.arg = NULL};
	struct private_link *link = NULL;
	struct fixture *f = *state;
	struct err err;

	assert_true(private_link_new(&link, &f->loop, -1, &none, &err) < 0);
	assert_null(link);
}

/* As scripts begin them, a process each. */
TEST(private_daemons_that_begin_at_once_have_numbers_of_their_own, set_up, tear_down)
{
	/* Not that of another who runs this test. */
	const uint64_t now_ns = UINT64_C(1795996800123456789) + (uint64_t)getpid() * NS_PER_S;
	struct fixture *f = *state, others[3] = {0};
	unsigned first = private_link_first_number(f->link, now_ns), numbers[3];

	for (unsigned i = 0; i < 3; i++) {
		struct private_link_callbacks callbacks = {
		    .arg = &others[i], .connected = on_connected, .gone = on_gone};
		int ends[2];

		assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
		others[i].client = ends[0];
		assert_int_equal(
		    private_link_new(&others[i].link, &f->loop, ends[1], &callbacks, NULL), 0);
		/* A few milliseconds later. */
		numbers[i] =
		    private_link_first_number(others[i].link, now_ns + i * UINT64_C(1000000));
	}
	for (unsigned i = 0; i < 3; i++) {
		private_link_free(others[i].link);
		(void)close(others[i].client);
	}
	assert_true(first >= 1);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(numbers[i], first + (i + 1) * PRIVATE_LINK_NUMBERS);
}
