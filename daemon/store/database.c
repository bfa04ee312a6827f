#include "daemon/store/database.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/proc.h"
#include "daemon/store/connection.h"
#include "daemon/store/record.h"
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

#define ROW_COLUMNS                                                        \
	"number, app, owner, pid, state, reason, sampler, start_unix_ns, " \
	"elapsed_ns, duration_ns, samples, traps, kinds, asker, schedule, version"

static void read_row(sqlite3_stmt *s, struct database_row *row)
{
	*row = (struct database_row){.number = (unsigned)sql_number_at(s, 0),
				     .owner = (uid_t)sql_number_at(s, 2),
				     .pid = (pid_t)sql_number_at(s, 3),
				     .state = WINDOW_FAILED, /* of what is none */
				     .sampler = (Jxp__Sampler)sql_number_at(s, 6),
				     .start_unix_ns = sql_number_at(s, 7),
				     .elapsed_ns = sql_number_at(s, 8),
				     .duration_ns = sql_number_at(s, 9),
				     .samples = sql_number_at(s, 10),
				     .traps = sql_number_at(s, 11),
				     .kinds = (uint32_t)sql_number_at(s, 12),
				     .asker = sql_number_at(s, 13)};
	if (sql_number_at(s, 4) < WINDOW_STATES)
		row->state = (enum window_state)sql_number_at(s, 4);
	sql_text_at(s, 1, row->app, sizeof(row->app));
	sql_text_at(s, 5, row->reason, sizeof(row->reason));
	sql_text_at(s, 14, row->schedule, sizeof(row->schedule));
	sql_text_at(s, 15, row->version, sizeof(row->version));
}

/* Of columns and conditions, and of the names of applications, each a character and a comma. */
#define SQL_BYTES      2048
#define SQL_NAME_BYTES sizeof(" OR app = ?265 OR app GLOB ?265")

/* The next of the names in text, which has room for it; false behind the last. */
static bool next_app(const char **text, char name[DATABASE_APPS_BYTES])
{
	size_t length;

	*text += strspn(*text, ",");
	length = strcspn(*text, ",");
	(void)snprintf(name, DATABASE_APPS_BYTES, "%.*s", (int)length, *text); /* Fits. */
	*text += length;
	return length > 0;
}

/* A name with signs that stand for others is its own, too. */
bool database_filter_means_app(const struct database_filter *f, const char *app)
{
	const char *at = f->app;
	char name[DATABASE_APPS_BYTES];

	if (!f->app[0] || strcmp(f->app, app) == 0)
		return true;
	while (next_app(&at, name))
		if (strcmp(name, app) == 0 || sqlite3_strglob(name, app) == 0)
			return true;
	return false;
}

bool database_filter_means_kinds(const struct database_filter *f, uint32_t kinds)
{
	return f->kinds == 0 || kinds == 0 || (f->kinds & kinds) != 0;
}

/* Names are bound from this place on. */
#define APPS_AT 10

static bool is_one_app(const char *app)
{
	return !app[strcspn(app, ",*?[")];
}

/* The condition that an application is meant. */
static void say_apps(FILE *sql, const struct database_filter *f)
{
	const char *at = f->app;
	char name[DATABASE_APPS_BYTES];

	if (!f->app[0])
		return;
	fputs("(app = ?1", sql);
	for (int i = APPS_AT; !is_one_app(f->app) && next_app(&at, name); i++)
		fprintf(sql, " OR app = ?%d OR app GLOB ?%d", i, i);
	fputs(") AND ", sql);
}

static void bind_filter(sqlite3_stmt *s, const struct database_filter *f)
{
	const char *at = f->app;
	char name[DATABASE_APPS_BYTES];

	if (f->app[0])
		sql_bind_text(s, 1, f->app);
	for (int i = APPS_AT; !is_one_app(f->app) && next_app(&at, name); i++)
		(void)sqlite3_bind_text(s, i, name, -1, SQLITE_TRANSIENT); /* Then NULL. */
	sql_bind_number(s, 2, f->since_unix_ns);
	sql_bind_number(s, 3, f->until_unix_ns ? f->until_unix_ns : INT64_MAX);
	if (f->owner != PROC_ANY_UID)
		sql_bind_number(s, 4, f->owner);
	sql_bind_number(s, 5, f->recorded);
	if (f->kinds)
		sql_bind_number(s, 7, f->kinds);
	if (f->schedule[0])
		sql_bind_text(s, 8, f->schedule);
}

/* A statement with the filter's values bound, at the places 1 to 5, 7, 8 and from APPS_AT on. What
 * is not asked for is no condition at all, so that the index of what is can be used. */
static int prepare_filtered(struct database *db, const char *columns, const char *ending,
			    const struct database_filter *f, sqlite3_stmt **s, struct err *err)
{
	char text[SQL_BYTES + DATABASE_APPS_BYTES / 2 * SQL_NAME_BYTES];
	FILE *sql = fmemopen(text, sizeof(text), "w");
	int r;

	if (!sql)
		return err_set(err, ENOMEM, "out of memory for the database of windows");
	fprintf(sql, "SELECT %s FROM windows WHERE ", columns);
	say_apps(sql, f);
	fprintf(sql,
		"%s%s%sstart_unix_ns >= ?2 AND start_unix_ns < ?3"
		" AND (?5 = 0 OR record_bytes > 0) %s",
		f->owner != PROC_ANY_UID ? "owner = ?4 AND " : "",
		f->kinds ? "(kinds = 0 OR (kinds & ?7) != 0) AND " : "",
		f->schedule[0] ? "schedule = ?8 AND " : "", ending);
	if (fclose(sql) != 0) /* There is room for all of it. */
		return err_set(err, ENOMEM, "out of memory for the database of windows");
	r = sql_prepare(db->sqlite, text, s, err);
	if (r == 0)
		bind_filter(*s, f);
	return r;
}

static int count_filtered(struct database *db, const char *what, const struct database_filter *f,
			  uint64_t *all, struct err *err)
{
	_cleanup_statement_ sqlite3_stmt *s = NULL;
	int r = prepare_filtered(db, what, "", f, &s, err);

	if (r == 0)
		r = sql_row(s, err);
	if (r > 0)
		*all = sql_number_at(s, 0);
	return r < 0 ? r : 0;
}

/* "max(kinds & 2) + max(kinds & 4)" and so on: every kind that any has. */
static void say_all_kinds(char *sql, size_t size)
{
	size_t used = 0;

	for (int kind = 1; kind < KIND_VALUES && used < size; kind++)
		used += (size_t)snprintf(sql + used, size - used, "%smax(kinds & %u)",
					 kind > 1 ? " + " : "", 1u << kind); /* Fits. */
}

int database_apps(struct database *db, const struct database_filter *filter,
		  struct database_app *apps, size_t room, size_t *count, uint64_t *all,
		  struct err *err)
{
	_cleanup_statement_ sqlite3_stmt *s = NULL;
	char kinds[SQL_BYTES / 2], columns[SQL_BYTES];
	size_t found = 0;
	int r;

	say_all_kinds(kinds, sizeof(kinds));
	(void)snprintf(columns, sizeof(columns), "app, count(*), max(start_unix_ns), %s",
		       kinds); /* Fits. */
	r = prepare_filtered(db, columns, "GROUP BY app ORDER BY app LIMIT ?6", filter, &s, err);
	if (r < 0)
		return r;
	sql_bind_number(s, 6, room);
	for (; found < room && (r = sql_row(s, err)) > 0; found++) {
		apps[found] = (struct database_app){.windows = sql_number_at(s, 1),
						    .last_unix_ns = sql_number_at(s, 2),
						    .kinds = (uint32_t)sql_number_at(s, 3)};
		sql_text_at(s, 0, apps[found].name, sizeof(apps[found].name));
	}
	if (r >= 0)
		r = count_filtered(db, "count(DISTINCT app)", filter, all, err);
	if (r == 0)
		*count = found;
	return r;
}

int database_count(struct database *db, const struct database_filter *f, uint64_t *all,
		   struct err *err)
{
	return count_filtered(db, "count(*)", f, all, err);
}

int database_list(struct database *db, const struct database_filter *f, struct database_row *rows,
		  size_t room, size_t *count, uint64_t *all, struct err *err)
{
	_cleanup_statement_ sqlite3_stmt *s = NULL;
	size_t found = 0;
	int r = prepare_filtered(db, ROW_COLUMNS,
				 "ORDER BY start_unix_ns DESC, number DESC LIMIT ?6", f, &s, err);

	if (r < 0)
		return r;
	sql_bind_number(s, 6, room);
	while (found < room && (r = sql_row(s, err)) > 0)
		read_row(s, &rows[found++]);
	if (r >= 0)
		r = database_count(db, f, all, err);
	if (r == 0)
		*count = found;
	return r;
}

int database_evidence(struct database *db, const char *schedule, uint64_t since_unix_ns,
		      uint64_t until_unix_ns, struct database_evidence *rows, size_t room,
		      size_t *count, struct err *err)
{
	_cleanup_statement_ sqlite3_stmt *s = NULL;
	size_t found = 0;
	/* Beside max() a column without a sum is that of the row which has the maximum
	 * (https://www.sqlite.org/lang_select.html#bareagg). */
	int r = sql_prepare(
	    db->sqlite,
	    "SELECT app, day, pairs_s, weight_s, max(last) FROM"
	    " (SELECT app, start_unix_ns / ?1 AS day, sum(traps * weight_s) AS pairs_s, weight_s,"
	    "  max(start_unix_ns) AS last FROM windows"
	    "  WHERE schedule = ?2 AND start_unix_ns >= ?3 AND start_unix_ns < ?4 AND weight_s > 0"
	    "  GROUP BY app, day)"
	    " GROUP BY app ORDER BY max(last) DESC, app LIMIT ?5",
	    &s, err);

	if (r < 0)
		return r;
	sql_bind_number(s, 1, DATABASE_DAY_NS);
	sql_bind_text(s, 2, schedule);
	sql_bind_number(s, 3, since_unix_ns);
	sql_bind_number(s, 4, until_unix_ns);
	sql_bind_number(s, 5, room);
	for (; found < room && (r = sql_row(s, err)) > 0; found++) {
		rows[found] = (struct database_evidence){.day = sql_number_at(s, 1),
							 .pairs_s = sql_real_at(s, 2),
							 .weight_s = sql_real_at(s, 3)};
		sql_text_at(s, 0, rows[found].app, sizeof(rows[found].app));
	}
	if (r < 0)
		return r;
	*count = found;
	return 0;
}

void database_filter_end(struct database_filter *filter, uint64_t unix_ns)
{
	if (filter->until_unix_ns == 0 || filter->until_unix_ns > unix_ns)
		filter->until_unix_ns = unix_ns;
}

int database_future(struct database *db, const struct database_filter *filter,
		    uint64_t from_unix_ns, uint64_t *count, unsigned *first, struct err *err)
{
	_cleanup_statement_ sqlite3_stmt *s = NULL;
	struct database_filter beyond = *filter;
	int r;

	if (beyond.since_unix_ns < from_unix_ns)
		beyond.since_unix_ns = from_unix_ns;
	r = prepare_filtered(db, "count(*), min(number)", "", &beyond, &s, err);
	if (r == 0)
		r = sql_row(s, err);
	if (r < 0)
		return r;
	*count = sql_number_at(s, 0);
	*first = (unsigned)sql_number_at(s, 1); /* NULL, of none, is 0. */
	return 0;
}

int database_find(struct database *db, uid_t owner, unsigned number, struct database_row *row,
		  struct err *err)
{
	_cleanup_statement_ sqlite3_stmt *s = NULL;
	int r = sql_prepare(db->sqlite, "SELECT " ROW_COLUMNS " FROM windows WHERE number = ?1", &s,
			    err);

	if (r < 0)
		return r;
	sql_bind_number(s, 1, number);
	r = sql_row(s, err);
	if (r > 0)
		read_row(s, row);
	if (r < 0)
		return r;
	if (r == 0 || (owner != PROC_ANY_UID && owner != row->owner)) {
		char id[WINDOW_ID_BYTES];

		window_id(id, number);
		return window_absent(id, err);
	}
	return 0;
}

/* What its row says was true later than what its record says: it may have been salvaged. */
static void take_from_row(struct window_result *w, const struct database_row *row)
{
	if (w->state == row->state)
		return;
	w->state = row->state;
	memcpy(w->reason, row->reason, sizeof(w->reason));
	if (w->end_unix_ns == 0)
		w->end_unix_ns = row->start_unix_ns + row->elapsed_ns;
}

int database_load(struct database *db, uid_t owner, unsigned number, struct window_result **w,
		  struct err *err)
{
	_cleanup_statement_ sqlite3_stmt *s = NULL;
	struct database_row row = {0};
	struct err why;
	int r = database_find(db, owner, number, &row, err);

	if (r == 0)
		r = sql_prepare(db->sqlite, "SELECT record FROM records WHERE number = ?1", &s,
				err);
	if (r < 0)
		return r;
	sql_bind_number(s, 1, number);
	r = sql_row(s, err);
	if (r < 0)
		return r;
	if (r == 0)
		return window_without_report(number, row.pid, row.reason, err);
	r = record_decode(sqlite3_column_blob(s, 0), (size_t)sqlite3_column_bytes(s, 0), number, w,
			  &why);
	if (r < 0)
		return err_set(err, -r, "window w%u cannot be shown: %s", number, why.message);
	take_from_row(*w, &row);
	return 0;
}

int database_load_row(struct database *db, uid_t owner, unsigned number, struct window_result **out,
		      struct err *err)
{
	struct database_row row = {0};
	struct window_result *w;
	int r = database_find(db, owner, number, &row, err);

	if (r < 0)
		return r;
	w = window_result_restored(number);
	if (!w)
		return err_set(err, ENOMEM, "out of memory for a window");
	w->pid = row.pid;
	w->owner = row.owner;
	w->state = row.state;
	w->findings.sampler = row.sampler;
	w->start_unix_ns = row.start_unix_ns;
	w->end_unix_ns = row.start_unix_ns + row.elapsed_ns;
	w->request.duration_ns = row.duration_ns;
	memcpy(w->app, row.app, sizeof(w->app));
	memcpy(w->version, row.version, sizeof(w->version));
	memcpy(w->reason, row.reason, sizeof(w->reason));
	*out = w;
	return 0;
}

/* Where a page of the table is damaged there is no way to the row behind it but by trying its
 * number; so many are tried. */
#define NUMBERS_TRIED 10000

bool database_next(struct database *db, unsigned number, unsigned *next)
{
	for (unsigned tried = 0; tried < NUMBERS_TRIED && number < UINT_MAX; tried++) {
		_cleanup_statement_ sqlite3_stmt *s = NULL;
		struct err ignored;
		int r = sql_prepare(db->sqlite,
				    "SELECT number FROM windows WHERE number > ?1 ORDER BY number"
				    " LIMIT 1",
				    &s, &ignored);

		if (r < 0)
			return false;
		sql_bind_number(s, 1, number);
		r = sql_row(s, &ignored);
		if (r == 0)
			return false;
		if (r > 0) {
			uint64_t found = sql_number_at(s, 0);

			/* A damaged page may hold any order. */
			if (found <= number || found > UINT_MAX)
				return false;
			*next = (unsigned)found;
			return true;
		}
		number++;
	}
	return false;
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

/* Deletes windows that a condition names, and that run no more. */
#define RETIRE(condition, order)                                                 \
	"DELETE FROM windows WHERE number IN (SELECT number FROM windows WHERE " \
	"state NOT IN (0, 1) AND " condition " ORDER BY " order " LIMIT ?1)"

static int retire(struct database *db, const char *sql, uint64_t room, uint64_t value,
		  unsigned *count, struct err *err)
{
	_cleanup_statement_ sqlite3_stmt *s = NULL;
	int r = sql_prepare(db->sqlite, sql, &s, err);

	if (r < 0)
		return r;
	sql_bind_number(s, 1, room);
	sql_bind_number(s, 2, value);
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
	return retire(db, RETIRE("start_unix_ns + elapsed_ns < ?2", "start_unix_ns"),
		      DATABASE_RETIRE_MAX - *count, now_unix_ns - age_ns, count, err);
}

/* Deletes the oldest windows of one owner's application that has too many. */
static int retire_of_app(struct database *db, const char *app, uint64_t owner, uint64_t too_many,
			 unsigned *count, struct err *err)
{
	_cleanup_statement_ sqlite3_stmt *s = NULL;
	uint64_t room = DATABASE_RETIRE_MAX - *count;
	int r =
	    sql_prepare(db->sqlite, RETIRE("app = ?2 AND owner = ?3", "start_unix_ns"), &s, err);

	if (r < 0)
		return r;
	sql_bind_number(s, 1, too_many < room ? too_many : room);
	sql_bind_text(s, 2, app);
	sql_bind_number(s, 3, owner);
	r = sql_run(s, "delete old windows", err);
	if (r == 0)
		*count += (unsigned)sqlite3_changes(db->sqlite);
	return r;
}

/* The index alone tells which applications have more, so that rows are read of these only: it is
 * done after each batch. */
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
		r = retire_of_app(db, app, sql_number_at(s, 1), sql_number_at(s, 2), count, err);
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
	uint64_t each, some, wanted, room = DATABASE_RETIRE_MAX - *count;
	int r = find_heaviest(db, most, err);

	if (r < 0 || most[0].windows == 0) {
		*beyond = 0;
		return r;
	}
	each = most[0].bytes / most[0].windows + 1;
	some = most[0].bytes - most[1].bytes;
	wanted = (some < *beyond ? some : *beyond) / each + 1;
	r = retire(db, RETIRE("owner = ?2", "start_unix_ns"), wanted < room ? wanted : room,
		   most[0].owner, count, err);
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
