/*
 * Loops that have their CPU time in what they call: ticks do not come in their code, so nobody
 * would look at it.
 *
 * The contexts of ticks tell which compiled methods call what takes the time. Of those with a share
 * of it the code that most likely runs is asked for by the method, the nearest to the ticks first,
 * a few at a time; the agent may answer that there is none, where a method was inlined in its
 * callers, which are asked for themselves. Of all code that is known, whoever asked for it, the
 * loops that call what takes 2% of the time or more beyond that of their own code get a row, with
 * the type of the last of them.
 */
#ifndef JXPERF_DAEMON_INTAKE_LOOP_CALLERS_H
#define JXPERF_DAEMON_INTAKE_LOOP_CALLERS_H

#include "daemon/intake/loop_intake.h"

/* The agent's id of the method of a node of the window's tree. 0 or -ENOMEM. */
int loop_callers_node(struct loop_intake *in, uint32_t node, uint32_t method);

/* The agent's ids of methods to be asked for now, at most LOOP_CODES_OPEN_MAX with the codes that
 * are; how many there are. They count as asked for. Looks at all contexts when a quarter more ticks
 * have come than when it last did: *looked. -ENOMEM. */
int loop_callers_ask(struct loop_intake *in, uint32_t methods[LOOP_CODES_OPEN_MAX], bool *looked);

/* Makes the rows, as far as ticks have come and code is known. 0 or -ENOMEM. */
int loop_callers_rows(struct loop_intake *in);

#endif
