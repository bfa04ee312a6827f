/*
 * Tells what a window's hot loops come to (LDoctor, sections 2 and 3): for each, by its own CPU
 * time, its type, how often its turns have results, how much of it is done again, a judgement and
 * what helped others.
 *
 * A loop is resultless when the upper end of its result rate's 95% interval is below LDoctor's
 * 0.001, of enough turns and bursts. A search (0*1?) has one result for each instance at most, so
 * there where it is entered bounds the rate, too. Loops that take less than 2% of the CPU time,
 * with loops inside them and with all that they call, are not judged: most of the findings that
 * were of no use to LDoctor's users were such.
 *
 * A loop that is not resultless may be redundant (loop_redundancy.h), of whatever type; of one that
 * is, what it does again is told beside.
 *
 * A loop may have its time in loops inside it, or in what it calls: 2% or more beyond that of its
 * own code. Ticks seldom come in one that calls, so as a rule it has a type and no counts. Behind
 * the loops with time of their own come these, first those that are nearest to the ticks; of those
 * that have none at all 16.
 */
#ifndef JXPERF_REPORT_LOOPS_LOOP_FINDINGS_H
#define JXPERF_REPORT_LOOPS_LOOP_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "profile/reach/loop_bodies.h"
#include "report/loops/loop_rate.h"
#include "report/loops/loop_redundancy.h"
#include "profile/window/result.h"

#define LOOP_RESULT_RATE 0.001 /* LDoctor, section 4.1 */
#define LOOP_BURSTS_MIN  30
#define LOOP_TURNS_MIN   5300
#define LOOP_CPU_MIN     0.02
#define LOOP_CALLS_MAX   16 /* loops that are reported for what they call alone */

enum loop_verdict {
	LOOP_NOT_JUDGED, /* too little CPU time */
	LOOP_VERDICT_NONE,
	LOOP_RESULTLESS,
	LOOP_REDUNDANT_INSTANCES,
	LOOP_REDUNDANT_ITERATIONS,
	LOOP_WAITING,
	LOOP_UNDECIDED,
	LOOP_VERDICTS,
};

#define LOOP_ADVICES_MAX 3

/* Its share of CPU time and that in a baseline (report/loops/loop_growth.h). */
struct loop_growth {
	bool compared; /* else the rest is empty */
	bool known;    /* the baseline has looked at it */
	double baseline, growth;
	struct interval ci95; /* of growth, whatever else is compared, */
	/* and simultaneous over all that are, which decides. */
	struct interval among_all;
	bool significant;
	size_t rank; /* without a baseline */
};

struct report_loop {
	const struct loop *row; /* the window's */
	double fraction;        /* of CPU time: its own, */
	struct interval fraction_ci95;
	double within_fraction;    /* with loops inside it, */
	double inclusive_fraction; /* and with all that it calls, inlined or not */
	double nearest_fraction;   /* of this, what is in no loop that is reported and nearer */
	bool calls;                /* much of its time is in what it calls, */
	bool around;               /* and in loops inside it */
	struct loop_growth growth;
	enum loop_type type;
	unsigned doubts;           /* enum loop_doubt */
	struct loop_rate results;  /* by turn; of a search the bound that entries set is in it */
	struct loop_rate entries;  /* likewise, times it is entered */
	struct loop_length length; /* better known, if it is known */
	enum loop_verdict verdict;
	double needs_s; /* undecided: a window as long would tell, at this pace; 0: not known */
	struct loop_redundancy again;
	const struct loop_advice *advice[LOOP_ADVICES_MAX]; /* what to do, the best first */
	unsigned advice_count;
	size_t first_context, context_count;
	size_t first_place, place_count;
	size_t first_input, input_count; /* that were compared */
};

/* All zero is empty. */
struct report_loops {
	bool taken; /* the window is of kind loops, and had ticks; else the rest is empty */
	double whole_ns;
	double compiled;                    /* of CPU time: in compiled code */
	double looked_at, in_loops, mapped; /* of that: looked at, in loops there, these mapped */
	struct report_loop *rows; /* most CPU time first, and then those that call what takes it */
	size_t count;
	char baseline[WINDOW_ID_BYTES]; /* the window that they were compared with, or "" */
	struct loop_context *contexts;  /* by row, most CPU time first */
	struct loop_place *places;      /* by row, most results first */
	struct loop_compared *inputs;   /* by row, loads by line, then scalars */
};

/* 0 or -ENOMEM, and then it is empty. */
int report_loops_init(struct report_loops *l, const struct window_result *w);
void report_loops_release(struct report_loops *l);

/* Where those whose source is known are, with their indices. 0 or -ENOMEM. */
int report_loops_bodies(const struct report_loops *l, struct loop_bodies *bodies);

/* "resultless"; "" for LOOP_NOT_JUDGED. */
const char *loop_verdict_name(enum loop_verdict verdict);

/* "store", "call", "value", "exit". */
const char *loop_result_name(enum loop_result result);

/* Bit i of doubts: a word of JSON, and a sentence. */
const char *loop_doubt_name(unsigned i);
const char *loop_doubt_sentence(unsigned i);

#endif
