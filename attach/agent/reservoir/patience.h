/*
 * How long what is watched may be waited for.
 *
 * Registers that are on slow some programs down (attach/agent/slowdown/slowdown.h). And it is not
 * the pairs that keep them on: those seen were complete within a millisecond, while what is never
 * accessed again waits for the next collection. So where registers cost something, a thread is
 * patient for a part of its time only, in phases that begin and end at random whatever it does;
 * otherwise what has waited for PATIENCE_NS is given up. A pair that takes longer is seen in a
 * phase alone, and stands for those that came outside of one: its weight rises by the inverse of
 * the probability that the phase was there, and that it went on (Horvitz and Thompson 1952; in
 * Monte Carlo methods, Russian roulette).
 *
 * Pure; one thread.
 */
#ifndef JXPERF_AGENT_RESERVOIR_PATIENCE_H
#define JXPERF_AGENT_RESERVOIR_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/clock.h"
#include "common/random.h"

/* CPU time of the thread since the tick; or until the next one, where that is not much later. Nine
 * of ten pairs of the bench's programs take less than half a millisecond. */
#define PATIENCE_NS (2 * NS_PER_MS)

/* Mean length of a short phase between ticks that are near each other, of the thread's CPU time: it
 * ends at a tick, and later where its share is large. Long for a pair, and short enough for a
 * window of some seconds to have a few. */
#define PATIENCE_PHASE_NS (50 * NS_PER_MS)

struct patience {
	bool begun;
	bool patient;
	double share;     /* of the thread's time that phases are to have, in (0, 1] */
	double chance;    /* that the thread is patient now, as known before it was drawn */
	uint64_t tick_ns; /* the thread's CPU time at the last tick */
};

/* The share with which a slowdown while registers are on comes to no more than most, both fractions
 * of the time. */
double patience_share(double most, double slowdown);

void patience_init(struct patience *p);

/* Is anything ever given up? */
bool patience_is_limited(const struct patience *p);

/* What has waited for PATIENCE_NS is looked at, once: by how much its weight rises, or 0 when it is
 * given up. */
double patience_look(const struct patience *p);

/* A tick, at cpu_ns of the thread's CPU time: phases begin and end, so that they come to have this
 * share. By how much the weights of all rise that were looked at, or 0 when they are given up. */
double patience_tick(struct patience *p, struct random *random, uint64_t cpu_ns, double share);

#endif
