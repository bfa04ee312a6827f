/*
 * A gate for builds: has B's CPU time risen by more than somebody allows, beyond doubt?
 *
 * It fails where a whole interval (compare/change.h) is above the limit: of CPU time for the same
 * work, of a kind of wasteful accesses, or of a row that a source has; without CPU time, of the
 * bytes that were checked. Spills do not fail it, nor what has only moved within its caller.
 */
#ifndef JXPERF_COMPARE_GATE_H
#define JXPERF_COMPARE_GATE_H

#include "compare/comparison.h"

#define COMPARE_GATE_BYTES (COMPARE_NAME_MAX + 256)

struct compare_gate {
	double above; /* 0..1, of A's CPU time or checked bytes */
	bool fails;
	char reason[COMPARE_GATE_BYTES]; /* one line, of the largest rise; "" where it passes */
};

struct compare_gate compare_gate_judge(const struct comparison *c, double above);

#endif
