/* Sums of weights by what they are of. */
#ifndef JXPERF_REPORT_PROBLEMS_WEIGHED_H
#define JXPERF_REPORT_PROBLEMS_WEIGHED_H

#include <stddef.h>
#include <stdint.h>

/* Something that has weight. */
struct weighed {
	uint32_t what;
	double weight;
};

/* Adds up what is the same, the heaviest first; returns how many are left. */
size_t weighed_add_up(struct weighed *list, size_t count);

#endif
