/*
 * What the broker says unasked (struct broker_event), counted for /metrics.
 *
 * Loop thread only.
 */
#ifndef JXPERF_DAEMON_HTTP_BROKER_METRICS_H
#define JXPERF_DAEMON_HTTP_BROKER_METRICS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct broker_event;

/* All zero at first. */
struct broker_metrics {
	bool connected; /* there is a broker */
	uint64_t workers_given_up;
	uint64_t events_lost;        /* by this broker */
	uint64_t events_lost_before; /* by those before it */
};

/* There is a broker from now on, another one; or none. */
void broker_metrics_came(struct broker_metrics *m);
void broker_metrics_left(struct broker_metrics *m);

void broker_metrics_take(struct broker_metrics *m, const struct broker_event *event);

/* Their families of /metrics. Errors of out are the caller's. */
void broker_metrics_write(FILE *out, const struct broker_metrics *m, bool openmetrics);

#endif
