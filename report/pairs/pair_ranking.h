/*
 * The wasteful pairs of one kind as reports show them, added up before they are split: by the field
 * or other place that both accesses touch, by the pair of lines that make them, and by the pair of
 * whole calling contexts.
 *
 * Rows are in the order of what can be acted on: those on the heap, then other memory, then stacks;
 * and of each by the lower end of the 95% interval of their share of CPU time (or of checked bytes,
 * where that is all that is known), so that noise does not lead. Rows of fewer than PAIRS_EVIDENCE
 * wasteful observations are no evidence: what they come to together is in "folded". Whole contexts
 * are all listed; of the other views only rows with evidence are, and PAIRS_ROWS_MAX at most.
 */
#ifndef JXPERF_REPORT_PAIRS_PAIR_RANKING_H
#define JXPERF_REPORT_PAIRS_PAIR_RANKING_H

#include <stdbool.h>
#include <stddef.h>

#include "profile/cpu_share.h"
#include "profile/profile.h"
#include "report/pairs/gain.h"
#include "profile/window/result.h"
#include "proto/kinds.h"

/* The floor of evidence: with five or more observations an interval has a lower end worth ranking
 * by (about a third of the estimate). */
#define PAIRS_EVIDENCE 5u

#define PAIRS_ROWS_MAX ((size_t)1000)

enum pair_view {
	/* By place, and region where there is no name. Fields are those of the declaring class. */
	PAIRS_BY_LOCATION,
	/* By leaf method and line of both accesses; what is on stacks apart from the rest. */
	PAIRS_BY_LINES,
	/* By both calling contexts, be their frames interpreted or compiled. The profile tells
	 * instructions, regions and places apart (an unrolled loop has a copy of each access). */
	PAIRS_BY_CONTEXTS,
	/* The same, but for how deep recursion is. */
	PAIRS_BY_TURNS,
};

/* Holds what is the same for all rows of a window. */
struct pair_scope {
	const struct window_result *window;
	bool regions[PROFILE_REGIONS]; /* which are shown; shares stay those of everything */
	uint32_t *paths; /* cct_paths, cct_lines, cct_turns and locations_fields of its profile */
	uint32_t *lines;
	uint32_t *turns;
	uint32_t *fields;
	struct gain_sums *gains; /* by pair of the profile */
};

struct ranked_pair {
	/* Contexts, instructions, place and region: of its largest part. */
	struct pair sum;
	size_t variants; /* entries of the profile that it stands for */
	size_t parts;    /* by what the view does not split: places of lines, lines of a place */
	double fraction; /* wasteful bytes, of all checked ones of its kind */
	struct interval ci95;
	struct cpu_share cpu; /* of the window's CPU time */
	/* So much could be gained of it (gain.h); it is not known where most of its wasteful pairs
	 * have an access that nobody can tell. */
	struct cpu_share gain;
	struct gain_sums gain_sums;
};

struct pair_ranking {
	struct ranked_pair *pairs; /* those that waste anything */
	size_t count;
	struct ranked_pair folded; /* without evidence, or beyond PAIRS_ROWS_MAX: their sum, */
	size_t folded_rows;        /* how many, */
	uint64_t folded_most; /* and the most wasteful pairs of one of them that is on no stack */
};

/* 0 or -ENOMEM; released in either case, when no ranking will be made of it any more. regions NULL:
 * all are shown. */
int pair_scope_init(struct pair_scope *s, const struct window_result *w, const bool *regions);
void pair_scope_release(struct pair_scope *s);

/* 0 or -ENOMEM, and then it is empty. */
int pair_ranking_init(struct pair_ranking *r, const struct pair_scope *s, Jxp__Kind kind,
		      enum pair_view view);
void pair_ranking_release(struct pair_ranking *r);

/* Is a row evidence? */
bool ranked_pair_is_evidence(const struct ranked_pair *row);

/* The sum of a kind's pairs at places of a kind (Jxp__Location__Kind). */
void ranked_pair_of_places(struct ranked_pair *sum, const struct pair_scope *s, Jxp__Kind kind,
			   uint32_t place);

/* ---------------------------------------------------------------- each kind */

/* These lie in one region. */
struct report_region {
	Jxp__Region region;
	const struct totals *totals;
	double fraction;
	struct interval ci95;
};

/* One kind of pairs that was asked for. */
struct report_kind {
	const struct pair_kind *kind;
	const struct totals *application;              /* of the window */
	const struct totals *jvm;                      /* the virtual machine's own accesses */
	double fraction;                               /* of checked bytes; 0 where none were */
	struct interval ci95;                          /* of that fraction */
	struct cpu_share cpu;                          /* CPU time at wasteful accesses */
	struct report_region regions[PROFILE_REGIONS]; /* heap, stack, other */
	struct ranked_pair spills;                     /* those at compilers' spills, together */
	struct pair_ranking by_location;
	struct pair_ranking by_lines;
	struct pair_ranking pairs;
	struct pair_ranking by_turns;
};

/* The kinds that a scope's window was asked for, in the order of the table, and how many. 0 or
 * -ENOMEM; to be released in either case. */
int report_kinds_init(struct report_kind kinds[PAIR_KINDS], size_t *count,
		      const struct pair_scope *scope);
void report_kinds_release(struct report_kind *kinds, size_t count);

/* For kinds without evidence: how long a window would have to be that may have one, in times of
 * this one; 0: that is not known. */
double report_evidence_needed(const struct report_kind *kinds, size_t count);

#endif
