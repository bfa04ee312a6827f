#include "compare/gate.h"

#include <stdio.h>
#include <string.h>

#include "common/utf8.h"

/* Keeps the rise whose least is the largest. */
static bool is_worse(const struct compare_gate *g, double low, double *worst)
{
	if (!(low > g->above) || !(low > *worst))
		return false;
	*worst = low;
	return true;
}

static void tell_kind(struct compare_gate *g, const struct pair_kind *kind, const struct change *c)
{
	(void)snprintf(g->reason, sizeof(g->reason),
		       "%s rose from %.1f%% to %.1f%% of CPU time, by %.1f points or more",
		       kind->title, 100 * c->share[0], 100 * c->share[1], 100 * c->low);
}

/* Long names are cut. */
static void tell_row(struct compare_gate *g, const struct comparison_row *row, const char *method)
{
	const struct change *c = &row->change;

	if (row->kind)
		(void)snprintf(g->reason, sizeof(g->reason),
			       "%s of %.200s in %.200s rose from %.1f%% to %.1f%% of CPU time, by "
			       "%.1f points or more",
			       row->kind->title, row->place[0] ? row->place : "memory without name",
			       method, 100 * c->share[0], 100 * c->share[1], 100 * c->low);
	else
		(void)snprintf(g->reason, sizeof(g->reason),
			       "%.400s with what it calls rose from %.1f%% to %.1f%% of CPU time, "
			       "by %.1f points or more",
			       method, 100 * c->share[0], 100 * c->share[1], 100 * c->low);
}

/* Names were cut where it came. */
static void cut_at_character(char reason[COMPARE_GATE_BYTES])
{
	char text[COMPARE_GATE_BYTES];

	(void)utf8_sanitize(text, sizeof(text), reason);
	memcpy(reason, text, sizeof(text));
}

struct compare_gate compare_gate_judge(const struct comparison *c, double above)
{
	struct compare_gate g = {.above = above};
	double worst = 0;

	if (c->work.basis != COMPARE_BY_SHARES && c->work.shown &&
	    is_worse(&g, c->work.low - 1, &worst))
		(void)snprintf(g.reason, sizeof(g.reason),
			       "CPU time for the same work rose by %.1f%% (at least %.1f%%)",
			       100 * (c->work.estimate - 1), 100 * worst);
	for (size_t i = 0; i < PAIR_KINDS; i++) {
		const struct comparison_kind *k = &c->kinds[pair_kinds[i].kind];

		if (k->compared && k->change.shown && is_worse(&g, k->change.low, &worst))
			tell_kind(&g, &pair_kinds[i], &k->change);
	}
	for (size_t i = 0; i < c->shown_count; i++) {
		const struct comparison_row *row = &c->rows[i];

		if (comparison_row_counts(row) && is_worse(&g, row->change.low, &worst))
			tell_row(&g, row, c->tree.methods[row->method].name);
	}
	cut_at_character(g.reason);
	g.fails = g.reason[0] != '\0';
	if (g.fails && c->work.basis == COMPARE_BY_SHARES)
		(void)snprintf(g.reason + strlen(g.reason), sizeof(g.reason) - strlen(g.reason),
			       " (a share: what the same work takes is not known)");
	return g;
}
