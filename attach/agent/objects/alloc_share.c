#include "attach/agent/objects/alloc_share.h"

#include "proto/ledger.h"

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
