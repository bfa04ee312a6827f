/*
 * What the daemon tells of itself by /metrics: its processes, its configuration, its broker, the
 * windows that it has in memory, those that it keeps, and its schedules. Errors of out are the
 * caller's.
 *
 * Loop thread only.
 */
#ifndef JXPERF_DAEMON_HTTP_OWN_METRICS_H
#define JXPERF_DAEMON_HTTP_OWN_METRICS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct broker_client;
struct broker_event;
struct engine;
struct keeper_stats;
struct newcomers;
struct planner;

/* When this process started, in seconds since 1970; 0 where that cannot be read. To be asked once:
 * a clock that is set would change it. */
double process_metrics_start(void);

/* This process, by the names that Prometheus's own clients give such figures; what cannot be read
 * is left out. */
void process_metrics_write(FILE *out, double start_s, bool openmetrics);

/* What all its processes have used: this one and the privileged half, with those that these started
 * and that have ended. client NULL: there is no such half. */
void own_cost_write(FILE *out, const struct broker_client *client, bool openmetrics);

/* What holds of the configuration, and who was not let in. All zero at first. */
struct daemon_metrics {
	uint64_t config_hash;         /* of what was read, files one behind the other */
	double config_read_s;         /* when, since 1970 */
	bool config_failed;           /* what was read since was refused */
	uint64_t connections_refused; /* on the control socket */
};

void daemon_metrics_write(FILE *out, const struct daemon_metrics *m, bool openmetrics);

/* What the broker says unasked (struct broker_event), counted. All zero at first. */
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

void broker_metrics_write(FILE *out, const struct broker_metrics *m, bool openmetrics);

/* The windows in memory now. */
void engine_metrics_write(FILE *out, const struct engine *e, bool openmetrics);

/* How keeping windows fares; stats NULL: nothing is kept. */
void store_metrics_write(FILE *out, const struct keeper_stats *stats, bool openmetrics);

/* What schedules did; nothing where there is none. */
void schedule_metrics_write(FILE *out, const struct planner *p, bool openmetrics);

/* How JVMs are found for them. */
void discovery_metrics_write(FILE *out, const struct newcomers *n, bool openmetrics);

#endif
