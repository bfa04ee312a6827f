#include "daemon/broker/pending.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/fd.h"

void pendings_init(struct pendings *q)
{
	*q = (struct pendings){0};
	q->last = &q->first;
}

static unsigned *counter_of(struct pendings *q, const struct broker_request *request)
{
	return broker_operation_is_answered(request->operation) ? &q->answered : &q->silent;
}

int pendings_add(struct pendings *q, const struct broker_request *request, broker_reply_fn fn,
		 void *arg)
{
	struct pending *p;

	if (*counter_of(q, request) >= BROKER_PENDING_MAX)
		return -EAGAIN;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	q->next_id = q->next_id == INT32_MAX ? 1 : q->next_id + 1;
	p->request = *request;
	p->request.id = (uint32_t)q->next_id;
	p->fn = fn;
	p->arg = arg;
	(*counter_of(q, request))++;
	*q->last = p;
	q->last = &p->next;
	return q->next_id;
}

struct pending **pendings_find(struct pendings *q, uint32_t id)
{
	for (struct pending **at = &q->first; *at; at = &(*at)->next)
		if ((*at)->request.id == id &&
		    broker_operation_is_answered((*at)->request.operation))
			return at;
	return NULL;
}

bool pendings_has_unsent(const struct pendings *q)
{
	const struct pending *p = q->first;

	while (p && p->sent)
		p = p->next;
	return p != NULL;
}

struct pending *pendings_take(struct pendings *q, struct pending **at)
{
	struct pending *p = *at;

	*at = p->next;
	if (q->last == &p->next)
		q->last = at;
	(*counter_of(q, &p->request))--;
	return p;
}

void pending_answer(struct pending *p, const struct broker_reply *reply, int *fds)
{
	if (p->fn)
		p->fn(p->arg, reply, fds);
	fd_close_all(fds, reply->fds);
	free(p);
}

void pendings_fail(struct pendings *q, const char *message)
{
	unsigned count = q->answered + q->silent;

	while (count-- > 0) {
		struct pending *p = pendings_take(q, &q->first);
		struct broker_reply reply = {
		    .operation = p->request.operation,
		    .id = p->request.id,
		    .error = EPIPE,
		};

		(void)snprintf(reply.message, sizeof(reply.message), "%s", message);
		pending_answer(p, &reply, NULL);
	}
}

void pendings_forget(struct pendings *q)
{
	for (struct pending *p = q->first; p; p = p->next)
		p->fn = NULL;
}
