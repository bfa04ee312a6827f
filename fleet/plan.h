/*
 * Tells what a schedule would do in a fleet: who is profiled when, by the draws that the hosts'
 * daemons make (fleet/draw.h), how many at a time, and how much of the fleet was seen after a
 * while.
 *
 * Host for host the draws are those of the daemons. A JVM that nobody has looked at has no process
 * id, so in a plan it is a number of its application ("shop/2"), and other JVMs are drawn than a
 * daemon would draw; how many, and when on the whole, is the same.
 *
 * Of a schedule with a target, probabilities are set anew each day as daemons do it
 * (fleet/evidence.h), as if each window brought so many pairs: epochs are to be looked at in their
 * order.
 *
 * Functions of their arguments alone, but for the local time of a schedule with hours. Of what a
 * schedule matches by, only the application is known; the rest is taken to match.
 */
#ifndef JXPERF_FLEET_PLAN_H
#define JXPERF_FLEET_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "fleet/config/config.h"
#include "fleet/hosts.h"

struct fleet_window {
	const char *host;
	const char *app;
	uint32_t number; /* of the JVM among those of its application on its host, from 0 */
	uint64_t start_unix_ns;
};

struct fleet_epoch {
	uint64_t epoch;
	uint64_t start_unix_ns;
	const struct fleet_window *windows; /* by host, valid until the next epoch */
	size_t window_count;
	size_t hosts;        /* with a window */
	size_t most_on_host; /* windows that run at the same time on one host */
	size_t most_at_once; /* and on all of them */
	uint64_t
	    jvms_covered;    /* that had a window in this epoch or one that was looked at before */
	size_t apps_covered; /* of which some JVM had */
	double
	    probability; /* that a JVM is drawn on a host that takes part, on average over JVMs */
};

/* These can be told beforehand. */
struct fleet_outlook {
	uint64_t jvms; /* whose application the schedule matches */
	size_t apps;
	double windows; /* in an epoch, on average over the day; with a target: once it is met */
	double cost;    /* most, as a part of the CPU time of these JVMs, on average */
	bool by_more;   /* it matches by more than the application */
};

/* What a target comes to for an application, once it is met. */
struct fleet_target {
	const char *app;
	uint64_t hosts;
	uint64_t jvms;
	double windows;     /* a day, on all hosts, on average; so for pairs */
	double pairs;       /* below the target times hosts where all windows bring less */
	double probability; /* that a JVM is drawn, on average over JVMs */
};

struct fleet_plan;

/* Borrows all three. salt may be NULL. pairs_per_window: what each window brings, above 0, for a
 * schedule with a target. 0 or -ENOMEM. */
int fleet_plan_new(struct fleet_plan **out, const struct config_schedule *schedule,
		   const char *salt, const struct fleet_hosts *hosts, double pairs_per_window,
		   struct err *err);
void fleet_plan_free(struct fleet_plan *p);

void fleet_plan_outlook(const struct fleet_plan *p, struct fleet_outlook *out);

/* Of a schedule with a target: one for each application that matches; out has room for the fleet's
 * app_count. Returns how many there are. */
size_t fleet_plan_targets(const struct fleet_plan *p, struct fleet_target *out);

/* The epoch that a time (CLOCK_REALTIME) is in. */
uint64_t fleet_plan_epoch_of(const struct fleet_plan *p, uint64_t unix_ns);

/* One epoch; what it covers is added to what those before it did. 0 or -ENOMEM. */
int fleet_plan_look(struct fleet_plan *p, uint64_t epoch, struct fleet_epoch *out, struct err *err);

#endif
