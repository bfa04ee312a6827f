#include "fleet/evidence.h"

#include <stddef.h>

static double clamp(double value, double least, double most)
{
	if (value < least)
		return least;
	return value > most ? most : value;
}

uint64_t evidence_day(uint64_t unix_ns)
{
	return unix_ns < EVIDENCE_LATER_NS ? 0 : (unix_ns - EVIDENCE_LATER_NS) / EVIDENCE_DAY_NS;
}

/* A day's windows without a pair ask for as much more as it may be. */
static double retune(double wanted, const struct day_evidence *e)
{
	double before = clamp(e->probability, EVIDENCE_LEAST, 1);
	double after = e->pairs > 0 ? wanted / e->pairs : 1;

	after = clamp(after, before / EVIDENCE_STEP, before * EVIDENCE_STEP);
	return clamp(after, EVIDENCE_LEAST, 1);
}

double evidence_probability(double pairs_per_day, double host_fraction,
			    const struct day_evidence *latest, uint64_t day)
{
	double probability;

	if (!latest || latest->day >= day || day - latest->day > EVIDENCE_DAYS)
		return EVIDENCE_FIRST;
	probability = retune(pairs_per_day / host_fraction, latest);
	for (uint64_t without = latest->day + 1; without < day; without++)
		if (probability < EVIDENCE_FIRST)
			probability =
			    clamp(probability * EVIDENCE_STEP, EVIDENCE_LEAST, EVIDENCE_FIRST);
	return probability;
}
