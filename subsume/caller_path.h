/*
 * By which way most of a method's inclusive cost comes: its main caller, that one's main caller,
 * and so on. "Called by NumberFormat.format" is not yet the place to change; in the paper's first
 * case (section 5.1.1) that is the caller's caller.
 *
 * Any thread; pure but for memory.
 */
#ifndef JXPERF_SUBSUME_CALLER_PATH_H
#define JXPERF_SUBSUME_CALLER_PATH_H

#include <stddef.h>
#include <stdint.h>

#include "subsume/part.h"
#include "subsume/tree.h"

struct subsume_caller_path {
	uint32_t method;
	uint64_t inclusive;                           /* its cost */
	struct subsume_part steps[SUBSUME_PARTS_MAX]; /* of the inclusive cost, outwards */
	unsigned count;
};

/* Goes on from the first step of each path, which has more than half of the inclusive cost, as long
 * as that is so. Methods of paths are different ones. 0 or -ENOMEM. */
int subsume_caller_paths(const struct subsume_tree *tree, struct subsume_caller_path *paths,
			 size_t count);

#endif
