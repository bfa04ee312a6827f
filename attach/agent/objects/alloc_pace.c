#include "attach/agent/objects/alloc_pace.h"

#include "attach/agent/jvmti/alloc_sampling.h"

/* Less CPU time than this says nothing of a cost of one percent, unless that cost tells by itself:
 * it is that of a hundred samples or so. */
#define CPU_MIN_NS    UINT64_C(50000000)
#define COST_TELLS_NS UINT64_C(500000)

/* The interval is doubled so often at a time, at most, where few samples tell. Once would take too
 * long: most windows are short, and a program may allocate gigabytes a second. */
#define DOUBLINGS_MAX      3u
#define DOUBLINGS_TOLD_MAX 16u /* all there are */

/* How often the interval has to be doubled until the cost is within its part of the budget. */
static unsigned doublings(double used, double fraction, unsigned most)
{
	unsigned n = 0;

	for (; used > fraction && n < most; used /= 2)
		n++;
	return n;
}

void alloc_pace_init(struct alloc_pace *p, double fraction)
{
	*p = (struct alloc_pace){.interval = ALLOC_SAMPLING_DEFAULT, .fraction = fraction};
}

uint64_t alloc_pace_dear_ns(const struct alloc_pace *p)
{
	return p->last_cost_ns + COST_TELLS_NS;
}

uint32_t alloc_pace_next(struct alloc_pace *p, uint64_t cost_ns, uint64_t cpu_ns, bool room)
{
	bool tells = cost_ns >= alloc_pace_dear_ns(p);
	double used;

	if (cpu_ns < p->last_cpu_ns + CPU_MIN_NS && (!tells || cpu_ns <= p->last_cpu_ns))
		return p->interval;
	used = (double)(cost_ns - p->last_cost_ns) / (double)(cpu_ns - p->last_cpu_ns);
	p->last_cost_ns = cost_ns;
	p->last_cpu_ns = cpu_ns;
	for (unsigned n = doublings(used, p->fraction, tells ? DOUBLINGS_TOLD_MAX : DOUBLINGS_MAX);
	     n > 0 && p->interval < ALLOC_INTERVAL_MAX; n--)
		p->interval *= 2;
	if (used < p->fraction / 4 && room && p->interval > ALLOC_INTERVAL_MIN)
		p->interval /= 2;
	return p->interval;
}
