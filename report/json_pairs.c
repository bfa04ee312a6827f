/* Pairs in the JSON report: the member "inefficiency", a kind each with its totals, then its pairs
 * by the place that they touch, by their lines, and by their whole contexts. Shares of CPU time are
 * null where the sampler is no clock. */
#include "report/json_parts.h"

#include <string.h>

#include "report/content/names.h"
#include "proto/words.h"

/* ---------------------------------------------------------------- places and lines */

json_t *report_json_location(struct json_writer *writer, uint32_t location)
{
	struct place_names l = place_names(&writer->model->window->profile, location);
	size_t bytes =
	    strlen(l.class_name) + strlen(l.field) + strlen(l.declared_in) + strlen(l.type);

	if (!report_json_take_names(writer, bytes))
		l.class_name = l.field = l.declared_in = l.type = "";
	return JSON_OBJECT({"class", json_string(l.class_name)}, {"field", json_string(l.field)},
			   {"declared_in", json_string(l.declared_in)},
			   {"type", json_string(l.type)},
			   {"kind", json_string(name_of_location(l.kind))});
}

json_t *report_json_line(const struct profile *p, uint32_t id)
{
	const struct cct_node *node = cct_node(&p->cct, id);
	struct method_names names = frame_names(p, id);

	if (!node)
		return json_null();
	return JSON_OBJECT({"class", json_string(names.class_name)},
			   {"method", json_string(names.name)}, {"file", json_string(names.file)},
			   {"line", json_integer(node->line)},
			   JSON_MEMBER_IF_ANY("attribution", report_json_attribution(node)));
}

/* ---------------------------------------------------------------- shares */

json_t *report_json_with_share(json_t *object, const char *name, const char *interval,
			       const struct cpu_share *share)
{
	object = json_with(object, name, json_known(share->known, share->share));
	return json_with(object, interval,
			 share->known ? json_interval(share->ci95.low, share->ci95.high)
				      : json_null());
}

static json_t *with_cpu(json_t *object, const struct cpu_share *cpu)
{
	return report_json_with_share(object, "cpu_share", "cpu_share_ci95", cpu);
}

/* Writes what rows of all views have. */
static json_t *row_json(const struct ranked_pair *row)
{
	const struct pair *sum = &row->sum;

	return report_json_with_share(
	    with_cpu(JSON_OBJECT({"fraction", json_real(row->fraction)},
				 {"fraction_ci95", json_interval(row->ci95.low, row->ci95.high)},
				 {"wasteful_bytes", json_integer((json_int_t)sum->wasteful_bytes)},
				 {"checked_bytes", json_integer((json_int_t)sum->checked_bytes)},
				 {"count", json_integer((json_int_t)sum->count)},
				 {"wasteful_count", json_integer((json_int_t)sum->wasteful_count)},
				 {"variants", json_integer((json_int_t)row->variants)}),
		     &row->cpu),
	    "gain_share", "gain_share_ci95", &row->gain);
}

static const char *region_name(const struct ranked_pair *row)
{
	return name_of_region((Jxp__Region)row->sum.region);
}

/* ---------------------------------------------------------------- views */

/* The location of a row that adds up objects of several classes: a field is its declaring class's.
 */
static json_t *declared_json(struct json_writer *writer, uint32_t id)
{
	json_t *location = report_json_location(writer, id);
	json_t *declared_in = json_object_get(location, "declared_in"); /* Borrowed. */
	struct location l = locations_get(&writer->model->window->profile.locations, id);

	if (l.kind != JXP__LOCATION__KIND__FIELD || !l.declared_in)
		return location;
	return json_with(location, "class", json_incref(declared_in));
}

static json_t *place_json(struct json_writer *writer, const struct ranked_pair *row)
{
	if (!report_json_take_lines(writer, row->sum.watch_node, row->sum.trap_node))
		return json_null();
	return json_joined(row_json(row), json_pack("{s:o, s:s}", "location",
						    declared_json(writer, row->sum.location),
						    "region", region_name(row)));
}

/* The line of an access, and the loop that it is in. */
static json_t *line_json(struct json_writer *writer, uint32_t node)
{
	return report_json_with_loop(report_json_line(&writer->model->window->profile, node),
				     writer, node, false);
}

static json_t *lines_json(struct json_writer *writer, const struct ranked_pair *row)
{
	if (!report_json_take_lines(writer, row->sum.watch_node, row->sum.trap_node))
		return json_null();
	return json_joined(
	    row_json(row),
	    JSON_OBJECT({"watch", line_json(writer, row->sum.watch_node)},
			{"trap", line_json(writer, row->sum.trap_node)},
			{"location", report_json_location(writer, row->sum.location)},
			{"region", json_string(region_name(row))}));
}

static json_t *access_json(struct json_writer *writer, const struct pair *pair, uint32_t node,
			   uint32_t instruction)
{
	const struct profile *p = &writer->model->window->profile;

	return report_json_with_loop(
	    JSON_OBJECT(
		{"instruction", json_string(strings_get(&p->strings, instruction))},
		{"location", report_json_location(writer, pair->location)},
		JSON_MEMBER_IF_ANY("attribution", report_json_attribution(cct_node(&p->cct, node))),
		{"frames", report_json_frames(writer, node)}),
	    writer, node, true);
}

static json_t *pair_json(struct json_writer *writer, const struct ranked_pair *row)
{
	const struct pair *pair = &row->sum;

	if (!report_json_take_contexts(writer, pair->watch_node, pair->trap_node))
		return json_null();
	return json_joined(
	    row_json(row),
	    JSON_OBJECT(
		{"region", json_string(region_name(row))},
		{"watch", access_json(writer, pair, pair->watch_node, pair->watch_instruction)},
		{"trap", access_json(writer, pair, pair->trap_node, pair->trap_instruction)}));
}

/* Writes what a view has too little of to list; null for nothing. */
static json_t *rest_json(const struct pair_ranking *r)
{
	if (r->folded_rows == 0)
		return json_null();
	return json_joined(row_json(&r->folded),
			   json_pack("{s:I}", "rows", (json_int_t)r->folded_rows));
}

/* ---------------------------------------------------------------- a kind */

static json_t *region_json(const struct report_kind *k, const struct report_region *r)
{
	(void)k;
	return JSON_OBJECT({"region", json_string(name_of_region(r->region))},
			   {"checked_bytes", json_integer((json_int_t)r->totals->checked_bytes)},
			   {"wasteful_bytes", json_integer((json_int_t)r->totals->wasteful_bytes)},
			   {"fraction", json_real(r->fraction)},
			   {"fraction_ci95", json_interval(r->ci95.low, r->ci95.high)});
}

/* The first rows of each view that the limits admit; none of one that is not shown. */
static json_t *views_json(struct json_writer *writer, const struct report_kind *k, size_t limit)
{
	const struct report_shown *shown = &writer->model->shown;
	const struct pair_ranking *places = &k->by_location, *lines = &k->by_lines;
	json_t *regions = JSON_ROWS(k, k->regions, PROFILE_REGIONS, SIZE_MAX, region_json);
	json_t *place_rows =
	    JSON_ROWS(writer, places->pairs, places->count, shown->fields ? limit : 0, place_json);
	json_t *line_rows =
	    JSON_ROWS(writer, lines->pairs, lines->count, shown->lines ? limit : 0, lines_json);

	return JSON_OBJECT({"by_region", regions}, {"spills", row_json(&k->spills)},
			   {"by_location_total", json_integer((json_int_t)places->count)},
			   {"by_location", place_rows}, {"by_location_rest", rest_json(places)},
			   {"by_lines_total", json_integer((json_int_t)lines->count)},
			   {"by_lines", line_rows}, {"by_lines_rest", rest_json(lines)});
}

static json_t *kind_json(struct json_writer *writer, const struct report_kind *k, size_t limit)
{
	const struct totals *t = k->application;
	json_t *pairs = JSON_ROWS(writer, k->pairs.pairs, k->pairs.count,
				  writer->model->shown.pairs ? limit : 0, pair_json);

	return json_joined(
	    with_cpu(
		JSON_OBJECT(
		    {"kind", json_string(k->kind->name)},
		    {"checked_bytes", json_integer((json_int_t)t->checked_bytes)},
		    {"wasteful_bytes", json_integer((json_int_t)t->wasteful_bytes)},
		    {"fraction", json_real(k->fraction)},
		    {"fraction_ci95", json_interval(k->ci95.low, k->ci95.high)},
		    {"checked_accesses", json_integer((json_int_t)t->count)},
		    {"wasteful_accesses", json_integer((json_int_t)t->wasteful_count)},
		    {"pairs_total", json_integer((json_int_t)k->pairs.count)},
		    {"pairs_omitted",
		     json_integer((json_int_t)(k->pairs.count - json_array_size(pairs)))},
		    {"pairs", pairs},
		    {"jvm_internal",
		     JSON_OBJECT(
			 {"checked_bytes", json_integer((json_int_t)k->jvm->checked_bytes)},
			 {"wasteful_bytes", json_integer((json_int_t)k->jvm->wasteful_bytes)})}),
		&k->cpu),
	    views_json(writer, k, limit));
}

json_t *report_json_kinds(struct json_writer *writer, size_t limit)
{
	const struct report_model *m = writer->model;
	json_t *kinds = json_array();

	for (size_t i = 0; i < m->kind_count; i++)
		kinds = json_appended(kinds, kind_json(writer, &m->kinds[i], limit));
	return kinds;
}
