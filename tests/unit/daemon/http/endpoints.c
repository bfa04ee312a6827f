#include "tests/unit/support/test.h"

#include "daemon/http/own_metrics.h"
#include "daemon/http/endpoints.h"
#include "daemon/http/metrics_kept.h"
#include "tests/unit/support/http_client.h"
#include "tests/unit/support/loop_helper.h"

struct fixture {
	uv_loop_t loop;
	struct metrics_kept metrics;
	struct broker_metrics broker;
	struct daemon_metrics daemon;
	struct endpoints *endpoints;
};

static int set_up(void **state)
{
	static struct fixture f;
	struct endpoints_sources sources;

	assert_int_equal(uv_loop_init(&f.loop), 0);
	f.metrics = (struct metrics_kept){.live = metrics_new()};
	sources = (struct endpoints_sources){
	    .metrics = &f.metrics, .broker = &f.broker, .daemon = &f.daemon};
	assert_int_equal(endpoints_new(&f.endpoints, &f.loop, "127.0.0.1:0", &sources, NULL), 0);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	endpoints_free(f->endpoints);
	loop_finish(&f->loop);
	metrics_free(f->metrics.live);
	return 0;
}

static const char *ask(struct fixture *f, const char *request)
{
	return http_client_ask(&f->loop, endpoints_address(f->endpoints), request);
}

TEST(metrics_are_prometheus_text_by_default, set_up, tear_down)
{
	const char *answer = ask(*state, GET("/metrics", ""));

	assert_non_null(strstr(answer, "HTTP/1.1 200"));
	assert_non_null(strstr(answer, "Content-Type: text/plain; version=0.0.4"));
	assert_non_null(strstr(answer, "\njxperf_build_info{version="));
	assert_non_null(strstr(answer, "\njxperf_workers_given_up_total 0\n"));
	assert_non_null(strstr(answer, "\njxperf_store_available 0\n"));
	assert_non_null(strstr(answer, "\njxperf_store_windows_written_total 0\n"));
	assert_non_null(strstr(answer, "\njxperf_http_connections_refused_total{reason="));
}

TEST(metrics_are_openmetrics_when_asked, set_up, tear_down)
{
	const char *answer =
	    ask(*state, GET("/metrics", "Accept: application/openmetrics-text;version=1.0.0\r\n"));

	assert_non_null(
	    strstr(answer, "Content-Type: application/openmetrics-text; version=1.0.0"));
	assert_string_equal(answer + strlen(answer) - strlen("# EOF\n"), "# EOF\n");
	answer = ask(*state, GET("/metrics", "Accept: text/plain;q=0.5,"
					     "application/openmetrics-text;version=1.0.0;q=0\r\n"));
	assert_non_null(strstr(answer, "Content-Type: text/plain; version=0.0.4"));
	answer = ask(*state, GET("/metrics", "Accept: application/openmetrics-text;q=0.2,"
					     "text/plain;q=0.5\r\n"));
	assert_non_null(strstr(answer, "Content-Type: text/plain; version=0.0.4"));
}

TEST(healthy_is_always_so_and_ready_when_it_was_said, set_up, tear_down)
{
	struct fixture *f = *state;

	assert_non_null(strstr(ask(f, GET("/-/healthy", "")), "HTTP/1.1 200"));
	assert_non_null(strstr(ask(f, GET("/-/ready", "")), "HTTP/1.1 503"));
	endpoints_set_ready(f->endpoints, true);
	assert_non_null(strstr(ask(f, GET("/-/ready", "")), "HTTP/1.1 200"));
	endpoints_set_ready(f->endpoints, false);
	assert_non_null(strstr(ask(f, GET("/-/ready", "")), "HTTP/1.1 503"));
}
