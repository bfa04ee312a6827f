#include "profile/combine/method_spread.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/cleanup.h"
#include "compare/change.h"

/* Ticks that a method has to have in a batch on average so that V tells something of all. */
#define TICKS_MIN 5.0

int method_spread_add(const struct row_merge *rows, size_t *capacity, unsigned batch, bool fold)
{
	const struct cpu_profile *from = &rows->from->cpu, *to = &rows->to->cpu;
	struct window_merged *facts = rows->to->merged;
	size_t before = *capacity;
	int r = array_reserve(&facts->contexts, capacity, to->context_count + 1,
			      sizeof(*facts->contexts));

	if (r < 0)
		return r;
	memset(facts->contexts + before, 0, (*capacity - before) * sizeof(*facts->contexts));
	for (size_t i = 0; i < to->context_count && fold; i++)
		batches_fold(facts->contexts[i]);
	for (size_t i = 0; i < from->context_count; i++) {
		uint32_t position = rows->positions[TABLE_CPU_CONTEXTS][i];

		if (position != ROW_MERGE_NONE)
			facts->contexts[position][batch] +=
			    rows->weights[WEIGHT_CPU] * cpu_context_sum(&from->contexts[i]).ns;
	}
	return 0;
}

/* What is told of the methods, by id. */
struct teller {
	double (*sums)[MERGED_BATCHES]; /* CPU time of it and what it called */
	uint32_t *seen;                 /* the last context + 1 that is in them */
	const double *wholes;
	unsigned batches;
	double ticks;
	double freedom;
};

static void teller_release(struct teller *t)
{
	free(t->sums);
	free(t->seen);
}

/* A context that is in a method more than once counts once. */
static void add_context(struct teller *t, const struct cct *cct, uint32_t node, uint32_t context,
			const double *sums)
{
	for (; node; node = cct_node(cct, node)->parent) {
		uint32_t method = cct_node_method(cct, node);

		if (t->seen[method] == context + 1)
			continue;
		t->seen[method] = context + 1;
		for (unsigned b = 0; b < t->batches; b++)
			t->sums[method][b] += sums[b];
	}
}

/* Of one method: its share, and variances of it. */
struct told {
	double share;
	double sampling; /* S, as change_of has it */
	double windows;  /* V */
	double drift;    /* D */
};

static struct told told_of(const struct teller *t, size_t method)
{
	double part = 0, whole = 0, chance;
	struct told m;

	for (unsigned b = 0; b < t->batches; b++) {
		part += t->sums[method][b];
		whole += t->wholes[b];
	}
	m.share = whole > 0 ? fmin(part / whole, 1) : 0;
	chance = (m.share * t->ticks + 1) / (t->ticks + 2);
	m.sampling = chance * (1 - chance) / (t->ticks + 2);
	m.windows = batches_variance(t->sums[method], t->wholes, t->batches);
	m.drift = change_drift(m.share, 1) / CHANGE_DRIFT;
	m.drift *= m.drift / (t->freedom + 1);
	return m;
}

/* r^2 of the header. */
static double in_common(const struct teller *t, size_t methods)
{
	double more = 0, drift = 0;

	for (size_t i = 1; i <= methods; i++) {
		struct told m = told_of(t, i);

		if (m.share * t->ticks < TICKS_MIN * t->batches)
			continue;
		more += (m.windows - m.sampling) / m.share;
		drift += m.drift / m.share;
	}
	return drift > 0 ? fmax(more / drift, 0) : 0;
}

static double excess_of(const struct told *m, double common, double freedom)
{
	double own = m->windows / m->sampling - 1, all = common * m->drift / m->sampling;

	return fmax((freedom * own + METHOD_SPREAD_PRIOR * all) / (freedom + METHOD_SPREAD_PRIOR),
		    0);
}

static int sum_up(struct teller *t, const struct window_result *w, const struct cct *cct,
		  const uint32_t *nodes)
{
	t->sums = calloc(cct->method_count + 2, sizeof(*t->sums));
	t->seen = calloc(cct->method_count + 1, sizeof(*t->seen));
	if (!t->sums || !t->seen)
		return -ENOMEM;
	for (size_t i = 0; i < w->cpu.context_count; i++)
		add_context(t, cct, nodes[w->cpu.contexts[i].node], (uint32_t)i,
			    w->merged->contexts[i]);
	memcpy(t->sums[cct->method_count + 1], w->merged->cpu[JXP__KIND__KIND_CPU],
	       sizeof(*t->sums));
	return 0;
}

int method_spread_of(const struct window_result *w, const struct cct *cct, const uint32_t *nodes,
		     double ticks, double *excess, double *freedom)
{
	const struct window_merged *facts = w->merged;
	_cleanup_(teller_release) struct teller t = {.ticks = ticks};
	double common;
	int r;

	if (!facts || !facts->contexts || facts->kinds[JXP__KIND__KIND_CPU].batches < 2)
		return 0;
	t.wholes = facts->wholes[JXP__KIND__KIND_CPU];
	t.batches = facts->kinds[JXP__KIND__KIND_CPU].batches;
	t.freedom = batches_freedom(t.wholes, t.batches);
	r = sum_up(&t, w, cct, nodes);
	if (r < 0)
		return r;
	common = in_common(&t, cct->method_count);
	for (size_t i = 1; i <= cct->method_count + 1; i++) {
		struct told m = told_of(&t, i);

		excess[i] = excess_of(&m, common, t.freedom);
	}
	*freedom = t.freedom + METHOD_SPREAD_PRIOR;
	return 0;
}
