/*
 * What the turns of a loop of machine code come to: where it makes results, of which kind, and
 * whether all turns pass there.
 *
 * Results are stores to the heap, calls that come back and do not work for compiled code, and
 * values that a turn leaves to the next (sums, numbers found), where they are used behind the loop.
 * None are: the frame, the JVM's thread, its card table, memory that the turn itself has allocated,
 * and progress (profile/loops/values.h): how far the loop is. What one turn alone has, and the
 * next one overwrites, is its own.
 */
#ifndef JXPERF_PROFILE_LOOPS_RESULT_SITES_H
#define JXPERF_PROFILE_LOOPS_RESULT_SITES_H

#include "profile/loops/liveness.h"
#include "profile/loops/loop_kind.h"
#include "profile/loops/values.h"

#define RESULT_SITES_MAX 64u /* of a loop */
#define RESULT_EXITS_MAX 64u

struct result_site {
	uint32_t offset;
	enum loop_result result;
	uint16_t block;
};

/* The loop is left, and not by its limit. */
struct result_exit {
	uint16_t from, to; /* blocks */
};

struct result_sites {
	enum loop_type type;
	unsigned doubts; /* enum loop_doubt */
	bool waits;
	unsigned count;
	struct result_site sites[RESULT_SITES_MAX];
	/* What counts the turns, or leads along a list: a location, and by how much it is stepped;
	 * -1: there is none. */
	int counter;
	int32_t counter_step;
	bool counter_used;          /* behind the loop; by another copy of it, too */
	bool counter_used_at_limit; /* there, where the loop was left by its limit */
	unsigned exit_count;
	struct result_exit exits[RESULT_EXITS_MAX];
	/* By branches that were never taken when it was compiled: out of the loop, or not. */
	unsigned pruned_count;
	struct result_exit pruned[RESULT_EXITS_MAX];
};

/* 0; -ENOMEM. Exits are no sites yet: where they lead, other loops may lead as well. */
int result_sites_find(struct result_sites *r, const struct loop_values *v,
		      const struct liveness *live);

#endif
