/*
 * Where a thread's counter tells how many turns an instance of a loop has made: a place in front of
 * the loop, places where it is left, and what holds the counter at each.
 *
 * A compiler makes copies of a loop (before, main, after; vectors; one for each way of a branch
 * that does not change), and an instance passes through several: they are looked at together, with
 * what leads from one to the other, in one turn of the loop around them. From the place in front,
 * the only way in, the counter is followed through copies, steps and words of the frame. Each copy
 * must go on with it where it begins and step it in each turn, all of them by the same for one turn
 * of the bytecodes. Where a copy is left in the middle of what it was unrolled to, the counter is
 * some turns behind: how many at least and at most is told. A turn that was peeled off in front is
 * not seen. Ways out that were never taken (uncommon traps) are no places.
 *
 * Where there are more ways out than registers the counter is followed on to where they meet.
 *
 * Where any of this is not certain there is no reading.
 */
#ifndef JXPERF_PROFILE_LOOPS_LOOP_READING_H
#define JXPERF_PROFILE_LOOPS_LOOP_READING_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/loops/loop_kind.h"
#include "profile/loops/loop_mapping.h"
#include "profile/loops/result_sites.h"

/* What was found out before, by loop of the graph. */
struct loop_reading_code {
	const struct native_code *native;
	const struct loop_mapping *mapping;
	const struct result_sites *found;
	const uint32_t *unroll; /* turns for each time the header is come to; 0: not known */
};

/* Blocks to be looked at are taken from *budget. 1 with a reading, 0 where there is none; -ENOMEM.
 */
int loop_reading_find(struct loop_reading *out, const struct loop_reading_code *code, unsigned loop,
		      unsigned *budget);

#endif
