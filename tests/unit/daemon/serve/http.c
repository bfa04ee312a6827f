#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/fd.h"
#include "daemon/serve/http.h"
#include "tests/unit/support/loop_helper.h"

struct fixture {
	uv_loop_t loop;
	struct metrics *metrics;
	struct http *http;
	char answer[16384];
};

static int set_up(void **state)
{
	static struct fixture f;

	assert_int_equal(uv_loop_init(&f.loop), 0);
	f.metrics = metrics_new();
	assert_int_equal(http_new(&f.http, &f.loop, "127.0.0.1:0", f.metrics, NULL), 0);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	http_free(f->http);
	loop_finish(&f->loop);
	metrics_free(f->metrics);
	return 0;
}

static int connect_client(const struct fixture *f)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	const char *port = strrchr(http_address(f->http), ':') + 1;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	address.sin_port = htons((uint16_t)strtoul(port, NULL, 10));
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* Sends a request and reads until the server closes. */
static const char *ask(struct fixture *f, const char *request)
{
	int fd = connect_client(f);
	size_t used = 0;
	ssize_t n = 1;

	assert_int_equal(fd_write_all(fd, request, strlen(request)), 0);
	assert_int_equal(fd_set_nonblocking(fd, true), 0);
	while (n != 0 && used < sizeof(f->answer) - 1) {
		(void)uv_run(&f->loop, UV_RUN_NOWAIT);
		n = read(fd, f->answer + used, sizeof(f->answer) - 1 - used);
		if (n > 0)
			used += (size_t)n;
	}
	f->answer[used] = '\0';
	(void)close(fd);
	return f->answer;
}

#define GET(path, more) "GET " path " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" more "\r\n"

static void metrics_are_prometheus_text_by_default(void **state)
{
	const char *answer = ask(*state, GET("/metrics", ""));

	assert_non_null(strstr(answer, "HTTP/1.1 200"));
	assert_non_null(strstr(answer, "Content-Type: text/plain; version=0.0.4"));
	assert_non_null(strstr(answer, "\njxperf_build_info{version="));
}

static void metrics_are_openmetrics_when_asked(void **state)
{
	const char *answer =
	    ask(*state, GET("/metrics", "Accept: application/openmetrics-text;version=1.0.0\r\n"));

	assert_non_null(
	    strstr(answer, "Content-Type: application/openmetrics-text; version=1.0.0"));
	assert_non_null(strstr(answer, "# EOF\n"));
}

static void healthy_is_always_so_and_ready_when_it_was_said(void **state)
{
	struct fixture *f = *state;

	assert_non_null(strstr(ask(f, GET("/-/healthy", "")), "HTTP/1.1 200"));
	assert_non_null(strstr(ask(f, GET("/-/ready", "")), "HTTP/1.1 503"));
	http_set_ready(f->http, true);
	assert_non_null(strstr(ask(f, GET("/-/ready", "")), "HTTP/1.1 200"));
	http_set_ready(f->http, false);
	assert_non_null(strstr(ask(f, GET("/-/ready", "")), "HTTP/1.1 503"));
}

static void another_path_is_not_found(void **state)
{
	assert_non_null(strstr(ask(*state, GET("/", "")), "HTTP/1.1 404"));
	assert_non_null(strstr(ask(*state, GET("/metricsx", "")), "HTTP/1.1 404"));
}

static void head_has_no_body(void **state)
{
	const char *answer =
	    ask(*state, "HEAD /-/healthy HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");

	assert_non_null(strstr(answer, "HTTP/1.1 200"));
	assert_null(strstr(answer, "healthy\n"));
}

static void posting_is_not_allowed(void **state)
{
	const char *answer =
	    ask(*state, "POST /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
			"Content-Length: 5\r\n\r\nhello");

	assert_non_null(strstr(answer, "HTTP/1.1 405"));
	assert_non_null(strstr(answer, "Allow: GET, HEAD"));
}

/* As many as there may be, several times over, and none says a word. */
static void connections_that_ask_nothing_keep_nobody_out(void **state)
{
	struct fixture *f = *state;
	int idle[200];

	for (size_t i = 0; i < 200; i++) {
		idle[i] = connect_client(f);
		(void)uv_run(&f->loop, UV_RUN_NOWAIT);
	}
	assert_non_null(strstr(ask(f, GET("/-/healthy", "")), "HTTP/1.1 200"));
	assert_non_null(
	    strstr(ask(f, GET("/metrics", "")),
		   "\njxperf_http_connections_refused_total{reason=\"address\"} 185\n"));
	for (size_t i = 0; i < 200; i++)
		(void)close(idle[i]);
	assert_non_null(strstr(ask(f, GET("/-/healthy", "")), "HTTP/1.1 200"));
}

static void one_connection_may_ask_many_times(void **state)
{
	static const char request[] = "GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n";
	struct fixture *f = *state;
	int fd = connect_client(f);
	char answer[1024];

	assert_int_equal(fd_set_nonblocking(fd, true), 0);
	for (int i = 0; i < 50; i++) {
		ssize_t n = -1;

		assert_int_equal(write(fd, request, strlen(request)), strlen(request));
		while (n < 0) {
			(void)uv_run(&f->loop, UV_RUN_NOWAIT);
			n = read(fd, answer, sizeof(answer) - 1);
		}
		answer[n] = '\0';
		assert_non_null(strstr(answer, "HTTP/1.1 200"));
	}
	(void)close(fd);
}

/* A connection that waits in the kernel would make the loop turn for ever. */
static void a_connection_for_which_no_descriptor_is_left_is_counted(void **state)
{
	struct fixture *f = *state;
	struct rlimit before, few;
	int fd = connect_client(f);
	char byte;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	few.rlim_cur = (rlim_t)dup(fd); /* The first that is free. */
	(void)close((int)few.rlim_cur);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_int_equal(fd_set_nonblocking(fd, true), 0);
	while (read(fd, &byte, 1) != 0)
		(void)uv_run(&f->loop, UV_RUN_NOWAIT);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	(void)close(fd);
	assert_non_null(
	    strstr(ask(f, GET("/metrics", "")),
		   "\njxperf_http_connections_refused_total{reason=\"descriptors\"} 1\n"));
}

static void an_address_in_use_is_refused_with_its_name(void **state)
{
	struct fixture *f = *state;
	struct http *second = NULL;
	struct err err;

	assert_int_equal(http_new(&second, &f->loop, http_address(f->http), f->metrics, &err),
			 -EADDRINUSE);
	assert_non_null(strstr(err.message, http_address(f->http)));
	assert_null(second);
}

static void addresses_that_are_not_numeric_are_refused(void **state)
{
	static const char *const bad[] = {
	    "",        "127.0.0.1",       ":80",   "127.0.0.1:", "host:80",    "1.2.3:x",
	    "[::1:80", "127.0.0.1:99999", "[]:80", "[:80",       "300.1.1.1:1"};
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (http_check_address(bad[i], &err) != -EINVAL)
			fail_msg("'%s' was accepted", bad[i]);
	assert_int_equal(http_check_address("0.0.0.0:9779", &err), 0);
	assert_int_equal(http_check_address("[::1]:0", &err), 0);
	assert_int_equal(http_check_address("localhost:9779", &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(metrics_are_prometheus_text_by_default, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(metrics_are_openmetrics_when_asked, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(healthy_is_always_so_and_ready_when_it_was_said, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(another_path_is_not_found, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(head_has_no_body, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(posting_is_not_allowed, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(connections_that_ask_nothing_keep_nobody_out, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(one_connection_may_ask_many_times, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(a_connection_for_which_no_descriptor_is_left_is_counted,
					    set_up, tear_down),
	    cmocka_unit_test_setup_teardown(an_address_in_use_is_refused_with_its_name, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(addresses_that_are_not_numeric_are_refused, set_up,
					    tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
