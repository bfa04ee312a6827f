#include "attach/agent/objects/alloc_pace.h"

#include "attach/agent/jvm/alloc_sampling.h"

/* Less CPU time than this says nothing of a cost of one percent. */
#define CPU_MIN_NS UINT64_C(50000000)

/* The interval is doubled so often at a time, at most. Once would take too long: most windows are
 * short, and a program may allocate gigabytes a second. */
#define DOUBLINGS_MAX 3u

/* How often the interval has to be doubled until the cost is within its part of the budget. */
static unsigned doublings(double used, double fraction)
{
	unsigned n = 0;

	for (; used > fraction && n < DOUBLINGS_MAX; used /= 2)
		n++;
	return n;
}

void alloc_pace_init(struct alloc_pace *p, double fraction)
{
	*p = (struct alloc_pace){.interval = ALLOC_SAMPLING_DEFAULT, .fraction = fraction};
}

uint32_t alloc_pace_next(struct alloc_pace *p, uint64_t cost_ns, uint64_t cpu_ns, bool room)
{
	double used;

	if (cpu_ns < p->last_cpu_ns + CPU_MIN_NS)
		return p->interval;
	used = (double)(cost_ns - p->last_cost_ns) / (double)(cpu_ns - p->last_cpu_ns);
	p->last_cost_ns = cost_ns;
	p->last_cpu_ns = cpu_ns;
	for (unsigned n = doublings(used, p->fraction); n > 0 && p->interval < ALLOC_INTERVAL_MAX;
	     n--)
		p->interval *= 2;
	if (used < p->fraction / 4 && room && p->interval > ALLOC_INTERVAL_MIN)
		p->interval /= 2;
	return p->interval;
}
