/* "classes" in the JSON report: what is accessed in the heap, by class and field, whenever the
 * object was made. */
#include "report/json_parts.h"

#include <string.h>

/* Fields listed for a class, and contexts for a field; the rest are counted. */
#define FIELDS_MAX   100
#define ACCESSES_MAX 20
#define ORIGINS_MAX  20 /* allocation sites of a class; likewise */

static json_t *access_json(struct json_writer *writer, const struct ranked_access *a)
{
	const struct cct *t = &writer->model->window->profile.cct;

	if (!report_json_take_contexts(writer, a->node, 0))
		return json_null();
	return JSON_OBJECT(
	    {"fraction", json_real(estimate_fraction(a->metric, writer->model->objects.whole))},
	    {"samples", json_integer((json_int_t)a->samples)},
	    JSON_MEMBER_IF_ANY("attribution", report_json_attribution(cct_node(t, a->node))),
	    {"frames", report_json_frames(writer, a->node)});
}

/* A location, with what went there; its class has its name. */
static json_t *field_json(struct json_writer *writer, const struct ranked_field *f)
{
	const struct ranked_access *a = class_ranking_accesses(&writer->model->objects.classes, f);
	const struct location l =
	    locations_get(&writer->model->window->profile.locations, f->location);
	const bool lies = location_has_layout(&l);
	json_t *field = report_json_location(writer, f->location);
	json_t *accesses = JSON_ROWS(writer, a, f->access_count, ACCESSES_MAX, access_json);

	(void)json_object_del(field, "class"); /* Or it is NULL. */
	return json_joined(
	    field,
	    JSON_OBJECT(JSON_MEMBER_IF_KNOWN(lies, "offset", l.offset),
			JSON_MEMBER_IF_KNOWN(lies, "size", l.bytes),
			{"fraction", json_real(f->fraction)},
			{"fraction_ci95", json_interval(f->ci95.low, f->ci95.high)},
			{"samples", json_integer((json_int_t)f->sum.samples)},
			{"accesses_omitted",
			 json_integer((json_int_t)(f->access_count - json_array_size(accesses)))},
			{"accesses", accesses}));
}

static json_t *origin_site_json(struct json_writer *writer, const struct origin_site *s)
{
	const struct object_site *site = &writer->model->objects.ranking.sites[s->site].sum;

	if (!report_json_take_contexts(writer, site->node, 0))
		return json_null();
	return JSON_OBJECT({"share", json_real(s->share)},
			   {"share_ci95", json_interval(s->ci95.low, s->ci95.high)},
			   {"alloc_samples", json_integer((json_int_t)site->allocations)},
			   {"samples", json_integer((json_int_t)site->samples)},
			   {"alloc_frames", report_json_frames(writer, site->node)});
}

static json_t *origin_json(struct json_writer *writer, const struct class_origin *o)
{
	static const char *const words[] = {[ORIGIN_UNKNOWN] = "unknown",
					    [ORIGIN_TRACKED] = "tracked",
					    [ORIGIN_INFERRED] = "inferred"};
	json_t *sites = JSON_ROWS(writer, o->sites, o->count, ORIGINS_MAX, origin_site_json);

	return JSON_OBJECT(
	    {"basis", json_string(words[o->basis])},
	    JSON_MEMBER_IF_ANY("assumption",
			       o->basis == ORIGIN_INFERRED ? CLASS_ORIGINS_ASSUMPTION : NULL),
	    {"alloc_samples", json_integer((json_int_t)o->allocations)},
	    {"sites_omitted", json_integer((json_int_t)(o->count - json_array_size(sites)))},
	    {"sites", sites});
}

/* How large its objects are; 0 where fields tell nothing, or not all the same. */
static uint32_t object_size(const struct json_writer *writer, const struct ranked_field *fields,
			    size_t count)
{
	uint32_t size = 0;

	for (size_t i = 0; i < count; i++) {
		struct location l =
		    locations_get(&writer->model->window->profile.locations, fields[i].location);

		if (l.bytes == LOCATION_VARIES || (l.bytes && size && l.object_bytes != size))
			return 0;
		if (l.bytes)
			size = l.object_bytes;
	}
	return size;
}

static json_t *class_json(struct json_writer *writer, const struct ranked_class *c)
{
	const struct report_objects *o = &writer->model->objects;
	const struct ranked_field *f = class_ranking_fields(&o->classes, c);
	const char *name = strings_get(&writer->model->window->profile.strings, c->class_name);
	const uint32_t size = object_size(writer, f, c->field_count);
	json_t *fields;

	if (!report_json_take_names(writer, strlen(name)))
		return json_null();
	fields = JSON_ROWS(writer, f, c->field_count, FIELDS_MAX, field_json);
	return JSON_OBJECT(
	    {"class", json_string(name)}, JSON_MEMBER_IF_KNOWN(size, "size", size),
	    {"fraction", json_real(c->fraction)},
	    {"fraction_ci95", json_interval(c->ci95.low, c->ci95.high)},
	    {"samples", json_integer((json_int_t)c->sum.samples)},
	    {"tracked_samples", json_integer((json_int_t)c->tracked.samples)},
	    {"older_fraction", json_real(c->older.fraction)},
	    {"older_known", json_boolean(c->older.known)},
	    {"origin", origin_json(writer, &o->origins.list[c - o->classes.classes])},
	    {"fields_omitted",
	     json_integer((json_int_t)(c->field_count - json_array_size(fields)))},
	    {"fields", fields});
}

json_t *report_json_classes(struct json_writer *writer, size_t limit)
{
	const struct class_ranking *r = &writer->model->objects.classes;

	return JSON_ROWS(writer, r->classes, r->count, limit, class_json);
}

json_t *report_json_class_unknown(struct json_writer *writer)
{
	const struct ranked_class *c = &writer->model->objects.classes.unknown;

	return JSON_OBJECT({"fraction", json_real(c->fraction)},
			   {"fraction_ci95", json_interval(c->ci95.low, c->ci95.high)},
			   {"samples", json_integer((json_int_t)c->sum.samples)});
}
