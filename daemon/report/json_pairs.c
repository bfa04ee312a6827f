/* Pairs in the JSON report: the member "inefficiency", a kind each with its totals, then its pairs
 * by the place that they touch, by their lines, and by their whole contexts. Shares of CPU time are
 * null where the sampler is no clock. */
#include "daemon/report/json_parts.h"

#include "proto/words.h"

static const struct profile *profile_of(const struct json_writer *writer)
{
	return &writer->model->window->profile;
}

/* ---------------------------------------------------------------- places and lines */

json_t *report_json_line(const struct profile *p, uint32_t id)
{
	const struct cct_node *node = cct_node(&p->cct, id);
	const struct cct_method *method = node ? cct_method(&p->cct, node->method) : NULL;

	if (!node)
		return json_null();
	return json_pack("{s:s, s:s, s:s, s:i, s:s*}", "class",
			 method ? strings_get(&p->strings, method->class_name) : "", "method",
			 method ? strings_get(&p->strings, method->name) : "", "file",
			 method ? strings_get(&p->strings, method->file) : "", "line", node->line,
			 "attribution", report_json_attribution(node));
}

/* ---------------------------------------------------------------- shares */

static json_t *interval_json(const struct interval *ci)
{
	return json_pack("[f,f]", ci->low, ci->high);
}

json_t *report_json_with_share(json_t *taken, const char *name, const char *interval,
			       const struct cpu_share *share)
{
	_cleanup_json_ json_t *object = taken;

	if (!object ||
	    json_object_set_new(object, name,
				share->known ? json_real(share->share) : json_null()) < 0 ||
	    json_object_set_new(object, interval,
				share->known ? interval_json(&share->ci95) : json_null()) < 0)
		return NULL;
	return TAKE_PTR(object);
}

static json_t *with_cpu(json_t *taken, const struct cpu_share *cpu)
{
	return report_json_with_share(taken, "cpu_share", "cpu_share_ci95", cpu);
}

/* What rows of all views have. */
static json_t *row_json(const struct ranked_pair *row)
{
	const struct pair *sum = &row->sum;

	return report_json_with_share(
	    with_cpu(json_pack("{s:f, s:o, s:I, s:I, s:I, s:I, s:I}", "fraction", row->fraction,
			       "fraction_ci95", interval_json(&row->ci95), "wasteful_bytes",
			       (json_int_t)sum->wasteful_bytes, "checked_bytes",
			       (json_int_t)sum->checked_bytes, "count", (json_int_t)sum->count,
			       "wasteful_count", (json_int_t)sum->wasteful_count, "variants",
			       (json_int_t)row->variants),
		     &row->cpu),
	    "gain_share", "gain_share_ci95", &row->gain);
}

/* Takes a row and what a view has beside. NULL without memory. */
static json_t *with(json_t *taken_row, json_t *taken_more)
{
	_cleanup_json_ json_t *row = taken_row;
	_cleanup_json_ json_t *more = taken_more;

	return row && more && json_object_update(row, more) == 0 ? TAKE_PTR(row) : NULL;
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
	const struct profile *p = &writer->model->window->profile;
	_cleanup_json_ json_t *location = report_json_location(writer, id);
	json_t *declared_in = json_object_get(location, "declared_in"); /* Borrowed. */
	struct location l = locations_get(&p->locations, id);

	if (location && l.kind == JXP__LOCATION__KIND__FIELD && l.declared_in &&
	    json_object_set(location, "class", declared_in) < 0)
		return NULL;
	return TAKE_PTR(location);
}

static json_t *place_json(struct json_writer *writer, const struct ranked_pair *row)
{
	return with(row_json(row),
		    json_pack("{s:o, s:s}", "location", declared_json(writer, row->sum.location),
			      "region", region_name(row)));
}

/* Takes an object of an access and adds the loop that it is in. NULL without memory. */
static json_t *in_loop(struct json_writer *writer, json_t *taken, uint32_t node, bool called)
{
	_cleanup_json_ json_t *access = taken;

	if (!access || (node && report_json_loop_of(writer, node, called, access) != 0))
		return NULL;
	return TAKE_PTR(access);
}

static json_t *lines_json(struct json_writer *writer, const struct ranked_pair *row)
{
	const struct profile *p = profile_of(writer);

	return with(row_json(row),
		    json_pack("{s:o, s:o, s:o, s:s}", "watch",
			      in_loop(writer, report_json_line(p, row->sum.watch_node),
				      row->sum.watch_node, false),
			      "trap",
			      in_loop(writer, report_json_line(p, row->sum.trap_node),
				      row->sum.trap_node, false),
			      "location", report_json_location(writer, row->sum.location), "region",
			      region_name(row)));
}

static json_t *access_json(struct json_writer *writer, const struct pair *pair, uint32_t node,
			   uint32_t instruction)
{
	const struct profile *p = profile_of(writer);

	return in_loop(writer,
		       json_pack("{s:s, s:o, s:s*, s:o}", "instruction",
				 strings_get(&p->strings, instruction), "location",
				 report_json_location(writer, pair->location), "attribution",
				 report_json_attribution(cct_node(&p->cct, node)), "frames",
				 report_json_frames(writer, node)),
		       node, true);
}

static json_t *pair_json(struct json_writer *writer, const struct ranked_pair *row)
{
	const struct pair *pair = &row->sum;

	return with(row_json(row),
		    json_pack("{s:s, s:o, s:o}", "region", region_name(row), "watch",
			      access_json(writer, pair, pair->watch_node, pair->watch_instruction),
			      "trap",
			      access_json(writer, pair, pair->trap_node, pair->trap_instruction)));
}

/* The first rows of a view that the limits admit. NULL without memory. */
static json_t *view_json(struct json_writer *writer, const struct pair_ranking *r, bool shown,
			 size_t limit,
			 json_t *(*row)(struct json_writer *writer, const struct ranked_pair *row))
{
	_cleanup_json_ json_t *rows = json_array();

	for (size_t i = 0; shown && i < r->count && i < limit; i++) {
		const struct pair *sum = &r->pairs[i].sum;

		if (!report_json_take_lines(writer, sum->watch_node, sum->trap_node))
			break;
		if (json_array_append_new(rows, row(writer, &r->pairs[i])) < 0)
			return NULL;
	}
	return TAKE_PTR(rows);
}

/* What a view has too little of to list; null for nothing. */
static json_t *rest_json(const struct pair_ranking *r)
{
	if (r->folded_rows == 0)
		return json_null();
	return with(row_json(&r->folded), json_pack("{s:I}", "rows", (json_int_t)r->folded_rows));
}

/* The first pairs of the ranking that the limits admit. */
static json_t *pairs_json(struct json_writer *writer, const struct pair_ranking *ranking,
			  size_t limit)
{
	_cleanup_json_ json_t *pairs = json_array();

	for (size_t i = 0; writer->model->shown.pairs && i < ranking->count && i < limit; i++) {
		const struct pair *pair = &ranking->pairs[i].sum;

		if (!report_json_take_contexts(writer, pair->watch_node, pair->trap_node))
			break;
		if (json_array_append_new(pairs, pair_json(writer, &ranking->pairs[i])) < 0)
			return NULL;
	}
	return TAKE_PTR(pairs);
}

/* ---------------------------------------------------------------- a kind */

static json_t *regions_json(const struct report_kind *k)
{
	_cleanup_json_ json_t *regions = json_array();

	for (size_t i = 0; i < PROFILE_REGIONS; i++) {
		const struct report_region *r = &k->regions[i];

		if (json_array_append_new(
			regions, json_pack("{s:s, s:I, s:I, s:f, s:o}", "region",
					   name_of_region(r->region), "checked_bytes",
					   (json_int_t)r->totals->checked_bytes, "wasteful_bytes",
					   (json_int_t)r->totals->wasteful_bytes, "fraction",
					   r->fraction, "fraction_ci95", interval_json(&r->ci95))) <
		    0)
			return NULL;
	}
	return TAKE_PTR(regions);
}

static json_t *views_json(struct json_writer *writer, const struct report_kind *k, size_t limit)
{
	const struct report_shown *shown = &writer->model->shown;
	_cleanup_json_ json_t *places =
	    view_json(writer, &k->by_location, shown->fields, limit, place_json);
	_cleanup_json_ json_t *lines =
	    view_json(writer, &k->by_lines, shown->lines, limit, lines_json);

	if (!places || !lines)
		return NULL;
	return json_pack("{s:o, s:o, s:I, s:O, s:o, s:I, s:O, s:o}", "by_region", regions_json(k),
			 "spills", row_json(&k->spills), "by_location_total",
			 (json_int_t)k->by_location.count, "by_location", places,
			 "by_location_rest", rest_json(&k->by_location), "by_lines_total",
			 (json_int_t)k->by_lines.count, "by_lines", lines, "by_lines_rest",
			 rest_json(&k->by_lines));
}

static json_t *kind_json(struct json_writer *writer, const struct report_kind *k, size_t limit)
{
	const struct totals *t = k->application;
	_cleanup_json_ json_t *pairs = pairs_json(writer, &k->pairs, limit);

	if (!pairs)
		return NULL;
	return with(
	    with_cpu(
		json_pack("{s:s, s:I, s:I, s:f, s:o, s:I, s:I, s:I, s:I, s:O, s:{s:I, s:I}}",
			  "kind", k->kind->name, "checked_bytes", (json_int_t)t->checked_bytes,
			  "wasteful_bytes", (json_int_t)t->wasteful_bytes, "fraction", k->fraction,
			  "fraction_ci95", interval_json(&k->ci95), "checked_accesses",
			  (json_int_t)t->count, "wasteful_accesses", (json_int_t)t->wasteful_count,
			  "pairs_total", (json_int_t)k->pairs.count, "pairs_omitted",
			  (json_int_t)(k->pairs.count - json_array_size(pairs)), "pairs", pairs,
			  "jvm_internal", "checked_bytes", (json_int_t)k->jvm->checked_bytes,
			  "wasteful_bytes", (json_int_t)k->jvm->wasteful_bytes),
		&k->cpu),
	    views_json(writer, k, limit));
}

json_t *report_json_kinds(struct json_writer *writer, size_t limit)
{
	const struct report_model *m = writer->model;
	_cleanup_json_ json_t *kinds = json_array();

	for (size_t i = 0; i < m->kind_count; i++)
		if (json_array_append_new(kinds, kind_json(writer, &m->kinds[i], limit)) < 0)
			return NULL;
	return TAKE_PTR(kinds);
}
