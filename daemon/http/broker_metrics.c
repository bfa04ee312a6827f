#include "daemon/http/broker_metrics.h"

#include "daemon/broker/proto.h"
#include "daemon/http/exposition.h"

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

void broker_metrics_write(FILE *out, const struct broker_metrics *m, bool openmetrics)
{
	exposition_gauge(out, openmetrics, "jxperf_broker_connected",
			 "Whether the daemon has its privileged half, without which nothing is "
			 "profiled.",
			 m->connected);
	exposition_counter(
	    out, openmetrics, "jxperf_workers_given_up",
	    "Processes that were given up because their target held them up: it uses a "
	    "file system that does not answer.",
	    m->workers_given_up);
	exposition_counter(out, openmetrics, "jxperf_broker_events_lost",
			   "Events of the privileged half that the daemon read too slowly to get.",
			   m->events_lost_before + m->events_lost);
}
