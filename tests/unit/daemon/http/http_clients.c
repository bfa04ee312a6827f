#include "tests/unit/support/test.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "daemon/http/http_clients.h"

#define PAIRS_MAX (2 * HTTP_CLIENTS_CAPACITY)

/* Connections whose other ends a test holds, and a time that it sets. */
struct fixture {
	struct http_clients clients;
	int ends[PAIRS_MAX][2];
	size_t count;
	uint64_t now_ns;
};

static int set_up(void **state)
{
	static struct fixture f;

	f = (struct fixture){.now_ns = NS_PER_S};
	http_clients_init(&f.clients);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < f->count; i++) {
		(void)close(f->ends[i][0]);
		(void)close(f->ends[i][1]);
	}
	return 0;
}

/* A connection from the address, one millisecond after the last one; NULL when it is refused. */
static struct http_client *add(struct fixture *f, const char *address)
{
	struct sockaddr_in four = {.sin_family = AF_INET};
	struct sockaddr_in6 six = {.sin6_family = AF_INET6};
	int *ends = f->ends[f->count++];
	bool is_six = strchr(address, ':');

	assert_true(f->count <= PAIRS_MAX);
	assert_int_equal(inet_pton(is_six ? AF_INET6 : AF_INET, address,
				   is_six ? (void *)&six.sin6_addr : (void *)&four.sin_addr),
			 1);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
	f->now_ns += NS_PER_MS;
	return http_clients_add(&f->clients,
				is_six ? (struct sockaddr *)&six : (struct sockaddr *)&four,
				ends[0], f->now_ns);
}

/* Connection i finds its socket shut down. */
static bool is_over(const struct fixture *f, size_t i)
{
	char byte;

	return read(f->ends[i][1], &byte, 1) == 0;
}

TEST(of_one_address_the_longest_waiting_makes_way, set_up, tear_down)
{
	struct fixture *f = *state;
	struct http_client *first = add(f, "192.0.2.1");

	for (int i = 1; i < HTTP_ADDRESS_MAX; i++)
		assert_non_null(add(f, "192.0.2.1"));
	http_clients_answered(first, f->now_ns + NS_PER_MS);
	assert_non_null(add(f, "192.0.2.2"));
	assert_false(is_over(f, 1));
	assert_non_null(add(f, "192.0.2.1"));
	assert_false(is_over(f, 0)); /* Its next request began last. */
	assert_true(is_over(f, 1));
	assert_false(is_over(f, HTTP_ADDRESS_MAX));
	assert_int_equal(f->clients.refused[HTTP_REFUSED_ADDRESS], 1);
}

TEST(of_all_one_of_the_address_that_has_most_makes_way, set_up, tear_down)
{
	struct fixture *f = *state;
	char address[32];

	assert_non_null(add(f, "192.0.2.1"));
	assert_non_null(add(f, "192.0.2.2"));
	assert_non_null(add(f, "192.0.2.2"));
	for (int i = 3; i < HTTP_CONNECTIONS_MAX; i++) {
		(void)snprintf(address, sizeof(address), "198.51.100.%d", i);
		assert_non_null(add(f, address));
	}
	assert_non_null(add(f, "203.0.113.1"));
	assert_false(is_over(f, 0));
	assert_true(is_over(f, 1));
	assert_int_equal(f->clients.refused[HTTP_REFUSED_TOTAL], 1);
	/* Each has one now: the oldest of all. */
	assert_non_null(add(f, "203.0.113.2"));
	assert_true(is_over(f, 0));
}

TEST(addresses_of_one_host_are_one, set_up, tear_down)
{
	struct fixture *f = *state;
	char address[64];

	for (int i = 0; i < HTTP_ADDRESS_MAX; i++) {
		(void)snprintf(address, sizeof(address), "2001:db8:1:2:%x::1", i);
		assert_non_null(add(f, address));
	}
	assert_non_null(add(f, "2001:db8:1:3::1"));
	assert_int_equal(f->clients.refused[HTTP_REFUSED_ADDRESS], 0);
	assert_non_null(add(f, "2001:db8:1:2:ffff:ffff:ffff:ffff"));
	assert_int_equal(f->clients.refused[HTTP_REFUSED_ADDRESS], 1);
	/* On a socket for both, IPv4 comes in the guise of IPv6. */
	for (int i = 0; i < HTTP_ADDRESS_MAX; i++)
		assert_non_null(add(f, i % 2 ? "192.0.2.1" : "::ffff:192.0.2.1"));
	assert_non_null(add(f, "::ffff:192.0.2.2"));
	assert_int_equal(f->clients.refused[HTTP_REFUSED_ADDRESS], 1);
	assert_non_null(add(f, "192.0.2.1"));
	assert_int_equal(f->clients.refused[HTTP_REFUSED_ADDRESS], 2);
}

TEST(those_that_are_not_closed_yet_are_bounded_too, set_up, tear_down)
{
	struct fixture *f = *state;

	for (int i = 0; i < HTTP_CLIENTS_CAPACITY; i++)
		assert_non_null(add(f, "192.0.2.1"));
	assert_null(add(f, "192.0.2.2"));
	assert_int_equal(f->clients.refused[HTTP_REFUSED_TOTAL], 1);
	http_clients_closed(http_clients_find(&f->clients, f->ends[0][0]));
	assert_non_null(add(f, "192.0.2.2"));
}

TEST(a_request_has_its_time_and_no_more, set_up, tear_down)
{
	struct fixture *f = *state;
	struct http_client *slow = add(f, "192.0.2.1"), *asks = add(f, "192.0.2.1");
	uint64_t end_ns = f->now_ns - NS_PER_MS + HTTP_REQUEST_S * NS_PER_S;

	assert_non_null(slow);
	assert_int_equal(http_clients_expire(&f->clients, f->now_ns), end_ns);
	http_clients_answered(asks, f->now_ns + NS_PER_S);
	assert_int_equal(http_clients_expire(&f->clients, end_ns),
			 f->now_ns + (HTTP_REQUEST_S + 1) * NS_PER_S);
	assert_true(is_over(f, 0));
	assert_false(is_over(f, 1));
	assert_int_equal(f->clients.refused[HTTP_REFUSED_TIME], 1);
	/* One that had its answer loses nothing. */
	assert_int_equal(http_clients_expire(&f->clients, end_ns + 2 * NS_PER_S), 0);
	assert_true(is_over(f, 1));
	assert_int_equal(f->clients.refused[HTTP_REFUSED_TIME], 1);
}

TEST(what_was_refused_is_told, set_up, tear_down)
{
	struct fixture *f = *state;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	f->clients.refused[HTTP_REFUSED_TIME] = 7;
	http_clients_write(out, &f->clients, false);
	assert_int_equal(fclose(out), 0);
	assert_non_null(
	    strstr(text, "# TYPE jxperf_http_connections_refused_total counter\n"
			 "jxperf_http_connections_refused_total{reason=\"address\"} 0\n"
			 "jxperf_http_connections_refused_total{reason=\"total\"} 0\n"
			 "jxperf_http_connections_refused_total{reason=\"time\"} 7\n"
			 "jxperf_http_connections_refused_total{reason=\"descriptors\"} 0\n"));
	free(text);
}

TEST(the_log_is_told_what_is_new, set_up, tear_down)
{
	struct fixture *f = *state;
	char text[HTTP_CLIENTS_TEXT_BYTES] = "";

	assert_false(http_clients_tell(&f->clients, text));
	f->clients.refused[HTTP_REFUSED_ADDRESS] = 3;
	f->clients.refused[HTTP_REFUSED_TIME] = 1;
	assert_true(http_clients_tell(&f->clients, text));
	assert_string_equal(text, "3 address, 1 time");
	assert_false(http_clients_tell(&f->clients, text));
	f->clients.refused[HTTP_REFUSED_ADDRESS]++;
	assert_true(http_clients_tell(&f->clients, text));
	assert_string_equal(text, "1 address");
}

TEST(the_longest_text_fits, set_up, tear_down)
{
	struct fixture *f = *state;
	char text[HTTP_CLIENTS_TEXT_BYTES] = "";

	for (int i = 0; i < HTTP_REFUSALS; i++)
		f->clients.refused[i] = UINT64_MAX;
	assert_true(http_clients_tell(&f->clients, text));
	assert_non_null(strstr(text, "18446744073709551615 descriptors"));
}
