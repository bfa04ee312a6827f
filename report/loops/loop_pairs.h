/*
 * Tells what a report's loops and its pairs have to do with each other: in which loop an access is,
 * and how many of the accesses that a loop makes are wasteful.
 *
 * An access is in a loop when a frame of its calling context is (profile/reach/loop_bodies.h).
 * Loops whose source is not known are not found.
 *
 * How many are wasteful corroborates a judgement of the loop, and proves none: a table that is gone
 * through for another key each time is all silent loads.
 *
 * Points at the loops, which must outlive it.
 */
#ifndef JXPERF_REPORT_LOOPS_LOOP_PAIRS_H
#define JXPERF_REPORT_LOOPS_LOOP_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/reach/loop_bodies.h"
#include "report/loops/loop_findings.h"
#include "proto/kinds.h"

/* With fewer pairs nothing is said of a loop. */
#define LOOP_PAIRS_MIN 30

/* Pairs whose first access is in a loop itself, not in what it calls. */
struct loop_waste {
	uint64_t pairs, wasteful;
	double fraction;
	struct interval ci95;
};

/* All zero is empty. */
struct loop_pairs {
	const struct report_loops *loops; /* borrowed */
	struct loop_bodies bodies;        /* their ids are indices of the report's loops */
	struct loop_waste *wastes;        /* PAIR_KINDS of each loop, in their order */
};

/* The loop that an access is in. */
struct loop_around {
	const struct report_loop *loop; /* NULL: none */
	size_t rank;                    /* index of the report's loops */
	bool called; /* the access is in a method that the loop calls, be it inlined there or not */
};

/* For the same window. 0 or -ENOMEM, and then it is empty. */
int loop_pairs_init(struct loop_pairs *l, const struct report_loops *loops,
		    const struct window_result *w);
void loop_pairs_release(struct loop_pairs *l);

/* The loop that a node's own frame is in. */
struct loop_around loop_pairs_frame(const struct loop_pairs *l, const struct cct *t, uint32_t node);

/* The same or, where there is none, the nearest one of its callers' that takes enough CPU time to
 * be judged. */
struct loop_around loop_pairs_context(const struct loop_pairs *l, const struct cct *t,
				      uint32_t node);

/* The waste of a loop and a kind, by their positions; NULL where too little is known. */
const struct loop_waste *loop_pairs_waste(const struct loop_pairs *l, size_t rank, size_t kind);

#endif
