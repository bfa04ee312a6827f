/*
 * Writes down what is compared of a window (compare/side.h), for its JSON report.
 */
#ifndef JXPERF_PROFILE_COMBINE_WINDOW_SIDE_H
#define JXPERF_PROFILE_COMBINE_WINDOW_SIDE_H

#include "compare/side.h"
#include "profile/window/result.h"

/* Takes a window's CPU time where it has kind cpu, else its checked bytes; s is empty where it has
 * none (compare_side_is_empty). What there is no room for is told as its caller's. Nothing may
 * change w meanwhile. 0 or -ENOMEM, and then s is empty. */
int window_side_init(struct compare_side *s, const struct window_result *w);

#endif
