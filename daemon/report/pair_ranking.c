#include "daemon/report/pair_ranking.h"

#include <errno.h>
#include <stdlib.h>

#include "common/cleanup.h"
#include "daemon/container/saturate.h"
#include "daemon/profile/estimate.h"

/* By calling contexts; of one context, the most wasteful first, then in the order of arrival. */
static int compare_contexts(const void *a, const void *b)
{
	const struct pair *x = *(const struct pair *const *)a;
	const struct pair *y = *(const struct pair *const *)b;

	if (x->watch_node != y->watch_node)
		return x->watch_node < y->watch_node ? -1 : 1;
	if (x->trap_node != y->trap_node)
		return x->trap_node < y->trap_node ? -1 : 1;
	if (x->wasteful_bytes != y->wasteful_bytes)
		return x->wasteful_bytes > y->wasteful_bytes ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int compare_waste(const void *a, const void *b)
{
	const struct pair *x = &((const struct ranked_pair *)a)->sum;
	const struct pair *y = &((const struct ranked_pair *)b)->sum;

	if (x->wasteful_bytes != y->wasteful_bytes)
		return x->wasteful_bytes > y->wasteful_bytes ? -1 : 1;
	if (x->checked_bytes != y->checked_bytes)
		return x->checked_bytes > y->checked_bytes ? -1 : 1;
	if (x->watch_node != y->watch_node) /* qsort is not stable: contexts decide. */
		return x->watch_node < y->watch_node ? -1 : 1;
	return x->trap_node < y->trap_node ? -1 : x->trap_node > y->trap_node;
}

static void add_variant(struct ranked_pair *to, const struct pair *variant)
{
	to->sum.count += variant->count;
	to->sum.wasteful_count += variant->wasteful_count;
	to->sum.checked_bytes += variant->checked_bytes;
	to->sum.wasteful_bytes += variant->wasteful_bytes;
	saturate_add(&to->sum.wasteful_squares, variant->wasteful_squares);
	to->variants++;
}

/* Entries come sorted by context, so those of one pair are neighbours. */
static void merge_variants(struct pair_ranking *r, const struct pair *const *sorted, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct ranked_pair *last = r->count ? &r->pairs[r->count - 1] : NULL;

		if (last && last->sum.watch_node == sorted[i]->watch_node &&
		    last->sum.trap_node == sorted[i]->trap_node) {
			add_variant(last, sorted[i]);
			continue;
		}
		if (last && last->sum.wasteful_bytes == 0)
			r->count--; /* Nothing wasted: not ranked. */
		r->pairs[r->count++] = (struct ranked_pair){.sum = *sorted[i], .variants = 1};
	}
	if (r->count && r->pairs[r->count - 1].sum.wasteful_bytes == 0)
		r->count--;
}

/* All kinds' rankings are held at a time, and take no more than one did with room for all pairs. */
static void shrink(struct pair_ranking *r)
{
	struct ranked_pair *fitting = NULL;

	if (r->count == 0)
		pair_ranking_release(r);
	else if ((fitting = realloc(r->pairs, r->count * sizeof(*r->pairs))))
		r->pairs = fitting;
}

int pair_ranking_init(struct pair_ranking *r, const struct profile *p, Jxp__Kind kind)
{
	_cleanup_free_ const struct pair **sorted = NULL;
	size_t count = 0;

	*r = (struct pair_ranking){0};
	if (p->pair_count == 0)
		return 0;
	sorted = calloc(p->pair_count, sizeof(const struct pair *));
	r->pairs = calloc(p->pair_count, sizeof(*r->pairs));
	if (!sorted || !r->pairs) {
		pair_ranking_release(r);
		return -ENOMEM;
	}
	for (size_t i = 0; i < p->pair_count; i++)
		if (p->pairs[i].kind == kind)
			sorted[count++] = &p->pairs[i];
	qsort(sorted, count, sizeof(const struct pair *), compare_contexts);
	merge_variants(r, sorted, count);
	qsort(r->pairs, r->count, sizeof(*r->pairs), compare_waste);
	shrink(r);
	for (size_t i = 0; i < r->count; i++)
		r->pairs[i].fraction =
		    estimate_fraction((double)r->pairs[i].sum.wasteful_bytes,
				      (double)p->kinds[kind].application.checked_bytes);
	return 0;
}

void pair_ranking_release(struct pair_ranking *r)
{
	free(r->pairs);
	*r = (struct pair_ranking){0};
}
