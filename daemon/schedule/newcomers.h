/*
 * Which processes are to be looked at before the next round of all, by what the broker says of
 * those that start and end (enum broker_event_kind).
 *
 * A process that has started is looked at once, together with others that start at about the same
 * time. Where more start than can be remembered, or the broker missed some, it is *behind*: the
 * next round comes as soon as it would without the broker's events. Plain data; loop thread only.
 */
#ifndef JXPERF_DAEMON_SCHEDULE_NEWCOMERS_H
#define JXPERF_DAEMON_SCHEDULE_NEWCOMERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/broker/proto.h"

/* From the first process that waits for a look to that look, and between two looks. One costs some
 * ten milliseconds of CPU time, however many processes are in it. */
#define NEWCOMERS_WAIT_MS 100
#define NEWCOMERS_PACE_MS 1000

/* All zero: the broker says nothing. */
struct newcomers {
	bool works; /* the broker says which processes start */
	bool behind;
	pid_t pids[BROKER_PIDS_MAX]; /* that wait */
	size_t count;
	uint64_t due_ns;  /* of a look at them, CLOCK_MONOTONIC */
	uint64_t last_ns; /* when the last one was begun */
	uint64_t lost;    /* events on the way from this broker, so far */
	/* For /metrics. */
	uint64_t started;
	uint64_t ended;
	uint64_t missed; /* starts and ends; one that was lost counts for one */
	uint64_t looks;
	uint64_t rounds;
};

/* The broker's events come from now on, or do not. Nothing waits. */
void newcomers_set(struct newcomers *d, bool works);

/* There is another broker, which has lost nothing yet. */
void newcomers_have_broker(struct newcomers *d);

/* An event of any kind, at a time. is_known: the process is known for a JVM. */
void newcomers_take(struct newcomers *d, const struct broker_event *event, bool is_known,
		    uint64_t now_ns);

/* Takes those out that wait: into pids, which has room for BROKER_PIDS_MAX. Returns how many. */
size_t newcomers_begin_look(struct newcomers *d, pid_t *pids, uint64_t now_ns);

/* When the next look is due; UINT64_MAX: nothing waits. */
uint64_t newcomers_due_ns(const struct newcomers *d);

/* A round of all is begun: it catches up with everything. */
void newcomers_begin_round(struct newcomers *d);

/* A look was not answered. */
void newcomers_look_failed(struct newcomers *d);

#endif
