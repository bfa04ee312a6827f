/*
 * The tables of the database of windows (daemon/store/database.h), and the version of the file,
 * which is also that of the records in it. One of the two versions before becomes one of this when
 * it is written; one of another is not read.
 */
#ifndef JXPERF_DAEMON_STORE_SCHEMA_H
#define JXPERF_DAEMON_STORE_SCHEMA_H

#include <stdbool.h>

#include "common/err.h"

/* The file says which it has. Raised where a table of a record (profile/container/table_codec.h) or
 * of the database becomes another one; not where columns are added to a record. */
#define DATABASE_VERSION 5
/* A file of this one, or of one between, is made into one of the version. */
#define DATABASE_EARLIEST 3

enum database_use {
	DATABASE_WRITE, /* makes the file */
	DATABASE_READ,
	DATABASE_SALVAGE, /* reads a damaged one, as far as that goes */
};

struct sqlite3;

/* Sets the connection up; for writing, makes the tables where there are none, and sees whether they
 * are ours: bits flip in their definitions, too. 0; -EPROTONOSUPPORT for a later version; -EPROTO
 * for one that is too early; -EBADMSG for a file that is none of ours, or damaged; or as
 * database_open. */
int schema_prepare(struct sqlite3 *db, enum database_use use, struct err *err);

#endif
