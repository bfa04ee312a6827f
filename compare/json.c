/* A comparison for programs. */
#include "compare/output.h"

#include "common/clock.h"
#include "common/json.h"

static const char *verdict(const struct change *c)
{
	if (!c->shown)
		return "none";
	return c->difference < 0 ? "less" : "more";
}

/* The object with what a change comes to. */
static json_t *with_change(json_t *object, const struct change *c)
{
	return json_joined(object, JSON_OBJECT({"share", json_interval(c->share[0], c->share[1])},
					       {"difference", json_real(c->difference)},
					       {"interval", json_interval(c->low, c->high)},
					       {"shown", json_boolean((int)c->shown)},
					       {"verdict", json_string(verdict(c))}));
}

static json_t *step_json(const struct comparison *c, const uint32_t *method)
{
	return json_string(c->tree.methods[*method].name);
}

static json_t *row_json(const struct comparison *c, const struct comparison_row *row)
{
	const char *method = c->tree.methods[row->at.method].name;
	json_t *object;

	if (row->kind)
		object = JSON_OBJECT(
		    {"what", json_string("waste")}, {"kind", json_string(row->kind->name)},
		    {"method", json_string(method)}, {"place", json_string(row->at.name)},
		    {"spill", json_boolean((int)row->at.spill)});
	else
		object =
		    JSON_OBJECT({"what", json_string("method")}, {"method", json_string(method)},
				{"own_share", json_interval(row->own.share[0], row->own.share[1])},
				{"carried_below", json_boolean((int)row->messenger)},
				{"moved", json_boolean((int)row->moved)},
				{"path", JSON_ROWS(c, row->path, row->path_length, COMPARISON_PATH,
						   step_json)});
	if (row->part_of != COMPARISON_NONE)
		object = json_with(object, "part_of", json_integer(row->part_of));
	object =
	    json_with(object, "problem", json_pack("[s?,s?]", row->problem[0], row->problem[1]));
	return with_change(object, &row->change);
}

static json_t *kinds_json(const struct comparison *c)
{
	json_t *kinds = json_array();

	for (size_t i = 0; i < PAIR_KINDS; i++) {
		const struct comparison_kind *k = &c->kinds[pair_kinds[i].kind];

		if (k->compared)
			kinds = json_appended(
			    kinds, with_change(json_pack("{s:s}", "kind", pair_kinds[i].name),
					       &k->change));
	}
	return kinds;
}

static json_t *work_json(const struct compare_work *w)
{
	static const char *const words[] = {"shares", "operations", "methods"};
	json_t *work = JSON_OBJECT({"basis", json_string(words[w->basis])},
				   {"factor", json_real(w->factor.factor)},
				   {"shown", json_boolean((int)w->shown)},
				   {"methods", json_integer((json_int_t)w->methods)});

	if (w->basis == COMPARE_BY_SHARES)
		return work;
	return json_with(work, "interval", json_interval(w->low, w->high));
}

static json_t *side_kinds_json(const struct compare_side *s)
{
	json_t *array = json_array();

	for (int kind = 0; kind < KIND_VALUES; kind++)
		if (s->kinds[kind].windows > 0)
			array = json_appended(
			    array,
			    JSON_OBJECT(
				{"kind", json_string(kind_option((Jxp__Kind)kind))},
				{"windows", json_integer((json_int_t)s->kinds[kind].windows)},
				{"duration_s", json_real(s->kinds[kind].elapsed_s)}));
	return array;
}

static json_t *note_json(const struct compare_side *s, const struct compare_note *n)
{
	(void)s;
	return JSON_OBJECT({"windows", json_integer((json_int_t)n->windows)},
			   {"skipped", json_boolean((int)n->skipped)},
			   {"words", json_string(n->words)});
}

static json_t *side_json(const struct compare_side *s)
{
	bool cpu = s->unit == COMPARE_CPU;

	return JSON_OBJECT({"name", json_string(s->name)}, {"id", json_string(s->id)},
			   {"pid", json_integer(s->pid)}, {"app", json_string(s->app)},
			   {"jdk", json_string(s->jdk)}, {"start", json_string(s->start)},
			   {"windows", json_integer((json_int_t)s->windows)},
			   {"skipped", json_integer((json_int_t)s->skipped)},
			   {"notes", JSON_ROWS(s, s->notes, s->note_count, SIZE_MAX, note_json)},
			   {"window_kinds", side_kinds_json(s)},
			   {"duration_s", json_real(s->elapsed_s)},
			   {"cpu_s", json_known(cpu, s->whole_ns / (double)NS_PER_S)},
			   {"ticks", json_known(cpu, s->ticks)});
}

static json_t *gate_json(const struct compare_gate *gate)
{
	return gate ? JSON_OBJECT({"above", json_real(gate->above)},
				  {"fails", json_boolean((int)gate->fails)},
				  {"reason", json_string(gate->reason)})
		    : json_null();
}

json_t *compare_json(const struct comparison *c, const struct compare_gate *gate, size_t limit)
{
	char line[COMPARE_HEADLINE_BYTES];
	size_t omitted = c->row_count > limit ? c->row_count - limit : 0;

	compare_headline(c, line);
	return JSON_OBJECT({"headline", json_string(line)},
			   {"different", json_boolean((int)comparison_is_shown(c))},
			   {"same_app", json_boolean((int)comparison_is_of_one_app(c))},
			   {"a", side_json(&c->sides[0])}, {"b", side_json(&c->sides[1])},
			   {"work", work_json(&c->work)}, {"level", json_real(CHANGE_LEVEL)},
			   {"drift", json_real(CHANGE_DRIFT)},
			   {"looked_at", json_integer((json_int_t)c->looked_at)},
			   {"kinds", kinds_json(c)},
			   {"rows_total", json_integer((json_int_t)c->row_count)},
			   {"rows_omitted", json_integer((json_int_t)omitted)},
			   {"rows", JSON_ROWS(c, c->rows, c->row_count, limit, row_json)},
			   {"gate", gate_json(gate)});
}

json_t *compare_tree_json(const struct compare_tree *t)
{
	json_t *methods = json_array(), *parents = json_array(), *of = json_array();
	json_t *costs[2] = {json_array(), json_array()};

	for (size_t i = 1; i < t->method_count; i++)
		methods = json_appended(methods, json_string(t->methods[i].name));
	for (size_t i = 1; i < t->node_count; i++) {
		const struct compare_tree_node *node = &t->nodes[i];

		parents = json_appended(parents, json_integer(node->parent));
		of = json_appended(of, json_integer(node->method));
		for (int side = 0; side < 2; side++)
			costs[side] = json_appended(costs[side], json_real(node->own[side].amount));
	}
	return json_pack("{s:o, s:o, s:o, s:[o,o]}", "methods", methods, "parent", parents,
			 "method", of, "costs", costs[0], costs[1]);
}
