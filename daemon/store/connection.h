/*
 * What a connection to the database of windows is inside (daemon/store/database.h). Internal to
 * daemon/store: whoever else has one asks by way of database.h, query.h and queue.h.
 */
#ifndef JXPERF_DAEMON_STORE_CONNECTION_H
#define JXPERF_DAEMON_STORE_CONNECTION_H

#include <sqlite3.h>

struct database {
	sqlite3 *sqlite;
};

#endif
