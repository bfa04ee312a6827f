#include "report/pairs/gain.h"

#include <errno.h>
#include <stdlib.h>

#include "common/cleanup.h"
#include "common/saturate.h"
#include "proto/kinds.h"

/* A pair's cell in a table by node and kind. */
static size_t cell(const struct pair *pair)
{
	return (size_t)pair_removable_node(pair) * KIND_VALUES + pair->kind;
}

struct gain_sums gain_all(const struct cpu_sum *ticks)
{
	if (ticks->samples == 0)
		return (struct gain_sums){0};
	return (struct gain_sums){.ticks = (double)ticks->samples,
				  .cpu.ns = ticks->ns,
				  .cpu.squares = ticks->ns * ticks->ns / (double)ticks->samples};
}

/* A few that are all wasteful do not say that all are: a part is as likely as another one before.
 */
static double variance_of(double part, double observations)
{
	double likely = (part * observations + 1) / (observations + 2);

	return likely * (1 - likely) / (observations + 3);
}

struct gain_sums gain_part(const struct cpu_sum *ticks, double part, double observations)
{
	struct gain_sums all = gain_all(ticks);

	if (observations <= 0)
		return (struct gain_sums){0};
	return (struct gain_sums){.ticks = part * all.ticks,
				  .cpu.ns = part * all.cpu.ns,
				  .cpu.squares =
				      part * all.cpu.squares +
				      variance_of(part, observations) * all.cpu.ns * all.cpu.ns};
}

static struct gain_sums gain_of(const struct profile *p, const struct pair *pair, uint64_t count,
				const struct cpu_sum *ticks)
{
	double part = estimate_fraction((double)pair->wasteful_count, (double)count);

	return cct_is_told(&p->cct, pair_removable_node(pair))
		   ? gain_part(ticks, part, (double)count)
		   : (struct gain_sums){.untold = pair->wasteful_count};
}

void gain_sums_add(struct gain_sums *to, const struct gain_sums *from)
{
	to->cpu.ns += from->cpu.ns;
	to->cpu.squares += from->cpu.squares;
	to->ticks += from->ticks;
	saturate_add(&to->untold, from->untold);
}

int pair_gains_new(const struct window_result *w, struct gain_sums **out)
{
	const struct profile *p = &w->profile;
	size_t nodes = p->cct.node_count + 1;
	_cleanup_free_ uint64_t *counts = calloc(nodes * KIND_VALUES, sizeof(*counts));
	_cleanup_free_ struct cpu_sum *ticks = calloc(nodes, sizeof(*ticks));
	struct gain_sums *gains = calloc(p->pair_count + 1, sizeof(*gains));

	*out = gains;
	if (!counts || !ticks || !gains) {
		free(gains);
		*out = NULL;
		return -ENOMEM;
	}
	if (!w->request.kinds[JXP__KIND__KIND_CPU])
		return 0;
	for (size_t i = 0; i < p->pair_count; i++)
		counts[cell(&p->pairs[i])] += p->pairs[i].count;
	for (size_t i = 0; i < w->cpu.context_count; i++)
		ticks[w->cpu.contexts[i].node] = cpu_context_sum(&w->cpu.contexts[i]);
	for (size_t i = 0; i < p->pair_count; i++)
		gains[i] = gain_of(p, &p->pairs[i], counts[cell(&p->pairs[i])],
				   &ticks[pair_removable_node(&p->pairs[i])]);
	return 0;
}
