/* The first line of a comparison. */
#include "compare/output.h"

#include <math.h>
#include <stdarg.h>

#include "common/utf8.h"

struct headline {
	char *text;
	size_t used;
};

__attribute__((format(printf, 2, 3))) static void add(struct headline *l, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(l->text + l->used, COMPARE_HEADLINE_BYTES - l->used, fmt, args);
	va_end(args);
	if (n > 0)
		l->used = fmin((double)(l->used + (size_t)n), COMPARE_HEADLINE_BYTES - 1);
}

/* "38.2% less (34.1 to 42.0)". */
static void add_percent(struct headline *l, const struct compare_work *w)
{
	if (w->estimate < 1)
		add(l, "%.1f%% less (%.1f to %.1f)", 100 * (1 - w->estimate), 100 * (1 - w->high),
		    100 * (1 - w->low));
	else
		add(l, "%.1f%% more (%.1f to %.1f)", 100 * (w->estimate - 1), 100 * (w->low - 1),
		    100 * (w->high - 1));
}

static const char *direction(double difference)
{
	return difference < 0 ? "fell" : "rose";
}

/* The first row that is no part of another, has not just moved and is no spill. */
static const struct comparison_row *first_row(const struct comparison *c)
{
	for (size_t i = 0; i < c->shown_count; i++)
		if (comparison_row_counts(&c->rows[i]))
			return &c->rows[i];
	return NULL;
}

/* From what to what it went. */
static void add_change(struct headline *l, const char *what, const struct change *c)
{
	add(l, "%.300s %s from %.1f%% to %.1f%%", what, direction(c->difference), 100 * c->share[0],
	    100 * c->share[1]);
}

static void add_row(struct headline *l, const struct comparison *c,
		    const struct comparison_row *row)
{
	const char *method = c->tree.methods[row->at.method].name;

	if (row->kind)
		add(l, "%s of %.100s in ", row->kind->title,
		    row->at.name[0] ? row->at.name : "memory without name");
	add_change(l, method, &row->change);
}

/* The problem that went with it, if its report named one. */
static void add_problem(struct headline *l, const struct comparison_row *row)
{
	if (row && row->problem[0] && !row->problem[1] && row->change.difference < 0)
		add(l, "; not among B's first five problems: %.300s", row->problem[0]);
}

static void add_work(struct headline *l, const struct comparison *c)
{
	const struct compare_work *w = &c->work;
	bool operations = w->basis == COMPARE_BY_OPERATIONS;

	if (w->shown) {
		add(l, "CPU time %s: %s takes ", direction(w->estimate - 1),
		    operations ? "an operation" : "the same work");
		add_percent(l, w);
		if (!operations)
			add(l, ", inferred from %u methods that seem unchanged", w->methods);
	} else {
		add(l, "no difference shown for %s: %+.1f%% (%+.1f to %+.1f)",
		    operations ? "an operation" : "the same work", 100 * (w->estimate - 1),
		    100 * (w->low - 1), 100 * (w->high - 1));
	}
}

/* Kinds as a whole, where no row is shown. */
static const struct pair_kind *first_kind(const struct comparison *c)
{
	for (size_t i = 0; i < PAIR_KINDS; i++)
		if (c->kinds[pair_kinds[i].kind].change.shown)
			return &pair_kinds[i];
	return NULL;
}

/* Without an idea of what the same work takes. */
static void add_shares(struct headline *l, const struct comparison *c,
		       const struct comparison_row *row)
{
	const struct pair_kind *kind = first_kind(c);
	const char *unit = comparison_unit(c);

	add(l, row || kind ? "the share of %s of " : "no difference of %s shown", unit);
	if (row)
		add_row(l, c, row);
	else if (kind)
		add_change(l, kind->title, &c->kinds[kind->kind].change);
	if (c->unit == COMPARE_CHECKED)
		add(l, "; no CPU time is known");
	else if (row || kind)
		add(l, "; what the same work takes is not known");
}

static void add_known(struct headline *l, const struct comparison *c,
		      const struct comparison_row *row)
{
	if (c->work.shown) {
		add_work(l, c);
		add(l, row ? "; " : "");
	} else {
		add(l, row ? "CPU time of " : "no difference of CPU time shown");
	}
	if (row)
		add_row(l, c, row);
	if (!c->work.shown) {
		add(l, "; ");
		add_work(l, c);
	}
}

void compare_headline(const struct comparison *c, char line[COMPARE_HEADLINE_BYTES])
{
	const struct comparison_row *row = first_row(c);
	char text[COMPARE_HEADLINE_BYTES] = "";
	struct headline l = {text, 0};

	if (!comparison_is_of_one_app(c))
		add(&l, "two applications, '%.60s' and '%.60s': ", c->sides[0].app,
		    c->sides[1].app);
	if (c->work.basis == COMPARE_BY_SHARES)
		add_shares(&l, c, row);
	else
		add_known(&l, c, row);
	add_problem(&l, row);
	(void)utf8_sanitize(line, COMPARE_HEADLINE_BYTES, text); /* Names were cut where it came. */
}
