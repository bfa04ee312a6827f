#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

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

static void events_are_counted(void **state)
{
	const struct broker_event event = {
	    .operation = BROKER_EVENT, .kind = BROKER_EVENT_WORKER_GIVEN_UP, .lost = 3};
	struct broker_metrics m = {0};
	char *text;

	(void)state;
	broker_metrics_take(&m, &event);
	broker_metrics_take(&m, &event);
	text = written(&m, false);
	assert_non_null(strstr(text, "\n# TYPE jxperf_workers_given_up_total counter\n"
				     "jxperf_workers_given_up_total 2\n"));
	assert_non_null(strstr(text, "\njxperf_broker_events_lost_total 3\n")); /* so far */
	free(text);
}

static void what_brokers_lost_adds_up_and_whether_there_is_one_is_said(void **state)
{
	struct broker_event event = {.operation = BROKER_EVENT, .lost = 3};
	struct broker_metrics m = {0};
	char *text = written(&m, false);

	(void)state;
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

static void openmetrics_names_the_family_without_total(void **state)
{
	struct broker_metrics m = {0};
	char *text = written(&m, true);

	(void)state;
	assert_non_null(strstr(text, "\n# TYPE jxperf_workers_given_up counter\n"
				     "jxperf_workers_given_up_total 0\n"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(events_are_counted),
	    cmocka_unit_test(what_brokers_lost_adds_up_and_whether_there_is_one_is_said),
	    cmocka_unit_test(openmetrics_names_the_family_without_total),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
