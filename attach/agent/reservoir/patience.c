#include "attach/agent/reservoir/patience.h"

double patience_share(double most, double slowdown)
{
	return slowdown > most ? most / slowdown : 1;
}

void patience_init(struct patience *p)
{
	*p = (struct patience){.share = 1, .chance = 1, .patient = true};
}

bool patience_is_limited(const struct patience *p)
{
	return p->share < 1 || p->chance < 1;
}

double patience_look(const struct patience *p)
{
	return p->patient ? 1 / p->chance : 0;
}

static bool happens(struct random *random, double probability)
{
	return random_next(random) < probability * 0x1p32;
}

/* The rest of a chance that only ever comes closer. */
#define CERTAIN (1 - 1e-6)

static void begin(struct patience *p, struct random *random, double share)
{
	p->begun = true;
	p->share = p->chance = share;
	p->patient = happens(random, share);
}

/* Phases end at any moment alike, and begin so often that they have their share, however far ticks
 * are apart: share * leaves = (1 - share) * enters. While the share changes, the chance follows. */
double patience_tick(struct patience *p, struct random *random, uint64_t cpu_ns, double share)
{
	double passed = (double)(cpu_ns - p->tick_ns);
	double turns = passed / (passed + (double)PATIENCE_PHASE_NS);
	double leaves = turns * (1 - share), enters = turns * share;

	p->tick_ns = cpu_ns;
	if (!p->begun) {
		begin(p, random, share);
		return p->patient ? 1 / share : 0;
	}
	p->share = share;
	p->chance = p->chance * (1 - leaves) + (1 - p->chance) * enters;
	p->patient = p->patient ? !happens(random, leaves) : happens(random, enters);
	if (share >= 1 && p->patient && p->chance > CERTAIN)
		p->chance = 1;
	return p->patient ? 1 / (1 - leaves) : 0;
}
