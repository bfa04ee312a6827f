/*
 * The database of windows: one SQLite file, how it is written, and what goes when it is too much.
 * daemon/store/query.h asks it.
 *
 * windows has a row for each window that was given a number, with what lists show of it; records
 * has the whole of those that ran (daemon/store/record.h). A window that has begun has a row from
 * the start, so whatever is not ended when a daemon starts was cut off by the end of the last one.
 *
 * A struct database is one connection: one thread at a time. One writes, any number read beside it
 * (write-ahead log), each sees whole transactions only. What it returns besides: -EIO, -ENOSPC,
 * -EBUSY when another process holds the file locked, -EBADMSG when the file is damaged, always with
 * a line in err.
 */
#ifndef JXPERF_DAEMON_STORE_DATABASE_H
#define JXPERF_DAEMON_STORE_DATABASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"
#include "daemon/store/schema.h"
#include "profile/window/result.h"

struct database;

/* 0 with a connection of the caller's. -EPROTONOSUPPORT for a file of a later version, and
 * -EPROTO of one that is too early, which are left as they are; -EBADMSG for one that is none of
 * ours, or damaged. */
int database_open(const char *path, enum database_use use, struct database **db, struct err *err);
void database_close(struct database *db);

/* What is written between these is there whole or not at all. */
int database_begin(struct database *db, struct err *err);
int database_commit(struct database *db, struct err *err);
void database_roll_back(struct database *db);

/* Keeps w as it is now, in the place of what was kept of it before: record is record_encode's, NULL
 * for one without anything to show. */
int database_put(struct database *db, const struct window_result *w, const uint8_t *record,
		 size_t record_bytes, struct err *err);

/* What a list shows of a window. */
struct database_row {
	unsigned number;
	pid_t pid;
	uid_t owner;
	enum window_state state;
	Jxp__Sampler sampler;
	char app[WINDOW_LABEL_BYTES];
	char reason[WINDOW_REASON_BYTES];
	uint64_t start_unix_ns;
	uint64_t elapsed_ns;
	uint64_t duration_ns;
	uint64_t samples;
	uint64_t traps;
	uint32_t kinds;                   /* kinds_mask; 0: not known any more */
	uint64_t asker;                   /* uid + 1; 0: not known any more */
	char schedule[WINDOW_NAME_BYTES]; /* "": somebody asked */
	char version[WINDOW_NAME_BYTES];  /* of the application; "": not known */
};

/* Of a window that was put from what was read: what only its row knew, who asked for it, and where
 * it has no record what it was for and came to. 0 or -errno. */
int database_put_known(struct database *db, const struct database_row *row, struct err *err);

/* The highest number that a window has; 0 without any. */
int database_highest(struct database *db, unsigned *number, struct err *err);

/* Windows below a number that a daemon that died left unfinished: those with a record end as
 * WINDOW_SALVAGED when it was written last, the others have failed. *count is how many there were.
 */
int database_salvage(struct database *db, unsigned below, unsigned *count, struct err *err);

/* Is the file whole? Reads all of it. 0, -EBADMSG, or -errno. */
int database_check(struct database *db, struct err *err);

/* What is kept at most. 0: no limit. */
struct database_limits {
	uint64_t age_ns;  /* since the end of a window */
	uint64_t bytes;   /* of the file */
	unsigned per_app; /* windows */
	double free_part; /* of the file system that is left to others: the writer's to see to */
};

/* Deletes what is beyond the limits, the oldest first and at most DATABASE_RETIRE_MAX windows at a
 * time; *count is how many went. Ones that run stay. In no transaction. */
#define DATABASE_RETIRE_MAX 256
int database_retire(struct database *db, const struct database_limits *limits, uint64_t now_unix_ns,
		    unsigned *count, struct err *err);

/* What metrics were when they were written last. */
#define DATABASE_NOTE_METRICS "metrics"
/* What is known of the clock (daemon/store/clock_trust.h). */
#define DATABASE_NOTE_CLOCK "clock"
/* Which store it is (daemon/store/queue.h). */
#define DATABASE_NOTE_STORE "store"

/* Texts beside the windows, kept under a name. The value is to be freed, NULL
 * when there is none. */
int database_put_note(struct database *db, const char *name, const void *value, size_t size,
		      struct err *err);
int database_note(struct database *db, const char *name, void **value, size_t *size,
		  struct err *err);

/* Bytes that windows take of the file, and how many windows there are. */
int database_size(struct database *db, uint64_t *bytes, uint64_t *windows, struct err *err);

#endif
