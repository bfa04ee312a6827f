#include "profile/site_shares.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/array.h"
#include "common/cleanup.h"

/* Strata that are taken together, in the order of classes. */
struct group {
	struct stratum sum;
	double share; /* A_h */
	bool known;   /* there is evidence enough of how it divides */
};

/* A site's part of a group. */
struct cell {
	uint32_t rank;
	uint32_t group;
	struct tracked_sums tracked;
};

struct estimation {
	struct group *groups;
	size_t group_count;
	uint32_t *group_of; /* by stratum, */
	bool *telling;      /* likewise: does the group have what it met? */
	struct cell *cells;
	size_t cell_count;
	struct access_moments whole;
};

/* ---------------------------------------------------------------- strata that are large enough */

struct ordered {
	const struct stratum *stratum;
	uint32_t position;
};

static int compare_strata(const void *a, const void *b)
{
	const struct stratum *x = ((const struct ordered *)a)->stratum;
	const struct stratum *y = ((const struct ordered *)b)->stratum;

	return ORDER(ASCENDING(x->class_name, y->class_name),
		     ASCENDING(x->size_class, y->size_class),
		     ASCENDING(x->weight_class, y->weight_class));
}

/* What tells nothing counts in the stratum's share alone, unless nothing does. */
static void add_stratum(struct stratum *to, const struct stratum *s, bool telling)
{
	access_moments_add(&to->all, &s->all);
	if (!telling)
		return;
	access_moments_add(&to->seen, &s->seen);
	tracked_sums_add(&to->tracked, &s->tracked);
}

static bool is_large(const struct group *g)
{
	return g->sum.tracked.samples >= SITE_SHARES_TRACKED;
}

/* The last group of a class may be too small: then it joins the one before. end: of its strata. */
static void close_class(struct estimation *e, const struct ordered *order, size_t end)
{
	struct group *last = e->group_count ? &e->groups[e->group_count - 1] : NULL;
	uint32_t number = (uint32_t)e->group_count - 1;

	if (e->group_count < 2 || is_large(last) || last[-1].sum.class_name != last->sum.class_name)
		return;
	add_stratum(&last[-1].sum, &last->sum, true);
	while (end > 0 && e->group_of[order[end - 1].position] == number)
		e->group_of[order[--end].position]--;
	e->group_count--;
}

static bool joins(const struct estimation *e, const struct stratum *s)
{
	const struct group *last = e->group_count ? &e->groups[e->group_count - 1] : NULL;

	return last && last->sum.class_name == s->class_name && !is_large(last);
}

/* Are the strata of a class, by weight class, evidence of its sites? */
struct evidence {
	bool telling[STRATA_WEIGHT_CLASSES];
	bool enough;
};

static size_t class_end(const struct ordered *order, size_t first, size_t count)
{
	size_t end = first;

	while (end < count && order[end].stratum->class_name == order[first].stratum->class_name)
		end++;
	return end;
}

static void look_at_class(const struct ordered *order, size_t count, struct evidence *evidence)
{
	struct access_moments seen[STRATA_WEIGHT_CLASSES] = {{0}};
	uint32_t best = 0;
	double most = 0;

	*evidence = (struct evidence){0};
	for (size_t i = 0; i < count; i++)
		access_moments_add(&seen[order[i].stratum->weight_class], &order[i].stratum->seen);
	/* Those that came before any such object was sampled say something only of a class that
	 * is not allocated at all: what there is of it is older. */
	for (uint32_t w = 1; w < STRATA_WEIGHT_CLASSES; w++) {
		double n = estimate_fraction(seen[w].metric * seen[w].metric, seen[w].squares);

		n /= strata_weight(w);
		evidence->telling[w] = n >= SITE_SHARES_EXPECTED;
		evidence->enough |= evidence->telling[w];
		if (n > most) {
			best = w;
			most = n;
		}
	}
	evidence->telling[best] = true;
	evidence->enough |= best == 0;
}

static void make_class(struct estimation *e, const struct ordered *order, size_t first, size_t end)
{
	struct evidence evidence;

	look_at_class(order + first, end - first, &evidence);
	for (size_t i = first; i < end; i++) {
		const struct stratum *s = order[i].stratum;
		bool telling = evidence.telling[s->weight_class];

		e->telling[order[i].position] = telling;
		if (!joins(e, s))
			e->groups[e->group_count++] = (struct group){
			    .sum = {.class_name = s->class_name, .size_class = s->size_class}};
		add_stratum(&e->groups[e->group_count - 1].sum, s, telling);
		e->groups[e->group_count - 1].known = evidence.enough;
		e->group_of[order[i].position] = (uint32_t)(e->group_count - 1);
	}
	close_class(e, order, end);
}

static void make_groups(struct estimation *e, const struct ordered *order, size_t count)
{
	for (size_t at = 0; at < count;) {
		size_t end = class_end(order, at, count);

		make_class(e, order, at, end);
		at = end;
	}
	for (size_t i = 0; i < e->group_count; i++)
		e->groups[i].share =
		    estimate_fraction(e->groups[i].sum.all.metric, e->whole.metric);
}

static int group_strata(struct estimation *e, const struct strata *s)
{
	_cleanup_free_ struct ordered *order = calloc(s->count + 1, sizeof(*order));

	e->whole = strata_all(s);
	e->groups = calloc(s->count + 1, sizeof(*e->groups));
	e->group_of = calloc(s->count + 1, sizeof(*e->group_of));
	e->telling = calloc(s->count + 1, sizeof(*e->telling));
	if (!order || !e->groups || !e->group_of || !e->telling)
		return -ENOMEM;
	for (size_t i = 0; i < s->count; i++)
		order[i] = (struct ordered){&s->list[i], (uint32_t)i};
	qsort(order, s->count, sizeof(*order), compare_strata);
	make_groups(e, order, s->count);
	return 0;
}

/* ---------------------------------------------------------------- sites in them */

static int compare_cells(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;

	return ORDER(ASCENDING(x->rank, y->rank), ASCENDING(x->group, y->group));
}

static int make_cells(struct estimation *e, const struct strata *s, const uint32_t *rank)
{
	size_t count = 0, used = 0;

	e->cells = calloc(s->site_count + 1, sizeof(*e->cells));
	if (!e->cells)
		return -ENOMEM;
	for (size_t i = 0; i < s->site_count; i++) {
		const struct stratum_site *from = &s->sites[i];

		if (e->telling[from->stratum])
			e->cells[count++] = (struct cell){
			    rank[from->site], e->group_of[from->stratum], from->tracked};
	}
	qsort(e->cells, count, sizeof(*e->cells), compare_cells);
	for (size_t i = 0; i < count; i++) {
		if (used > 0 && compare_cells(&e->cells[used - 1], &e->cells[i]) == 0)
			tracked_sums_add(&e->cells[used - 1].tracked, &e->cells[i].tracked);
		else
			e->cells[used++] = e->cells[i];
	}
	e->cell_count = used;
	return 0;
}

/* ---------------------------------------------------------------- one site in one stratum */

/* Tells what may have been R_h to give p, where the variance of p is R_h alpha - R_h^2 beta. The
 * upper limit may be above 1: what is cut off there is cut off once all strata are added up, since
 * a distance that is cut off is none that squares can be added up of. */
static struct interval score_interval(double p, double alpha, double beta)
{
	double z2 = ESTIMATE_Z95 * ESTIMATE_Z95, a = 1 + z2 * beta, b = p + z2 * alpha / 2;
	double root = sqrt(fmax(b * b - a * p * p, 0));

	return (struct interval){fmin(fmax((b - root) / a, 0), 1), (b + root) / a};
}

/* A part of a stratum: R_h, and what it may be. */
struct site_part {
	double share;
	struct interval ci;
};

/* Nothing tracked was met: one more access would have weighed as much as others of the stratum, its
 * object as much as others of the site. */
static struct site_part unseen_part(const struct group *g, double object_weight)
{
	const struct access_moments *m = &g->sum.seen;
	double q;

	if (!(m->metric > 0) || !(m->squares > 0) || !isfinite(object_weight))
		return (struct site_part){0, {0, 1}};
	q = m->squares / (m->metric * m->metric);
	return (struct site_part){0, {0, score_interval(0, object_weight * q, q).high}};
}

static struct site_part seen_part(const struct group *g, const struct tracked_sums *t)
{
	const struct tracked_sums *all = &g->sum.tracked;
	double m = g->sum.seen.metric, q = g->sum.seen.squares / (m * m);
	double alpha = t->variance / (t->metric * m);
	double beta = fmax(2 * t->covariance / (t->metric * m) - q, 0);
	struct site_part part = {t->metric / fmax(m, all->metric),
				 score_interval(t->metric / m, alpha, beta)};
	struct interval split;

	if (!(m > 0)) /* No window says so. */
		return unseen_part(g, 1);
	/* Its part of what went to tracked objects' sites is not less, and, where estimates come to
	 * more than there was, not known better than from those. */
	split = estimate_ci95(t->metric, all->metric, all->variance);
	if (t->metric < all->metric)
		part.ci.high = fmin(part.ci.high, split.high);
	if (all->metric > m)
		part.ci.low = fmin(part.ci.low, split.low);
	part.ci.low = fmin(part.ci.low, part.share);
	part.ci.high = fmax(part.ci.high, part.share);
	return part;
}

/* ---------------------------------------------------------------- adding strata up */

/* The interval of a share whose variance is known. */
static struct interval limits_of(double p, double variance)
{
	return variance > 0 && p > 0 && p < 1 ? estimate_ci95(p, 1, variance / (p * (1 - p)))
					      : (struct interval){p, p};
}

static double squared(double x)
{
	return x * x;
}

/* A sum of A_h x_h, and of q_h x_h and q_h x_h^2 with the squares q_h of a stratum's accesses: what
 * the A_h make uncertain of it. */
struct weighted {
	double sum;
	double first;
	double second;
};

/* Sums for one site. */
struct total {
	struct weighted share;
	struct weighted most; /* if in each stratum it were as large as it can be */
	double below, above;  /* squares of distances of the limits */
};

static void add_weighted(struct weighted *w, const struct group *g, double x)
{
	w->sum += g->share * x;
	w->first += g->sum.all.squares * x;
	w->second += g->sum.all.squares * x * x;
}

/* As an interval of shares of all accesses to the heap. */
static struct interval limits_of_weighted(const struct weighted *w,
					  const struct access_moments *whole)
{
	double p = fmin(w->sum, 1);
	double variance = w->second - 2 * p * w->first + p * p * whole->squares;

	return limits_of(p, estimate_fraction(variance, whole->metric * whole->metric));
}

static void add_part(struct total *t, const struct group *g, const struct site_part *part)
{
	double below = g->share * (part->share - part->ci.low);
	double above = g->share * (part->ci.high - part->share);

	t->below += below * below;
	t->above += above * above;
	add_weighted(&t->share, g, part->share);
	add_weighted(&t->most, g, fmin(part->ci.high, 1));
}

static void finish_total(const struct estimation *e, const struct total *t,
			 struct site_share *share)
{
	double p = fmin(t->share.sum, 1);
	struct interval strata = limits_of_weighted(&t->share, &e->whole);
	struct interval most = limits_of_weighted(&t->most, &e->whole);
	struct interval windows = limits_of(p, share->between);
	double low = p - sqrt(t->below + squared(p - strata.low));
	double high = p + sqrt(t->above + squared(strata.high - p));

	high = fmin(high, fmax(most.high, p));
	/* Where no access went to the class at all there is no stratum that could say more, and
	 * even if every object were tracked nothing less would be known. */
	high = fmax(high, estimate_ci95(0, e->whole.metric, e->whole.squares).high);
	share->fraction = p;
	share->ci95 =
	    (struct interval){fmax(fmin(low, windows.low), 0), fmin(fmax(high, windows.high), 1)};
}

/* The first group of a class, or the position where it would be. */
static size_t first_group(const struct estimation *e, uint32_t class_name)
{
	return SEARCH_FIRST(i, e->group_count, e->groups[i].sum.class_name >= class_name);
}

static bool has_cell(const struct cell *cells, size_t count, uint32_t group)
{
	struct cell key = {.rank = count ? cells->rank : 0, .group = group};

	return count && bsearch(&key, cells, count, sizeof(*cells), compare_cells);
}

/* The groups of a class where nothing of the site was met. */
static void add_unseen(const struct estimation *e, uint32_t class_name,
		       const struct site_share *share, const struct cell *cells, size_t count,
		       struct total *t)
{
	for (size_t i = first_group(e, class_name);
	     i < e->group_count && e->groups[i].sum.class_name == class_name; i++) {
		struct site_part part = unseen_part(&e->groups[i], share->object_weight);

		if (!has_cell(cells, count, (uint32_t)i))
			add_part(t, &e->groups[i], &part);
	}
}

static void divide_class(const struct estimation *e, const struct cell *cells, size_t count,
			 struct site_share *share)
{
	struct tracked_sums own = {0}, all = {0};

	for (size_t i = first_group(e, share->class_name);
	     i < e->group_count && e->groups[i].sum.class_name == share->class_name; i++)
		tracked_sums_add(&all, &e->groups[i].sum.tracked);
	for (size_t i = 0; i < count; i++)
		if (e->groups[cells[i].group].sum.class_name == share->class_name)
			tracked_sums_add(&own, &cells[i].tracked);
	share->of_class = estimate_fraction(own.metric, all.metric);
	share->of_class_ci95 = estimate_ci95(own.metric, all.metric, all.variance);
}

static void estimate(const struct estimation *e, const struct cell *cells, size_t count,
		     struct site_share *share)
{
	struct total t = {0};

	for (size_t i = 0; i < count; i++) {
		const struct group *g = &e->groups[cells[i].group];
		struct site_part part = cells[i].tracked.metric > 0
					    ? seen_part(g, &cells[i].tracked)
					    : unseen_part(g, share->object_weight);

		add_part(&t, g, &part);
	}
	add_unseen(e, 0, share, cells, count, &t);
	if (share->class_name)
		add_unseen(e, share->class_name, share, cells, count, &t);
	finish_total(e, &t, share);
	divide_class(e, cells, count, share);
	if (e->whole.metric <= 0)
		share->ci95 = (struct interval){0, 1};
}

static void estimate_all(const struct estimation *e, struct site_share *shares, size_t count)
{
	size_t at = 0;

	for (uint32_t i = 0; i < count; i++) {
		size_t first = at;

		while (at < e->cell_count && e->cells[at].rank == i)
			at++;
		estimate(e, e->cells + first, at - first, &shares[i]);
	}
}

/* ---------------------------------------------------------------- the rest of each class */

static int make_rests(const struct estimation *e, struct class_rests *rests)
{
	*rests = (struct class_rests){.list = calloc(e->group_count + 1, sizeof(*rests->list))};
	if (!rests->list)
		return -ENOMEM;
	for (size_t i = 0; i < e->group_count; i++) {
		const struct group *g = &e->groups[i];
		double met =
		    g->sum.seen.metric > 0 ? g->sum.tracked.metric / g->sum.seen.metric : 0;

		if (i == 0 || e->groups[i - 1].sum.class_name != g->sum.class_name)
			rests->list[rests->count++] =
			    (struct class_rest){.class_name = g->sum.class_name, .known = g->known};
		rests->list[rests->count - 1].fraction += g->share * (1 - fmin(met, 1));
	}
	return 0;
}

struct class_rest class_rests_find(const struct class_rests *rests, uint32_t class_name)
{
	size_t at = SEARCH_FIRST(i, rests->count, rests->list[i].class_name >= class_name);

	if (at < rests->count && rests->list[at].class_name == class_name)
		return rests->list[at];
	return (struct class_rest){.class_name = class_name};
}

void class_rests_release(struct class_rests *rests)
{
	free(rests->list);
	*rests = (struct class_rests){0};
}

int site_shares_estimate(const struct strata *s, const uint32_t *rank, struct site_share *shares,
			 size_t count, struct class_rests *rests)
{
	struct estimation e = {0};
	int r = group_strata(&e, s);

	if (r == 0)
		r = make_cells(&e, s, rank);
	if (r == 0 && rests)
		r = make_rests(&e, rests);
	if (r == 0)
		estimate_all(&e, shares, count);
	free(e.groups);
	free(e.group_of);
	free(e.telling);
	free(e.cells);
	return r;
}
