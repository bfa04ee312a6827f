/*
 * What is asked of the database of windows (daemon/store/database.h): which there are, as lists
 * show them, what they came to in sums, and one of them as a whole.
 *
 * Any connection will do. Errors are those of database.h; outputs are unchanged then.
 */
#ifndef JXPERF_DAEMON_STORE_QUERY_H
#define JXPERF_DAEMON_STORE_QUERY_H

#include "daemon/store/database.h"

/* Each name has a condition of its own: 256 at most, which SQLite takes (its limit is a depth of
 * 1000). */
#define DATABASE_APPS_BYTES 512

/* Which windows are meant. */
struct database_filter {
	uid_t owner; /* PROC_ANY_UID: everybody's */
	/* A name, or several with commas between them, of which * stands for anything, ? for one
	 * character and [a-z] for one of these; "": every one. */
	char app[DATABASE_APPS_BYTES];
	char schedule[WINDOW_NAME_BYTES]; /* "": whoever asked */
	uint32_t kinds;                   /* for one of these (kinds_mask), or not known; 0: any */
	uint64_t since_unix_ns;           /* that began then or later, */
	uint64_t until_unix_ns;           /* and before then; 0: no end */
	bool recorded;                    /* only those with something to show */
};

/* Does the filter mean applications of that name? windows for these kinds? */
bool database_filter_means_app(const struct database_filter *f, const char *app);
bool database_filter_means_kinds(const struct database_filter *f, uint32_t kinds);

/* The latest of them, newest first, at most room; returns how many in *count and of how many in
 * *all. */
int database_list(struct database *db, const struct database_filter *filter,
		  struct database_row *rows, size_t room, size_t *count, uint64_t *all,
		  struct err *err);

/* An application, by its windows. */
struct database_app {
	char name[WINDOW_LABEL_BYTES];
	uint64_t windows;
	uint64_t last_unix_ns; /* when the last began */
	uint32_t kinds;        /* of any of them, as far as they are known */
};

/* Those of the windows that the filter means, by name, at most room; returns how many in *count and
 * of how many in *all. */
int database_apps(struct database *db, const struct database_filter *filter,
		  struct database_app *apps, size_t room, size_t *count, uint64_t *all,
		  struct err *err);

/* How many the filter means. */
int database_count(struct database *db, const struct database_filter *filter, uint64_t *count,
		   struct err *err);

/* What an application's windows of one schedule brought on the latest day (of UTC) that has any. */
struct database_evidence {
	char app[WINDOW_LABEL_BYTES];
	uint64_t day;    /* since 1970 */
	double pairs_s;  /* their pairs, each times what its window stands for, in seconds */
	double weight_s; /* of the last of them */
};
#define DATABASE_DAY_NS (86400 * UINT64_C(1000000000))

/* Of the schedule's windows that began from since to until: the applications that had a window
 * last come first, at most room. *count is how many there are. */
int database_evidence(struct database *db, const char *schedule, uint64_t since_unix_ns,
		      uint64_t until_unix_ns, struct database_evidence *rows, size_t room,
		      size_t *count, struct err *err);

/* From here on the filter means no window that begins then or later. */
void database_filter_end(struct database_filter *filter, uint64_t unix_ns);

/* How many of the windows that the filter means begin later than from (by a clock that was set
 * since), and the lowest number of these; 0 without any. */
int database_future(struct database *db, const struct database_filter *filter,
		    uint64_t from_unix_ns, uint64_t *count, unsigned *first, struct err *err);

/* One window, of this owner if it is not PROC_ANY_UID. -ENOENT when there is none. */
int database_find(struct database *db, uid_t owner, unsigned number, struct database_row *row,
		  struct err *err);

/* The same with its whole record; -ECANCELED, with its reason, for one that could not run. */
int database_load(struct database *db, uid_t owner, unsigned number, struct window_result **w,
		  struct err *err);

/* The same as far as its row tells, with or without a record. */
int database_load_row(struct database *db, uid_t owner, unsigned number, struct window_result **w,
		      struct err *err);

/* The next higher number that a window has, in *next; what cannot be read is passed over. False
 * when there is none. */
bool database_next(struct database *db, unsigned number, unsigned *next);

#endif
