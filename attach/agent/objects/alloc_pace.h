/*
 * How densely allocations are sampled: the mean number of bytes between two samples, as the budget
 * allows.
 *
 * An allocation that is sampled costs the same whatever its size, so the cost is proportional to
 * the rate of samples. The interval grows while sampling takes more than its part of the
 * budget (alloc_share.h), and is halved while it takes less than a quarter of it and there is room
 * for more objects. What a program allocates is not known before it is sampled: 25 GB a second were
 * seen, whose first quarter of a second would use up what a window of five seconds has. So a cost
 * that tells by itself (alloc_pace_dear_ns) is not waited with. Pure; session thread.
 */
#ifndef JXPERF_AGENT_OBJECTS_ALLOC_PACE_H
#define JXPERF_AGENT_OBJECTS_ALLOC_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define ALLOC_INTERVAL_MIN (16u * 1024u)
#define ALLOC_INTERVAL_MAX (1u << 30)

struct alloc_pace {
	uint32_t interval; /* bytes, in force */
	double fraction;   /* of the target's CPU time that allocations may cost; may be changed */
	uint64_t last_cost_ns;
	uint64_t last_cpu_ns;
};

void alloc_pace_init(struct alloc_pace *p, double fraction);

/* The interval from now on. cost_ns and cpu_ns are totals of the window; room: the table of objects
 * has place for many more. Called at equal distances of time, and when the cost is dear. */
uint32_t alloc_pace_next(struct alloc_pace *p, uint64_t cost_ns, uint64_t cpu_ns, bool room);

/* The total cost at which alloc_pace_next is to be called at once. */
uint64_t alloc_pace_dear_ns(const struct alloc_pace *p);

#endif
