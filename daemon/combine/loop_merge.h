/*
 * The loops of many windows as one's (daemon/combine/merge.h): a loop is the same where its method
 * and its header are. CPU time is weighted as that of ticks is; what bursts counted is added up,
 * since the ratio of sums over all of them is the loop's. So is what traces compared. Of turns only
 * those of the same window are compared, since hashes are keyed anew for each: what comes once in
 * every window counts as different each time, and what a rate loses by that is not known.
 */
#ifndef JXPERF_DAEMON_COMBINE_LOOP_MERGE_H
#define JXPERF_DAEMON_COMBINE_LOOP_MERGE_H

#include "daemon/combine/names.h"
#include "daemon/profile/loop_profile.h"

/* Adds from, whose methods and contexts are map's, with its CPU time times weight. 0 or -ENOMEM. */
int loop_merge_add(struct loop_profile *to, const struct loop_profile *from,
		   const struct names_map *map, double weight);

/* All CPU time times scale, when the last window was added. */
void loop_merge_scale(struct loop_profile *p, double scale);

#endif
