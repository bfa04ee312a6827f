/*
 * Which windows there are: those that a question means, each once, earliest first, wherever they
 * lie. Some are in memory, others in the database, many in both; one that is in memory is told from
 * there, since what is kept of it may be behind.
 *
 * There are three steps. Whoever asks fills in what is meant. On the loop the catalogue is given
 * the windows in memory (catalogue_hold). On the pool the database is asked, and the two are joined
 * (catalogue_read).
 */
#ifndef JXPERF_DAEMON_ANSWER_CATALOGUE_H
#define JXPERF_DAEMON_ANSWER_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "daemon/store/query.h"
#include "profile/window/result.h"

struct catalogue_entry {
	uint64_t start_unix_ns;
	unsigned number;
	struct window_result *held;     /* in memory, and kept until the catalogue is released; */
	const struct database_row *row; /* or what is kept says of it */
};

struct catalogue {
	const char *database; /* of what is kept; NULL: nothing is */
	/* Recorded: of what is in memory, only what has ended and ran. */
	struct database_filter filter;
	/* What began later than now, by a clock that was set since, is none of a time: what it is
	 * beside the others is not known. It is counted. */
	bool is_of_a_time;
	size_t most; /* the latest so many */

	/* What there is: */
	struct catalogue_entry *entries;
	size_t count;
	uint64_t older;        /* are meant, too, and are beyond the most, */
	uint64_t future;       /* so many later than now, */
	unsigned first_future; /* the first of these; */
	/* of the application and time, too, and not of the filter's schedule, or else kinds */
	uint64_t other_schedule, other_kinds;

	/* Its own: */
	struct catalogue_entry *held;
	size_t held_count;
	size_t held_capacity;
	struct database_row *rows;
};

/* Loop: w is in memory, and an entry if it is meant. 0 or -ENOMEM. */
int catalogue_hold(struct catalogue *c, const struct window_result *w);

/* Pool, once: db is of the database; NULL where nothing is kept. 0, or -errno with a line. */
int catalogue_read(struct catalogue *c, struct database *db, struct err *err);

/* Loop. All zero is empty. */
void catalogue_release(struct catalogue *c);

#endif
