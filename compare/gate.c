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

/* what: a row or a kind; long names are cut. */
static void tell(struct compare_gate *g, const struct comparison *c, const char *what,
		 const struct change *change)
{
	(void)snprintf(g->reason, sizeof(g->reason),
		       "%.700s rose from %.1f%% to %.1f%% of %s, by %.1f points or more", what,
		       100 * change->share[0], 100 * change->share[1], comparison_unit(c),
		       100 * change->low);
}

static void tell_row(struct compare_gate *g, const struct comparison *c,
		     const struct comparison_row *row)
{
	const char *method = c->tree.methods[row->at.method].name;
	char what[COMPARE_GATE_BYTES];

	if (row->kind)
		(void)snprintf(what, sizeof(what), "%s of %.200s in %.200s", row->kind->title,
			       row->at.name[0] ? row->at.name : "memory without name", method);
	else
		(void)snprintf(what, sizeof(what), "%.400s with what it calls", method);
	tell(g, c, what, &row->change);
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
			tell(&g, c, pair_kinds[i].title, &k->change);
	}
	for (size_t i = 0; i < c->shown_count; i++) {
		const struct comparison_row *row = &c->rows[i];

		if (comparison_row_counts(row) && is_worse(&g, row->change.low, &worst))
			tell_row(&g, c, row);
	}
	cut_at_character(g.reason);
	g.fails = g.reason[0] != '\0';
	if (g.fails && c->work.basis == COMPARE_BY_SHARES)
		(void)snprintf(g.reason + strlen(g.reason), sizeof(g.reason) - strlen(g.reason),
			       c->unit == COMPARE_CPU
				   ? " (a share: what the same work takes is not known)"
				   : " (no CPU time is known)");
	return g;
}
