/*
 * Says what takes more CPU time in B than in A, and what less: methods with all that they call, and
 * wasteful accesses by kind, method and place; each for the same work (compare/work.h), with an
 * interval that tells whether the difference is shown (compare/change.h). Where neither knows CPU
 * time it is wasteful accesses alone, as parts of the bytes that were checked for their kind.
 *
 * A method that called more or less changes the totals of all its callers with it. So of methods
 * that are shown to differ one is a row only where nothing below it carries COMPARISON_CARRIED of
 * its difference, and what lies that much below a row is a part of it. A row has moved where the
 * rest of its caller changed the other way by COMPARISON_MOVED of it at least, and by more than the
 * work may have changed: something else below the caller took over, as when a method is renamed, or
 * inlined in another way.
 *
 * Rows that are shown come first, by the least that the difference may be (the end of the interval
 * next to 0): first methods and places that a source has, then what has moved, spills, and behind
 * all of these parts and messengers.
 *
 * The compilers' threads are left out of what shares are of: what they take depends on for how long
 * a program has run, not on what it does.
 */
#ifndef JXPERF_COMPARE_COMPARISON_H
#define JXPERF_COMPARE_COMPARISON_H

#include "common/err.h"
#include "compare/change.h"
#include "compare/tree.h"
#include "compare/work.h"

#define COMPARISON_CARRIED 0.8

#define COMPARISON_MOVED 0.5

#define COMPARISON_PATH 8u

#define COMPARISON_NONE UINT32_MAX

struct comparison_row {
	const struct pair_kind *kind; /* of wasteful accesses; NULL: a method with what it calls */
	struct compare_place at; /* its method is the tree's, its name a side's; then all of it */
	struct compare_sums sums[2];
	struct change change;
	struct change own; /* of a method: its own time, which decides nothing */
	bool messenger;    /* what it calls carries the difference */
	uint32_t part_of;  /* the row's place, or COMPARISON_NONE */
	bool moved;        /* within path[1] */
	/* Each side's report says that this is done in vain there, or NULL; only of the first rows.
	 */
	const char *problem[2];
	/* Methods of the context that carries most of the difference, leaf first. */
	uint32_t path[COMPARISON_PATH];
	unsigned path_length;
};

struct comparison_kind {
	bool compared;
	struct change_whole whole[2]; /* what its shares are of */
	struct change change;
};

struct comparison {
	const struct compare_side *sides; /* two, borrowed */
	enum compare_unit unit;           /* of both */
	struct compare_tree tree;
	struct change_whole whole[2]; /* of CPU time */
	struct compare_work work;
	unsigned looked_at; /* rows and kinds */
	double quantile;
	struct comparison_kind kinds[KIND_VALUES];
	struct comparison_row *rows; /* those that are looked at */
	size_t row_count;
	size_t shown_count; /* the first of them */
};

/* per_second: operations in each, or NULL. sides have to outlive it. 0; -ENODATA with the reason
 * when they cannot be compared, -EINVAL when not by operations; -ENOMEM. c is empty then. */
int comparison_init(struct comparison *c, const struct compare_side sides[2],
		    const double *per_second, struct err *err);
void comparison_release(struct comparison *c);

/* Is anything shown to differ: a row, a kind, or CPU time for the same work? */
bool comparison_is_shown(const struct comparison *c);

/* Are both of the same application, as far as it is known? */
bool comparison_is_of_one_app(const struct comparison *c);

/* Says what shares are of, in words. */
const char *comparison_unit(const struct comparison *c);

/* A row that is neither a part of another one nor its messenger. */
bool comparison_row_leads(const struct comparison_row *row);

/* Does it, and is it no spill, and has not just moved? */
bool comparison_row_counts(const struct comparison_row *row);

/* CPU time of the compilers' threads. */
double comparison_compilers_ns(const struct compare_side *s);

/* The CPUs that a side's process used, on average. */
double comparison_cpus(const struct compare_side *s);

#endif
