/* Objects in the JSON report: "objects", the allocation sites, most expensive first, and
 * "objects_summary", what their fractions are of. */
#include "report/json_parts.h"

#include <math.h>

#include "proto/words.h"

/* Contexts listed for one site; the rest are counted in accesses_omitted. */
#define ACCESSES_MAX 100

/* Exact as a double, and far above what is true. */
#define COUNT_MAX 9e15

/* An estimate of a number of things. */
static json_t *count_json(double value)
{
	return json_integer((json_int_t)fmin(fmax(round(value), 0), COUNT_MAX));
}

/* Shares of a site's are shares of the heap's accesses by the site's own. */
static json_t *accesses_json(struct json_writer *writer, const struct ranked_site *site)
{
	const struct object_ranking *ranking = &writer->model->objects.ranking;
	const struct ranked_access *a = object_ranking_accesses(ranking, site);
	json_t *list = json_array();

	for (size_t i = 0; i < site->access_count && i < ACCESSES_MAX; i++) {
		const struct cct_node *node =
		    cct_node(&writer->model->window->profile.cct, a[i].node);

		if (!report_json_take_contexts(writer, a[i].node, 0))
			break;
		list = json_appended(
		    list,
		    JSON_OBJECT(
			{"fraction", json_real(site->fraction *
					       estimate_fraction(a[i].metric, site->sum.metric))},
			{"samples", json_integer((json_int_t)a[i].samples)},
			{"metric", json_real(a[i].metric)},
			{"location", report_json_location(writer, a[i].location)},
			JSON_MEMBER_IF_ANY("attribution", report_json_attribution(node)),
			{"frames", report_json_frames(writer, a[i].node)}));
	}
	return list;
}

/* Fractions are of what all accesses to the site's objects cost. */
static json_t *sharing_json(const struct site_sharing *s)
{
	return JSON_OBJECT(
	    {"samples", json_integer((json_int_t)s->samples)},
	    {"stores", json_integer((json_int_t)s->stores)},
	    {"by_others", json_integer((json_int_t)s->by_others)},
	    {"stores_by_others", json_integer((json_int_t)s->stores_by_others)},
	    {"taken_over", json_integer((json_int_t)s->taken_over)},
	    {"by_others_fraction", json_real(estimate_fraction(s->metric_by_others, s->metric))},
	    {"taken_over_fraction", json_real(estimate_fraction(s->metric_taken_over, s->metric))});
}

static json_t *site_json(struct json_writer *writer, const struct ranked_site *ranked)
{
	const struct report_model *m = writer->model;
	const struct object_profile *l = &m->window->objects;
	const struct object_site *site = &ranked->sum;
	json_t *list, *object;

	if (!report_json_take_contexts(writer, site->node, 0))
		return json_null();
	list = accesses_json(writer, ranked);
	object = JSON_OBJECT(
	    {"class", json_string(strings_get(&m->window->profile.strings, site->class_name))},
	    {"fraction", json_real(ranked->fraction)},
	    {"fraction_ci95", json_interval(ranked->ci95.low, ranked->ci95.high)},
	    {"class_fraction", json_real(ranked->of_class)},
	    {"class_fraction_ci95",
	     json_interval(ranked->of_class_ci95.low, ranked->of_class_ci95.high)},
	    {"samples", json_integer((json_int_t)site->samples)},
	    {"metric", json_real(site->metric)}, {"alloc_count", count_json(site->alloc_count)},
	    {"alloc_samples", json_integer((json_int_t)site->allocations)},
	    {"alloc_samples_untracked", json_integer((json_int_t)site->untracked)},
	    {"alloc_bytes", count_json(site->alloc_bytes)},
	    {"live_count", count_json(site->live_count)},
	    {"live_bytes", count_json(site->live_bytes)},
	    {"uncollected_count", count_json(object_profile_uncollected_count(l, site))},
	    {"uncollected_bytes", count_json(object_profile_uncollected_bytes(l, site))},
	    {"alloc_frames", report_json_frames(writer, site->node)},
	    {"accesses_total", json_integer((json_int_t)ranked->access_count)},
	    {"accesses_omitted",
	     json_integer((json_int_t)(ranked->access_count - json_array_size(list)))},
	    {"accesses", list},
	    {"numa", ranked->numa.samples ? report_json_site_numa(m, &ranked->numa) : json_null()});
	return ranked->sharing.samples
		   ? json_with(object, "sharing", sharing_json(&ranked->sharing))
		   : object;
}

static json_t *sum_json(const struct access_sum *sum)
{
	return json_pack("{s:I, s:f}", "samples", (json_int_t)sum->samples, "metric", sum->metric);
}

static json_t *untracked_json(const struct object_profile *l)
{
	json_t *regions = json_object();

	for (int region = 0; region < OBJECT_PROFILE_REGIONS; region++)
		regions = json_with(regions, name_of_region((Jxp__Region)region),
				    sum_json(&l->untracked[region]));
	return regions;
}

static json_t *summary_json(struct json_writer *writer, size_t shown)
{
	const struct report_model *m = writer->model;
	const struct report_objects *o = &m->objects;
	const struct window_result *w = m->window;
	const struct object_profile *l = &w->objects;
	const uint64_t *counters = w->counters;

	return JSON_OBJECT(
	    {"metric", json_string(o->metric)}, {"metric_unit", json_string(o->unit)},
	    JSON_MEMBER_IF_ANY("event", w->request.event[0] ? w->request.event : NULL),
	    {"min_size", json_integer((json_int_t)window_result_object_min_size(w))},
	    {"tracked_max", json_integer((json_int_t)w->request.objects_max)},
	    {"interval_bytes", json_integer((json_int_t)w->object_interval)},
	    {"sampled_accesses", json_integer((json_int_t)o->samples)},
	    {"attributed", sum_json(&l->attributed)}, {"whole", json_real(o->whole)},
	    {"attributed_fraction", json_real(o->attributed_fraction)},
	    {"untracked", untracked_json(l)}, {"unsettled", sum_json(&l->unsettled)},
	    {"passes", json_integer((json_int_t)counters[JXP__COUNTER__COUNTER_PASSES])},
	    {"passes_overtaken",
	     json_integer((json_int_t)counters[JXP__COUNTER__COUNTER_PASSES_OVERTAKEN])},
	    {"pass_ns", json_integer((json_int_t)counters[JXP__COUNTER__COUNTER_PASS_NS])},
	    {"objects_sampled",
	     json_integer((json_int_t)counters[JXP__COUNTER__COUNTER_OBJECTS_SAMPLED])},
	    {"objects_moved",
	     json_integer((json_int_t)counters[JXP__COUNTER__COUNTER_OBJECTS_MOVED])},
	    {"sites_total", json_integer((json_int_t)o->ranking.count)},
	    {"sites_omitted", json_integer((json_int_t)(o->ranking.count - shown))},
	    {"refused", json_string(w->objects_refused)},
	    {"uncollected_bytes", count_json(o->uncollected_bytes)},
	    {"uncollected_since_s", json_real(o->judged_s)},
	    {"tracked_s", json_real(m->quality.tracked_s)},
	    {"class_unknown", report_json_class_unknown(writer)},
	    {"classes_total", json_integer((json_int_t)o->classes.count)},
	    {"min_size_adapts", json_boolean(w->request.object_min_size_adapts)},
	    {"objects_small",
	     json_integer((json_int_t)counters[JXP__COUNTER__COUNTER_OBJECTS_SMALL])});
}

json_t *report_json_objects(struct json_writer *writer, size_t limit, json_t **summary)
{
	const struct object_ranking *ranking = &writer->model->objects.ranking;
	json_t *sites = JSON_ROWS(writer, ranking->sites, ranking->count, limit, site_json);

	*summary = summary_json(writer, json_array_size(sites));
	return sites;
}
