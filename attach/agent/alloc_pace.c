#include "attach/agent/alloc_pace.h"

#include "attach/agent/alloc_event.h"

/* Less CPU time than this says nothing of a cost of one percent. */
#define CPU_MIN_NS UINT64_C(50000000)

void alloc_pace_init(struct alloc_pace *p, double budget)
{
	*p = (struct alloc_pace){.interval = ALLOC_INTERVAL_DEFAULT,
				 .fraction = budget * ALLOC_BUDGET_SHARE};
}

uint32_t alloc_pace_next(struct alloc_pace *p, uint64_t cost_ns, uint64_t cpu_ns, bool room)
{
	double used;

	if (cpu_ns < p->last_cpu_ns + CPU_MIN_NS)
		return p->interval;
	used = (double)(cost_ns - p->last_cost_ns) / (double)(cpu_ns - p->last_cpu_ns);
	p->last_cost_ns = cost_ns;
	p->last_cpu_ns = cpu_ns;
	if (used > p->fraction && p->interval < ALLOC_INTERVAL_MAX)
		p->interval *= 2;
	else if (used < p->fraction / 4 && room && p->interval > ALLOC_INTERVAL_MIN)
		p->interval /= 2;
	return p->interval;
}
