#include "daemon/combine/diff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "daemon/combine/diff_rows.h"
#include "daemon/combine/names.h"
#include "proto/words.h"

/* ---------------------------------------------------------------- kinds */

static void set_windows(struct share_whole *whole, const struct window_result *w,
			const double *by_batch)
{
	whole->windows = 1;
	if (!w->merged)
		return;
	whole->windows = w->merged->windows;
	whole->batches = w->merged->batches;
	memcpy(whole->by_batch, by_batch, sizeof(whole->by_batch));
}

static bool has_observations(const struct share_whole *whole)
{
	return whole->sum > 0 && whole->squares > 0;
}

/* Pairs that did not fit the window's table are in the totals only: what is known of the others'
 * squares stands for them, too. */
static double wasteful_squares(const struct window_result *w, Jxp__Kind kind)
{
	double squares = 0, bytes = 0;

	for (size_t i = 0; i < w->profile.pair_count; i++) {
		const struct pair *pair = &w->profile.pairs[i];

		if (pair->kind != kind)
			continue;
		squares += (double)pair->wasteful_squares;
		bytes += (double)pair->wasteful_bytes;
	}
	return squares *
	       estimate_fraction((double)w->profile.kinds[kind].application.wasteful_bytes, bytes);
}

static void pairs_of_side(const struct window_result *w, Jxp__Kind kind, struct share_whole *whole,
			  struct share_part *part)
{
	const struct totals *t = &w->profile.kinds[kind].application;
	double squares = wasteful_squares(w, kind);

	*whole = (struct share_whole){.sum = (double)t->checked_bytes,
				      .squares = (double)t->sum_squares};
	*part = (struct share_part){.sum = (double)t->wasteful_bytes,
				    .squares = squares,
				    .products = squares,
				    .count = t->wasteful_count};
	set_windows(whole, w, w->merged ? w->merged->checked[kind] : NULL);
	if (w->merged)
		memcpy(part->by_batch, w->merged->wasteful[kind], sizeof(part->by_batch));
}

static void add_pair_kind(struct diff *d, const struct pair_kind *kind)
{
	struct diff_kind *k = &d->kinds[d->kind_count];
	struct share_part part[2];

	if (!d->side[0]->request.kinds[kind->kind] && !d->side[1]->request.kinds[kind->kind])
		return;
	d->kind_count++;
	*k = (struct diff_kind){.pairs = kind, .compared = true};
	for (unsigned i = 0; i < 2; i++) {
		pairs_of_side(d->side[i], kind->kind, &k->whole[i], &part[i]);
		k->ci95[i] = window_result_fraction_ci95(d->side[i], kind->kind);
		k->compared &= has_observations(&k->whole[i]);
	}
	if (k->compared)
		share_compare(part, k->whole, &k->test.share);
}

static void add_sites_kind(struct diff *d)
{
	struct diff_kind *k = &d->kinds[d->kind_count];

	if (!d->side[0]->request.objects && !d->side[1]->request.objects)
		return;
	d->kind_count++;
	*k = (struct diff_kind){.compared = true};
	for (unsigned i = 0; i < 2; i++) {
		const struct window_result *w = d->side[i];
		const struct object_profile *o = &w->objects;

		k->whole[i] = (struct share_whole){
		    .sum = object_profile_whole(o),
		    .squares = object_profile_is_overestimated(o) ? o->variance : o->heap_squares};
		set_windows(&k->whole[i], w, w->merged ? w->merged->heap : NULL);
		k->compared &= has_observations(&k->whole[i]);
	}
}

/* ---------------------------------------------------------------- tests */

static int compare_tests(const void *a, const void *b)
{
	const struct diff_test *x = *(struct diff_test *const *)a;
	const struct diff_test *y = *(struct diff_test *const *)b;

	if (x->share.p != y->share.p)
		return x->share.p < y->share.p ? -1 : 1;
	return x < y ? -1 : x > y;
}

static bool is_tested(const struct diff_row *row)
{
	return row->count >= DIFF_COUNT_MIN;
}

static void judge(struct diff_test **tests, double *p, unsigned count)
{
	qsort(tests, count, sizeof(*tests), compare_tests);
	for (unsigned i = 0; i < count; i++)
		p[i] = tests[i]->share.p;
	share_adjust(p, count);
	for (unsigned i = 0; i < count; i++) {
		tests[i]->p = p[i];
		if (p[i] <= DIFF_LEVEL)
			tests[i]->verdict = tests[i]->share.difference > 0 ? DIFF_MORE : DIFF_LESS;
	}
}

static int test_all(struct diff *d)
{
	size_t most = d->row_count + DIFF_KINDS;
	_cleanup_free_ struct diff_test **tests = calloc(most, sizeof(struct diff_test *));
	_cleanup_free_ double *p = calloc(most, sizeof(*p));

	if (!tests || !p)
		return -ENOMEM;
	for (size_t i = 0; i < d->kind_count; i++)
		if (d->kinds[i].compared && d->kinds[i].pairs)
			tests[d->tested++] = &d->kinds[i].test;
	for (size_t i = 0; i < d->row_count; i++) {
		d->rows[i].test.p = 1; /* Of those that are not tested. */
		if (is_tested(&d->rows[i]))
			tests[d->tested++] = &d->rows[i].test;
	}
	judge(tests, p, d->tested);
	return 0;
}

/* The least that the difference may be. */
static double least(const struct diff_row *row)
{
	const struct interval *ci = &row->test.share.ci95;

	return fmax(fmax(ci->low, -ci->high), 0);
}

/* qsort is not stable: the order of arrival, which methods' ids have, decides at the end. */
static int compare_rows(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;
	double dx = fabs(x->test.share.difference), dy = fabs(y->test.share.difference);

	if ((x->test.verdict == DIFF_NONE) != (y->test.verdict == DIFF_NONE))
		return x->test.verdict == DIFF_NONE ? 1 : -1;
	if (x->explains != y->explains)
		return x->explains ? -1 : 1;
	if (least(x) != least(y))
		return least(x) > least(y) ? -1 : 1;
	if (dx != dy)
		return dx > dy ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->watch != y->watch)
		return x->watch < y->watch ? -1 : 1;
	return x->trap < y->trap ? -1 : x->trap > y->trap;
}

/* ---------------------------------------------------------------- rows */

static int make_rows(struct diff *d, const struct diff_sums_table *sums)
{
	int r;

	d->rows = calloc(sums->count + 1, sizeof(*d->rows));
	if (!d->rows)
		return -ENOMEM;
	d->row_count = sums->count;
	for (size_t i = 0; i < sums->count; i++) {
		const struct diff_sums *s = &sums->sums[i];
		struct diff_row *row = &d->rows[i];

		*row = (struct diff_row){.kind = s->key.owner,
					 .watch = s->key.watch,
					 .trap = s->key.trap,
					 .count = s->part[0].count + s->part[1].count,
					 .first_context = i}; /* Until it has some. */
		share_compare(s->part, d->kinds[row->kind].whole, &row->test.share);
	}
	r = test_all(d);
	if (r < 0)
		return r;
	for (size_t i = 0; i < d->row_count; i++) {
		enum diff_verdict verdict = d->rows[i].test.verdict;

		d->rows[i].explains =
		    verdict != DIFF_NONE && verdict == d->kinds[d->rows[i].kind].test.verdict;
	}
	qsort(d->rows, d->row_count, sizeof(*d->rows), compare_rows);
	while (d->called_rows < d->row_count && d->rows[d->called_rows].test.verdict != DIFF_NONE)
		d->called_rows++;
	return 0;
}

/* How much of its row's difference a context carries. */
static double carried(const struct diff *d, const struct diff_context *c)
{
	double difference = c->share[1] - c->share[0];

	return d->rows[c->row].test.verdict == DIFF_LESS ? -difference : difference;
}

static int compare_contexts(const void *a, const void *b, void *diff)
{
	const struct diff_context *x = a, *y = b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	if (carried(diff, x) != carried(diff, y))
		return carried(diff, x) > carried(diff, y) ? -1 : 1;
	if (x->watch != y->watch)
		return x->watch < y->watch ? -1 : 1;
	return x->trap < y->trap ? -1 : x->trap > y->trap;
}

static int make_contexts(struct diff *d, const struct diff_sums_table *sums)
{
	d->contexts = calloc(sums->count + 1, sizeof(*d->contexts));
	if (!d->contexts)
		return -ENOMEM;
	d->context_count = sums->count;
	for (size_t i = 0; i < sums->count; i++) {
		const struct diff_sums *s = &sums->sums[i];
		const struct share_whole *whole = d->kinds[d->rows[s->key.owner].kind].whole;

		d->contexts[i] = (struct diff_context){
		    .row = s->key.owner,
		    .watch = s->key.watch,
		    .trap = s->key.trap,
		    .share = {s->part[0].sum / whole[0].sum, s->part[1].sum / whole[1].sum}};
	}
	qsort_r(d->contexts, d->context_count, sizeof(*d->contexts), compare_contexts, d);
	for (size_t i = 0; i < d->context_count; i++) {
		struct diff_row *row = &d->rows[d->contexts[i].row];

		if (row->context_count++ == 0)
			row->first_context = i;
	}
	return 0;
}

static int find_contexts(struct diff *d, const struct names_map maps[2],
			 const struct diff_sums_table *rows)
{
	_cleanup_(diff_sums_release) struct diff_sums_table contexts = {0};
	_cleanup_free_ uint32_t *place = calloc(rows->count + 1, sizeof(*place));
	int r;

	if (!place)
		return -ENOMEM;
	for (size_t i = 0; i < d->row_count; i++)
		place[d->rows[i].first_context] = i < d->called_rows ? (uint32_t)i : DIFF_NO_PLACE;
	for (size_t i = 0; i < d->row_count; i++)
		d->rows[i].first_context = 0;
	r = diff_collect_contexts(&contexts, d, maps, rows, place);
	return r < 0 ? r : make_contexts(d, &contexts);
}

static int compare(struct diff *d, const struct names_map maps[2])
{
	_cleanup_(diff_sums_release) struct diff_sums_table rows = {0};
	int r = diff_collect_rows(&rows, d, maps);

	if (r == 0)
		r = make_rows(d, &rows);
	return r < 0 ? r : find_contexts(d, maps, &rows);
}

/* ---------------------------------------------------------------- the diff */

static int check_comparable(const struct window_result *a, const struct window_result *b,
			    struct err *err)
{
	if (a->findings.sampler != b->findings.sampler)
		return err_set(err, EINVAL,
			       "windows of the %s sampler and of the %s sampler weigh accesses "
			       "differently: compare windows of one sampler",
			       name_of_sampler(a->findings.sampler),
			       name_of_sampler(b->findings.sampler));
	if (strcmp(a->request.event, b->request.event) != 0)
		return err_set(err, EINVAL, "the windows count different events: '%s' and '%s'",
			       a->request.event, b->request.event);
	return 0;
}

int diff_init(struct diff *d, const struct window_result *a, const struct window_result *b,
	      struct err *err)
{
	_cleanup_(names_map_release) struct names_map first = {0};
	_cleanup_(names_map_release) struct names_map second = {0};
	int r = check_comparable(a, b, err);

	if (r < 0)
		return r;
	*d = (struct diff){.side = {a, b}};
	for (size_t i = 0; i < PAIR_KINDS; i++)
		add_pair_kind(d, &pair_kinds[i]);
	add_sites_kind(d);
	r = names_map_init(&first, &d->names, &a->profile, NAMES_OF_METHODS, d->losses);
	if (r == 0)
		r = names_map_init(&second, &d->names, &b->profile, NAMES_OF_METHODS, d->losses);
	if (r == 0)
		r = compare(d, (struct names_map[2]){first, second});
	if (r < 0)
		diff_release(d);
	return r < 0 ? err_set(err, -r, "out of memory while comparing two windows") : 0;
}

void diff_release(struct diff *d)
{
	profile_release(&d->names);
	free(d->rows);
	free(d->contexts);
	*d = (struct diff){0};
}

bool diff_is_shown(const struct diff *d)
{
	for (size_t i = 0; i < d->kind_count; i++)
		if (d->kinds[i].test.verdict != DIFF_NONE)
			return true;
	return d->called_rows > 0;
}

double diff_visible(const struct diff *d, const struct diff_kind *kind)
{
	return share_visible_difference(&kind->test.share, DIFF_LEVEL / d->tested);
}
