/*
 * One request to the daemon and its replies, on a connection of its own (proto/jxperf.proto,
 * ControlRequest and ControlReply).
 *
 * A reply is checked before the caller sees it: frame limits, protocol, form. A Failure becomes a
 * struct err: -EINVAL when it is the request's fault, -EAGAIN when there was no room for it,
 * -EREMOTEIO otherwise. Every wait also ends
 * with a signal.
 */
#ifndef JXPERF_CLIENT_DAEMON_EXCHANGE_H
#define JXPERF_CLIENT_DAEMON_EXCHANGE_H

#include "client/daemon/client.h"
#include "common/buffer.h"
#include "common/cleanup.h"
#include "proto/jxperf.pb-c.h"

/* Longest silence of a daemon that is alive: attaching has a shorter deadline of its own, and a
 * running window reports progress every second. */
#define EXCHANGE_REPLY_TIMEOUT_MS 60000

struct exchange {
	int fd;
	struct buffer in;
};

#define EXCHANGE_NONE    \
	{                \
		.fd = -1 \
	}

/* Connects and sends a request, body being the message that asked names. 0 or -errno. The caller
 * ends x with exchange_end, whatever came of it. */
int exchange_begin(struct exchange *x, const struct client *c, Jxp__ControlRequest__BodyCase asked,
		   void *body, struct err *err);

/* Waits for the next reply, at most timeout_ms. On success *reply is freed with
 * exchange_free_reply. -EINTR: a signal waits in c->interrupt; the exchange can go on. -ETIMEDOUT;
 * -ECONNRESET when the daemon is gone, with its last words when it was ours; -EPROTO; or as said
 * above for a Failure. */
int exchange_next(struct exchange *x, struct client *c, int timeout_ms, Jxp__ControlReply **reply,
		  struct err *err);

/* Safe on EXCHANGE_NONE and twice. */
void exchange_end(struct exchange *x);
#define _cleanup_exchange_ _cleanup_(exchange_end)

/* After -EAGAIN: waits a while, since the daemon will have room again. 0: to be asked again;
 * -EINTR; or, where it is past the deadline, -EAGAIN with *err as it was. */
int exchange_wait_for_room(const struct client *c, uint64_t deadline_ns, struct err *err);

/* One request and its one reply, which is of the kind that answers it; room for it is waited for.
 * Errors as above, -EINTR being final. */
int exchange_once(struct client *c, Jxp__ControlRequest__BodyCase asked, void *body,
		  Jxp__ControlReply **reply, struct err *err);

/* The same of a reply that may take longer, or shorter. */
int exchange_once_within(struct client *c, Jxp__ControlRequest__BodyCase asked, void *body,
			 int timeout_ms, Jxp__ControlReply **reply, struct err *err);

/* Asks for the end of a JVM's window. */
int exchange_detach(struct client *c, uint32_t pid, Jxp__ControlReply **reply, struct err *err);

void exchange_free_reply(Jxp__ControlReply **reply);
#define _cleanup_reply_ _cleanup_(exchange_free_reply)

/* The error for a reply of a kind that does not answer the request. */
int exchange_unexpected(struct err *err);

#endif
