#include "tests/unit/support/test.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/broker/proto.h"
#include "daemon/http/own_metrics.h"

/* To be freed. */
static char *written(const struct broker_metrics *m, bool openmetrics)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	broker_metrics_write(out, m, openmetrics);
	assert_int_equal(fclose(out), 0);
	return text;
}

TEST(events_are_counted)
{
	const struct broker_event event = {
	    .operation = BROKER_EVENT, .kind = BROKER_EVENT_WORKER_GIVEN_UP, .lost = 3};
	struct broker_metrics m = {0};
	char *text;

	broker_metrics_take(&m, &event);
	broker_metrics_take(&m, &event);
	text = written(&m, false);
	assert_non_null(strstr(text, "\n# TYPE jxperf_workers_given_up_total counter\n"
				     "jxperf_workers_given_up_total 2\n"));
	assert_non_null(strstr(text, "\njxperf_broker_events_lost_total 3\n")); /* so far */
	free(text);
}

TEST(what_brokers_lost_adds_up_and_whether_there_is_one_is_said)
{
	struct broker_event event = {.operation = BROKER_EVENT, .lost = 3};
	struct broker_metrics m = {0};
	char *text = written(&m, false);

	assert_non_null(strstr(text, "\n# TYPE jxperf_broker_connected gauge\n"
				     "jxperf_broker_connected 0\n"));
	free(text);
	broker_metrics_came(&m);
	broker_metrics_take(&m, &event);
	broker_metrics_left(&m);
	broker_metrics_came(&m);
	event.lost = 1;
	broker_metrics_take(&m, &event);
	text = written(&m, false);
	assert_non_null(strstr(text, "\njxperf_broker_connected 1\n"));
	assert_non_null(strstr(text, "\njxperf_broker_events_lost_total 4\n"));
	free(text);
}

TEST(openmetrics_names_the_family_without_total)
{
	struct broker_metrics m = {0};
	char *text = written(&m, true);

	assert_non_null(strstr(text, "\n# TYPE jxperf_workers_given_up counter\n"
				     "jxperf_workers_given_up_total 0\n"));
	free(text);
}
