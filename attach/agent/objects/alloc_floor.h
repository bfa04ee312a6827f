/*
 * How small an object may be and still be tracked, where nobody has said.
 *
 * Large objects are where sites differ most in what they cost, so a window begins with those. In a
 * program whose allocations are nearly all small, sampling would be paid for and nothing known: so
 * where more than half of the allocations that were sampled are below the smallest size, it is made
 * less, to a quarter at a time and in the end to 0. And where accesses go to smaller objects, as
 * the engine tells, these are what has to be tracked, however few they are: a tree of a gigabyte is
 * nodes of 32 bytes, beside a few buffers that are allocated all the time. What small objects cost
 * then is bounded by what bounds all: the interval of sampling grows (alloc_pace.h), and objects
 * are left out at random (track_room.h).
 *
 * An object that is below the smallest size when it is allocated is not of the population that is
 * tracked, whatever the size is later; where it was allocated is told (alloc_event.h). That changes
 * no other object's probability, so weights stay what they are: estimates are of the objects that
 * were large enough at their time, and what was accessed of the others is among what is "older, or
 * not tracked".
 *
 * Pure; session thread.
 */
#ifndef JXPERF_AGENT_OBJECTS_ALLOC_FLOOR_H
#define JXPERF_AGENT_OBJECTS_ALLOC_FLOOR_H

#include <stdbool.h>
#include <stdint.h>

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
