#include "attach/agent/crowd/turnover.h"

/* Fewer threads than this say nothing. */
#define TAKEN_MIN 16u

/* When so many have been taken on, the counts are halved: what is older counts less and less, and a
 * phase of short-lived threads is forgotten. */
#define TAKEN_MAX 64u

void turnover_taken(struct turnover *t)
{
	if (++t->taken < TAKEN_MAX)
		return;
	t->taken /= 2;
	t->in_vain /= 2;
}

void turnover_ended(struct turnover *t, uint64_t ticks)
{
	if (ticks == 0 && t->in_vain < t->taken)
		t->in_vain++;
}

bool turnover_is_high(const struct turnover *t)
{
	return t->taken >= TAKEN_MIN && t->in_vain * 2 > t->taken;
}
