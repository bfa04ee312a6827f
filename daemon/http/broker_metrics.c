#include "daemon/http/broker_metrics.h"

#include <inttypes.h>

#include "daemon/broker/proto.h"

void broker_metrics_came(struct broker_metrics *m)
{
	m->connected = true;
	m->events_lost_before += m->events_lost;
	m->events_lost = 0;
}

void broker_metrics_left(struct broker_metrics *m)
{
	m->connected = false;
}

void broker_metrics_take(struct broker_metrics *m, const struct broker_event *event)
{
	m->workers_given_up += event->kind == BROKER_EVENT_WORKER_GIVEN_UP;
	m->events_lost = event->lost;
}

static void write_counter(FILE *out, const char *name, const char *help, uint64_t value,
			  bool openmetrics)
{
	const char *total = openmetrics ? "" : "_total"; /* OpenMetrics names the family so. */

	fprintf(out, "# HELP %s%s %s\n# TYPE %s%s counter\n%s_total %" PRIu64 "\n", name, total,
		help, name, total, name, value);
}

void broker_metrics_write(FILE *out, const struct broker_metrics *m, bool openmetrics)
{
	fprintf(
	    out,
	    "# HELP jxperf_broker_connected Whether the daemon has its privileged half, without "
	    "which nothing is profiled.\n# TYPE jxperf_broker_connected gauge\n"
	    "jxperf_broker_connected %d\n",
	    m->connected);
	write_counter(out, "jxperf_workers_given_up",
		      "Processes that were given up because their target held them up: it uses a "
		      "file system that does not answer.",
		      m->workers_given_up, openmetrics);
	write_counter(out, "jxperf_broker_events_lost",
		      "Events of the privileged half that the daemon read too slowly to get.",
		      m->events_lost_before + m->events_lost, openmetrics);
}
