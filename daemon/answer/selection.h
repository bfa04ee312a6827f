/*
 * Which windows a question is about, and these as one: a single window, or all of an application
 * that began in a time, merged (profile/combine/merge.h).
 *
 * There are three steps. Whoever asks fills the selection in. On the loop, when the answer is about
 * to be made, it is given those of its windows that are in memory (selection_hold): they may be
 * newer than what is kept, or not kept at all. On the pool the rest is read, decoded, added and
 * freed, one window after the other, so that a merge takes the memory of two windows and of what it
 * makes.
 *
 * Windows that began later than now, by a clock that was set since, are in no merge: what they are
 * beside the others is not known. The merge says how many there are.
 *
 * A single window that runs is as the loop gave it, a snapshot; of those of a time that run there
 * is what was kept of them last, at most some seconds old (daemon/store/keeper.h), and nothing
 * where nothing is kept.
 */
#ifndef JXPERF_DAEMON_ANSWER_SELECTION_H
#define JXPERF_DAEMON_ANSWER_SELECTION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"
#include "profile/window/result.h"

/* As many are merged, the newest: some ten seconds' work. */
#define SELECTION_WINDOWS_MAX 5000u

struct selection {
	const char *database; /* of what is kept; NULL: nothing is */
	uid_t owner;          /* whose windows there are for the asker; PROC_ANY_UID: everybody's */
	unsigned number;      /* the one that is meant; 0: those of */
	char app[WINDOW_LABEL_BYTES]; /* which */
	uint64_t since_unix_ns;       /* began then or later, */
	uint64_t until_unix_ns;       /* and before then; 0: no end */

	/* Its own: */
	struct window_result **held; /* in memory; kept */
	size_t held_count;
	size_t held_capacity;
	struct window_result *loaded; /* what it came to, unless that is in memory */
};

/* The number of a window's id ("w7"); false for what is none. */
bool selection_number(const char *id, unsigned *number);

/* Is w, which there is for the asker, one of the windows? */
bool selection_means(const struct selection *s, const struct window_result *w);

/* Loop: w, finished or a snapshot, is in memory. Kept, until the selection is released. 0 or
 * -ENOMEM. */
int selection_hold(struct selection *s, const struct window_result *w);

/* Pool: what is selected as one window, which is the selection's. 0; -ENOENT, -ECANCELED (another
 * thread has set *cancelled, or the window could not run) and others with a line. */
int selection_load(struct selection *s, const atomic_bool *cancelled,
		   const struct window_result **w, struct err *err);

/* Loop. */
void selection_release(struct selection *s);

#endif
