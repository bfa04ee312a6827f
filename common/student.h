/* Student's 97.5% quantile (Abramowitz, Stegun, 26.7.5); 1% off with 4 degrees of freedom. */
#ifndef JXPERF_COMMON_STUDENT_H
#define JXPERF_COMMON_STUDENT_H

#include "common/wilson.h"

static inline double student_975(double freedom)
{
	double z = WILSON_Z95, z3 = z * z * z, z5 = z3 * z * z;

	return z + (z3 + z) / (4 * freedom) + (5 * z5 + 16 * z3 + 3 * z) / (96 * freedom * freedom);
}

#endif
