/*
 * What one turn of the broker's loop waits for. Each of its parts adds its descriptors, keeps their
 * places, and says when something is due; after poll(2) it looks at its places.
 */
#ifndef JXPERF_DAEMON_BROKER_POLLS_H
#define JXPERF_DAEMON_BROKER_POLLS_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

/* daemon/broker/broker.c asserts that there is room for all. */
#define BROKER_POLLS_MAX 768

struct broker_polls {
	struct pollfd fds[BROKER_POLLS_MAX];
	nfds_t count;
	uint64_t first_ns; /* what is due first, CLOCK_MONOTONIC; UINT64_MAX: nothing is */
};

static inline void broker_polls_clear(struct broker_polls *p)
{
	p->count = 0;
	p->first_ns = UINT64_MAX;
}

/* Its place. due_ns UINT64_MAX: never. */
static inline int broker_polls_add(struct broker_polls *p, int fd, short events, uint64_t due_ns)
{
	p->fds[p->count] = (struct pollfd){.fd = fd, .events = events};
	if (due_ns < p->first_ns)
		p->first_ns = due_ns;
	return (int)p->count++;
}

/* place -1: it was not added. */
static inline bool broker_polls_is_ready(const struct broker_polls *p, int place)
{
	return place >= 0 && p->fds[place].revents;
}

#endif
