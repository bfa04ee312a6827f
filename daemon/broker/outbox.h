/*
 * What the broker says to the engine. A reply that does not fit the socket waits here, and while
 * one does the broker takes no more requests: so what waits are answers to what was asked before.
 * An engine that takes none for BROKER_REPLIES_LATE_MS is cut off. What is said unasked (struct
 * broker_event) and does not fit is lost, and the next event says how many were.
 *
 * Nothing here waits. Broker only.
 */
#ifndef JXPERF_DAEMON_BROKER_OUTBOX_H
#define JXPERF_DAEMON_BROKER_OUTBOX_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/broker/proto.h"
#include "daemon/broker/workers.h"

struct broker_polls;

/* Agents wait so long for their events, so an engine that is slower has no use for them. */
#define BROKER_REPLIES_LATE_MS 5000

/* All questions that workers may have, and those that are answered at once. */
#define BROKER_REPLIES_MAX ((BROKER_WORKERS_MAX + 1) * BROKER_WORKER_QUEUE_MAX)

struct waiting_reply;

/* All zero, but for the socket: none waits. */
struct broker_outbox {
	int socket; /* the engine's, non-blocking; borrowed */
	struct waiting_reply *first, *last;
	unsigned count;
	uint64_t late_ns; /* with count above 0: the engine is cut off then */
	uint64_t lost;    /* events, so far */
	bool over;        /* the engine has gone or is cut off: what waited is dropped */
};

/* Sends reply, or has it wait. The reply->fds descriptors in fds are taken and become -1. Where the
 * kernel does not pass them on (too many of our user's are under way), the reply says so. */
void broker_outbox_reply(struct broker_outbox *o, const struct broker_reply *reply, int *fds);

/* pid and count: as the kind has them, else 0. */
void broker_outbox_event(struct broker_outbox *o, enum broker_event_kind kind, pid_t pid,
			 uint32_t count);

/* Adds what is waited for, requests or room for replies, and when the engine is cut off; its place.
 */
int broker_outbox_poll(const struct broker_outbox *o, struct broker_polls *p);

/* Sends what can be sent. May a request be taken? */
bool broker_outbox_tend(struct broker_outbox *o);

/* Drops what waits. */
void broker_outbox_release(struct broker_outbox *o);

#endif
