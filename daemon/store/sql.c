#include "daemon/store/sql.h"

#include <errno.h>
#include <math.h>

#include "common/utf8.h"

static int errno_of(int code)
{
	switch (code & 0xff) {
	case SQLITE_FULL:
		return ENOSPC;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return EBUSY;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return EBADMSG;
	case SQLITE_NOMEM:
		return ENOMEM;
	case SQLITE_READONLY:
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
		return EROFS;
	default:
		return EIO;
	}
}

int sql_fail(sqlite3 *db, struct err *err, const char *what)
{
	return err_set(err, errno_of(sqlite3_errcode(db)), "cannot %s: %s", what,
		       sqlite3_errmsg(db));
}

int sql_execute(sqlite3 *db, const char *sql, const char *what, struct err *err)
{
	return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : sql_fail(db, err, what);
}

int sql_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **statement, struct err *err)
{
	if (sqlite3_prepare_v2(db, sql, -1, statement, NULL) != SQLITE_OK)
		return sql_fail(db, err, "ask the database of windows");
	return 0;
}

int sql_run(sqlite3_stmt *s, const char *what, struct err *err)
{
	return sqlite3_step(s) == SQLITE_DONE ? 0 : sql_fail(sqlite3_db_handle(s), err, what);
}

int sql_row(sqlite3_stmt *s, struct err *err)
{
	int code = sqlite3_step(s);

	if (code == SQLITE_ROW)
		return 1;
	return code == SQLITE_DONE
		   ? 0
		   : sql_fail(sqlite3_db_handle(s), err, "read the database of windows");
}

int sql_number(sqlite3 *db, const char *sql, uint64_t *number, struct err *err)
{
	_cleanup_statement_ sqlite3_stmt *s = NULL;
	int r = sql_prepare(db, sql, &s, err);

	if (r == 0)
		r = sql_row(s, err);
	if (r < 0)
		return r;
	*number = r > 0 ? sql_number_at(s, 0) : 0;
	return 0;
}

void sql_bind_number(sqlite3_stmt *s, int at, uint64_t value)
{
	(void)sqlite3_bind_int64(s, at, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

void sql_bind_text(sqlite3_stmt *s, int at, const char *text)
{
	(void)sqlite3_bind_text(s, at, text, -1, SQLITE_STATIC);
}

void sql_bind_real(sqlite3_stmt *s, int at, double value)
{
	(void)sqlite3_bind_double(s, at, isnan(value) ? 0 : value);
}

double sql_real_at(sqlite3_stmt *s, int column)
{
	double value = sqlite3_column_double(s, column);

	return value > 0 ? value : 0;
}

uint64_t sql_number_at(sqlite3_stmt *s, int column)
{
	int64_t value = sqlite3_column_int64(s, column);

	return value < 0 ? 0 : (uint64_t)value;
}

void sql_text_at(sqlite3_stmt *s, int column, char *to, size_t size)
{
	const char *text = (const char *)sqlite3_column_text(s, column);

	(void)utf8_sanitize(to, size, text ? text : ""); /* May be cut. */
}
