/*
 * Which window goes where there are too many: the oldest of the owner who has most, so that what
 * one user has done drives out nothing of another's (daemon/shares/shares.h).
 */
#ifndef JXPERF_DAEMON_SHARES_MAKES_WAY_H
#define JXPERF_DAEMON_SHARES_MAKES_WAY_H

#include <stddef.h>

#include "profile/window/result.h"

/* How much a window is of what there is too much of; 0: nothing, and it stays. */
typedef size_t window_weight_fn(const struct window_result *w);

/* The index of one of count windows, oldest first, that makes way, from first on and before end;
 * end when all of these stay. */
size_t window_makes_way(struct window_result *const *windows, size_t count, size_t first,
			size_t end, window_weight_fn *weight);

/* The weight of all of them. */
size_t window_weight_sum(struct window_result *const *windows, size_t count,
			 window_weight_fn *weight);

#endif
