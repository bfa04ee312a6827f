#include "compare/comparison.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/cleanup.h"
#include "common/clock.h"

/* Rows that are held against each other, and of which it is said where they are called: more are
 * shown to differ only in two different programs. */
#define PAIRS_MAX 256u
#define PATHS_MAX 1000u

/* ---------------------------------------------------------------- what there is to compare */

static void add_methods(struct comparison *c)
{
	const struct compare_tree *t = &c->tree;

	for (size_t i = 1; i < t->method_count; i++) {
		const struct compare_method *m = &t->methods[i];

		if (!change_is_looked_at(m->total, c->whole) ||
		    strcmp(m->name, COMPARE_COMPILERS) == 0)
			continue;
		c->rows[c->row_count++] = (struct comparison_row){
		    .at = {.method = (uint32_t)i},
		    .sums = {m->total[0], m->total[1]},
		    .part_of = COMPARISON_NONE,
		};
	}
}

static int compare_places(const void *a, const void *b)
{
	const struct comparison_row *x = a, *y = b;

	return compare_place_order(&x->at, &y->at);
}

static void add_waste(struct comparison *c)
{
	struct comparison_row *rows = c->rows + c->row_count;
	size_t count = 0, kept = 0;

	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < c->sides[s].waste_count; i++) {
			const struct compare_waste *w = &c->sides[s].waste[i];
			struct comparison_row *row = &rows[count];

			if (!c->kinds[w->at.kind].compared)
				continue;
			*row = (struct comparison_row){.kind = pair_kind_find(w->at.kind),
						       .at = w->at,
						       .part_of = COMPARISON_NONE};
			row->at.method = c->tree.ids[s][w->at.method];
			row->sums[s] = w->sums;
			count++;
		}
	qsort(rows, count, sizeof(*rows), compare_places);
	for (size_t i = 0; i < count; i++) {
		if (kept > 0 && compare_places(&rows[kept - 1], &rows[i]) == 0)
			for (int s = 0; s < 2; s++)
				compare_sums_add(&rows[kept - 1].sums[s], &rows[i].sums[s]);
		else
			rows[kept++] = rows[i];
	}
	for (size_t i = 0; i < kept; i++)
		if (change_is_looked_at(rows[i].sums, c->kinds[rows[i].at.kind].whole))
			c->rows[c->row_count++] = rows[i];
}

/* The whole of checked bytes: as many observations as they would be if all were alike. */
static struct change_whole checked_whole(const struct compare_side *s, Jxp__Kind kind)
{
	const struct compare_sums *sums = &s->kinds[kind].checked;

	if (!(sums->squares > 0))
		return (struct change_whole){.windows = s->windows};
	return (struct change_whole){.amount = sums->amount,
				     .ticks = sums->amount * sums->amount / sums->squares,
				     .windows = s->windows};
}

/* What shares of a kind are of: of a merge, its own windows tell how sure they are. */
static struct change_whole kind_whole(const struct comparison *c, int side, Jxp__Kind kind)
{
	const struct compare_side *s = &c->sides[side];
	struct change_whole whole =
	    c->unit == COMPARE_CPU ? c->whole[side] : checked_whole(s, kind);

	if (s->kinds[kind].windows > 0)
		whole.windows = s->kinds[kind].windows;
	whole.after = s->kinds[kind].after;
	whole.excess = s->kinds[kind].excess;
	whole.freedom = s->kinds[kind].freedom;
	return whole;
}

static unsigned find_kinds(struct comparison *c)
{
	unsigned count = 0;

	for (size_t i = 0; i < PAIR_KINDS; i++) {
		Jxp__Kind kind = pair_kinds[i].kind;
		struct comparison_kind *k = &c->kinds[kind];

		k->compared = true;
		for (int s = 0; s < 2; s++) {
			k->whole[s] = kind_whole(c, s, kind);
			k->compared &= c->sides[s].kinds[kind].asked && k->whole[s].amount > 0;
		}
		count += k->compared;
	}
	return count;
}

/* What shares of a row are of: of a method's, its own windows tell how they differ. */
static void row_whole(const struct comparison *c, const struct comparison_row *row,
		      struct change_whole whole[2])
{
	for (int s = 0; s < 2; s++) {
		whole[s] = row->kind ? c->kinds[row->at.kind].whole[s] : c->whole[s];
		if (!row->kind)
			whole[s].excess = c->tree.methods[row->at.method].excess[s];
	}
}

static void test_all(struct comparison *c)
{
	c->quantile = change_quantile(c->looked_at);
	for (size_t i = 0; i < PAIR_KINDS; i++) {
		Jxp__Kind kind = pair_kinds[i].kind;
		struct comparison_kind *k = &c->kinds[kind];
		struct compare_sums sums[2] = {c->sides[0].kinds[kind].sums,
					       c->sides[1].kinds[kind].sums};

		if (k->compared)
			k->change = change_of(sums, k->whole, &c->work.factor, c->quantile);
	}
	for (size_t i = 0; i < c->row_count; i++) {
		struct comparison_row *row = &c->rows[i];
		struct change_whole whole[2];

		row_whole(c, row, whole);
		row->change = change_of(row->sums, whole, &c->work.factor, c->quantile);
		if (!row->kind)
			row->own = change_of(c->tree.methods[row->at.method].own, whole,
					     &c->work.factor, c->quantile);
	}
}

/* ---------------------------------------------------------------- order */

static double least(const struct change *c)
{
	return fmax(fmax(c->low, -c->high), 0);
}

static int compare_rows(const void *a, const void *b)
{
	const struct comparison_row *x = a, *y = b;
	double dx = fabs(x->change.difference), dy = fabs(y->change.difference);

	/* Methods come before places. */
	return ORDER(DESCENDING(x->change.shown, y->change.shown),
		     DESCENDING(least(&x->change), least(&y->change)), DESCENDING(dx, dy),
		     ASCENDING(!!x->kind, !!y->kind),
		     x->kind ? compare_places(a, b) : ASCENDING(x->at.method, y->at.method));
}

/* ---------------------------------------------------------------- rows that say the same */

/* The difference that sums come to, for the same work. */
static double difference_of(const struct comparison *c, const double ns[2])
{
	return c->work.factor.factor * ns[1] / c->whole[1].amount - ns[0] / c->whole[0].amount;
}

static double node_difference(const struct comparison *c, uint32_t node)
{
	const struct compare_tree_node *n = &c->tree.nodes[node];

	return difference_of(c, (double[]){n->total[0].amount, n->total[1].amount});
}

/* By place of a row of methods, and number of such rows: COMPARISON_NONE for the others. */
struct held {
	size_t count;
	uint32_t rows[PAIRS_MAX];
	uint32_t *of_method; /* by method of the tree, its number here */
	double *within;      /* [caller][called]: the difference of what is called, there */
	uint32_t *seen;      /* by number: the last node that was counted for it */
};

static void held_release(struct held *h)
{
	free(h->of_method);
	free(h->within);
	free(h->seen);
}

static double *within(struct held *h, size_t caller, size_t called)
{
	return &h->within[caller * h->count + called];
}

static int hold(struct held *h, const struct comparison *c)
{
	h->of_method = malloc(c->tree.method_count * sizeof(*h->of_method));
	h->within = calloc((size_t)PAIRS_MAX * PAIRS_MAX, sizeof(*h->within));
	h->seen = calloc(PAIRS_MAX, sizeof(*h->seen));
	if (!h->of_method || !h->within || !h->seen)
		return -ENOMEM;
	memset(h->of_method, 0xff, c->tree.method_count * sizeof(*h->of_method));
	for (size_t i = 0; i < c->shown_count && h->count < PAIRS_MAX; i++) {
		if (c->rows[i].kind)
			continue;
		h->of_method[c->rows[i].at.method] = (uint32_t)h->count;
		h->rows[h->count++] = (uint32_t)i;
	}
	return 0;
}

static void sum_within(struct held *h, const struct comparison *c)
{
	const struct compare_tree *t = &c->tree;

	for (uint32_t node = 1; node < t->node_count; node++) {
		uint32_t called = h->of_method[t->nodes[node].method];
		double difference;

		if (called == COMPARISON_NONE || !t->nodes[node].outermost)
			continue;
		difference = node_difference(c, node);
		for (uint32_t n = t->nodes[node].parent; n; n = t->nodes[n].parent) {
			uint32_t caller = h->of_method[t->nodes[n].method];

			if (caller == COMPARISON_NONE || h->seen[caller] == node)
				continue;
			h->seen[caller] = node;
			*within(h, caller, called) += difference;
		}
	}
}

static double time_of(const struct comparison *c, const struct comparison_row *row)
{
	return row->sums[0].amount / c->whole[0].amount + row->sums[1].amount / c->whole[1].amount;
}

static bool carries(double part, double whole)
{
	return part * whole > 0 && fabs(part) >= COMPARISON_CARRIED * fabs(whole);
}

/* What has only moved explains no rise: its caller may have become slower as well. */
static bool hides_rise(const struct comparison_row *row, const struct comparison_row *other)
{
	return other->moved && row->change.difference > 0;
}

static void find_messengers(struct held *h, struct comparison *c)
{
	for (size_t i = 0; i < h->count; i++) {
		struct comparison_row *row = &c->rows[h->rows[i]];

		for (size_t j = 0; j < h->count && !row->messenger; j++) {
			const struct comparison_row *other = &c->rows[h->rows[j]];

			row->messenger = i != j && !hides_rise(row, other) &&
					 carries(*within(h, i, j), row->change.difference) &&
					 (time_of(c, other) < time_of(c, row) ||
					  !carries(*within(h, j, i), other->change.difference));
		}
	}
}

/* Below rows before it, which are no parts themselves. */
static void find_parts(struct held *h, struct comparison *c)
{
	for (size_t i = 0; i < h->count; i++) {
		struct comparison_row *row = &c->rows[h->rows[i]];

		for (size_t j = 0; j < i && !row->messenger && row->part_of == COMPARISON_NONE;
		     j++) {
			const struct comparison_row *other = &c->rows[h->rows[j]];

			if (comparison_row_leads(other) && !hides_rise(row, other) &&
			    carries(*within(h, j, i), row->change.difference))
				row->part_of = h->rows[j];
		}
	}
}

/* Rows that lead, those that have moved, spills, parts, messengers. */
#define RANKS 5

static int rank_of(const struct comparison_row *row)
{
	if (row->messenger)
		return 4;
	if (row->part_of != COMPARISON_NONE)
		return 3;
	return row->at.spill ? 2 : row->moved;
}

/* By rank; else as they are. */
static int put_in_front(struct comparison *c)
{
	_cleanup_free_ struct comparison_row *rows = calloc(c->shown_count + 1, sizeof(*rows));
	_cleanup_free_ uint32_t *place = calloc(c->shown_count + 1, sizeof(*place));
	size_t at = 0;

	if (!rows || !place)
		return -ENOMEM;
	for (int rank = 0; rank < RANKS; rank++)
		for (size_t i = 0; i < c->shown_count; i++) {
			const struct comparison_row *row = &c->rows[i];

			if (rank != rank_of(row))
				continue;
			place[i] = (uint32_t)at;
			rows[at++] = *row;
		}
	memcpy(c->rows, rows, at * sizeof(*rows));
	for (size_t i = 0; i < at; i++)
		if (c->rows[i].part_of != COMPARISON_NONE)
			c->rows[i].part_of = place[c->rows[i].part_of];
	return 0;
}

/* ---------------------------------------------------------------- problems of the reports */

/* Callers of an access that may be the ones who do it (docs/problems.md). */
#define OPERATION_ABOVE 3u

/* How well a row goes with a problem; 0: it is no part of it. A method is part of what it does
 * itself; wasteful accesses, if no spills, are of what those that make them, or who has called
 * them, do in accesses of that kind. */
static unsigned match(const struct comparison *c, const struct comparison_row *row,
		      const struct compare_problem *p)
{
	const struct compare_method *methods = c->tree.methods;
	const char *method = methods[row->at.method].name;
	bool does = strcmp(p->methods[0], method) == 0;
	unsigned main_kind = row->kind && p->main_kind == row->at.kind;

	if (!row->kind)
		return does;
	if (row->at.spill || !p->kinds[row->at.kind])
		return 0;
	if (does)
		return 4 + main_kind;
	for (size_t m = 1; m < COMPARE_PROBLEM_METHODS; m++)
		if (strcmp(p->methods[m], method) == 0)
			return 2 + main_kind;
	for (unsigned i = 1; i < row->path_length && i <= OPERATION_ABOVE; i++)
		if (strcmp(p->methods[0], methods[row->path[i]].name) == 0)
			return 1;
	return 0;
}

static void find_problems(const struct comparison *c, struct comparison_row *row)
{
	for (int s = 0; s < 2; s++) {
		unsigned best = 0;

		for (size_t i = 0; i < c->sides[s].problem_count; i++) {
			const struct compare_problem *p = &c->sides[s].problems[i];
			unsigned matches = match(c, row, p);

			if (matches > best) {
				best = matches;
				row->problem[s] = p->sentence;
			}
		}
	}
}

/* ---------------------------------------------------------------- where it is called */

/* The outermost context of a method that carries most of its difference. */
static uint32_t main_context(const struct comparison *c, const struct comparison_row *row)
{
	const struct compare_tree *t = &c->tree;
	double sign = row->change.difference < 0 ? -1 : 1, most = -INFINITY;
	uint32_t best = 0;

	for (uint32_t node = 1; node < t->node_count; node++) {
		double carried;

		if (t->nodes[node].method != row->at.method || !t->nodes[node].outermost)
			continue;
		carried = sign * node_difference(c, node);
		if (carried > most) {
			most = carried;
			best = node;
		}
	}
	return best;
}

static void find_path(const struct comparison *c, struct comparison_row *row)
{
	uint32_t node = main_context(c, row);

	row->path[row->path_length++] = row->at.method;
	for (node = compare_tree_caller(&c->tree, node); node && row->path_length < COMPARISON_PATH;
	     node = compare_tree_caller(&c->tree, node))
		row->path[row->path_length++] = c->tree.nodes[node].method;
}

/* Takes what a caller has beside a method that it calls, of both sides, as a share of CPU time. */
static void rest_of(const struct comparison *c, uint32_t method, uint32_t caller, double rest[2])
{
	const struct compare_tree *t = &c->tree;

	for (int s = 0; s < 2; s++)
		rest[s] = t->methods[caller].total[s].amount;
	for (uint32_t node = 1; node < t->node_count; node++) {
		uint32_t n = t->nodes[node].parent;

		if (t->nodes[node].method != method || !t->nodes[node].outermost)
			continue;
		while (n && t->nodes[n].method != caller)
			n = t->nodes[n].parent;
		for (int s = 0; s < 2 && n; s++)
			rest[s] -= t->nodes[node].total[s].amount;
	}
	for (int s = 0; s < 2; s++)
		rest[s] = fmax(rest[s] / c->whole[s].amount, 0);
}

/* The rest changed the other way, by most of it, and by more than a change of the whole may have
 * done to all shares. */
static bool has_moved(const struct comparison *c, const struct comparison_row *row)
{
	double difference = row->change.difference, rest[2], other;

	if (row->kind || row->path_length < 2)
		return false;
	rest_of(c, row->at.method, row->path[1], rest);
	other = c->work.factor.factor * rest[1] - rest[0];
	if (difference * other >= 0 || fabs(other) < COMPARISON_MOVED * fabs(difference))
		return false;
	return rest[0] > c->work.high * rest[1] || rest[0] < c->work.low * rest[1];
}

static int explain(struct comparison *c)
{
	_cleanup_(held_release) struct held held = {.count = 0};
	int r = hold(&held, c);

	if (r < 0)
		return r;
	for (size_t i = 0; i < c->shown_count && i < PATHS_MAX; i++) {
		find_path(c, &c->rows[i]);
		c->rows[i].moved = has_moved(c, &c->rows[i]);
		find_problems(c, &c->rows[i]);
	}
	sum_within(&held, c);
	find_messengers(&held, c);
	find_parts(&held, c);
	return put_in_front(c);
}

/* ---------------------------------------------------------------- the comparison */

static int find_work(struct comparison *c, const double *per_second)
{
	const double elapsed_s[2] = {c->sides[0].elapsed_s, c->sides[1].elapsed_s};

	if (c->unit == COMPARE_CHECKED)
		c->work = COMPARE_WORK_UNKNOWN;
	else if (per_second)
		c->work = compare_work_of_operations(c->whole, elapsed_s, per_second);
	else
		return compare_work_of_methods(&c->work, &c->tree, c->whole);
	return 0;
}

static int make(struct comparison *c, const double *per_second)
{
	size_t most = c->sides[0].waste_count + c->sides[1].waste_count;
	int r = compare_tree_init(&c->tree, c->sides);

	if (r < 0)
		return r;
	c->rows = calloc(most + c->tree.method_count, sizeof(*c->rows));
	if (!c->rows)
		return -ENOMEM;
	r = find_work(c, per_second);
	if (r < 0)
		return r;
	if (c->unit == COMPARE_CPU)
		add_methods(c);
	add_waste(c);
	c->looked_at += (unsigned)c->row_count;
	test_all(c);
	qsort(c->rows, c->row_count, sizeof(*c->rows), compare_rows);
	while (c->shown_count < c->row_count && c->rows[c->shown_count].change.shown)
		c->shown_count++;
	return explain(c);
}

double comparison_compilers_ns(const struct compare_side *s)
{
	double ns = 0;

	for (size_t i = 0; i < s->node_count; i++)
		if (strcmp(compare_side_method(s, s->nodes[i].method), COMPARE_COMPILERS) == 0)
			ns += s->nodes[i].ns;
	return ns;
}

static int set_whole(struct change_whole *whole, const struct compare_side *s, struct err *err)
{
	double rest = s->whole_ns - comparison_compilers_ns(s);

	if (!(rest > 0))
		return err_set(err, ENODATA,
			       "'%s' has no CPU time but the compilers': profile for longer",
			       s->name);
	*whole = (struct change_whole){.amount = rest,
				       .ticks = s->ticks * rest / s->whole_ns,
				       .windows = s->windows,
				       .after = s->after,
				       .freedom = s->freedom};
	return 0;
}

/* Can these be compared, and is there anything to compare? */
static int find_wholes(struct comparison *c, bool by_operations, struct err *err)
{
	const struct compare_side *a = &c->sides[0], *b = &c->sides[1];

	c->unit = a->unit;
	if (a->unit != b->unit)
		return err_set(err, ENODATA,
			       "'%s' has CPU time and '%s' has none, only checked bytes: compare "
			       "windows that both have kind cpu, or both have not",
			       (a->unit == COMPARE_CPU ? a : b)->name,
			       (a->unit == COMPARE_CPU ? b : a)->name);
	for (int i = 0; i < 2; i++) {
		const struct compare_side *s = &c->sides[i];
		int r = c->unit == COMPARE_CPU ? set_whole(&c->whole[i], s, err) : 0;

		if (r < 0)
			return r;
		if (by_operations && (c->unit != COMPARE_CPU || !(s->elapsed_s > 0)))
			return err_set(err, EINVAL,
				       "'%s' has no CPU time a second: compare it without "
				       "operations, or profile with kind cpu",
				       s->name);
	}
	c->looked_at = find_kinds(c);
	if (c->unit == COMPARE_CHECKED && c->looked_at == 0)
		return err_set(err, ENODATA,
			       "'%s' and '%s' have checked bytes of no kind in common: profile "
			       "both for the same kinds",
			       a->name, b->name);
	return 0;
}

int comparison_init(struct comparison *c, const struct compare_side sides[2],
		    const double *per_second, struct err *err)
{
	int r;

	*c = (struct comparison){.sides = sides};
	r = find_wholes(c, per_second, err);
	if (r < 0) {
		*c = (struct comparison){.sides = NULL};
		return r;
	}
	r = make(c, per_second);
	if (r == 0)
		return 0;
	comparison_release(c);
	return err_set(err, -r, "out of memory while comparing two windows");
}

void comparison_release(struct comparison *c)
{
	compare_tree_release(&c->tree);
	free(c->rows);
	*c = (struct comparison){.sides = NULL};
}

bool comparison_is_shown(const struct comparison *c)
{
	for (size_t i = 0; i < PAIR_KINDS; i++)
		if (c->kinds[pair_kinds[i].kind].change.shown)
			return true;
	return c->shown_count > 0 || c->work.shown;
}

bool comparison_is_of_one_app(const struct comparison *c)
{
	const char *a = c->sides[0].app, *b = c->sides[1].app;

	return !a[0] || !b[0] || strcmp(a, b) == 0;
}

const char *comparison_unit(const struct comparison *c)
{
	return c->unit == COMPARE_CPU ? "CPU time" : "checked bytes";
}

bool comparison_row_leads(const struct comparison_row *row)
{
	return !row->messenger && row->part_of == COMPARISON_NONE;
}

bool comparison_row_counts(const struct comparison_row *row)
{
	return comparison_row_leads(row) && !row->moved && !row->at.spill;
}

double comparison_cpus(const struct compare_side *s)
{
	return s->elapsed_s > 0 ? s->whole_ns / (double)NS_PER_S / s->elapsed_s : 0;
}
