/*
 * Three controllers of what sampled allocations cost and tell: how densely they are sampled, what
 * part of the budget they have, and how small objects may be. Pure; session thread.
 */
#ifndef JXPERF_AGENT_OBJECTS_ALLOC_PACE_H
#define JXPERF_AGENT_OBJECTS_ALLOC_PACE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * How densely allocations are sampled: the mean number of bytes between two samples, as the budget
 * allows.
 *
 * An allocation that is sampled costs the same whatever its size, so the cost is proportional to
 * the rate of samples. The interval grows while sampling takes more than its part of the budget,
 * and is halved while it takes less than a quarter of it and there is room for more objects. What a
 * program allocates is not known before it is sampled: 25 GB a second were seen, whose first
 * quarter of a second would use up what a window of five seconds has. So a cost that tells by
 * itself (alloc_pace_dear_ns) is not waited with.
 */

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
 * little is no reason to be given little. The share changes how densely allocations are sampled and
 * so what an object weighs; it biases no more than any other change of the interval.
 */

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

/*
 * How small an object may be and still be tracked, where nobody has said.
 *
 * Large objects are where sites differ most in what they cost, so a window begins with those. In a
 * program whose allocations are nearly all small, sampling would be paid for and nothing known: so
 * where more than half of the allocations that were sampled are below the smallest size, it is made
 * less, to a quarter at a time and in the end to 0. And where accesses go to smaller objects, as
 * the engine tells, these are what has to be tracked, however few they are: a tree of a gigabyte is
 * nodes of 32 bytes, beside a few buffers that are allocated all the time. What small objects cost
 * then is bounded by what bounds all: the interval of sampling grows, and objects are left out at
 * random (track_room.h).
 *
 * An object that is below the smallest size when it is allocated is not of the population that is
 * tracked, whatever the size is later; where it was allocated is told (alloc_event.h). That changes
 * no other object's probability, so weights stay what they are: estimates are of the objects that
 * were large enough at their time, and what was accessed of the others is among what is "older, or
 * not tracked".
 */

/* A decision takes so many allocations. */
#define ALLOC_FLOOR_SAMPLES 20u

/* Below it there is only 0: no object is half as large. */
#define ALLOC_FLOOR_LEAST 64u

struct alloc_floor {
	uint64_t bytes; /* in force */
	bool adapts;
	uint64_t last_sampled; /* allocations, at the last decision */
	uint64_t last_small;
};

void alloc_floor_init(struct alloc_floor *f, uint64_t bytes, bool adapts);

/* The smallest size from now on. sampled: allocations of the window, small: those of them that were
 * below the size in force at their time; room: the table of objects has place for many more. */
uint64_t alloc_floor_next(struct alloc_floor *f, uint64_t sampled, uint64_t small, bool room);

/* The same, where objects of accessed_bytes or more have most of the accesses; 0: nobody knows. */
uint64_t alloc_floor_accessed(struct alloc_floor *f, uint64_t accessed_bytes, bool room);

#endif
