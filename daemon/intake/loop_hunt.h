/*
 * Which code of a window is looked at, and which of its loops are counted: by ticks, as they come.
 *
 * Code is asked for when it has a share of all ticks and so many that this is no accident, once,
 * and a few at a time. A native loop with a share of the ticks, in it or in loops inside it, is
 * counted unless nothing could come of it: all its turns have results or none, or it waits. Its
 * instances and its turns are compared where the analysis says what they go by. Loops of which
 * enough is known wait for those of which it is not: bursts and traces have a budget.
 */
#ifndef JXPERF_DAEMON_INTAKE_LOOP_HUNT_H
#define JXPERF_DAEMON_INTAKE_LOOP_HUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/intake/loop_intake.h"

#define LOOP_HUNT_SHARE   0.02 /* of all ticks */
#define LOOP_HUNT_SAMPLES 20u

/* Numbers of the codes to be asked for now, at most LOOP_CODES_OPEN_MAX; how many there are. They
 * count as asked for. */
size_t loop_hunt_codes(struct loop_intake *in, uint64_t codes[LOOP_CODES_OPEN_MAX]);

/* Makes plans for loops that became hot, and says which of all are to be counted and compared.
 * *changed: others than before. 0 or -ENOMEM. */
int loop_hunt_plans(struct loop_intake *in, bool *changed);

/* What of all plans the agent is to do now; how many there are. */
size_t loop_hunt_orders(const struct loop_intake *in, struct loop_plan orders[LIMIT_PLANS]);

#endif
