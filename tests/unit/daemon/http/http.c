#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "daemon/http/http.h"
#include "tests/unit/support/http_client.h"
#include "tests/unit/support/loop_helper.h"

struct fixture {
	uv_loop_t loop;
	struct http *http;
};

static void greet(void *arg, const struct http_request *request, struct http_response *response)
{
	const char *name = http_request_header(request, "X-Name");

	(void)fprintf(response->body, "%s %s\n", (const char *)arg, name ? name : "stranger");
}

static void refuse(void *arg, const struct http_request *request, struct http_response *response)
{
	(void)arg;
	(void)request;
	response->status = 503;
	response->type = "text/html";
}

static void write_metrics(void *arg, const struct http_request *request,
			  struct http_response *response)
{
	struct http *const *h = arg;

	(void)request;
	http_write_metrics(response->body, *h, false);
}

static struct http *server; /* is known when it is asked */
static const struct http_route routes[] = {
    {"/hello", greet, (void *)"hello"},
    {"/bye", greet, (void *)"bye"},
    {"/refuse", refuse, NULL},
    {"/metrics", write_metrics, &server},
    {NULL, NULL, NULL},
};

static int set_up(void **state)
{
	static struct fixture f;

	assert_int_equal(uv_loop_init(&f.loop), 0);
	assert_int_equal(http_new(&f.http, &f.loop, "127.0.0.1:0", routes, NULL), 0);
	server = f.http;
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	http_free(f->http);
	loop_finish(&f->loop);
	return 0;
}

static int connect_client(const struct fixture *f)
{
	return http_client_connect(http_address(f->http));
}

static const char *ask(struct fixture *f, const char *request)
{
	return http_client_ask(&f->loop, http_address(f->http), request);
}

TEST(a_path_is_answered_by_its_route, set_up, tear_down)
{
	const char *answer = ask(*state, GET("/hello", ""));

	assert_non_null(strstr(answer, "HTTP/1.1 200"));
	assert_non_null(strstr(answer, "Content-Type: text/plain; charset=utf-8"));
	assert_non_null(strstr(answer, "\r\n\r\nhello stranger\n"));
	assert_non_null(strstr(ask(*state, GET("/bye?now=1", "")), "\r\n\r\nbye stranger\n"));
}

TEST(a_route_sees_the_headers_of_the_request, set_up, tear_down)
{
	assert_non_null(strstr(ask(*state, GET("/hello", "X-Name: you\r\n")), "hello you\n"));
}

TEST(a_route_chooses_status_and_type, set_up, tear_down)
{
	const char *answer = ask(*state, GET("/refuse", ""));

	assert_non_null(strstr(answer, "HTTP/1.1 503"));
	assert_non_null(strstr(answer, "Content-Type: text/html"));
}

TEST(another_path_is_not_found, set_up, tear_down)
{
	assert_non_null(strstr(ask(*state, GET("/", "")), "HTTP/1.1 404"));
	assert_non_null(strstr(ask(*state, GET("/hellox", "")), "HTTP/1.1 404"));
}

TEST(head_has_no_body, set_up, tear_down)
{
	const char *answer =
	    ask(*state, "HEAD /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");

	assert_non_null(strstr(answer, "HTTP/1.1 200"));
	assert_null(strstr(answer, "hello"));
}

TEST(posting_is_not_allowed, set_up, tear_down)
{
	const char *answer = ask(*state, "POST /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
					 "Content-Length: 5\r\n\r\nhello");

	assert_non_null(strstr(answer, "HTTP/1.1 405"));
	assert_non_null(strstr(answer, "Allow: GET, HEAD"));
}

/* As many as there may be, several times over, and none says a word. */
TEST(connections_that_ask_nothing_keep_nobody_out, set_up, tear_down)
{
	struct fixture *f = *state;
	int idle[200];

	for (size_t i = 0; i < 200; i++) {
		idle[i] = connect_client(f);
		(void)uv_run(&f->loop, UV_RUN_NOWAIT);
	}
	assert_non_null(strstr(ask(f, GET("/hello", "")), "HTTP/1.1 200"));
	assert_non_null(
	    strstr(ask(f, GET("/metrics", "")),
		   "\njxperf_http_connections_refused_total{reason=\"address\"} 185\n"));
	for (size_t i = 0; i < 200; i++)
		(void)close(idle[i]);
	assert_non_null(strstr(ask(f, GET("/hello", "")), "HTTP/1.1 200"));
}

TEST(one_connection_may_ask_many_times, set_up, tear_down)
{
	static const char request[] = "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n";
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
TEST(a_connection_for_which_no_descriptor_is_left_is_counted, set_up, tear_down)
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

TEST(an_address_in_use_is_refused_with_its_name, set_up, tear_down)
{
	struct fixture *f = *state;
	struct http *second = NULL;
	struct err err;

	assert_int_equal(http_new(&second, &f->loop, http_address(f->http), routes, &err),
			 -EADDRINUSE);
	assert_non_null(strstr(err.message, http_address(f->http)));
	assert_null(second);
}
