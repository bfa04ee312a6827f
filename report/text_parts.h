/*
 * The parts of the text report, each in a file of its own. Stream errors are the caller's.
 */
#ifndef JXPERF_REPORT_TEXT_PARTS_H
#define JXPERF_REPORT_TEXT_PARTS_H

#include <stddef.h>
#include <stdio.h>

#include "report/content/model.h"

/* The first lines of all: what to look at first, or why there is nothing yet. */
void report_text_findings(FILE *out, const struct report_model *m);

/* One problem: what happens, in a sentence, then where, what it costs and what helped others. */
void report_text_problem(FILE *out, const struct report_model *m, size_t rank);

/* That sentence alone, without its full stop; gap is where a line may end. */
void report_text_problem_sentence(FILE *out, const struct profile *p, const struct problem *problem,
				  const char *gap);

/* What a rewrite could save, likewise, of a problem of which that is known. */
void report_text_problem_saved(FILE *out, const struct problem *problem);

/* With at most limit rows of each list of a kind. */
void report_text_pairs(FILE *out, const struct report_model *m, size_t limit);

/* With at most limit of them. */
void report_text_classes(FILE *out, const struct report_model *m, size_t limit);

/* With at most limit sites of them. */
void report_text_objects(FILE *out, const struct report_model *m, size_t limit);

void report_text_numa(FILE *out, const struct report_model *m);

/* With at most limit rows of each list. */
void report_text_cpu(FILE *out, const struct report_model *m, size_t limit);

/* With at most limit of them. */
void report_text_loops(FILE *out, const struct report_model *m, size_t limit);

/* The loops that the two accesses of a pair are in, by their own frames or (called) by their whole
 * contexts: prefix, ", in the loop" and so on, suffix. Nothing where they are in none. */
void report_text_loops_of(FILE *out, const struct report_model *m, const struct pair *pair,
			  bool called, const char *prefix, const char *suffix);

/* Quality in three lines, or all of it. */
void report_text_quality(FILE *out, const struct report_model *m);
void report_text_quality_whole(FILE *out, const struct report_model *m);

#endif
