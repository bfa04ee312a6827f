/*
 * What becomes of a database that cannot be used as it is.
 *
 * One of an earlier version is set aside, and a new one made.
 *
 * One that has taken damage (bits that flipped, a file that was cut): it is set aside, as it
 * is, and what can still be read of it goes into a new one. A window is taken over when its row and
 * its whole record can be read; records have a checksum, so what is taken over is as it was.
 */
#ifndef JXPERF_DAEMON_STORE_SALVAGE_H
#define JXPERF_DAEMON_STORE_SALVAGE_H

#include "common/err.h"
#include "daemon/store/database.h"
#include "daemon/store/state_dir.h"

struct salvage_account {
	bool damaged;  /* it was, */
	bool earlier;  /* or of an earlier version: nothing of it was read. Else it is as it was */
	unsigned kept; /* windows that are in the new database, */
	unsigned lost; /* and those that were seen in the old one, and could not be read */
	bool unqueued; /* of some it could not be read where they wait to be sent */
	char aside[STATE_DIR_PATH_BYTES]; /* where the old one is */
	char reason[ERR_MESSAGE_MAX];
};

/* Opens the directory's database for writing, a damaged one as above. 0 with a connection of the
 * caller's, and what was done in account; else as database_open, but never -EBADMSG. */
int salvage_open(const struct state_dir *d, struct database **db, struct salvage_account *account,
		 struct err *err);

/* The same for one that is open and turned out to be damaged; it is closed. */
int salvage_again(const struct state_dir *d, const char *reason, struct database **db,
		  struct salvage_account *account, struct err *err);

#endif
