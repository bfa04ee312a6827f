#include "daemon/broker/replies.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"

struct waiting_reply {
	struct waiting_reply *next;
	struct broker_reply reply;
	int fds[FD_PASS_MAX];
};

static int send_without(int socket, const struct broker_reply *reply, ssize_t why)
{
	struct broker_reply without = *reply;
	ssize_t n;

	without.fds = 0;
	without.error = (int32_t)-why;
	(void)snprintf(without.message, sizeof(without.message),
		       "descriptors cannot be passed to the engine: %s", strerror(-(int)why));
	n = fd_send(socket, &without, sizeof(without), NULL, 0);
	return n < 0 ? (int)n : 0;
}

/* 0, with the descriptors closed; or -EAGAIN, with nothing changed. */
static int send_now(struct broker_replies *r, const struct broker_reply *reply, int *fds)
{
	ssize_t n = fd_send(r->socket, reply, sizeof(*reply), fds, reply->fds);

	if (n < 0 && n != -EAGAIN && reply->fds > 0)
		n = send_without(r->socket, reply, n);
	if (n == -EAGAIN)
		return -EAGAIN;
	r->over |= n < 0;
	fd_close_all(fds, reply->fds);
	return 0;
}

static void set_late(struct broker_replies *r)
{
	r->late_ns = clock_monotonic_ns() + BROKER_REPLIES_LATE_MS * NS_PER_MS;
}

static void have_wait(struct broker_replies *r, const struct broker_reply *reply, int *fds)
{
	struct waiting_reply *w = r->count < BROKER_REPLIES_MAX ? calloc(1, sizeof(*w)) : NULL;

	if (!w) {
		log_warn("too many replies wait for the engine, which is cut off");
		fd_close_all(fds, reply->fds);
		r->over = true;
		return;
	}
	w->reply = *reply;
	for (uint32_t i = 0; i < reply->fds; i++) {
		w->fds[i] = fds[i];
		fds[i] = -1;
	}
	if (r->count++ == 0) {
		set_late(r);
		r->first = w;
	} else {
		r->last->next = w;
	}
	r->last = w;
}

static void drop_first(struct broker_replies *r)
{
	struct waiting_reply *w = r->first;

	r->first = w->next;
	r->count--;
	free(w);
}

void broker_replies_send(struct broker_replies *r, const struct broker_reply *reply, int *fds)
{
	if (r->over)
		fd_close_all(fds, reply->fds);
	else if (r->count > 0 || send_now(r, reply, fds) < 0)
		have_wait(r, reply, fds);
}

void broker_replies_poll(const struct broker_replies *r, struct pollfd *p, uint64_t *first_ns)
{
	*p = (struct pollfd){.fd = r->socket, .events = r->count > 0 ? POLLOUT : POLLIN};
	if (r->count > 0 && r->late_ns < *first_ns)
		*first_ns = r->late_ns;
}

bool broker_replies_tend(struct broker_replies *r)
{
	while (!r->over && r->count > 0 && send_now(r, &r->first->reply, r->first->fds) == 0) {
		drop_first(r);
		set_late(r);
	}
	if (!r->over && r->count > 0 && clock_monotonic_ns() >= r->late_ns) {
		log_warn("the engine has taken no reply for %d s, and is cut off",
			 BROKER_REPLIES_LATE_MS / 1000);
		r->over = true;
	}
	return !r->over && r->count == 0;
}

void broker_replies_release(struct broker_replies *r)
{
	while (r->count > 0) {
		fd_close_all(r->first->fds, r->first->reply.fds);
		drop_first(r);
	}
}
