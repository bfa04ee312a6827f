#include "attach/agent/ticks/tick_plan.h"

#include "attach/agent/reservoir/patience.h"

/* A program that goes round in step with the ticks would be seen at the same places every time, so
 * their distance is drawn. A new one holds for some ticks, because setting it is a system call. */
#define TICKS_ALIKE 4u

/* More that were due are not drawn one by one. */
#define DRAWN_MAX 16u

static void draw_length(struct tick_plan *p, struct random *random, uint64_t period)
{
	if (p->alike > 0 && p->period_ns == period) {
		p->alike--;
		return;
	}
	p->alike = TICKS_ALIKE - 1;
	/* What one length had too much the next one has too little, so that as many ticks are due
	 * as the time has periods: not on average, but always. */
	p->mirrors = p->period_ns == period && !p->mirrors;
	p->length_ns = p->mirrors ? 2 * period - p->length_ns
				  : period / 2 + (period * random_below(random, 1u << 16) >> 16);
	p->period_ns = period;
}

void tick_plan_begin(struct tick_plan *p, struct random *random, uint64_t period, uint64_t from_ns)
{
	*p = (struct tick_plan){0};
	draw_length(p, random, period);
	p->due_ns = from_ns + (period * random_below(random, 1u << 16) >> 16);
}

bool tick_plan_is_look(const struct tick_plan *p, uint64_t cpu_ns)
{
	return p->look && p->due_ns >= cpu_ns + PATIENCE_NS / 2;
}

static void draw_next(struct tick_plan *p, struct random *random, uint64_t period)
{
	draw_length(p, random, period);
	p->due_ns += p->length_ns;
}

uint64_t tick_plan_tick(struct tick_plan *p, struct random *random, uint64_t period,
			uint64_t cpu_ns)
{
	uint64_t stands_for = 0, many;

	if (p->due_ns > cpu_ns + p->length_ns / 2)
		return 0;
	/* The one that is due, or nearly. */
	do {
		stands_for += p->period_ns;
		draw_next(p, random, period);
	} while (p->due_ns <= cpu_ns && stands_for < DRAWN_MAX * period);
	if (p->due_ns > cpu_ns)
		return stands_for;
	many = (cpu_ns - p->due_ns) / period + 1;
	p->due_ns += many * period;
	return stands_for + many * period;
}

uint64_t tick_plan_next(struct tick_plan *p, uint64_t cpu_ns, bool look)
{
	/* Else the tick is as near, and looks itself. */
	p->look = look && p->due_ns > cpu_ns + 2 * PATIENCE_NS;
	if (p->look)
		return cpu_ns + PATIENCE_NS;
	return p->due_ns > cpu_ns ? p->due_ns : cpu_ns;
}
