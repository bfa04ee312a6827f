/*
 * Which windows may be at fault where a server answers and yet does not take a batch. One window
 * whose request always fails is not to hold the others up for ever; and no window is to be lost
 * because a server is down, full or broken, which looks the same from one answer.
 *
 * A batch that has failed SUSPECTS_TRIES times and for as long as the destination's patience is
 * searched: it is halved until one window is left that fails alone, SUSPECTS_ALONE times. That one
 * is set aside: the others go on without it, and it is tried again by itself. It is given up once
 * it has failed SUSPECTS_AGAIN times more, each time after the server has taken other windows since
 * the time before. A server that takes nothing costs no window, however long that lasts.
 *
 * Functions of their arguments: the caller has the time. One thread.
 */
#ifndef JXPERF_DAEMON_EXPORT_SUSPECTS_H
#define JXPERF_DAEMON_EXPORT_SUSPECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/export/source.h"

/* So many answers in a row are no accident, nor one broken server of several behind an address. */
#define SUSPECTS_TRIES 8u
/* The window alone may still have come at a bad time. */
#define SUSPECTS_ALONE 3u
/* With what other windows say each time: the server works, and this one fails. */
#define SUSPECTS_AGAIN 4u
/* More than these at a time are no matter of single windows, and the queue waits. */
#define SUSPECTS_MAX SOURCE_WITHOUT_MAX

struct suspect {
	unsigned number;
	unsigned failures; /* since it was set aside, that count */
	uint64_t due_ms;   /* when it is tried again */
	uint64_t wait_ms;  /* what it waited for last */
	uint64_t taken;    /* of struct suspects, when it failed last */
};

/* Zeros at first. Times are of one clock, in ms. */
struct suspects {
	unsigned tries;    /* that failed since windows were taken, or one was set aside; */
	uint64_t since_ms; /* the first of them */
	unsigned alone;    /* of one window in the search */
	bool searching;
	uint64_t taken; /* windows, since the beginning */
	struct suspect windows[SUSPECTS_MAX];
	size_t count;
};

enum suspects_verdict {
	SUSPECTS_TRY_AGAIN,
	SUSPECTS_HALVE,
	SUSPECTS_SET_ASIDE, /* it has been */
};

/* A batch of so many windows, the first of that number, has failed, and the server did answer. */
enum suspects_verdict suspects_failed(struct suspects *s, size_t windows, unsigned number,
				      uint64_t patience_ms, uint64_t now_ms);

/* How long the next try waits at most, so that enough of them are in the patience. UINT64_MAX: as
 * long as the caller likes, since no more windows can be set aside. */
uint64_t suspects_wait_max_ms(const struct suspects *s, uint64_t patience_ms);

/* The server has taken so many windows. more: others wait, of which one may be looked for. */
void suspects_taken(struct suspects *s, size_t windows, bool more);

/* The one that is to be tried now; 0: none. */
unsigned suspects_due(const struct suspects *s, uint64_t now_ms);

/* How long until one is due; UINT64_MAX: there is none. */
uint64_t suspects_next_ms(const struct suspects *s, uint64_t now_ms);

/* One was tried in vain, later again. counts: it has failed, and the server did answer. True: it is
 * to be given up. */
bool suspects_postpone(struct suspects *s, unsigned number, bool counts, uint64_t patience_ms,
		       uint64_t now_ms);

/* It does not wait any more; it may be none of them. */
void suspects_forget(struct suspects *s, unsigned number);

#endif
