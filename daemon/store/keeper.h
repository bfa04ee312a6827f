/*
 * What is kept of windows when the daemon is gone: a sink (profile/window/sink.h) that has each
 * window written to the state directory when it has begun, every KEEPER_FLUSH_MS while it runs and
 * changes, and at its end; and the sums of metrics with it, in the same transaction. A flush writes
 * a window as a whole, so large ones are flushed more seldom (KEEPER_FLUSH_BYTES_PER_S).
 *
 * Writing is the writer's thread's (daemon/store/writer.h). What cannot be written, because the
 * disk is full or the file locked, stays in memory and is tried again every KEEPER_RETRY_MS; beyond
 * KEEPER_WAITING_MAX finished windows or KEEPER_WAITING_BYTES of them one is lost, the oldest of
 * the owner who has most, and counted.
 *
 * Loop thread only.
 */
#ifndef JXPERF_DAEMON_STORE_KEEPER_H
#define JXPERF_DAEMON_STORE_KEEPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "common/err.h"
#include "daemon/store/database.h"
#include "daemon/store/queue.h"
#include "daemon/store/state_dir.h"
#include "profile/window/sink.h"

#define KEEPER_FLUSH_MS 5000
#define KEEPER_RETRY_MS 1000
/* What flushes of one window write at most, of its memory: one of 1 MiB and less is flushed every
 * KEEPER_FLUSH_MS, one of 40 MiB every 160 s. */
#define KEEPER_FLUSH_BYTES_PER_S ((uint64_t)256 << 10)
#define KEEPER_WAITING_MAX       256
#define KEEPER_WAITING_BYTES     WINDOW_BYTES_MAX
/* Copies of running windows that one flush writes; those beyond have their turn at a later one. */
#define KEEPER_COPIES_BYTES WINDOW_BYTES_MAX

struct keeper;

/* Sums that are kept with windows. What is shown of them to others should be what is kept, so that
 * they never fall. */
struct keeper_metrics {
	void *arg;
	/* What they are, to be freed. 0 or -ENOMEM. */
	int (*encode)(void *arg, void **bytes, size_t *size);
	/* An earlier daemon's, which could not be read at the start, to be added; NULL: nobody
	 * wants them. */
	void (*found)(void *arg, const void *bytes, size_t size);
	/* What was encoded last is on the disk; or cannot be written at present (failing). */
	void (*kept)(void *arg, bool failing);
};

struct keeper_settings {
	const char *directory;
	struct database_limits limits;
	struct queue_destinations destinations; /* windows that have ended wait for these */
	uint64_t flush_ms;                      /* 0: KEEPER_FLUSH_MS */
};

/* Counts since the daemon started, and what is there now. */
struct keeper_stats {
	uint64_t written;  /* finished windows and failed ones */
	uint64_t lost;     /* finished ones that there was no more room for */
	uint64_t salvaged; /* that an earlier daemon left unfinished */
	uint64_t retired;  /* deleted because of the limits */
	uint64_t errors;   /* batches that could not be written */
	uint64_t damages;  /* times that the database was found damaged */
	uint64_t waiting;  /* finished windows that are not written yet */
	uint64_t bytes;
	uint64_t log_bytes;
	struct state_dir_aside set_aside;
	uint64_t windows;
	uint64_t future;     /* windows of these that begin later than now */
	bool clock_doubted;  /* windows do not go for their age (daemon/store/clock_trust.h) */
	double last_write_s; /* how long the last batch took */
	bool failing;        /* the last batch could not be written, */
	bool disk_low;       /* because others are to have the rest of the disk */
};

/* Opens the directory and its database, makes them if need be, and says in the log what was found
 * damaged or unfinished. A database that cannot be opened for the time being (the disk is full,
 * somebody has locked it) is tried again. 0, or -errno with a line: nothing is kept then.
 * -EPROTONOSUPPORT for a directory of a later version, which is left as it is. */
int keeper_new(struct keeper **out, uv_loop_t *loop, const struct keeper_settings *settings,
	       struct err *err);

/* Writes what waits, once more and at once, then frees. free(NULL) is safe. */
void keeper_free(struct keeper *k);

/* k has to outlive the engine's calls. */
struct window_sink keeper_sink(struct keeper *k);

/* The first number that is free for this daemon's windows. */
unsigned keeper_first_number(const struct keeper *k);

/* What an earlier daemon's metrics were; NULL without any. Borrowed. */
const void *keeper_metrics_found(const struct keeper *k, size_t *size);

/* m's functions are called from now on. */
void keeper_add_metrics(struct keeper *k, const struct keeper_metrics *m);

/* In force from the next batch on; what is beyond them goes bit by bit, every KEEPER_FLUSH_MS. */
void keeper_set_limits(struct keeper *k, const struct database_limits *limits);

/* Where the database is, for those who read it. */
const char *keeper_database(const struct keeper *k);

/* Windows wait to be sent to these from the next batch on. What waits for others goes, which is
 * said in the log. */
void keeper_set_destinations(struct keeper *k, const struct queue_destinations *to);

/* Windows have arrived at a destination, or never will: they leave its queue with the next batch.
 * Returns a ticket for keeper_has_written; 0 when there is no memory or room for more of that. */
uint64_t keeper_arrived(struct keeper *k, const char *destination, const unsigned *numbers,
			size_t count);

/* Is that on the disk? */
bool keeper_has_written(const struct keeper *k, uint64_t ticket);

/* Runs from the loop after each batch that was written: there may be something new in a queue. */
void keeper_on_written(struct keeper *k, void (*written)(void *arg), void *arg);

/* What waits for a destination, as of the last batch, and how many the limits have deleted while
 * they waited, since the daemon started. Zeros of one that is none. */
struct keeper_queue {
	struct queue_state state;
	uint64_t dropped;
};
struct keeper_queue keeper_queue(const struct keeper *k, const char *destination);

struct keeper_stats keeper_stats(const struct keeper *k);

#endif
