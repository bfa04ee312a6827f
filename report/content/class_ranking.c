#include "report/content/class_ranking.h"

#include <errno.h>
#include <stdlib.h>

#include "common/array.h"
#include "common/cleanup.h"

/* This makes an order of shares. */
struct rank_key {
	double low;
	double fraction;
	uint32_t name;
};

static int compare_keys(const struct rank_key *x, const struct rank_key *y)
{
	return ORDER(DESCENDING(x->low, y->low), DESCENDING(x->fraction, y->fraction),
		     ASCENDING(x->name, y->name));
}

/* A field with the key of its class, and where it is in the profile. */
struct keyed_field {
	struct ranked_field field;
	struct rank_key class_key;
	struct access_sum tracked;
	uint32_t position;
};

static int compare_names(const void *a, const void *b)
{
	const struct keyed_field *x = a, *y = b;

	return ORDER(ASCENDING(x->field.class_name, y->field.class_name),
		     ASCENDING(x->position, y->position));
}

static int compare_shares(const void *a, const void *b)
{
	const struct keyed_field *x = a, *y = b;
	struct rank_key own = {x->field.ci95.low, x->field.fraction, x->field.location};
	struct rank_key other = {y->field.ci95.low, y->field.fraction, y->field.location};

	if (x->field.class_name != y->field.class_name)
		return compare_keys(&x->class_key, &y->class_key);
	return compare_keys(&own, &other);
}

static void set_share(const struct access_moments *sum, const struct access_moments *whole,
		      double *fraction, struct interval *ci95)
{
	*fraction = estimate_fraction(sum->metric, whole->metric);
	*ci95 = estimate_share_ci95(sum->metric, sum->squares, whole->metric, whole->squares);
}

/* The key of the class that begins at first, for all its fields. */
static size_t key_class(struct keyed_field *fields, size_t first, size_t count,
			const struct access_moments *whole)
{
	uint32_t name = fields[first].field.class_name;
	struct access_moments sum = {0};
	struct rank_key key = {.name = name};
	struct interval ci95;
	size_t end = first;

	for (; end < count && fields[end].field.class_name == name; end++)
		access_moments_add(&sum, &fields[end].field.sum);
	set_share(&sum, whole, &key.fraction, &ci95);
	/* What is not known comes last. */
	key.low = name ? ci95.low : -1;
	for (size_t i = first; i < end; i++)
		fields[i].class_key = key;
	return end;
}

/* The fields, in order. */
static struct keyed_field *ordered_fields(const struct class_profile *c,
					  const struct access_moments *whole, size_t *count)
{
	struct keyed_field *fields = calloc(c->field_count + 1, sizeof(*fields));
	size_t used = 0, at = 0;

	if (!fields)
		return NULL;
	for (uint32_t i = 0; i < c->field_count; i++) {
		const struct class_field *from = &c->fields[i];
		struct keyed_field *f = &fields[used];

		if (from->sum.samples == 0)
			continue;
		f->field = (struct ranked_field){
		    .class_name = from->class_name, .location = from->location, .sum = from->sum};
		set_share(&from->sum, whole, &f->field.fraction, &f->field.ci95);
		f->tracked = from->tracked;
		f->position = i;
		used++;
	}
	qsort(fields, used, sizeof(*fields), compare_names);
	while (at < used)
		at = key_class(fields, at, used, whole);
	qsort(fields, used, sizeof(*fields), compare_shares);
	*count = used;
	return fields;
}

static void add_field(struct ranked_class *c, const struct keyed_field *f)
{
	access_moments_add(&c->sum, &f->field.sum);
	saturate_add(&c->tracked.samples, f->tracked.samples);
	c->tracked.metric += f->tracked.metric;
	c->field_count++;
}

/* rank: of each field of the profile, its place. */
static int rank_fields(struct class_ranking *r, const struct class_profile *c,
		       const struct access_moments *whole, uint32_t *rank)
{
	_cleanup_free_ struct keyed_field *fields = ordered_fields(c, whole, &r->field_count);
	struct ranked_class *last = NULL;

	r->fields = calloc(c->field_count + 1, sizeof(*r->fields));
	r->classes = calloc(c->field_count + 1, sizeof(*r->classes));
	if (!fields || !r->fields || !r->classes)
		return -ENOMEM;
	for (size_t i = 0; i < r->field_count; i++) {
		uint32_t name = fields[i].field.class_name;

		if (!last || last->class_name != name) {
			last = name ? &r->classes[r->count++] : &r->unknown;
			*last = (struct ranked_class){.class_name = name, .first_field = i};
		}
		add_field(last, &fields[i]);
		r->fields[i] = fields[i].field;
		rank[fields[i].position] = (uint32_t)i;
	}
	return 0;
}

static int rank_accesses(struct class_ranking *r, const struct class_profile *c,
			 const uint32_t *paths, const uint32_t *rank)
{
	r->accesses = calloc(c->access_count + 1, sizeof(*r->accesses));
	if (!r->accesses)
		return -ENOMEM;
	for (size_t i = 0; i < c->access_count; i++) {
		const struct class_access *from = &c->accesses[i];

		r->accesses[i] = (struct ranked_access){.owner = rank[from->field],
							.node = paths[from->node],
							.samples = from->samples,
							.metric = from->metric};
	}
	r->access_count = ranked_accesses_merge(r->accesses, c->access_count);
	for (size_t i = r->access_count; i-- > 0;) {
		r->fields[r->accesses[i].owner].first_access = i;
		r->fields[r->accesses[i].owner].access_count++;
	}
	return 0;
}

static void finish_class(struct ranked_class *c, const struct access_moments *whole,
			 const struct class_rests *rests)
{
	set_share(&c->sum, whole, &c->fraction, &c->ci95);
	c->older = class_rests_find(rests, c->class_name);
}

int class_ranking_init(struct class_ranking *r, const struct window_result *w,
		       const struct class_rests *rests)
{
	const struct class_profile *c = &w->objects.classes;
	struct access_moments whole = strata_all(&w->objects.strata);
	_cleanup_free_ uint32_t *paths = NULL;
	_cleanup_free_ uint32_t *rank = calloc(c->field_count + 1, sizeof(*rank));
	int status = rank ? 0 : -ENOMEM;

	*r = (struct class_ranking){0};
	if (status == 0)
		status = cct_paths(&w->profile.cct, &paths);
	if (status == 0)
		status = rank_fields(r, c, &whole, rank);
	if (status == 0)
		status = rank_accesses(r, c, paths, rank);
	if (status < 0) {
		class_ranking_release(r);
		return status;
	}
	for (size_t i = 0; i < r->count; i++)
		finish_class(&r->classes[i], &whole, rests);
	finish_class(&r->unknown, &whole, rests);
	return 0;
}

const struct ranked_field *class_ranking_fields(const struct class_ranking *r,
						const struct ranked_class *c)
{
	return c->field_count ? r->fields + c->first_field : NULL;
}

const struct ranked_access *class_ranking_accesses(const struct class_ranking *r,
						   const struct ranked_field *f)
{
	return f->access_count ? r->accesses + f->first_access : NULL;
}

void class_ranking_release(struct class_ranking *r)
{
	free(r->classes);
	free(r->fields);
	free(r->accesses);
	*r = (struct class_ranking){0};
}

/* ---------------------------------------------------------------- where objects come from */

static int compare_origins(const void *a, const void *b)
{
	const struct origin_site *x = a, *y = b;

	return ORDER(ASCENDING(x->class_name, y->class_name), DESCENDING(x->ci95.low, y->ci95.low),
		     DESCENDING(x->share, y->share), ASCENDING(x->site, y->site));
}

/* The sites of one class, which lie side by side; *count of them. */
static struct origin_site *sites_of(struct origin_site *all, size_t all_count, uint32_t class_name,
				    size_t *count)
{
	size_t first = SEARCH_FIRST(i, all_count, all[i].class_name >= class_name);

	*count = SEARCH_FIRST(i, all_count, all[i].class_name > class_name) - first;
	return *count ? all + first : NULL;
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
	qsort(sites, origin.count, sizeof(*sites), compare_origins);
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
	qsort(o->sites, sites->count, sizeof(*o->sites), compare_origins);
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
