/*
 * Which registers and words of the frame are still used, at the beginning of each block: backward
 * over the whole code.
 *
 * Where the code is left for good (an uncommon trap, a throw) nothing is: what runs then is not
 * this code, and not for long.
 */
#ifndef JXPERF_PROFILE_LOOPS_LIVENESS_H
#define JXPERF_PROFILE_LOOPS_LIVENESS_H

#include "profile/loops/values.h"

struct liveness {
	struct location_set *entering; /* by block */
	struct location_set returned;  /* by the code */
};

/* 0; -ENOMEM. */
int liveness_make(struct liveness *l, const struct native_code *n);
void liveness_release(struct liveness *l);

#endif
