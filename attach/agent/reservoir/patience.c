#include "attach/agent/reservoir/patience.h"

/* At 1%, a tenth of the time: where registers cost 5%, as much as the measured part of a budget may
 * be wrong by. */
#define SHARE_OF_BUDGET 10.0

double patience_share(double budget)
{
	double share = budget * SHARE_OF_BUDGET;

	return share < 1 ? share : 1;
}

void patience_init(struct patience *p, double share)
{
	*p = (struct patience){.share = share};
}

double patience_look(const struct patience *p)
{
	return p->patient ? 1 / p->share : 0;
}

static bool happens(struct random *random, double probability)
{
	return random_next(random) < probability * 0x1p32;
}

/* Phases end at any moment alike, and begin so often that their share is what it should be at each
 * tick, however long the last one is ago: share * leaves = (1 - share) * begins. */
double patience_tick(struct patience *p, struct random *random, uint64_t cpu_ns)
{
	double passed = (double)(cpu_ns - p->tick_ns);
	double leaves = passed / (passed + (double)PATIENCE_PHASE_NS);

	p->tick_ns = cpu_ns;
	if (!p->begun) {
		p->begun = true;
		p->patient = happens(random, p->share);
		return 1;
	}
	/* No rounding may come in here: for the whole of the time nothing is given up. */
	if (p->share >= 1)
		return 1;
	leaves *= 1 - p->share;
	if (p->patient)
		p->patient = !happens(random, leaves);
	else
		p->patient = happens(random, leaves * p->share / (1 - p->share));
	return p->patient ? 1 / (1 - leaves) : 0;
}
