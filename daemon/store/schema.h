/*
 * The tables of the database of windows (daemon/store/database.h), by version, and how a file of an
 * older version becomes one of ours: each step is a row of a table in schema.c, done in one
 * transaction, so a file has a version whole.
 */
#ifndef JXPERF_DAEMON_STORE_SCHEMA_H
#define JXPERF_DAEMON_STORE_SCHEMA_H

#include <stdbool.h>

#include "common/err.h"

/* The latest; the file says which it has. */
#define DATABASE_VERSION 2

enum database_use {
	DATABASE_WRITE, /* makes the file, or brings an older one to our version */
	DATABASE_READ,
	DATABASE_SALVAGE, /* reads a damaged one, as far as that goes */
};

struct sqlite3;

/* Sets the connection up; for writing, makes the tables or brings them to our version, and sees
 * whether they are ours then: bits flip in their definitions, too. 0; -EPROTONOSUPPORT for a later
 * version; -EBADMSG for a file that is none of ours, or damaged; or as database_open. */
int schema_prepare(struct sqlite3 *db, enum database_use use, struct err *err);

#endif
