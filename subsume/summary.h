/*
 * Holds what people are shown of an analysis: the methods that subsume, by induced and by inclusive
 * cost, each with who calls it, what it is made of, and how sure its share is.
 */
#ifndef JXPERF_SUBSUME_SUMMARY_H
#define JXPERF_SUBSUME_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "subsume/analysis.h"
#include "subsume/part.h"
#include "subsume/tree.h"

#define SUBSUME_TOP_DEFAULT 20u

struct subsume_row {
	uint32_t method;
	const struct subsume_facts *facts;
	double induced; /* fractions of the whole */
	double inclusive;
	double exclusive;
	bool sampled; /* the costs are of samples: ci95 is */
	double induced_ci95[2];
	bool borderline;       /* height or distance is the least that subsumes */
	bool in_top_exclusive; /* among as many methods by exclusive, */
	bool in_top_inclusive; /* and by inclusive cost of all methods, as rows are shown */
	struct subsume_part
	    callers[SUBSUME_PARTS_MAX]; /* of the inclusive cost, by calling method */
	unsigned caller_count;
	struct subsume_part caller_path[SUBSUME_PARTS_MAX]; /* the main caller, its main caller, ..:
							       of the inclusive cost, while more
							       than half comes that way */
	unsigned caller_path_count;
	struct subsume_part pattern[SUBSUME_PARTS_MAX]; /* of the induced cost, by the methods that
							   it is the own cost of */
	unsigned pattern_count;
};

struct subsume_summary {
	const struct subsume_tree *tree;
	const struct subsume_analysis *analysis;
	double coverage; /* 1 - (samples that are alone in their node) / samples (Good 1953); 1
			    where costs were counted */
	struct subsume_row *by_induced;
	size_t by_induced_count;
	struct subsume_row *by_inclusive; /* without the virtual root, which includes all */
	size_t by_inclusive_count;
};

/* At most top rows each; of equal costs the first by name. Nodes with weights count as what they
 * would be in samples of a mean weight. tree and analysis have to outlive it. 0 or -ENOMEM. */
int subsume_summarise(const struct subsume_tree *tree, const struct subsume_analysis *analysis,
		      unsigned top, struct subsume_summary *out);

void subsume_summary_release(struct subsume_summary *s);

#endif
