/*
 * What a report says of pairs: each kind's shares and rankings.
 */
#ifndef JXPERF_DAEMON_REPORT_PAIRS_KIND_FINDINGS_H
#define JXPERF_DAEMON_REPORT_PAIRS_KIND_FINDINGS_H

#include "daemon/report/pairs/pair_ranking.h"
#include "proto/kinds.h"

/* Of a kind, what lies in one region. */
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

/* Of kinds without evidence: how long a window would have to be that may have one, in times of
 * this one; 0: that is not known. */
double report_evidence_needed(const struct report_kind *kinds, size_t count);

#endif
