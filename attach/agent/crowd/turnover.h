/*
 * Do the threads that this JVM starts live long enough to be worth their events?
 *
 * Opening and closing the events of a thread costs tens of microseconds of its own and the session
 * thread's time. A program that makes eight threads of a millisecond at a time paid for each of
 * them and gave no sample (measured: 3.6% of its throughput). So while most of the threads that
 * were taken on lately ended without a tick, those that start have to wait until they have used CPU
 * time.
 *
 * Pure; session thread.
 */
#ifndef JXPERF_AGENT_CROWD_TURNOVER_H
#define JXPERF_AGENT_CROWD_TURNOVER_H

#include <stdbool.h>
#include <stdint.h>

/* All zero: nothing is known yet. */
struct turnover {
	uint32_t taken;   /* threads whose events were opened lately, */
	uint32_t in_vain; /* and those that ended without a tick */
};

void turnover_taken(struct turnover *t);

/* A thread that was taken on has ended; ticks is how many it had. */
void turnover_ended(struct turnover *t, uint64_t ticks);

/* Are most of the threads that start taken on in vain? */
bool turnover_is_high(const struct turnover *t);

#endif
