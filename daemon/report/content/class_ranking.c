#include "daemon/report/content/class_ranking.h"

#include <errno.h>
#include <stdlib.h>

#include "common/cleanup.h"

/* What makes an order of shares. */
struct rank_key {
	double low;
	double fraction;
	uint32_t name;
};

static int compare_keys(const struct rank_key *x, const struct rank_key *y)
{
	if (x->low != y->low)
		return x->low > y->low ? -1 : 1;
	if (x->fraction != y->fraction)
		return x->fraction > y->fraction ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
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

	if (x->field.class_name != y->field.class_name)
		return x->field.class_name < y->field.class_name ? -1 : 1;
	return x->position < y->position ? -1 : x->position > y->position;
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
