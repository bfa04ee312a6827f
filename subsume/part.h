/*
 * A part of a cost, by method.
 */
#ifndef JXPERF_SUBSUME_PART_H
#define JXPERF_SUBSUME_PART_H

#include <stdint.h>

#define SUBSUME_PARTS_MAX 5u /* callers, and members of a pattern, that are named */

struct subsume_part {
	uint32_t method;
	double fraction;
};

#endif
