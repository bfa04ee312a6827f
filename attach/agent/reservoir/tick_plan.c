#include "attach/agent/reservoir/tick_plan.h"

#include "attach/agent/reservoir/patience.h"

/* Ticks come after half to one and a half periods, at random: a program that goes round in step
 * with the ticks would be seen at the same places every time. A new length holds for some ticks,
 * because setting it is a system call. */
#define TICKS_ALIKE 4u

static void draw_length(struct tick_plan *p, struct random *random, uint64_t period)
{
	uint64_t part = period * random_below(random, 1u << 16) >> 16;

	if (p->alike > 0) {
		p->alike--;
		return;
	}
	p->alike = TICKS_ALIKE - 1;
	p->length_ns = period / 2 + part;
}

static uint64_t left(const struct tick_plan *p, uint64_t cpu_ns)
{
	uint64_t passed = cpu_ns - p->tick_ns;

	return p->length_ns > passed ? p->length_ns - passed : 0;
}

bool tick_plan_is_look(const struct tick_plan *p, uint64_t cpu_ns)
{
	return p->look && left(p, cpu_ns) >= PATIENCE_NS / 2;
}

uint64_t tick_plan_next(struct tick_plan *p, struct random *random, uint64_t period,
			uint64_t cpu_ns, bool look)
{
	draw_length(p, random, period);
	p->tick_ns = cpu_ns;
	/* Else the tick is as near, and looks itself. */
	p->look = look && p->length_ns > 2 * PATIENCE_NS;
	return p->look ? PATIENCE_NS : p->length_ns;
}

uint64_t tick_plan_end_look(struct tick_plan *p, uint64_t cpu_ns)
{
	uint64_t ns = left(p, cpu_ns);

	p->look = false;
	return ns > PATIENCE_NS ? ns : PATIENCE_NS;
}

uint64_t tick_plan_refused(struct tick_plan *p, uint64_t period)
{
	p->look = false;
	return p->length_ns ? p->length_ns : period;
}
