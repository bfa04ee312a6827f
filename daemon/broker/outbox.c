#include "daemon/broker/outbox.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "common/proc.h"
#include "daemon/broker/polls.h"

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
static int send_now(struct broker_outbox *o, const struct broker_reply *reply, int *fds)
{
	struct broker_reply sent = *reply;
	ssize_t n;

	sent.cpu_ns = proc_own_cpu_ns();
	n = fd_send(o->socket, &sent, sizeof(sent), fds, sent.fds);
	if (n < 0 && n != -EAGAIN && sent.fds > 0)
		n = send_without(o->socket, &sent, n);
	if (n == -EAGAIN)
		return -EAGAIN;
	o->over |= n < 0;
	fd_close_all(fds, reply->fds);
	return 0;
}

static void set_late(struct broker_outbox *o)
{
	o->late_ns = clock_monotonic_ns() + BROKER_REPLIES_LATE_MS * NS_PER_MS;
}

static void have_wait(struct broker_outbox *o, const struct broker_reply *reply, int *fds)
{
	struct waiting_reply *w = o->count < BROKER_REPLIES_MAX ? calloc(1, sizeof(*w)) : NULL;

	if (!w) {
		log_warn("too many replies wait for the engine, which is cut off");
		fd_close_all(fds, reply->fds);
		o->over = true;
		return;
	}
	w->reply = *reply;
	for (uint32_t i = 0; i < reply->fds; i++) {
		w->fds[i] = fds[i];
		fds[i] = -1;
	}
	if (o->count++ == 0) {
		set_late(o);
		o->first = w;
	} else {
		o->last->next = w;
	}
	o->last = w;
}

static void drop_first(struct broker_outbox *o)
{
	struct waiting_reply *w = o->first;

	o->first = w->next;
	o->count--;
	free(w);
}

void broker_outbox_reply(struct broker_outbox *o, const struct broker_reply *reply, int *fds)
{
	if (o->over)
		fd_close_all(fds, reply->fds);
	else if (o->count > 0 || send_now(o, reply, fds) < 0)
		have_wait(o, reply, fds);
}

void broker_outbox_event(struct broker_outbox *o, enum broker_event_kind kind, pid_t pid,
			 uint32_t count)
{
	const struct broker_event event = {
	    .operation = BROKER_EVENT, .kind = kind, .pid = pid, .count = count, .lost = o->lost};

	/* It also fails when the engine is gone, which is found out in reading. */
	if (send(o->socket, &event, sizeof(event), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		o->lost++;
}

int broker_outbox_poll(const struct broker_outbox *o, struct broker_polls *p)
{
	return broker_polls_add(p, o->socket, o->count > 0 ? POLLOUT : POLLIN,
				o->count > 0 ? o->late_ns : UINT64_MAX);
}

bool broker_outbox_tend(struct broker_outbox *o)
{
	while (!o->over && o->count > 0 && send_now(o, &o->first->reply, o->first->fds) == 0) {
		drop_first(o);
		set_late(o);
	}
	if (!o->over && o->count > 0 && clock_monotonic_ns() >= o->late_ns) {
		log_warn("the engine has taken no reply for %d s, and is cut off",
			 BROKER_REPLIES_LATE_MS / 1000);
		o->over = true;
	}
	return !o->over && o->count == 0;
}

void broker_outbox_release(struct broker_outbox *o)
{
	while (o->count > 0) {
		fd_close_all(o->first->fds, o->first->reply.fds);
		drop_first(o);
	}
}
