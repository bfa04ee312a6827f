#include "attach/agent/objects/alloc_pace.h"

#include "attach/agent/jvmti/alloc_sampling.h"
#include "proto/ledger.h"

/* ---------------------------------------------------------------- how densely */

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

/* ---------------------------------------------------------------- their share */

/* Where this part of the accesses meets an object at the largest share, that is what allocations
 * get: of the some hundred accesses of a window four do, which tell what their sites are. */
#define PART_ENOUGH 0.04

/* What is taken for known before anything is: as if of so many accesses so many had met an object.
 * A third of enough, so that an early access that meets one gives nearly all. */
#define PRIOR_ACCESSES 30.0
#define PRIOR_MET      0.4

/* What is older than so many accesses counts half: programs have phases. */
#define ACCESSES_MAX 400.0

static double share_of(const struct alloc_share *s)
{
	const struct ledger_row *row = &ledger_table[LEDGER_ALLOCATIONS];
	double part = (s->met + PRIOR_MET) / (s->accesses + PRIOR_ACCESSES);
	double share = row->most * part / PART_ENOUGH;

	if (share > row->most)
		return row->most;
	return share < row->least ? row->least : share;
}

void alloc_share_init(struct alloc_share *s, bool alone)
{
	*s = (struct alloc_share){.fixed = alone};
	s->share = alone ? ledger_table[LEDGER_ALLOCATIONS].most : share_of(s);
}

double alloc_share_next(struct alloc_share *s, uint64_t accesses, uint64_t met)
{
	if (s->fixed || accesses <= s->last_accesses || met < s->last_met ||
	    met - s->last_met > accesses - s->last_accesses)
		return s->share;
	s->accesses += (double)(accesses - s->last_accesses) * s->share /
		       ledger_table[LEDGER_ALLOCATIONS].most;
	s->met += (double)(met - s->last_met);
	s->last_accesses = accesses;
	s->last_met = met;
	if (s->accesses > ACCESSES_MAX) {
		s->accesses /= 2;
		s->met /= 2;
	}
	s->share = share_of(s);
	return s->share;
}

/* ---------------------------------------------------------------- how small */

void alloc_floor_init(struct alloc_floor *f, uint64_t bytes, bool adapts)
{
	*f = (struct alloc_floor){.bytes = bytes, .adapts = adapts};
}

uint64_t alloc_floor_next(struct alloc_floor *f, uint64_t sampled, uint64_t small, bool room)
{
	uint64_t all = sampled - f->last_sampled, below = small - f->last_small;

	if (!f->adapts || all < ALLOC_FLOOR_SAMPLES)
		return f->bytes;
	f->last_sampled = sampled;
	f->last_small = small;
	if (2 * below > all && room)
		f->bytes = f->bytes / 4 >= ALLOC_FLOOR_LEAST ? f->bytes / 4 : 0;
	return f->bytes;
}

uint64_t alloc_floor_accessed(struct alloc_floor *f, uint64_t accessed_bytes, bool room)
{
	if (f->adapts && room && accessed_bytes > 0 && accessed_bytes < f->bytes)
		f->bytes = accessed_bytes >= ALLOC_FLOOR_LEAST ? accessed_bytes : 0;
	return f->bytes;
}
