/*
 * Tells what a loop does again, and whether that is a finding (LDoctor, section 3.2): of what an
 * instance goes by, how much was there in the one before; of the turns of a window, how many went
 * by what another one went by.
 *
 * Above a half, by the lower end of its 95% interval, of 30 traces at least. The paper's threshold
 * is the same; it found the same bugs with any from 0.1 to 0.66 (section 4.5). Where the interval
 * leaves it open, and more traces would come of a longer window, it is open; with as many as are
 * taken of one loop (profile/intake/loop_session.h) and a rate below a half there is nothing.
 *
 * Where a load, or a value that instances begin with, is another one each time, they do not compute
 * the same, however much else is: a scan of the same table for another key, an expression that is
 * matched with another text, a row of a matrix with another column.
 *
 * A loop that does nothing but input or output, by the same calls in each turn, is redundant
 * without any trace (section 3.2.6).
 */
#ifndef JXPERF_REPORT_LOOPS_LOOP_REDUNDANCY_H
#define JXPERF_REPORT_LOOPS_LOOP_REDUNDANCY_H

#include <stdbool.h>

#include "profile/loop_profile.h"

#define LOOP_REDUNDANT_RATE 0.5 /* LDoctor, section 3.2.3 */
#define LOOP_TRACES_MIN     30
#define LOOP_TRACES_ENOUGH  120

struct loop_advice {
	const char *strategy; /* in JSON: "data_structure" */
	const char *words;    /* "change the data structure" */
	const char *why;      /* what it rests on */
};

enum loop_again {
	LOOP_AGAIN_UNKNOWN, /* nothing was compared */
	LOOP_AGAIN_NO,
	LOOP_AGAIN_OPEN,
	LOOP_AGAIN_YES,
};

struct loop_redundancy {
	struct repeat_rate instance_rate, turn_rate;
	enum loop_again instances, turns;
	enum loop_sameness sameness; /* of what instances go by */
	bool io;                     /* turns are redundant since each does input or output */
	/* Where they are redundant, what to do; else NULL. */
	const struct loop_advice *instance_advice, *turn_advice;
};

/* type: of most of its time. */
struct loop_redundancy loop_redundancy_of(const struct loop_profile *p, const struct loop *row,
					  enum loop_type type);

/* How many times as much time might tell what is open; 0: not known. */
double loop_redundancy_needs(const struct loop_redundancy *r, const struct loop_profile *p,
			     const struct loop *row);

#endif
