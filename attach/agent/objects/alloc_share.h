/*
 * What part of the window's budget sampled allocations may take, by what they bring.
 *
 * A sampled allocation tells for whom memory is allocated, and what accesses to its object cost
 * only if a sampled access meets that. In a program that allocates gigabytes a second and uses each
 * object once none does, and what its allocations cost is lost to the pairs. So where pairs are
 * sampled, too, allocations begin with a third of what they may have, get a little less while
 * sampled accesses meet nothing, and more as they do.
 *
 * How many accesses meet a tracked object is in proportion to how many objects are tracked, and
 * those to what allocations may take. So accesses count by the share in force when they were told
 * of: what is estimated is how many of them would meet an object at the largest share, and having
 * little is no reason to be given little. The share changes how densely allocations are sampled
 * (alloc_pace.h) and so what an object weighs; it biases no more than any other change of the
 * interval.
 *
 * Pure; session thread.
 */
#ifndef JXPERF_AGENT_OBJECTS_ALLOC_SHARE_H
#define JXPERF_AGENT_OBJECTS_ALLOC_SHARE_H

#include <stdbool.h>
#include <stdint.h>

/* The largest share, which allocations have in windows for objects alone, and the least: enough to
 * tell which operations allocate most. With 0.03 windows of 30 s of ten programs had 80 to 430 of
 * them, so that operations which allocate as much had 20 each, and which of them led was chance. */
#define ALLOC_SHARE_MOST  0.25
#define ALLOC_SHARE_LEAST 0.08

struct alloc_share {
	double share; /* of the budget, in force */
	bool fixed;
	uint64_t last_accesses; /* totals, when they were told last */
	uint64_t last_met;
	double accesses; /* each as the share of its time is to the largest one */
	double met;
};

/* alone: no pairs are sampled. */
void alloc_share_init(struct alloc_share *s, bool alone);

/* The share from now on. accesses, met: totals of the window, as the engine told them last; what
 * cannot be such totals changes nothing. */
double alloc_share_next(struct alloc_share *s, uint64_t accesses, uint64_t met);

#endif
