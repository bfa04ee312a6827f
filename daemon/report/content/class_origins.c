#include "daemon/report/content/class_origins.h"

#include <errno.h>
#include <stdlib.h>

#include "common/cleanup.h"
#include "common/order.h"

static int compare_shares(const void *a, const void *b)
{
	const struct origin_site *x = a, *y = b;

	return ORDER(ASCENDING(x->class_name, y->class_name), DESCENDING(x->ci95.low, y->ci95.low),
		     DESCENDING(x->share, y->share), ASCENDING(x->site, y->site));
}

static int compare_class(const void *key, const void *element)
{
	const struct origin_site *s = element;
	uint32_t name = *(const uint32_t *)key;

	return ASCENDING(name, s->class_name);
}

/* The sites of one class, which lie side by side; *count of them. */
static struct origin_site *sites_of(struct origin_site *all, size_t all_count, uint32_t class_name,
				    size_t *count)
{
	struct origin_site *found =
	    all_count ? bsearch(&class_name, all, all_count, sizeof(*all), compare_class) : NULL;
	struct origin_site *end = found;

	*count = 0;
	if (!found)
		return NULL;
	while (found > all && found[-1].class_name == class_name)
		found--;
	while (end < all + all_count && end->class_name == class_name)
		end++;
	*count = (size_t)(end - found);
	return found;
}

/* Records of before have no squares: as if all samples of a site had stood for as many bytes. */
static double squares_of(const struct object_site *s)
{
	if (s->alloc_squares > 0 || s->allocations == 0)
		return s->alloc_squares;
	return s->alloc_bytes * s->alloc_bytes / (double)s->allocations;
}

/* By how the class's sampled allocations divide among the sites. */
static void infer(struct origin_site *sites, size_t count, const struct object_ranking *ranking)
{
	double bytes = 0, squares = 0;

	for (size_t i = 0; i < count; i++) {
		const struct object_site *s = &ranking->sites[sites[i].site].sum;

		bytes += s->alloc_bytes;
		squares += squares_of(s);
	}
	for (size_t i = 0; i < count; i++) {
		const struct object_site *s = &ranking->sites[sites[i].site].sum;

		sites[i].share = estimate_fraction(s->alloc_bytes, bytes);
		sites[i].ci95 = estimate_share_ci95(s->alloc_bytes, squares_of(s), bytes, squares);
	}
}

static void take_tracked(struct origin_site *sites, size_t count,
			 const struct object_ranking *ranking)
{
	for (size_t i = 0; i < count; i++) {
		const struct ranked_site *s = &ranking->sites[sites[i].site];

		sites[i].share = s->of_class;
		sites[i].ci95 = s->of_class_ci95;
	}
}

static struct class_origin origin_of(struct class_origins *o, size_t site_count,
				     const struct ranked_class *c,
				     const struct object_ranking *ranking)
{
	struct class_origin origin = {.basis = ORIGIN_UNKNOWN};
	struct origin_site *sites = sites_of(o->sites, site_count, c->class_name, &origin.count);

	origin.sites = sites;
	for (size_t i = 0; i < origin.count; i++)
		origin.allocations += ranking->sites[sites[i].site].sum.allocations;
	if (origin.count == 0)
		return origin;
	if (c->tracked.samples >= CLASS_ORIGINS_TRACKED) {
		origin.basis = ORIGIN_TRACKED;
		take_tracked(sites, origin.count, ranking);
	} else {
		origin.basis = ORIGIN_INFERRED;
		infer(sites, origin.count, ranking);
	}
	qsort(sites, origin.count, sizeof(*sites), compare_shares);
	return origin;
}

int class_origins_init(struct class_origins *o, const struct class_ranking *classes,
		       const struct object_ranking *sites)
{
	*o = (struct class_origins){.count = classes->count};
	o->list = calloc(classes->count + 1, sizeof(*o->list));
	o->sites = calloc(sites->count + 1, sizeof(*o->sites));
	if (!o->list || !o->sites) {
		class_origins_release(o);
		return -ENOMEM;
	}
	for (size_t i = 0; i < sites->count; i++)
		o->sites[i] = (struct origin_site){.class_name = sites->sites[i].sum.class_name,
						   .site = (uint32_t)i};
	qsort(o->sites, sites->count, sizeof(*o->sites), compare_shares);
	for (size_t i = 0; i < classes->count; i++)
		o->list[i] = origin_of(o, sites->count, &classes->classes[i], sites);
	return 0;
}

void class_origins_release(struct class_origins *o)
{
	free(o->list);
	free(o->sites);
	*o = (struct class_origins){0};
}
