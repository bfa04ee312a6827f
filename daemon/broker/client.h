/*
 * The engine's side of the broker: has one, sends requests, calls back with replies and events.
 *
 * Loop thread only. Callbacks run from the loop, never from inside a call made here; each request's
 * callback runs exactly once, unless it was forgotten. When the broker goes, every pending callback
 * first gets a reply with error EPIPE, then died runs.
 *
 * A broker of our own goes once and for all: later requests fail with -EPIPE. One that listens
 * (daemon/door/door.h) is connected to again, with back-off; requests wait until it has said
 * hello, and while there is none they get EPIPE and the reason. died runs each time that it goes,
 * or is not there to begin with, and again when there is another reason why it is away; came when
 * it is there (again).
 *
 * At most BROKER_PENDING_MAX requests wait at a time; further ones fail with -EAGAIN.
 */
#ifndef JXPERF_DAEMON_BROKER_CLIENT_H
#define JXPERF_DAEMON_BROKER_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

#include "common/err.h"
#include "daemon/broker/pending.h"
#include "daemon/broker/proto.h"

struct startup;

struct broker_client;

struct broker_client_callbacks {
	void *arg;
	void (*died)(void *arg, const char *reason); /* how the broker ended */
	/* NULL: with a broker of our own, whose hello is there before the client. */
	void (*came)(void *arg, const struct broker_reply *hello);
	/* What the broker says unasked; its kind is one of enum broker_event_kind. */
	void (*event)(void *arg, const struct broker_event *event);
};

/* Execs daemon_path (usually /proc/self/exe) as broker. Call before anything that the broker must
 * not inherit exists; descriptors without close-on-exec would be. Waits until the broker says that
 * it serves, with no more privileges than it is to have. On success *out is to be freed with
 * broker_client_free. 0, or -errno with the reason. */
int broker_client_new(struct broker_client **out, uv_loop_t *loop, const char *daemon_path,
		      const struct startup *startup,
		      const struct broker_client_callbacks *callbacks, struct err *err);

/* Connects to the broker that listens at path, which is copied; begins with the loop. 0 or -errno,
 * with the reason; that there is none is no error. */
int broker_client_connect(struct broker_client **out, uv_loop_t *loop, const char *path,
			  const struct broker_client_callbacks *callbacks, struct err *err);

/* Closes the socket, whereupon the broker ends, and frees the client once the loop has closed its
 * handles (the loop must run on for that). Pending requests are forgotten, died is not called. */
void broker_client_free(struct broker_client *client);

/* Is there one? Not so already when a request's callback gets EPIPE because it has gone. */
bool broker_client_serves(const struct broker_client *client);

/* CPU time of this broker and those before it, of all their processes that have ended: as of the
 * last reply. */
uint64_t broker_client_cpu_ns(const struct broker_client *client);

/* Asks what a request says (daemon/broker/proto.h); its id is filled in. Returns that id (above 0),
 * or -errno, in which case fn will not be called. fn NULL: of what has no reply. */
int broker_client_ask(struct broker_client *client, const struct broker_request *request,
		      broker_reply_fn fn, void *arg);

/* The callback of request id will not run; descriptors that come for it are closed. An id that is
 * not pending is ignored. */
void broker_client_forget(struct broker_client *client, int id);

#endif
