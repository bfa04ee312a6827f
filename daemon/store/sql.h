/*
 * SQLite in our words: errors as errno values with a line, statements that end with their scope.
 *
 * One connection is used by one thread at a time. Values are bound by their place, from 1; that
 * there is no such place is a bug of ours. Texts have to live longer than the statement.
 */
#ifndef JXPERF_DAEMON_STORE_SQL_H
#define JXPERF_DAEMON_STORE_SQL_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "common/cleanup.h"
#include "common/err.h"

/* "cannot WHAT: ..." of the last call that failed: -ENOSPC, -EBUSY (another process holds the
 * file), -EBADMSG (the file is damaged), -EROFS, -ENOMEM or -EIO. */
int sql_fail(sqlite3 *db, struct err *err, const char *what);

/* Statements without rows or parameters. */
int sql_execute(sqlite3 *db, const char *sql, const char *what, struct err *err);

/* The first column of the only row; 0 without one. */
int sql_number(sqlite3 *db, const char *sql, uint64_t *number, struct err *err);

int sql_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **statement, struct err *err);

static inline void sql_finalize(sqlite3_stmt **statement)
{
	(void)sqlite3_finalize(*statement); /* Repeats an error that was seen. */
}

#define _cleanup_statement_ _cleanup_(sql_finalize)

/* Runs a statement that has no rows. */
int sql_run(sqlite3_stmt *s, const char *what, struct err *err);

/* 1 with a row, 0 without one. */
int sql_row(sqlite3_stmt *s, struct err *err);

/* Above INT64_MAX: that. */
void sql_bind_number(sqlite3_stmt *s, int at, uint64_t value);
void sql_bind_text(sqlite3_stmt *s, int at, const char *text);
/* NaN: 0. */
void sql_bind_real(sqlite3_stmt *s, int at, double value);

/* Columns of a row, from 0: below 0 is 0, and text is cut where it does not fit. */
uint64_t sql_number_at(sqlite3_stmt *s, int column);
double sql_real_at(sqlite3_stmt *s, int column);
void sql_text_at(sqlite3_stmt *s, int column, char *to, size_t size);

#endif
