#include "daemon/store/database.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "daemon/store/connection.h"
#include "daemon/store/schema.h"
#include "daemon/store/sql.h"
#include "proto/counters.h"

/* How long another process may hold the file before it counts as locked. */
#define BUSY_MS 2000

/* ---------------------------------------------------------------- opening */

int database_open(const char *path, enum database_use use, struct database **out, struct err *err)
{
	/* What is in the log of a damaged one has to be put in its place first. */
	int flags = use == DATABASE_READ ? SQLITE_OPEN_READONLY
					 : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
	struct database *db = calloc(1, sizeof(*db));
	int r;

	if (!db)
		return err_set(err, ENOMEM, "out of memory for the database of windows");
	if (sqlite3_open_v2(path, &db->sqlite, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) {
		r = db->sqlite ? sql_fail(db->sqlite, err, "open the database of windows")
			       : err_set(err, ENOMEM, "out of memory for the database of windows");
		database_close(db);
		return r;
	}
	(void)sqlite3_busy_timeout(db->sqlite, BUSY_MS);
	(void)sqlite3_extended_result_codes(db->sqlite, 1);
	r = schema_prepare(db->sqlite, use, err);
	if (r < 0) {
		database_close(db);
		return r;
	}
	*out = db;
	return 0;
}

void database_close(struct database *db)
{
	if (!db)
		return;
	(void)sqlite3_close(db->sqlite); /* No statement is left, so it is not busy. */
	free(db);
}

int database_begin(struct database *db, struct err *err)
{
	return sql_execute(db->sqlite, "BEGIN IMMEDIATE", "write to the database of windows", err);
}

int database_commit(struct database *db, struct err *err)
{
	int r = sql_execute(db->sqlite, "COMMIT", "write to the database of windows", err);

	if (r < 0)
		database_roll_back(db);
	return r;
}

void database_roll_back(struct database *db)
{
	/* Where an error has rolled back already there is nothing to do. */
	(void)sqlite3_exec(db->sqlite, "ROLLBACK", NULL, NULL, NULL);
}

/* ---------------------------------------------------------------- windows */

static int put_row(struct database *db, const struct window_result *w, size_t record_bytes,
		   struct err *err)
{
	_cleanup_statement_ sqlite3_stmt *s = NULL;
	int r = sql_prepare(
	    db->sqlite,
	    "INSERT INTO windows (number, app, owner, pid, state, reason,"
	    " schedule, sampler, start_unix_ns, end_unix_ns, elapsed_ns, duration_ns,"
	    " samples, traps, record_bytes, kinds, asker, version, weight_s)"
	    " VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19)"
	    " ON CONFLICT (number) DO UPDATE SET app = ?2, owner = ?3, pid = ?4,"
	    " state = ?5, reason = ?6, schedule = ?7, sampler = ?8,"
	    " start_unix_ns = ?9, end_unix_ns = ?10, elapsed_ns = ?11,"
	    " duration_ns = ?12, samples = ?13, traps = ?14, record_bytes = ?15,"
	    " kinds = ?16, asker = ?17, version = ?18, weight_s = ?19",
	    &s, err);

	if (r < 0)
		return r;
	sql_bind_number(s, 1, w->number);
	sql_bind_text(s, 2, w->app);
	sql_bind_number(s, 3, w->owner);
	sql_bind_number(s, 4, (uint64_t)w->pid);
	sql_bind_number(s, 5, w->state);
	sql_bind_text(s, 6, w->reason);
	sql_bind_text(s, 7, w->request.schedule.name);
	sql_bind_number(s, 8, (uint64_t)w->findings.sampler);
	sql_bind_number(s, 9, w->start_unix_ns);
	sql_bind_number(s, 10, w->end_unix_ns);
	sql_bind_number(s, 11, window_result_elapsed_ns(w));
	sql_bind_number(s, 12, w->request.duration_ns);
	sql_bind_number(s, 13, window_result_samples(w));
	sql_bind_number(s, 14, counters_pairs(w->counters));
	sql_bind_number(s, 15, record_bytes);
	sql_bind_number(s, 16, kinds_mask(w->request.kinds));
	sql_bind_number(s, 17, (uint64_t)w->asker.uid + 1);
	sql_bind_text(s, 18, w->version);
	sql_bind_real(s, 19, w->request.schedule.weight_s);
	return sql_run(s, "keep a window", err);
}

int database_put(struct database *db, const struct window_result *w, const uint8_t *record,
		 size_t record_bytes, struct err *err)
{
	_cleanup_statement_ sqlite3_stmt *s = NULL;
	int r = put_row(db, w, record ? record_bytes : 0, err);

	if (r < 0 || !record)
		return r;
	r = sql_prepare(db->sqlite,
			"INSERT OR REPLACE INTO records (number, record) VALUES (?1, ?2)", &s, err);
	if (r < 0)
		return r;
	sql_bind_number(s, 1, w->number);
	if (record_bytes > INT_MAX ||
	    sqlite3_bind_blob(s, 2, record, (int)record_bytes, SQLITE_STATIC) != SQLITE_OK)
		return err_set(err, EMSGSIZE, "cannot keep a window: it is too large");
	return sql_run(s, "keep a window", err);
}

int database_put_known(struct database *db, const struct database_row *row, struct err *err)
{
	_cleanup_statement_ sqlite3_stmt *s = NULL;
	int r = sql_prepare(db->sqlite,
			    "UPDATE windows SET asker = ?2,"
			    " kinds = CASE WHEN record_bytes THEN kinds ELSE ?3 END,"
			    " schedule = CASE WHEN record_bytes THEN schedule ELSE ?4 END,"
			    " samples = CASE WHEN record_bytes THEN samples ELSE ?5 END,"
			    " traps = CASE WHEN record_bytes THEN traps ELSE ?6 END"
			    " WHERE number = ?1",
			    &s, err);

	if (r < 0)
		return r;
	sql_bind_number(s, 1, row->number);
	sql_bind_number(s, 2, row->asker);
	sql_bind_number(s, 3, row->kinds);
	sql_bind_text(s, 4, row->schedule);
	sql_bind_number(s, 5, row->samples);
	sql_bind_number(s, 6, row->traps);
	return sql_run(s, "keep a window", err);
}

int database_highest(struct database *db, unsigned *number, struct err *err)
{
	uint64_t highest = 0;
	int r = sql_number(db->sqlite, "SELECT max(number) FROM windows", &highest, err);

	if (r < 0)
		return r;
	*number = highest > UINT_MAX ? UINT_MAX : (unsigned)highest;
	return 0;
}

int database_salvage(struct database *db, unsigned below, unsigned *count, struct err *err)
{
	_cleanup_statement_ sqlite3_stmt *s = NULL;
	int r =
	    sql_prepare(db->sqlite,
			"UPDATE windows SET"
			" state = CASE WHEN record_bytes > 0 THEN ?1 ELSE ?2 END,"
			" end_unix_ns = start_unix_ns + elapsed_ns,"
			" reason = CASE WHEN record_bytes > 0"
			" THEN 'the daemon ended in its middle; this is what was kept until then'"
			" ELSE 'the daemon ended before anything of it was kept' END"
			" WHERE state IN (?3, ?4) AND number < ?5",
			&s, err);

	if (r < 0)
		return r;
	sql_bind_number(s, 1, WINDOW_SALVAGED);
	sql_bind_number(s, 2, WINDOW_FAILED);
	sql_bind_number(s, 3, WINDOW_ATTACHING);
	sql_bind_number(s, 4, WINDOW_RUNNING);
	sql_bind_number(s, 5, below);
	r = sql_run(s, "mark windows that were cut off", err);
	if (r == 0)
		*count = (unsigned)sqlite3_changes(db->sqlite);
	return r;
}

int database_check(struct database *db, struct err *err)
{
	_cleanup_statement_ sqlite3_stmt *s = NULL;
	char text[128];
	int r = sql_prepare(db->sqlite, "PRAGMA quick_check(1)", &s, err);

	if (r == 0)
		r = sql_row(s, err);
	if (r < 0)
		return r;
	sql_text_at(s, 0, text, sizeof(text));
	return strcmp(text, "ok") == 0
		   ? 0
		   : err_set(err, EBADMSG, "the database of windows is damaged: %s", text);
}

/* ---------------------------------------------------------------- what is beyond the limits */

/* Deletes the oldest windows that a condition names, and that run no more. */
#define RETIRE(condition)                                                        \
	"DELETE FROM windows WHERE number IN (SELECT number FROM windows WHERE " \
	"state NOT IN (0, 1) AND " condition " ORDER BY start_unix_ns LIMIT ?1)"

/* So many of them, if there is room: ?2 is the value, and ?3 an application where there is one. */
static int retire(struct database *db, const char *sql, uint64_t wanted, uint64_t value,
		  const char *app, unsigned *count, struct err *err)
{
	_cleanup_statement_ sqlite3_stmt *s = NULL;
	uint64_t room = DATABASE_RETIRE_MAX - *count;
	int r = sql_prepare(db->sqlite, sql, &s, err);

	if (r < 0)
		return r;
	sql_bind_number(s, 1, wanted < room ? wanted : room);
	sql_bind_number(s, 2, value);
	if (app)
		sql_bind_text(s, 3, app);
	r = sql_run(s, "delete old windows", err);
	if (r == 0)
		*count += (unsigned)sqlite3_changes(db->sqlite);
	return r;
}

static int retire_by_age(struct database *db, uint64_t age_ns, uint64_t now_unix_ns,
			 unsigned *count, struct err *err)
{
	if (age_ns == 0 || age_ns >= now_unix_ns)
		return 0;
	return retire(db, RETIRE("start_unix_ns + elapsed_ns < ?2"), DATABASE_RETIRE_MAX,
		      now_unix_ns - age_ns, NULL, count, err);
}

/* The oldest windows of an owner's application that has too many. The index alone tells which
 * applications have more, so that rows are read of these only: it is done after each batch. */
static int retire_by_count(struct database *db, unsigned per_app, unsigned *count, struct err *err)
{
	_cleanup_statement_ sqlite3_stmt *s = NULL;
	char app[WINDOW_LABEL_BYTES];
	int r = per_app == 0 ? 0
			     : sql_prepare(db->sqlite,
					   "SELECT app, owner, count(*) - ?1 FROM windows"
					   " WHERE app IN (SELECT app FROM windows"
					   "  GROUP BY app HAVING count(*) > ?1)"
					   " GROUP BY app, owner HAVING count(*) > ?1",
					   &s, err);

	if (r < 0 || per_app == 0)
		return r;
	sql_bind_number(s, 1, per_app);
	while (*count < DATABASE_RETIRE_MAX && (r = sql_row(s, err)) > 0) {
		sql_text_at(s, 0, app, sizeof(app));
		r = retire(db, RETIRE("owner = ?2 AND app = ?3"), sql_number_at(s, 2),
			   sql_number_at(s, 1), app, count, err);
		if (r < 0)
			return r;
	}
	return r < 0 ? r : 0;
}

/* What a window takes beside its record. */
#define ROW_BYTES 512

struct holding {
	uint64_t owner, bytes, windows;
};

/* The two owners whose ended windows take most; where there is none, found stays as it is. */
static int find_heaviest(struct database *db, struct holding found[2], struct err *err)
{
	_cleanup_statement_ sqlite3_stmt *s = NULL;
	int r = sql_prepare(db->sqlite,
			    "SELECT owner, sum(record_bytes + ?1) AS held, count(*) FROM windows"
			    " WHERE state NOT IN (0, 1) GROUP BY owner ORDER BY held DESC LIMIT 2",
			    &s, err);

	if (r < 0)
		return r;
	sql_bind_number(s, 1, ROW_BYTES);
	for (size_t i = 0; i < 2; i++) {
		r = sql_row(s, err);
		if (r <= 0)
			return r;
		found[i] =
		    (struct holding){sql_number_at(s, 0), sql_number_at(s, 1), sql_number_at(s, 2)};
	}
	return 0;
}

/* The oldest windows of whoever has most, down to what the next one has: what one user keeps drives
 * out no other's. *beyond is what is too much still. */
static int retire_of_heaviest(struct database *db, uint64_t *beyond, unsigned *count,
			      struct err *err)
{
	struct holding most[2] = {{0}};
	uint64_t each, some, wanted;
	int r = find_heaviest(db, most, err);

	if (r < 0 || most[0].windows == 0) {
		*beyond = 0;
		return r;
	}
	each = most[0].bytes / most[0].windows + 1;
	some = most[0].bytes - most[1].bytes;
	wanted = (some < *beyond ? some : *beyond) / each + 1;
	r = retire(db, RETIRE("owner = ?2"), wanted, most[0].owner, NULL, count, err);
	*beyond -= wanted * each < *beyond ? wanted * each : *beyond;
	return r;
}

/* A sixteenth more than what is too much, so that it is not done for each window again. */
static int retire_by_size(struct database *db, uint64_t limit, unsigned *count, struct err *err)
{
	uint64_t bytes = 0, windows = 0, beyond;
	int r = limit == 0 ? 0 : database_size(db, &bytes, &windows, err);

	if (r < 0 || limit == 0 || bytes <= limit)
		return r;
	beyond = bytes - limit + limit / 16;
	while (r == 0 && beyond > 0 && *count < DATABASE_RETIRE_MAX)
		r = retire_of_heaviest(db, &beyond, count, err);
	return r;
}

int database_retire(struct database *db, const struct database_limits *limits, uint64_t now_unix_ns,
		    unsigned *count, struct err *err)
{
	int r;

	*count = 0;
	if ((r = retire_by_age(db, limits->age_ns, now_unix_ns, count, err)) < 0 ||
	    (r = retire_by_count(db, limits->per_app, count, err)) < 0 ||
	    (r = retire_by_size(db, limits->bytes, count, err)) < 0)
		return r;
	if (*count == 0)
		return 0;
	/* What is free at the end of the file goes back to the file system. */
	return sql_execute(db->sqlite, "PRAGMA incremental_vacuum",
			   "give back the room of old windows", err);
}

/* ---------------------------------------------------------------- the rest */

int database_put_note(struct database *db, const char *name, const void *value, size_t size,
		      struct err *err)
{
	_cleanup_statement_ sqlite3_stmt *s = NULL;
	int r = sql_prepare(db->sqlite,
			    "INSERT OR REPLACE INTO notes (name, value) VALUES (?1, ?2)", &s, err);

	if (r < 0)
		return r;
	sql_bind_text(s, 1, name);
	if (size > INT_MAX || sqlite3_bind_blob(s, 2, value, (int)size, SQLITE_STATIC) != SQLITE_OK)
		return err_set(err, EMSGSIZE, "cannot keep '%s': it is too large", name);
	return sql_run(s, "keep what metrics were", err);
}

int database_note(struct database *db, const char *name, void **value, size_t *size,
		  struct err *err)
{
	_cleanup_statement_ sqlite3_stmt *s = NULL;
	int r = sql_prepare(db->sqlite, "SELECT value FROM notes WHERE name = ?1", &s, err);
	size_t bytes;
	void *copy;

	if (r < 0)
		return r;
	sql_bind_text(s, 1, name);
	r = sql_row(s, err);
	if (r < 0)
		return r;
	bytes = r > 0 ? (size_t)sqlite3_column_bytes(s, 0) : 0;
	copy = bytes ? malloc(bytes) : NULL;
	if (bytes && !copy)
		return err_set(err, ENOMEM, "out of memory for '%s'", name);
	if (bytes)
		memcpy(copy, sqlite3_column_blob(s, 0), bytes);
	*value = copy;
	*size = bytes;
	return 0;
}

int database_size(struct database *db, uint64_t *bytes, uint64_t *windows, struct err *err)
{
	uint64_t pages = 0, free_pages = 0, page_bytes = 0;
	int r;

	if ((r = sql_number(db->sqlite, "PRAGMA page_count", &pages, err)) < 0 ||
	    (r = sql_number(db->sqlite, "PRAGMA freelist_count", &free_pages, err)) < 0 ||
	    (r = sql_number(db->sqlite, "PRAGMA page_size", &page_bytes, err)) < 0 ||
	    (r = sql_number(db->sqlite, "SELECT count(*) FROM windows", windows, err)) < 0)
		return r;
	*bytes = (pages - free_pages) * page_bytes;
	return 0;
}
