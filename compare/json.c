/* A comparison for programs. */
#include "compare/output.h"

#include "common/cleanup.h"
#include "common/clock.h"

static void cleanup_json(json_t **json)
{
	json_decref(*json);
}
#define _cleanup_json_ _cleanup_(cleanup_json)

static const char *verdict(const struct change *c)
{
	return !c->shown ? "none" : c->difference < 0 ? "less" : "more";
}

/* What a change comes to, into an object, which it takes and gives. NULL without memory. */
static json_t *with_change(json_t *taken, const struct change *c)
{
	_cleanup_json_ json_t *object = taken;
	_cleanup_json_ json_t *more =
	    json_pack("{s:[f,f], s:f, s:[f,f], s:b, s:s}", "share", c->share[0], c->share[1],
		      "difference", c->difference, "interval", c->low, c->high, "shown",
		      (int)c->shown, "verdict", verdict(c));

	return object && more && json_object_update(object, more) == 0 ? TAKE_PTR(object) : NULL;
}

static json_t *path_json(const struct comparison *c, const struct comparison_row *row)
{
	_cleanup_json_ json_t *path = json_array();

	for (unsigned i = 0; i < row->path_length; i++)
		if (json_array_append_new(path, json_string(c->tree.methods[row->path[i]].name)) <
		    0)
			return NULL;
	return TAKE_PTR(path);
}

static json_t *row_json(const struct comparison *c, const struct comparison_row *row)
{
	const char *method = c->tree.methods[row->at.method].name;
	json_t *object;

	if (row->kind)
		object =
		    json_pack("{s:s, s:s, s:s, s:s, s:b}", "what", "waste", "kind", row->kind->name,
			      "method", method, "place", row->at.name, "spill", (int)row->at.spill);
	else
		object = json_pack("{s:s, s:s, s:[f,f], s:b, s:b, s:o}", "what", "method", "method",
				   method, "own_share", row->own.share[0], row->own.share[1],
				   "carried_below", (int)row->messenger, "moved", (int)row->moved,
				   "path", path_json(c, row));
	if (object && row->part_of != COMPARISON_NONE &&
	    json_object_set_new(object, "part_of", json_integer(row->part_of)) < 0) {
		json_decref(object);
		return NULL;
	}
	if (object &&
	    json_object_set_new(object, "problem",
				json_pack("[s?,s?]", row->problem[0], row->problem[1])) < 0) {
		json_decref(object);
		return NULL;
	}
	return with_change(object, &row->change);
}

static json_t *rows_json(const struct comparison *c, size_t limit)
{
	_cleanup_json_ json_t *rows = json_array();

	for (size_t i = 0; i < c->row_count && i < limit; i++)
		if (json_array_append_new(rows, row_json(c, &c->rows[i])) < 0)
			return NULL;
	return TAKE_PTR(rows);
}

static json_t *kinds_json(const struct comparison *c)
{
	_cleanup_json_ json_t *kinds = json_array();

	for (size_t i = 0; i < PAIR_KINDS; i++) {
		const struct comparison_kind *k = &c->kinds[pair_kinds[i].kind];

		if (k->compared &&
		    json_array_append_new(
			kinds, with_change(json_pack("{s:s}", "kind", pair_kinds[i].name),
					   &k->change)) < 0)
			return NULL;
	}
	return TAKE_PTR(kinds);
}

static json_t *work_json(const struct compare_work *w)
{
	static const char *const words[] = {"shares", "operations", "methods"};
	json_t *work =
	    json_pack("{s:s, s:f, s:b, s:I}", "basis", words[w->basis], "factor", w->factor.factor,
		      "shown", (int)w->shown, "methods", (json_int_t)w->methods);

	if (work && w->basis != COMPARE_BY_SHARES &&
	    json_object_set_new(work, "interval", json_pack("[f,f]", w->low, w->high)) < 0) {
		json_decref(work);
		return NULL;
	}
	return work;
}

static json_t *side_json(const struct compare_side *s)
{
	bool cpu = s->unit == COMPARE_CPU;

	return json_pack("{s:s, s:s, s:i, s:s, s:s, s:s, s:I, s:I, s:f, s:o, s:o}", "name", s->name,
			 "id", s->id, "pid", s->pid, "app", s->app, "jdk", s->jdk, "start",
			 s->start, "windows", (json_int_t)s->windows, "skipped",
			 (json_int_t)s->skipped, "duration_s", s->elapsed_s, "cpu_s",
			 cpu ? json_real(s->whole_ns / (double)NS_PER_S) : json_null(), "ticks",
			 cpu ? json_real(s->ticks) : json_null());
}

static json_t *gate_json(const struct compare_gate *gate)
{
	return gate ? json_pack("{s:f, s:b, s:s}", "above", gate->above, "fails", (int)gate->fails,
				"reason", gate->reason)
		    : json_null();
}

json_t *compare_json(const struct comparison *c, const struct compare_gate *gate, size_t limit)
{
	char line[COMPARE_HEADLINE_BYTES];
	size_t omitted = c->row_count > limit ? c->row_count - limit : 0;

	compare_headline(c, line);
	return json_pack("{s:s, s:b, s:o, s:o, s:o, s:f, s:f, s:I, s:o, s:I, s:I, s:o, s:o}",
			 "headline", line, "different", (int)comparison_is_shown(c), "a",
			 side_json(&c->sides[0]), "b", side_json(&c->sides[1]), "work",
			 work_json(&c->work), "level", CHANGE_LEVEL, "drift", CHANGE_DRIFT,
			 "looked_at", (json_int_t)c->looked_at, "kinds", kinds_json(c),
			 "rows_total", (json_int_t)c->row_count, "rows_omitted",
			 (json_int_t)omitted, "rows", rows_json(c, limit), "gate", gate_json(gate));
}
