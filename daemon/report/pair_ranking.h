/*
 * The wasteful pairs of one kind as reports show them.
 */
#ifndef JXPERF_DAEMON_REPORT_PAIR_RANKING_H
#define JXPERF_DAEMON_REPORT_PAIR_RANKING_H

#include <stddef.h>

#include "daemon/profile/profile.h"

/* A pair as reports show it, identified by its kind and both calling contexts. The profile tells
 * instructions and regions apart (an unrolled loop has a copy of each access); here they are added
 * up, and the most wasteful one gives its instructions and region. */
struct ranked_pair {
	struct pair sum;
	size_t variants; /* entries of the profile that it stands for */
	double fraction; /* wasteful bytes, of all checked ones of its kind */
};

/* The wasteful pairs of one kind, most wasteful first. */
struct pair_ranking {
	struct ranked_pair *pairs;
	size_t count;
};

/* 0 or -ENOMEM, and then it is empty. */
int pair_ranking_init(struct pair_ranking *r, const struct profile *p, Jxp__Kind kind);
void pair_ranking_release(struct pair_ranking *r);

#endif
