/*
 * A store's database as an earlier version of jxperfd has left it.
 */
#ifndef JXPERF_TESTS_OLDER_STORE_H
#define JXPERF_TESTS_OLDER_STORE_H

#include <sqlite3.h>

#include "tests/unit/support/test.h"

static inline void store_execute(const char *path, const char *sql)
{
	sqlite3 *db = NULL;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* Takes from a database of this version what version 3 or 4 has not. */
static inline void older_store_make(const char *path, unsigned version)
{
	assert_in_range(version, 3, 4);
	store_execute(path, "ALTER TABLE windows DROP COLUMN weight_s;"
			    "ALTER TABLE windows DROP COLUMN version;"
			    "DROP TABLE queue; PRAGMA user_version = 4");
	if (version == 3)
		store_execute(path, "ALTER TABLE windows DROP COLUMN asker;"
				    "ALTER TABLE windows DROP COLUMN kinds;"
				    "PRAGMA user_version = 3");
}

#endif
