/* The member "problems" of the JSON report, the first one first. Shares of CPU time are null where
 * it is not known. */
#include "daemon/report/json_parts.h"

#include <stdio.h>
#include <stdlib.h>

#include "daemon/report/text_parts.h"
#include "proto/kinds.h"

/* The sentence of the text report. */
static json_t *sentence_json(const struct profile *p, const struct problem *problem)
{
	_cleanup_free_ char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	report_text_problem_sentence(out, p, problem, " ");
	return fclose(out) == 0 ? json_string(text) : NULL;
}

static json_t *method_json(const struct profile *p, uint32_t id)
{
	const struct cct_method *m = cct_method(&p->cct, id);

	if (!m)
		return json_null();
	return json_pack("{s:s, s:s}", "class", strings_get(&p->strings, m->class_name), "method",
			 strings_get(&p->strings, m->name));
}

static json_t *callers_json(const struct profile *p, const struct problem *problem)
{
	_cleanup_json_ json_t *callers = json_array();

	for (size_t i = 0; i < PROBLEM_CALLERS_MAX && problem->callers[i].method; i++) {
		json_t *caller = method_json(p, problem->callers[i].method);

		if (json_object_set_new(caller, "fraction", json_real(problem->callers[i].part)) <
			0 ||
		    json_array_append(callers, caller) < 0) {
			json_decref(caller);
			return NULL;
		}
		json_decref(caller);
	}
	return TAKE_PTR(callers);
}

static json_t *places_json(struct json_writer *writer, const struct problem *problem)
{
	_cleanup_json_ json_t *places = json_array();

	for (size_t i = 0; i < problem->place_count && i < PROBLEM_PLACES_MAX; i++)
		if (json_array_append_new(places,
					  report_json_location(writer, problem->places[i])) < 0)
			return NULL;
	return TAKE_PTR(places);
}

/* By the name of a kind: how many of the operation's pairs are wasteful. */
static json_t *pairs_json(const struct problem *problem)
{
	_cleanup_json_ json_t *pairs = json_object();

	for (size_t i = 0; i < PAIR_KINDS; i++) {
		const struct problem_pairs *of = &problem->pairs[pair_kinds[i].kind];

		if (of->count > 0 &&
		    json_object_set_new(pairs, pair_kinds[i].name,
					json_pack("{s:I, s:I}", "wasteful_count",
						  (json_int_t)of->wasteful, "count",
						  (json_int_t)of->count)) < 0)
			return NULL;
	}
	return TAKE_PTR(pairs);
}

static json_t *classes_json(const struct profile *p, const struct problem_allocation *a)
{
	_cleanup_json_ json_t *classes = json_array();

	for (size_t i = 0; i < a->class_count && i < PROBLEM_CLASSES_MAX; i++)
		if (json_array_append_new(classes,
					  json_pack("{s:s, s:f}", "class",
						    strings_get(&p->strings, a->classes[i].name),
						    "fraction", a->classes[i].fraction)) < 0)
			return NULL;
	return TAKE_PTR(classes);
}

static json_t *allocation_json(const struct profile *p, const struct problem *problem)
{
	const struct problem_allocation *a = &problem->allocated;
	bool known = problem->saved.known;

	if (a->samples == 0)
		return json_null();
	return json_pack("{s:o, s:I, s:f, s:[f,f], s:f, s:f, s:o, s:i, s:o, s:f, s:o, s:o}",
			 "operation", method_json(p, a->operation), "alloc_samples",
			 (json_int_t)a->samples, "fraction", a->fraction, "fraction_ci95",
			 a->fraction_ci95.low, a->fraction_ci95.high, "objects_per_s", a->per_s,
			 "garbage_fraction", a->garbage, "classes", classes_json(p, a),
			 "class_count", (int)a->class_count, "maker", method_json(p, a->maker),
			 "maker_fraction", a->maker_part, "gc_share",
			 known ? json_real(a->gc_share) : json_null(), "gc_share_ci95",
			 known ? json_pack("[f,f]", a->gc_ci95.low, a->gc_ci95.high) : json_null());
}

static json_t *loop_json(const struct profile *p, const struct report_loop *l)
{
	json_t *object = l ? method_json(p, l->row->key.method) : NULL;

	if (!l)
		return json_null();
	if (json_object_set_new(object, "line", json_integer(l->row->key.line)) < 0 ||
	    json_object_set_new(object, "verdict", json_string(loop_verdict_name(l->verdict))) <
		0) {
		json_decref(object);
		return NULL;
	}
	return object;
}

static json_t *line_json(const struct profile *p, const struct problem *problem, bool watch)
{
	const struct pair *pair = problem->largest;

	return pair ? report_json_line(p, watch ? pair->watch_node : pair->trap_node) : json_null();
}

static json_t *problem_json(struct json_writer *writer, const struct problem *problem)
{
	const struct profile *p = &writer->model->window->profile;
	const struct interval *bounds = &problem->saved_bounds;
	bool caller = problem->callers[0].part >= PROBLEM_CALLER_MIN;
	size_t part_of = problems_rank(&writer->model->problems, problem->part_of.method);
	json_t *object = json_pack(
	    "{s:s, s:o, s:s, s:o, s:o, s:f, s:o, s:o, s:o, s:i, s:o, s:o, s:o, s:o, s:f, s:[f,f], "
	    "s:o, s:I, "
	    "s:I, s:o, s:o, s:o, s:b}",
	    "kind", problem_words[problem->kind].name, "sentence", sentence_json(p, problem),
	    "advice", problem->advice, "operation", method_json(p, problem->method), "caller",
	    method_json(p, caller ? problem->callers[0].method : 0), "caller_fraction",
	    caller ? problem->callers[0].part : 0, "callers", callers_json(p, problem), "part_of",
	    part_of > 0 ? json_integer((json_int_t)part_of) : json_null(), "places",
	    places_json(writer, problem), "place_count", (int)problem->place_count, "pairs",
	    pairs_json(problem), "pair_kind",
	    problem->largest ? json_string(pair_kind_find(problem->pairs_kind)->name) : json_null(),
	    "watch", line_json(p, problem, true), "trap", line_json(p, problem, false), "fraction",
	    problem->fraction, "fraction_ci95", problem->fraction_ci95.low,
	    problem->fraction_ci95.high, "inclusive_share",
	    problem->own.known ? json_real(problem->inclusive) : json_null(), "wasteful_count",
	    (json_int_t)problem->evidence, "told_count", (json_int_t)problem->told, "saved_bounds",
	    problem->saved.known ? json_pack("[f,f]", bounds->low, bounds->high) : json_null(),
	    "allocated", allocation_json(p, problem), "loop", loop_json(p, problem->loop), "sure",
	    problem->sure);

	object = report_json_with_share(object, "own_share", "own_share_ci95", &problem->own);
	object = report_json_with_share(object, "saved_share", "saved_share_ci95", &problem->saved);
	return report_json_with_share(object, "gain_share", "gain_share_ci95", &problem->gain);
}

json_t *report_json_problems(struct json_writer *writer)
{
	const struct problems *problems = &writer->model->problems;
	_cleanup_json_ json_t *array = json_array();

	for (size_t i = 0; i < problems->count; i++)
		if (json_array_append_new(array, problem_json(writer, &problems->list[i])) < 0)
			return NULL;
	return TAKE_PTR(array);
}
