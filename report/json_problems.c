/* The member "problems" of the JSON report, the first one first. Shares of CPU time are null where
 * it is not known. */
#include "report/json_parts.h"

#include <stdio.h>
#include <stdlib.h>

#include "report/text_parts.h"
#include "report/content/names.h"
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
	struct method_names names = method_names(p, id);

	if (!names.known)
		return json_null();
	return json_pack("{s:s, s:s}", "class", names.class_name, "method", names.name);
}

static json_t *callers_json(const struct profile *p, const struct problem *problem)
{
	json_t *callers = json_array();

	for (size_t i = 0; i < PROBLEM_CALLERS_MAX && problem->callers[i].method; i++)
		callers = json_appended(callers,
					json_with(method_json(p, problem->callers[i].method),
						  "fraction", json_real(problem->callers[i].part)));
	return callers;
}

static json_t *place_json(struct json_writer *writer, const uint32_t *place)
{
	return report_json_location(writer, *place);
}

/* By the name of a kind: how many of the operation's pairs are wasteful. */
static json_t *pairs_json(const struct problem *problem)
{
	json_t *pairs = json_object();

	for (size_t i = 0; i < PAIR_KINDS; i++) {
		const struct problem_pairs *of = &problem->pairs[pair_kinds[i].kind];

		if (of->count > 0)
			pairs = json_with(pairs, pair_kinds[i].name,
					  json_pack("{s:I, s:I}", "wasteful_count",
						    (json_int_t)of->wasteful, "count",
						    (json_int_t)of->count));
	}
	return pairs;
}

static json_t *classes_json(const struct profile *p, const struct problem_allocation *a)
{
	json_t *classes = json_array();

	for (size_t i = 0; i < a->class_count && i < PROBLEM_CLASSES_MAX; i++)
		classes =
		    json_appended(classes, json_pack("{s:s, s:f}", "class",
						     strings_get(&p->strings, a->classes[i].name),
						     "fraction", a->classes[i].fraction));
	return classes;
}

static json_t *allocation_json(const struct profile *p, const struct problem *problem)
{
	const struct problem_allocation *a = &problem->allocated;
	bool known = problem->saved.known;

	if (a->samples == 0)
		return json_null();
	return JSON_OBJECT(
	    {"operation", method_json(p, a->operation)},
	    {"alloc_samples", json_integer((json_int_t)a->samples)},
	    {"fraction", json_real(a->fraction)},
	    {"fraction_ci95", json_interval(a->fraction_ci95.low, a->fraction_ci95.high)},
	    {"objects_per_s", json_real(a->per_s)}, {"garbage_fraction", json_real(a->garbage)},
	    {"classes", classes_json(p, a)}, {"class_count", json_integer((int)a->class_count)},
	    {"maker", method_json(p, a->maker)}, {"maker_fraction", json_real(a->maker_part)},
	    {"gc_share", json_known(known, a->gc_share)},
	    {"gc_share_ci95",
	     known ? json_interval(a->gc_ci95.low, a->gc_ci95.high) : json_null()});
}

static json_t *loop_json(const struct profile *p, const struct report_loop *l)
{
	json_t *object = l ? method_json(p, l->row->key.method) : json_null();

	if (!l)
		return object;
	object = json_with(object, "line", json_integer(l->row->key.line));
	return json_with(object, "verdict", json_string(loop_verdict_name(l->verdict)));
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
	json_t *object = JSON_OBJECT(
	    {"kind", json_string(problem_words[problem->kind].name)},
	    {"sentence", sentence_json(p, problem)}, {"advice", json_string(problem->advice)},
	    {"operation", method_json(p, problem->method)},
	    {"caller", method_json(p, caller ? problem->callers[0].method : 0)},
	    {"caller_fraction", json_real(caller ? problem->callers[0].part : 0)},
	    {"callers", callers_json(p, problem)},
	    {"part_of", part_of > 0 ? json_integer((json_int_t)part_of) : json_null()},
	    {"places", JSON_ROWS(writer, problem->places, problem->place_count, PROBLEM_PLACES_MAX,
				 place_json)},
	    {"place_count", json_integer((int)problem->place_count)},
	    {"pairs", pairs_json(problem)},
	    {"pair_kind",
	     json_text(problem->largest ? pair_kind_find(problem->pairs_kind)->name : NULL)},
	    {"watch", line_json(p, problem, true)}, {"trap", line_json(p, problem, false)},
	    {"fraction", json_real(problem->fraction)},
	    {"fraction_ci95",
	     json_interval(problem->fraction_ci95.low, problem->fraction_ci95.high)},
	    {"inclusive_share", json_known(problem->own.known, problem->inclusive)},
	    {"wasteful_count", json_integer((json_int_t)problem->evidence)},
	    {"told_count", json_integer((json_int_t)problem->told)},
	    {"saved_bounds",
	     problem->saved.known ? json_interval(bounds->low, bounds->high) : json_null()},
	    {"allocated", allocation_json(p, problem)}, {"loop", loop_json(p, problem->loop)},
	    {"sure", json_boolean(problem->sure)});

	object = report_json_with_share(object, "own_share", "own_share_ci95", &problem->own);
	object = report_json_with_share(object, "saved_share", "saved_share_ci95", &problem->saved);
	return report_json_with_share(object, "gain_share", "gain_share_ci95", &problem->gain);
}

json_t *report_json_problems(struct json_writer *writer)
{
	const struct problems *problems = &writer->model->problems;

	return JSON_ROWS(writer, problems->list, problems->count, SIZE_MAX, problem_json);
}
