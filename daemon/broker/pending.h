/*
 * The engine's requests to its broker that wait to be sent or answered, in their order, the sent
 * ones first. Loop thread only; daemon/broker/client.c's.
 */
#ifndef JXPERF_DAEMON_BROKER_PENDING_H
#define JXPERF_DAEMON_BROKER_PENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/broker/proto.h"

#define BROKER_PENDING_MAX 1024

/* reply lives until the callback returns; its message is a whole sentence for the user when error
 * is not 0. fds holds reply->fds descriptors; those that the callback takes it replaces by -1
 * (TAKE_FD), the others are closed after it returns. */
typedef void (*broker_reply_fn)(void *arg, const struct broker_reply *reply, int *fds);

/* fn is NULL once it is forgotten, and for what is not answered, which is dropped when it has been
 * sent. */
struct pending {
	struct pending *next;
	struct broker_request request;
	bool sent;
	broker_reply_fn fn;
	void *arg;
};

struct pendings {
	struct pending *first;
	struct pending **last; /* where the next one goes */
	int next_id;
	unsigned answered; /* of those that are answered: at most BROKER_PENDING_MAX */
	unsigned silent;   /* of the others, likewise */
};

/* On the caller's storage; pendings_fail leaves nothing to release. */
void pendings_init(struct pendings *q);

/* The request's id, above 0; -EAGAIN when too many wait; -ENOMEM. */
int pendings_add(struct pendings *q, const struct broker_request *request, broker_reply_fn fn,
		 void *arg);

/* Where the request with the id is in the list, or NULL; none of those that are not answered. */
struct pending **pendings_find(struct pendings *q, uint32_t id);

bool pendings_has_unsent(const struct pendings *q);

/* Takes the entry at *at out of the list; the caller's. */
struct pending *pendings_take(struct pendings *q, struct pending **at);

/* Answers an entry that is no longer in the list, and frees it; closes what was not taken. */
void pending_answer(struct pending *p, const struct broker_reply *reply, int *fds);

/* Answers those that wait now with EPIPE and these words. A callback may add others. */
void pendings_fail(struct pendings *q, const char *message);

/* No callback of those that wait will run. */
void pendings_forget(struct pendings *q);

#endif
