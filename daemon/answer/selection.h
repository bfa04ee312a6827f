/*
 * Which windows a question is about, and these as one: a single window, or all of an application
 * that began in a time, merged (profile/combine/merge.h).
 *
 * Whoever asks says which, by the number or by the filter of the catalogue. On the loop, when the
 * answer is about to be made, the selection is given what is in memory (selection_hold). On the
 * pool the rest is read, decoded, added and freed, one window after the other, so that a merge
 * takes the memory of two windows and of what it makes.
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
#include "daemon/answer/catalogue.h"
#include "profile/window/result.h"

/* As many are merged, the newest: some ten seconds' work. */
#define SELECTION_WINDOWS_MAX 5000u

struct selection {
	unsigned number;          /* the one that is meant; 0: those of */
	struct catalogue windows; /* this application and time */

	/* Its own: */
	struct window_result *held;   /* the one, if it is in memory */
	struct window_result *loaded; /* what it came to, unless that is in memory */
};

/* database: path of what is kept; NULL: nothing is. owner: whose windows there are for the asker;
 * PROC_ANY_UID: everybody's. */
void selection_init(struct selection *s, const char *database, uid_t owner);

/* The number of a window's id ("w7"); false for what is none. */
bool selection_number(const char *id, unsigned *number);

/* Fills in what is asked for; the rest of the filter stays. 0, or -EINVAL or -ENOENT. */
int selection_ask(struct database_filter *f, const Jxp__Selection *asked, struct err *err);

/* Loop: w is in memory, and held if it is meant. 0 or -ENOMEM. */
int selection_hold(struct selection *s, const struct window_result *w);

/* Pool: what is selected as one window, which is the selection's. 0; -ENOENT, -ECANCELED (another
 * thread has set *cancelled, or the window could not run) and others with a line. */
int selection_load(struct selection *s, const atomic_bool *cancelled,
		   const struct window_result **w, struct err *err);

/* Loop. */
void selection_release(struct selection *s);

#endif
