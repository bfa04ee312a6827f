#include "daemon/store/query.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/proc.h"
#include "daemon/store/connection.h"
#include "daemon/store/record.h"
#include "daemon/store/sql.h"

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
