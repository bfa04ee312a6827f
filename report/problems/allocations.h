/*
 * Adds up what a program allocates, by the operation that it is made for.
 *
 * A site may belong to the nearest ALLOCATION_CALLERS methods of its context that are not of the
 * JDK's basic packages (operation.h), nor constructors; recursion hides what is more than
 * ALLOCATION_FRAMES such frames away. The method for which most bytes are
 * allocated is an operation and takes its sites; then the one for which most of the rest is. A byte
 * counts ALLOCATION_DISTANT less for each of these methods between: else all would be the drivers'
 * doing. A method that has most of this one's allocated, and comes to ALLOCATION_TIE of what it
 * comes to, is the operation in its place.
 *
 * A sampled allocation stands for as many bytes as any other, be its object tracked or too small
 * for it. What of them is garbage only tracked ones tell.
 */
#ifndef JXPERF_REPORT_PROBLEMS_ALLOCATIONS_H
#define JXPERF_REPORT_PROBLEMS_ALLOCATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/problems/problem.h"
#include "profile/window/result.h"

#define ALLOCATION_CALLERS 4u
#define ALLOCATION_FRAMES  64
#define ALLOCATION_DISTANT 0.25
#define ALLOCATION_TIE     0.9
#define ALLOCATION_GROUPS  8u

struct allocation_group {
	uint32_t method;       /* the operation */
	const uint32_t *sites; /* positions in the window's profile of objects */
	size_t count;
};

struct allocation_groups {
	struct allocation_group list[ALLOCATION_GROUPS]; /* the most bytes first */
	size_t count;
	uint32_t *sites;
};

/* By node of the tree: the nearest frame, itself or above it, whose doing it may be; 0: none. NULL
 * without memory. */
uint32_t *allocation_frames_new(const struct profile *p);

/* frames: of the window's profile, here and below. 0 or -ENOMEM; to be released in either case. */
int allocation_groups_init(struct allocation_groups *g, const struct window_result *w,
			   const uint32_t *frames);
void allocation_groups_release(struct allocation_groups *g);

/* May what is allocated, or accessed, in a context be the doing of a method? */
bool allocation_is_near(const struct profile *p, const uint32_t *frames, uint32_t node,
			uint32_t method);

/* Adds up what is allocated at some sites: all zero for none. 0 or -ENOMEM. */
int problem_allocation_init(struct problem_allocation *out, const struct window_result *w,
			    const uint32_t *frames, const uint32_t *sites, size_t count);

#endif
