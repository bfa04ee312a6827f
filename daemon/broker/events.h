/*
 * What the broker says unasked (struct broker_event). It waits for nobody: an event that does not
 * fit the socket is lost, and the next one says how many were. Broker only.
 */
#ifndef JXPERF_DAEMON_BROKER_EVENTS_H
#define JXPERF_DAEMON_BROKER_EVENTS_H

#include <stdint.h>
#include <sys/types.h>

#include "daemon/broker/proto.h"

struct broker_events {
	int socket; /* the engine's; borrowed */
	uint64_t lost;
};

/* pid and count: as the kind has them, else 0. */
void broker_events_send(struct broker_events *e, enum broker_event_kind kind, pid_t pid,
			uint32_t count);

#endif
