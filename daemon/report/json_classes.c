/* "classes" in the JSON report: what is accessed in the heap, by class and field, whenever the
 * object was made. */
#include "daemon/report/json_parts.h"

#include <string.h>

/* Fields listed for a class, and contexts for a field; the rest are counted. */
#define FIELDS_MAX   100
#define ACCESSES_MAX 20
#define ORIGINS_MAX  20 /* allocation sites of a class; likewise */

static json_t *access_json(struct json_writer *writer, const struct ranked_access *a)
{
	const struct cct *t = &writer->model->window->profile.cct;

	return json_pack("{s:f, s:I, s:s*, s:o}", "fraction",
			 estimate_fraction(a->metric, writer->model->objects.whole), "samples",
			 (json_int_t)a->samples, "attribution",
			 report_json_attribution(cct_node(t, a->node)), "frames",
			 report_json_frames(writer, a->node));
}

static json_t *accesses_json(struct json_writer *writer, const struct ranked_field *f)
{
	const struct ranked_access *a = class_ranking_accesses(&writer->model->objects.classes, f);
	_cleanup_json_ json_t *list = json_array();

	for (size_t i = 0; i < f->access_count && i < ACCESSES_MAX; i++) {
		if (!report_json_take_contexts(writer, a[i].node, 0))
			break;
		if (json_array_append_new(list, access_json(writer, &a[i])) < 0)
			return NULL;
	}
	return TAKE_PTR(list);
}

/* A location, with what went there. */
static json_t *field_json(struct json_writer *writer, const struct ranked_field *f)
{
	_cleanup_json_ json_t *field = report_json_location(writer, f->location);
	_cleanup_json_ json_t *accesses = accesses_json(writer, f);
	_cleanup_json_ json_t *sums = NULL;

	if (!field || !accesses)
		return NULL;
	sums = json_pack(
	    "{s:f, s:[f,f], s:I, s:I, s:O}", "fraction", f->fraction, "fraction_ci95", f->ci95.low,
	    f->ci95.high, "samples", (json_int_t)f->sum.samples, "accesses_omitted",
	    (json_int_t)(f->access_count - json_array_size(accesses)), "accesses", accesses);
	if (!sums || json_object_update(field, sums) < 0)
		return NULL;
	(void)json_object_del(field, "class"); /* Its class has it. */
	return TAKE_PTR(field);
}

static json_t *fields_json(struct json_writer *writer, const struct ranked_class *c)
{
	const struct ranked_field *fields =
	    class_ranking_fields(&writer->model->objects.classes, c);
	_cleanup_json_ json_t *list = json_array();

	for (size_t i = 0; i < c->field_count && i < FIELDS_MAX; i++)
		if (json_array_append_new(list, field_json(writer, &fields[i])) < 0)
			return NULL;
	return TAKE_PTR(list);
}

static json_t *origin_site_json(struct json_writer *writer, const struct origin_site *s)
{
	const struct object_site *site = &writer->model->objects.ranking.sites[s->site].sum;

	return json_pack("{s:f, s:[f,f], s:I, s:I, s:o}", "share", s->share, "share_ci95",
			 s->ci95.low, s->ci95.high, "alloc_samples", (json_int_t)site->allocations,
			 "samples", (json_int_t)site->samples, "alloc_frames",
			 report_json_frames(writer, site->node));
}

static json_t *origin_sites_json(struct json_writer *writer, const struct class_origin *o)
{
	_cleanup_json_ json_t *list = json_array();

	for (size_t i = 0; i < o->count && i < ORIGINS_MAX; i++) {
		uint32_t node = writer->model->objects.ranking.sites[o->sites[i].site].sum.node;

		if (!report_json_take_contexts(writer, node, 0))
			break;
		if (json_array_append_new(list, origin_site_json(writer, &o->sites[i])) < 0)
			return NULL;
	}
	return TAKE_PTR(list);
}

static json_t *origin_json(struct json_writer *writer, const struct class_origin *o)
{
	static const char *const words[] = {[ORIGIN_UNKNOWN] = "unknown",
					    [ORIGIN_TRACKED] = "tracked",
					    [ORIGIN_INFERRED] = "inferred"};
	_cleanup_json_ json_t *sites = origin_sites_json(writer, o);

	if (!sites)
		return NULL;
	return json_pack("{s:s, s:s*, s:I, s:I, s:O}", "basis", words[o->basis], "assumption",
			 o->basis == ORIGIN_INFERRED ? CLASS_ORIGINS_ASSUMPTION : NULL,
			 "alloc_samples", (json_int_t)o->allocations, "sites_omitted",
			 (json_int_t)(o->count - json_array_size(sites)), "sites", sites);
}

static json_t *class_json(struct json_writer *writer, const struct ranked_class *c,
			  const struct class_origin *o)
{
	const struct profile *p = &writer->model->window->profile;
	_cleanup_json_ json_t *fields = fields_json(writer, c);
	_cleanup_json_ json_t *origin = fields ? origin_json(writer, o) : NULL;

	if (!fields || !origin)
		return NULL;
	return json_pack("{s:s, s:f, s:[f,f], s:I, s:I, s:f, s:b, s:O, s:I, s:O}", "class",
			 strings_get(&p->strings, c->class_name), "fraction", c->fraction,
			 "fraction_ci95", c->ci95.low, c->ci95.high, "samples",
			 (json_int_t)c->sum.samples, "tracked_samples",
			 (json_int_t)c->tracked.samples, "older_fraction", c->older.fraction,
			 "older_known", c->older.known, "origin", origin, "fields_omitted",
			 (json_int_t)(c->field_count - json_array_size(fields)), "fields", fields);
}

json_t *report_json_classes(struct json_writer *writer, size_t limit)
{
	const struct report_model *m = writer->model;
	const struct class_ranking *r = &m->objects.classes;
	_cleanup_json_ json_t *classes = json_array();

	for (size_t i = 0; i < r->count && i < limit; i++) {
		const char *name =
		    strings_get(&m->window->profile.strings, r->classes[i].class_name);

		if (!report_json_take_names(writer, strlen(name)))
			break;
		if (json_array_append_new(classes, class_json(writer, &r->classes[i],
							      &m->objects.origins.list[i])) < 0)
			return NULL;
	}
	return TAKE_PTR(classes);
}

json_t *report_json_class_unknown(struct json_writer *writer)
{
	const struct ranked_class *c = &writer->model->objects.classes.unknown;

	return json_pack("{s:f, s:[f,f], s:I}", "fraction", c->fraction, "fraction_ci95",
			 c->ci95.low, c->ci95.high, "samples", (json_int_t)c->sum.samples);
}
