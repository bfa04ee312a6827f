#include "report/loops/loop_redundancy.h"

#include <math.h>

enum strategy { MEMOIZE, BATCH, STRATEGIES };

#define MEMOIZE_WORDS "keep what it computed"
#define BATCH_WORDS   "do it for many at a time"

static const struct loop_advice for_instances[STRATEGIES] = {
    [MEMOIZE] =
	{"memoize", MEMOIZE_WORDS,
	 "an instance does again what the one before did, and leaves as little however long it "
	 "is: developers fixed 5 of 9 such loops by keeping what was computed, and 4 by doing "
	 "it for many at a time (LDoctor, table 1)"},
    [BATCH] =
	{"batch", BATCH_WORDS,
	 "an instance does again what the one before did, and leaves the more the longer it is: "
	 "developers fixed 4 of 9 such loops by doing it for many at a time, and 5 by keeping "
	 "what was computed (LDoctor, table 1)"},
};

static const struct loop_advice for_turns[STRATEGIES] = {
    [MEMOIZE] =
	{"memoize", MEMOIZE_WORDS,
	 "most turns go by what another one has gone by: developers fixed 7 of 12 such loops "
	 "by keeping what was computed, and 4 by doing it for many at a time (LDoctor, "
	 "table 1)"},
    [BATCH] =
	{"batch", BATCH_WORDS,
	 "each turn is the same input or output: developers fixed 4 of 12 loops that repeat "
	 "their turns by doing it for many at a time, as a rule those (LDoctor, section 3.2.6, "
	 "table 1)"},
};

static enum loop_effect effect_of(const struct loop *row)
{
	unsigned effect = LOOP_EFFECT_CONSTANT;

	for (unsigned i = 0; i < LOOP_EFFECTS; i++)
		if (row->effect_ns[i] > row->effect_ns[effect])
			effect = i;
	return (enum loop_effect)effect;
}

static enum loop_again judge(const struct repeat_rate *r)
{
	if (!r->known)
		return LOOP_AGAIN_UNKNOWN;
	if (r->ci95.low > LOOP_REDUNDANT_RATE && r->traces >= LOOP_TRACES_MIN)
		return LOOP_AGAIN_YES;
	if (r->ci95.high < LOOP_REDUNDANT_RATE ||
	    (r->traces >= LOOP_TRACES_ENOUGH && r->rate < LOOP_REDUNDANT_RATE))
		return LOOP_AGAIN_NO;
	return LOOP_AGAIN_OPEN;
}

struct loop_redundancy loop_redundancy_of(const struct loop_profile *p, const struct loop *row,
					  enum loop_type type)
{
	enum loop_effect effect = effect_of(row);
	struct loop_redundancy r = {.instance_rate = loop_profile_instances(p, row, 1),
				    .turn_rate = turn_sums_rate(&row->turns)};

	r.instances = judge(&r.instance_rate);
	r.sameness = loop_profile_sameness(p, row);
	if (r.sameness == LOOP_SAME_NOT && r.instances != LOOP_AGAIN_UNKNOWN)
		r.instances = LOOP_AGAIN_NO;
	if (r.sameness == LOOP_SAME_NOT_SURE && r.instances == LOOP_AGAIN_YES)
		r.instances = LOOP_AGAIN_OPEN;
	r.turns = judge(&r.turn_rate);
	r.io = type == LOOP_EVERY && effect == LOOP_EFFECT_IO;
	if (r.instances == LOOP_AGAIN_YES)
		r.instance_advice =
		    &for_instances[effect == LOOP_EFFECT_CONSTANT ? MEMOIZE : BATCH];
	if (r.turns == LOOP_AGAIN_YES || r.io)
		r.turn_advice = &for_turns[r.io ? BATCH : MEMOIZE];
	return r;
}

/* How many times as many pairs like those that came would tell; no more than are taken. That cannot
 * be said of an input with few of them: all may. */
static double instances_need(const struct loop_profile *p, const struct loop *row,
			     enum loop_sameness sameness)
{
	if (sameness == LOOP_SAME_NOT_SURE && row->pairs < LOOP_TRACES_ENOUGH)
		return LOOP_TRACES_ENOUGH / (double)row->pairs;
	for (unsigned i = 1; pow(1.25, i - 1.0) * (double)row->pairs < LOOP_TRACES_ENOUGH; i++) {
		struct repeat_rate r = loop_profile_instances(p, row, pow(1.25, i));
		enum loop_again again = judge(&r);

		if (again == LOOP_AGAIN_YES || again == LOOP_AGAIN_NO)
			return pow(1.25, i);
	}
	return 0;
}

double loop_redundancy_needs(const struct loop_redundancy *r, const struct loop_profile *p,
			     const struct loop *row)
{
	double times = 0;

	if (r->instances == LOOP_AGAIN_OPEN)
		times = instances_need(p, row, r->sameness);
	/* What is rare among turns cannot be told from what has come; all that are taken may. */
	if (r->turns == LOOP_AGAIN_OPEN && r->turn_rate.traces < LOOP_TRACES_ENOUGH)
		times = fmax(times, LOOP_TRACES_ENOUGH / r->turn_rate.traces);
	return times;
}
