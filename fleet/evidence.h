/*
 * A target of evidence in place of a period: how probable an application's windows have to be, so
 * that they bring so many completed pairs of watch and trap a day on a host (as Strobelight's
 * dynamic sampling tunes the probabilities of its hosts by what came: Meta Engineering,
 * "Strobelight: A profiling service built on open source technology", January 2025).
 *
 * Days are those of UTC. What windows that began on one brought, each pair times the inverse of the
 * probability that its window had, estimates what all windows of the day would have brought
 * (Horvitz and Thompson 1952); the target over that is the probability of the next day, which
 * begins EVIDENCE_LATER_NS later, when all these windows have ended. So a probability is a function
 * of the past alone, and fixed before what it is for is drawn.
 *
 * Functions of their arguments alone: whoever has the windows has the probabilities.
 */
#ifndef JXPERF_FLEET_EVIDENCE_H
#define JXPERF_FLEET_EVIDENCE_H

#include <stdint.h>

#include "common/clock.h"

#define EVIDENCE_DAY_NS (86400 * NS_PER_S)
/* At 01:00. No epoch is longer (CONFIG_TUNED_EVERY_MAX_NS), so that no window is. */
#define EVIDENCE_LATER_NS (3600 * NS_PER_S)

/* What an application has of which no windows are known. */
#define EVIDENCE_FIRST 0.1
/* The least that one has; the most is 1. */
#define EVIDENCE_LEAST 0.001
/* By so much a probability rises or falls in a day, at most. */
#define EVIDENCE_STEP 4
/* Windows of so many days before are looked at: the latest day that has any counts. */
#define EVIDENCE_DAYS 7

/* What came of an application's windows on one day. */
struct day_evidence {
	uint64_t day;       /* of UTC, since 1970 */
	double pairs;       /* that windows in every epoch would have brought: the estimate */
	double probability; /* that its last window had; above 0 */
};

/* Of which day the probability is that an epoch has which begins then. */
uint64_t evidence_day(uint64_t unix_ns);

/* The probability of a day that brings so many pairs on average on a host that takes part in an
 * epoch with probability host_fraction. latest: the latest day before it with windows; NULL: none
 * is known. On days without windows it rises up to EVIDENCE_FIRST and not above: nobody knows
 * whether there was anything to see. */
double evidence_probability(double pairs_per_day, double host_fraction,
			    const struct day_evidence *latest, uint64_t day);

#endif
