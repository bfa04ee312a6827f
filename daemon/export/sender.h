/*
 * Has windows arrive at one destination: reads what waits and makes requests of it on a thread of
 * the pool, sends them one after the other, and says which have arrived. What fails is tried again,
 * later each time (daemon/export/retry.h). What is refused is tried again with fewer windows, so
 * that only those go that are at fault.
 *
 * In memory are the windows of one batch until they are encoded, and then its requests.
 *
 * Loop thread only, but for what it does on the pool.
 */
#ifndef JXPERF_DAEMON_EXPORT_SENDER_H
#define JXPERF_DAEMON_EXPORT_SENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "daemon/export/settings.h"
#include "daemon/export/source.h"

struct sender;
struct transfers;

/* Why a batch was not taken. */
enum sender_failure {
	FAILURE_NO_CONNECTION,
	FAILURE_TLS,
	FAILURE_TIMEOUT,
	FAILURE_BROKEN,
	FAILURE_ANSWER_TOO_LONG,
	FAILURE_BUSY,      /* 408, 429, 503 */
	FAILURE_DENIED,    /* 401, 403, 407 */
	FAILURE_SERVER,    /* 5xx */
	FAILURE_STATUS,    /* another status that the format tries again */
	FAILURE_TOO_LARGE, /* then with fewer windows */
	FAILURE_REFUSED,   /* likewise */
	FAILURE_LOCAL,     /* of ours: no memory, a password that cannot be read, a full disk */
	FAILURES,
};
const char *sender_failure_name(enum sender_failure failure);

/* Why a window went out of the queue without having arrived. */
enum sender_drop {
	DROP_LIMITS, /* the store's, which the sender knows nothing of */
	DROP_TOO_OLD,
	DROP_REFUSED,
	DROP_TOO_LARGE,
	DROP_UNREADABLE,
	DROP_FAILED, /* again and again, while others were taken (daemon/export/suspects.h) */
	DROPS,
};
const char *sender_drop_name(enum sender_drop drop);

/* Since the daemon started. */
struct sender_stats {
	uint64_t sent;  /* windows */
	uint64_t bytes; /* of bodies that were acknowledged */
	uint64_t failed[FAILURES];
	uint64_t dropped[DROPS];
	uint64_t cut;          /* rows or samples that a limit of the format left out, */
	uint64_t lost;         /* or that the server says it has left out */
	uint64_t last_unix_ns; /* when windows arrived last; 0: never */
	uint64_t set_aside;    /* windows that wait behind the others, having failed alone */
	bool failing;
	char why[ERR_MESSAGE_MAX]; /* while failing */
};

/* Takes source in any case. NULL without memory. */
struct sender *sender_new(uv_loop_t *loop, struct transfers *transfers,
			  const struct sender_settings *settings, const struct source *source,
			  const struct sender_stats *stats);

/* Abandons what is under way. Some memory goes when the loop has closed a handle and the pool has
 * ended what it does. free(NULL) is safe. */
void sender_free(struct sender *s);

/* Something new may wait, or have been noted. */
void sender_wake(struct sender *s);

const struct sender_settings *sender_settings(const struct sender *s);
const struct sender_stats *sender_stats(const struct sender *s);

#endif
