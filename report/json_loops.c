/* "loops" in the JSON report: the hot loops, and what their turns come to. Fractions are of all CPU
 * time; what is not known is left out. Likewise "loop" of an access of a pair. */
#include "report/json_parts.h"

#include <math.h>
#include <string.h>

#include "report/content/names.h"

#define CONTEXTS_MAX 10 /* of a loop */
#define PLACES_MAX   32

/* The object with the class and the method, where there are some and the document may hold their
 * names. */
static json_t *with_method(json_t *object, struct json_writer *writer, uint32_t id, bool file)
{
	struct method_names names = method_names(&writer->model->window->profile, id);
	size_t bytes = strlen(names.class_name) + strlen(names.name) + strlen(names.file);

	if (!names.known || !report_json_take_names(writer, bytes))
		return object;
	object = json_with(object, "class", json_string(names.class_name));
	object = json_with(object, "method", json_string(names.name));
	return file ? json_with(object, "file", json_string(names.file)) : object;
}

/* The object with a number, where that is known. */
static json_t *with_number(json_t *object, const char *name, bool known, json_int_t number)
{
	return known ? json_with(object, name, json_integer(number)) : object;
}

static json_t *with_interval(json_t *object, const char *name, const struct interval *ci)
{
	return json_with(object, name, json_interval(ci->low, ci->high));
}

static json_t *context_json(struct json_writer *writer, const struct loop_context *c)
{
	if (!report_json_take_contexts(writer, c->node, 0))
		return json_null();
	return JSON_OBJECT(
	    {"fraction", json_real(estimate_fraction(c->sum.ns, writer->model->loops.whole_ns))},
	    {"ticks", json_integer((json_int_t)c->sum.samples)},
	    {"frames", report_json_frames(writer, c->node)});
}

static json_t *place_json(struct json_writer *writer, const struct loop_place *p)
{
	json_t *place = json_pack("{s:s}", "kind", loop_result_name(p->result));

	place = with_method(place, writer, p->method, false);
	place = with_number(place, "line", p->line > 0, p->line);
	place = with_number(place, "bci", p->bci >= 0, p->bci);
	return with_number(place, "count", p->bursts > 0, (json_int_t)p->counted);
}

static json_t *input_json(struct json_writer *writer, const struct loop_compared *c)
{
	json_t *input = json_pack("{s:s}", "kind", c->scalar ? "scalar" : "load");

	input = with_method(input, writer, c->method, false);
	input = with_number(input, "line", c->line > 0, c->line);
	input = with_number(input, "bci", c->bci >= 0, c->bci);
	input = with_number(input, "offset", c->bci < 0 && c->at > 0 && !c->scalar, c->at);
	input = with_number(input, "pairs", true, (json_int_t)c->same.pairs);
	return json_with(input, "rate",
			 json_real(estimate_fraction(c->same.sum, (double)c->same.pairs)));
}

static json_t *inputs_json(struct json_writer *writer, const struct report_loop *l)
{
	const struct loop_compared *inputs = writer->model->loops.inputs + l->first_input;

	return JSON_ROWS(writer, inputs, l->input_count, PLACES_MAX, input_json);
}

/* Writes what was compared: an object, which may be empty. */
static json_t *redundancy_json(struct json_writer *writer, const struct report_loop *l)
{
	const struct repeat_rate *instances = &l->again.instance_rate, *turns = &l->again.turn_rate;
	const struct turn_sums *t = &l->row->turns;
	json_t *redundancy = json_object();

	if (instances->known)
		redundancy = json_with(
		    redundancy, "instances",
		    JSON_OBJECT({"rate", json_real(instances->rate)},
				{"ci95", json_interval(instances->ci95.low, instances->ci95.high)},
				{"pairs", json_integer((json_int_t)l->row->pairs)},
				{"cut", json_integer((json_int_t)l->row->pairs_cut)},
				{"inputs", inputs_json(writer, l)}));
	if (turns->known)
		redundancy = json_with(
		    redundancy, "iterations",
		    JSON_OBJECT({"rate", json_real(turns->rate)},
				{"ci95", json_interval(turns->ci95.low, turns->ci95.high)},
				{"traces", json_integer((json_int_t)t->traces)},
				{"tuples", json_integer((json_int_t)t->tuples)},
				{"distinct_seen", json_integer((json_int_t)t->distinct)},
				{"distinct_estimated", json_real(t->estimated)},
				{"iterations", json_real(t->turns)}));
	return redundancy;
}

static json_t *unsure_json(const struct report_loop *l)
{
	json_t *unsure = json_array();

	for (unsigned i = 0; i < LOOP_DOUBTS; i++)
		if (l->doubts >> i & 1)
			unsure = json_appended(unsure, json_string(loop_doubt_name(i)));
	return unsure;
}

/* Where it is. */
static json_t *with_place(json_t *loop, struct json_writer *writer, const struct loop *row)
{
	const struct loop_key *key = &row->key;

	loop = with_method(loop, writer, key->method, true);
	loop = json_with(loop, "mapped", json_boolean(key->mapped));
	if (key->recursion)
		loop = json_with(loop, "recursion", json_true());
	if (!key->mapped)
		return with_number(loop, "offset", true, key->header);
	loop = with_number(loop, "line", key->line > 0, key->line);
	return json_with(loop, "bci",
			 json_pack("[I, I]", (json_int_t)key->header, (json_int_t)row->latch_bci));
}

/* Adds what was counted. */
static json_t *with_counts(json_t *loop, const struct report_loop *l)
{
	const struct loop *row = l->row;
	const struct interval turns =
	    l->length.known ? l->length.ci95
			    : (struct interval){1 / l->entries.ci95.high, 1 / l->entries.ci95.low};

	loop = with_number(loop, "bursts", true, (json_int_t)row->bursts);
	loop =
	    json_with(loop, "iterations", json_real(fmax(row->results.turns, row->entries.turns)));
	if (l->results.known && !l->results.bound)
		loop = json_with(loop, "result_rate", json_real(l->results.rate));
	if (l->results.known)
		loop = with_interval(loop, "result_rate_ci95", &l->results.ci95);
	loop = with_number(loop, "instances_read", row->lengths.read > 0,
			   (json_int_t)row->lengths.read);
	if (l->length.known)
		loop = json_with(loop, "iterations_per_instance", json_real(l->length.turns));
	else if (l->entries.known && l->entries.rate > 0)
		loop = json_with(loop, "iterations_per_instance", json_real(1 / l->entries.rate));
	if (l->length.known || l->entries.known)
		loop = with_interval(loop, "iterations_per_instance_ci95", &turns);
	return loop;
}

static json_t *with_judgement(json_t *loop, const struct report_loop *l)
{
	json_t *advice = json_array();

	if (l->type != LOOP_TYPE_UNKNOWN)
		loop = json_with(loop, "type", json_string(loop_type_name(l->type)));
	if (l->verdict != LOOP_NOT_JUDGED)
		loop = json_with(loop, "verdict", json_string(loop_verdict_name(l->verdict)));
	if (l->needs_s > 0)
		loop = json_with(loop, "needs_s", json_real(l->needs_s));
	for (unsigned i = 0; i < l->advice_count; i++)
		advice = json_appended(advice,
				       json_pack("{s:s, s:s}", "strategy", l->advice[i]->strategy,
						 "why", l->advice[i]->why));
	loop = json_with(loop, "advice", advice);
	return json_with(loop, "unsure", unsure_json(l));
}

static json_t *with_growth(json_t *loop, const struct loop_growth *g)
{
	if (!g->compared)
		return loop;
	loop = json_with(loop, "baseline_known", json_boolean(g->known));
	loop = json_with(loop, "baseline_fraction", json_real(g->baseline));
	loop = json_with(loop, "growth", json_real(g->growth));
	loop = with_interval(loop, "growth_ci95", &g->ci95);
	loop = with_interval(loop, "growth_interval", &g->among_all);
	return json_with(loop, "growth_significant", json_boolean(g->significant));
}

/* The object of a loop with how many of its accesses are wasteful, where pairs of it are known. */
static json_t *with_pairs(json_t *loop, const struct report_model *m, const struct report_loop *l)
{
	json_t *kinds = json_array();

	for (size_t i = 0; i < PAIR_KINDS; i++) {
		const struct loop_waste *w =
		    loop_pairs_waste(&m->loop_pairs, (size_t)(l - m->loops.rows), i);

		if (w)
			kinds = json_appended(
			    kinds,
			    JSON_OBJECT({"kind", json_string(pair_kinds[i].name)},
					{"fraction", json_real(w->fraction)},
					{"fraction_ci95", json_interval(w->ci95.low, w->ci95.high)},
					{"count", json_integer((json_int_t)w->pairs)},
					{"wasteful_count", json_integer((json_int_t)w->wasteful)}));
	}
	if (kinds && json_array_size(kinds) == 0) {
		json_decref(kinds);
		return loop;
	}
	return json_with(loop, "pairs", kinds);
}

static json_t *loop_json(struct json_writer *writer, const struct report_loop *l)
{
	const struct report_loops *m = &writer->model->loops;
	const struct loop_context *contexts =
	    l->context_count > 0 ? &m->contexts[l->first_context] : NULL;
	const struct loop_place *places = l->place_count > 0 ? &m->places[l->first_place] : NULL;
	json_t *loop = with_place(json_object(), writer, l->row);

	loop = json_with(loop, "time_fraction", json_real(l->fraction));
	loop = with_interval(loop, "time_ci95", &l->fraction_ci95);
	loop = json_with(loop, "time_fraction_with_inner", json_real(l->within_fraction));
	loop = json_with(loop, "inclusive_fraction", json_real(l->inclusive_fraction));
	loop = with_number(loop, "ticks", true, (json_int_t)l->row->own.samples);
	loop = with_growth(loop, &l->growth);
	loop = json_with(loop, "contexts",
			 JSON_ROWS(writer, contexts, l->context_count, CONTEXTS_MAX, context_json));
	loop = with_judgement(loop, l);
	loop = with_counts(loop, l);
	loop = json_with(loop, "results",
			 JSON_ROWS(writer, places, l->place_count, PLACES_MAX, place_json));
	if (l->again.instance_rate.known || l->again.turn_rate.known)
		loop = json_with(loop, "redundancy", redundancy_json(writer, l));
	return with_pairs(loop, writer->model, l);
}

static json_t *summary_json(const struct report_loops *l, size_t shown)
{
	json_t *summary = JSON_OBJECT({"compiled_fraction", json_real(l->compiled)},
				      {"looked_at_fraction_of_compiled", json_real(l->looked_at)},
				      {"in_loops_fraction_of_looked_at", json_real(l->in_loops)},
				      {"mapped_fraction_of_in_loops", json_real(l->mapped)},
				      {"omitted", json_integer((json_int_t)(l->count - shown))});

	return l->baseline[0] ? json_with(summary, "baseline", json_string(l->baseline)) : summary;
}

json_t *report_json_with_loops(json_t *document, struct json_writer *writer, size_t limit)
{
	const struct report_loops *l = &writer->model->loops;
	json_t *loops;
	size_t shown;

	if (!l->taken || !writer->model->shown.loops)
		return document;
	loops = JSON_ROWS(writer, l->rows, l->count, limit, loop_json);
	shown = json_array_size(loops);
	document = json_with(document, "loops", loops);
	return json_with(document, "loops_summary", summary_json(l, shown));
}

json_t *report_json_with_loop(json_t *access, struct json_writer *writer, uint32_t node,
			      bool called)
{
	const struct report_model *m = writer->model;
	const struct profile *p = &m->window->profile;
	struct loop_around around = called ? loop_pairs_context(&m->loop_pairs, &p->cct, node)
					   : loop_pairs_frame(&m->loop_pairs, &p->cct, node);
	struct method_names names;

	if (!around.loop)
		return access;
	names = method_names(p, around.loop->row->key.method);
	if (!report_json_take_names(writer, strlen(names.class_name) + strlen(names.name)))
		return access;
	return json_with(
	    access, "loop",
	    json_pack("{s:I, s:s, s:s, s:i, s:[I, I], s:b}", "rank", (json_int_t)around.rank + 1,
		      "class", names.class_name, "method", names.name, "line",
		      around.loop->row->key.line, "bci", (json_int_t)around.loop->row->key.header,
		      (json_int_t)around.loop->row->latch_bci, "called", (int)around.called));
}
