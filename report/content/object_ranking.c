#include "report/content/object_ranking.h"

#include <errno.h>
#include <stdlib.h>

#include "common/array.h"
#include "common/cleanup.h"
#include "common/saturate.h"

static int compare_keys(const void *a, const void *b)
{
	const struct ranked_access *x = a, *y = b;

	return ORDER(ASCENDING(x->owner, y->owner), ASCENDING(x->node, y->node),
		     ASCENDING(x->location, y->location));
}

static int compare_costs(const void *a, const void *b)
{
	const struct ranked_access *x = a, *y = b;

	return ORDER(ASCENDING(x->owner, y->owner), DESCENDING(x->metric, y->metric),
		     compare_keys(a, b));
}

size_t ranked_accesses_merge(struct ranked_access *accesses, size_t count)
{
	size_t used = 0;

	qsort(accesses, count, sizeof(*accesses), compare_keys);
	for (size_t i = 0; i < count; i++) {
		struct ranked_access *last = used ? &accesses[used - 1] : NULL;

		if (last && compare_keys(last, &accesses[i]) == 0) {
			saturate_add(&last->samples, accesses[i].samples);
			last->metric += accesses[i].metric;
		} else {
			accesses[used++] = accesses[i];
		}
	}
	qsort(accesses, used, sizeof(*accesses), compare_costs);
	return used;
}

/* A site or an access with what it is merged by. */
struct keyed_site {
	struct object_site sum;
	struct site_share share;
	uint32_t path;
	uint32_t position; /* in the profile */
};

static int compare_site_keys(const void *a, const void *b)
{
	const struct keyed_site *x = a, *y = b;

	return ORDER(ASCENDING(x->sum.class_name, y->sum.class_name), ASCENDING(x->path, y->path),
		     ASCENDING(x->position, y->position));
}

/* By the least that its share may be, so that what is known little of does not lead; those that
 * nothing was seen of come last. */
static int compare_site_costs(const void *a, const void *b)
{
	const struct keyed_site *x = a, *y = b;

	return ORDER(DESCENDING(x->sum.metric > 0, y->sum.metric > 0),
		     DESCENDING(x->share.ci95.low, y->share.ci95.low),
		     DESCENDING(x->share.fraction, y->share.fraction),
		     DESCENDING(x->sum.alloc_bytes, y->sum.alloc_bytes),
		     ASCENDING(x->position, y->position));
}

/* Where two were allocated between other judgements, the earlier ones are not meant any more. */
static void add_fresh(struct fresh_objects *to, const struct fresh_objects *fresh)
{
	if (fresh->judgement > to->judgement) {
		*to = *fresh;
	} else if (fresh->judgement == to->judgement) {
		to->count += fresh->count;
		to->bytes += fresh->bytes;
	}
}

static void add_site(struct object_site *to, const struct object_site *site)
{
	for (int i = 0; i < OBJECT_PROFILE_FRESH; i++)
		add_fresh(&to->fresh[i], &site->fresh[i]);
	to->allocations += site->allocations;
	to->alloc_count += site->alloc_count;
	to->alloc_bytes += site->alloc_bytes;
	to->alloc_squares += site->alloc_squares;
	to->untracked += site->untracked;
	to->untracked_bytes += site->untracked_bytes;
	to->live_count += site->live_count;
	to->live_bytes += site->live_bytes;
	to->samples += site->samples;
	to->metric += site->metric;
	to->variance += site->variance;
	to->covariance += site->covariance;
	to->between += site->between;
}

/* Merges neighbours of the same key. merged[position in the profile] is the position in sites that
 * the site went to. Returns how many are left. */
static size_t merge_sites(struct keyed_site *sites, size_t count, uint32_t *merged)
{
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		struct keyed_site *last = used ? &sites[used - 1] : NULL;

		if (last && last->sum.class_name == sites[i].sum.class_name &&
		    last->path == sites[i].path)
			add_site(&last->sum, &sites[i].sum);
		else
			sites[used++] = sites[i];
		merged[sites[i].position] = sites[used - 1].position;
	}
	return used;
}

/* The shares of the count merged sites. merged: see merge_sites; on return, for each site of the
 * profile, the position among sites. */
static int estimate_shares(struct object_ranking *r, const struct object_profile *l,
			   struct keyed_site *sites, size_t count, uint32_t *merged)
{
	_cleanup_free_ struct site_share *shares = calloc(count, sizeof(*shares));
	_cleanup_free_ uint32_t *places = calloc(l->site_count, sizeof(*places));
	int status;

	if (!shares || !places)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		const struct object_site *s = &sites[i].sum;

		shares[i] = (struct site_share){.class_name = s->class_name,
						.object_weight = object_site_weight(s),
						.between = s->between};
		places[sites[i].position] = i;
	}
	for (size_t i = 0; i < l->site_count; i++)
		merged[i] = places[merged[i]];
	status = site_shares_estimate(&l->strata, merged, shares, count, &r->rests);
	for (size_t i = 0; i < count; i++)
		sites[i].share = shares[i];
	return status;
}

/* The sites, merged and in order; rank[position in the profile] is each one's place. */
static int rank_sites(struct object_ranking *r, const struct object_profile *l,
		      const uint32_t *paths, uint32_t *rank)
{
	_cleanup_free_ struct keyed_site *sites = calloc(l->site_count, sizeof(*sites));
	_cleanup_free_ uint32_t *places = calloc(l->site_count, sizeof(*places));
	int status;

	r->sites = calloc(l->site_count, sizeof(*r->sites));
	if (!sites || !places || !r->sites)
		return -ENOMEM;
	for (uint32_t i = 0; i < l->site_count; i++)
		sites[i] = (struct keyed_site){
		    .sum = l->sites[i], .path = paths[l->sites[i].node], .position = i};
	qsort(sites, l->site_count, sizeof(*sites), compare_site_keys);
	r->count = merge_sites(sites, l->site_count, rank);
	status = estimate_shares(r, l, sites, r->count, rank);
	if (status < 0)
		return status;
	for (uint32_t i = 0; i < r->count; i++)
		sites[i].position = i;
	qsort(sites, r->count, sizeof(*sites), compare_site_costs);
	for (uint32_t i = 0; i < r->count; i++) {
		r->sites[i].sum = sites[i].sum;
		r->sites[i].sum.node = sites[i].path;
		r->sites[i].fraction = sites[i].share.fraction;
		r->sites[i].ci95 = sites[i].share.ci95;
		r->sites[i].of_class = sites[i].share.of_class;
		r->sites[i].of_class_ci95 = sites[i].share.of_class_ci95;
		r->sum += sites[i].share.fraction;
		places[sites[i].position] = i;
	}
	for (size_t i = 0; i < l->site_count; i++)
		rank[i] = places[rank[i]];
	return 0;
}

static int rank_accesses(struct object_ranking *r, const struct object_profile *l,
			 const uint32_t *paths, const uint32_t *rank)
{
	if (l->access_count == 0)
		return 0;
	r->accesses = calloc(l->access_count, sizeof(*r->accesses));
	if (!r->accesses)
		return -ENOMEM;
	for (size_t i = 0; i < l->access_count; i++) {
		const struct site_access *from = &l->accesses[i];

		r->accesses[i] = (struct ranked_access){.owner = rank[from->site],
							.node = paths[from->node],
							.location = from->location,
							.samples = from->samples,
							.metric = from->metric};
	}
	r->access_count = ranked_accesses_merge(r->accesses, l->access_count);
	for (size_t i = r->access_count; i-- > 0;) {
		r->sites[r->accesses[i].owner].first_access = i;
		r->sites[r->accesses[i].owner].access_count++;
	}
	return 0;
}

static void add_numa(struct object_ranking *r, const struct window_result *w, const uint32_t *rank)
{
	for (size_t i = 0; i < w->numa.site_count; i++) {
		const struct numa_site *s = &w->numa.sites[i];

		if (s->site < w->objects.site_count)
			numa_site_add(&r->sites[rank[s->site]].numa, s);
	}
}

static void add_sharing(struct object_ranking *r, const struct object_profile *l,
			const uint32_t *rank)
{
	for (size_t i = 0; i < l->sharing_count; i++)
		site_sharing_add(&r->sites[rank[l->sharing[i].site]].sharing, &l->sharing[i]);
}

int object_ranking_init(struct object_ranking *r, const struct window_result *w)
{
	const struct object_profile *l = &w->objects;
	_cleanup_free_ uint32_t *paths = NULL;
	_cleanup_free_ uint32_t *rank = NULL;
	int status;

	*r = (struct object_ranking){0};
	if (l->site_count == 0)
		return site_shares_estimate(&l->strata, NULL, NULL, 0, &r->rests);
	rank = calloc(l->site_count, sizeof(*rank));
	if (!rank)
		return -ENOMEM;
	if ((status = cct_paths(&w->profile.cct, &paths)) < 0 ||
	    (status = rank_sites(r, l, paths, rank)) < 0 ||
	    (status = rank_accesses(r, l, paths, rank)) < 0) {
		object_ranking_release(r);
		return status;
	}
	add_numa(r, w, rank);
	add_sharing(r, l, rank);
	return 0;
}

const struct ranked_access *object_ranking_accesses(const struct object_ranking *r,
						    const struct ranked_site *site)
{
	return site->access_count ? r->accesses + site->first_access : NULL;
}

void object_ranking_release(struct object_ranking *r)
{
	free(r->sites);
	free(r->accesses);
	class_rests_release(&r->rests);
	*r = (struct object_ranking){0};
}
