/*
 * The thread that writes to the database of windows, so that the event loop never waits for a disk.
 *
 * It is given one batch at a time, which is written in one transaction: all of it is kept, or
 * nothing. What is in the batch stays the caller's and may not change until it is done. A database
 * that turns out to be damaged is salvaged (daemon/store/salvage.h) and the batch written again.
 */
#ifndef JXPERF_DAEMON_STORE_WRITER_H
#define JXPERF_DAEMON_STORE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "common/err.h"
#include "daemon/store/clock_trust.h"
#include "daemon/store/database.h"
#include "daemon/store/queue.h"
#include "daemon/store/salvage.h"
#include "daemon/store/state_dir.h"

#define WRITER_WINDOWS_MAX 80

struct writer;

/* Windows that have arrived at a destination, or never will. */
struct writer_arrival {
	char destination[QUEUE_NAME_BYTES];
	unsigned *numbers;
	size_t count;
};

#define WRITER_ARRIVALS_MAX (2 * QUEUE_DESTINATIONS_MAX)

struct writer_batch {
	const struct window_result *windows[WRITER_WINDOWS_MAX]; /* finished, or snapshots */
	size_t count;
	const void *metrics; /* what they are; NULL: as they were */
	size_t metrics_bytes;
	unsigned next_number;   /* no later daemon gives out a lower one; 0: as it was */
	bool check;             /* first see whether the whole file can be read */
	unsigned salvage_below; /* what is below and unfinished was cut off; 0: that was seen to */
	bool want_metrics; /* an earlier daemon's, since the database could not be opened before */
	struct queue_destinations destinations; /* windows that have ended wait for these */
	bool forget_others; /* what waits for others goes: there was another set of them before */
	const struct writer_arrival *arrivals;
	size_t arrival_count;
	struct database_limits limits; /* of age as far as the clock is to be trusted */

	/* What came of it. */
	int result; /* 0: it is on the disk; else -errno, and */
	struct err err;
	struct salvage_account salvage;
	unsigned salvaged;   /* windows that were cut off */
	void *metrics_found; /* as wanted, to be freed; NULL when there are none */
	size_t metrics_found_bytes;
	enum clock_verdict clock; /* what is new of the clock, and by how much it was set; */
	int64_t clock_set_ns;
	bool clock_trusted; /* may windows go for their age? */
	bool disk_low;      /* nothing was written for want of free disk */
	uint64_t future;    /* windows that begin later than now */
	unsigned retired;   /* windows deleted for the limits, after the batch */
	uint64_t bytes;     /* of the database then, */
	uint64_t log_bytes; /* of its log, */
	struct state_dir_aside set_aside;
	uint64_t windows_kept;
	struct queue_forgotten forgotten[QUEUE_DESTINATIONS_MAX];
	bool queues_known; /* what waits could be read: else the next two say nothing */
	struct queue_state queued[QUEUE_DESTINATIONS_MAX]; /* as destinations */
	uint64_t dropped[QUEUE_DESTINATIONS_MAX];          /* that waited, of those retired */
	uint64_t took_ns;
};

/* Takes db, which is of the directory, or NULL where it could not be opened: then each batch begins
 * with another attempt; dir is borrowed. done runs from the loop after each batch.
 */
int writer_new(struct writer **out, uv_loop_t *loop, const struct state_dir *dir,
	       struct database *db, void (*done)(void *arg), void *arg, struct err *err);

/* Starts to write; no other batch may be under way. */
void writer_start(struct writer *w, struct writer_batch *batch);

/* Waits for the batch that is under way, if there is one; done is not called any more. */
void writer_wait(struct writer *w);

/* Writes another one after writer_wait, on the calling thread. */
void writer_write_now(struct writer *w, struct writer_batch *batch);

/* After writer_wait. Some memory goes when the loop has closed a handle. free(NULL) is safe. */
void writer_free(struct writer *w);

#endif
