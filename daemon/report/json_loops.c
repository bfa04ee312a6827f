/* "loops" in the JSON report: the hot loops, and what their turns come to. Fractions are of all CPU
 * time; what is not known is left out. */
#include "daemon/report/json_parts.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define CONTEXTS_MAX 10 /* of a loop */
#define PLACES_MAX   32

static int set(json_t *object, const char *key, json_t *taken)
{
	return json_object_set_new(object, key, taken);
}

static json_t *interval_json(double low, double high)
{
	return json_pack("[f, o]", low, isfinite(high) ? json_real(high) : json_null());
}

/* The class and the method, where there are some and the document may hold their names. */
static int set_method(json_t *object, struct json_writer *writer, uint32_t id, bool file)
{
	const struct profile *p = &writer->model->window->profile;
	const struct cct_method *m = cct_method(&p->cct, id);
	const char *class_name, *name, *source;
	int wrong;

	if (!m)
		return 0;
	class_name = strings_get(&p->strings, m->class_name);
	name = strings_get(&p->strings, m->name);
	source = strings_get(&p->strings, m->file);
	if (!report_json_take_names(writer, strlen(class_name) + strlen(name) + strlen(source)))
		return 0;
	wrong = set(object, "class", json_string(class_name));
	wrong |= set(object, "method", json_string(name));
	if (file)
		wrong |= set(object, "file", json_string(source));
	return wrong;
}

static json_t *contexts_json(struct json_writer *writer, const struct report_loop *l)
{
	const struct report_loops *loops = &writer->model->loops;
	_cleanup_json_ json_t *contexts = json_array();

	for (size_t i = 0; i < l->context_count && i < CONTEXTS_MAX; i++) {
		const struct loop_context *c = &loops->contexts[l->first_context + i];

		if (!report_json_take_contexts(writer, c->node, 0))
			break;
		if (json_array_append_new(contexts,
					  json_pack("{s:f, s:I, s:o}", "fraction",
						    estimate_fraction(c->sum.ns, loops->whole_ns),
						    "ticks", (json_int_t)c->sum.samples, "frames",
						    report_json_frames(writer, c->node))) < 0)
			return NULL;
	}
	return TAKE_PTR(contexts);
}

static json_t *place_json(struct json_writer *writer, const struct loop_place *p)
{
	_cleanup_json_ json_t *place = json_pack("{s:s}", "kind", loop_result_name(p->result));
	int wrong = set_method(place, writer, p->method, false);

	if (p->line > 0)
		wrong |= set(place, "line", json_integer(p->line));
	if (p->bci >= 0)
		wrong |= set(place, "bci", json_integer(p->bci));
	if (p->bursts > 0)
		wrong |= set(place, "count", json_integer((json_int_t)p->counted));
	return wrong ? NULL : TAKE_PTR(place);
}

static json_t *places_json(struct json_writer *writer, const struct report_loop *l)
{
	_cleanup_json_ json_t *places = json_array();

	for (size_t i = 0; i < l->place_count && i < PLACES_MAX; i++)
		if (json_array_append_new(
			places,
			place_json(writer, &writer->model->loops.places[l->first_place + i])) < 0)
			return NULL;
	return TAKE_PTR(places);
}

static json_t *input_json(struct json_writer *writer, const struct loop_compared *c)
{
	_cleanup_json_ json_t *input = json_pack("{s:s}", "kind", c->scalar ? "scalar" : "load");
	int wrong = set_method(input, writer, c->method, false);

	if (c->line > 0)
		wrong |= set(input, "line", json_integer(c->line));
	if (c->bci >= 0)
		wrong |= set(input, "bci", json_integer(c->bci));
	else if (c->at > 0 && !c->scalar)
		wrong |= set(input, "offset", json_integer(c->at));
	wrong |= set(input, "pairs", json_integer((json_int_t)c->same.pairs));
	wrong |=
	    set(input, "rate", json_real(estimate_fraction(c->same.sum, (double)c->same.pairs)));
	return wrong ? NULL : TAKE_PTR(input);
}

static json_t *inputs_json(struct json_writer *writer, const struct report_loop *l)
{
	_cleanup_json_ json_t *inputs = json_array();

	for (size_t i = 0; i < l->input_count && i < PLACES_MAX; i++)
		if (json_array_append_new(
			inputs,
			input_json(writer, &writer->model->loops.inputs[l->first_input + i])) < 0)
			return NULL;
	return TAKE_PTR(inputs);
}

/* What was compared: an object, which may be empty. */
static json_t *redundancy_json(struct json_writer *writer, const struct report_loop *l)
{
	_cleanup_json_ json_t *redundancy = json_object();
	const struct repeat_rate *instances = &l->again.instance_rate, *turns = &l->again.turn_rate;
	const struct turn_sums *t = &l->row->turns;
	int wrong = 0;

	if (instances->known)
		wrong |=
		    set(redundancy, "instances",
			json_pack("{s:f, s:o, s:I, s:I, s:o}", "rate", instances->rate, "ci95",
				  interval_json(instances->ci95.low, instances->ci95.high), "pairs",
				  (json_int_t)l->row->pairs, "cut", (json_int_t)l->row->pairs_cut,
				  "inputs", inputs_json(writer, l)));
	if (turns->known)
		wrong |=
		    set(redundancy, "iterations",
			json_pack("{s:f, s:o, s:I, s:I, s:I, s:f, s:f}", "rate", turns->rate,
				  "ci95", interval_json(turns->ci95.low, turns->ci95.high),
				  "traces", (json_int_t)t->traces, "tuples", (json_int_t)t->tuples,
				  "distinct_seen", (json_int_t)t->distinct, "distinct_estimated",
				  t->estimated, "iterations", t->turns));
	return wrong ? NULL : TAKE_PTR(redundancy);
}

static json_t *advice_json(const struct report_loop *l)
{
	_cleanup_json_ json_t *advice = json_array();

	for (unsigned i = 0; i < l->advice_count; i++)
		if (json_array_append_new(advice, json_pack("{s:s, s:s}", "strategy",
							    l->advice[i]->strategy, "why",
							    l->advice[i]->why)) < 0)
			return NULL;
	return TAKE_PTR(advice);
}

static json_t *unsure_json(const struct report_loop *l)
{
	_cleanup_json_ json_t *unsure = json_array();

	for (unsigned i = 0; i < LOOP_DOUBTS; i++)
		if (l->doubts >> i & 1 &&
		    json_array_append_new(unsure, json_string(loop_doubt_name(i))) < 0)
			return NULL;
	return TAKE_PTR(unsure);
}

/* Where it is. */
static int set_place(json_t *loop, struct json_writer *writer, const struct loop_row *row)
{
	const struct loop_key *key = &row->key;
	int wrong = set_method(loop, writer, key->method, true);

	wrong |= set(loop, "mapped", json_boolean(key->mapped));
	if (key->recursion)
		wrong |= set(loop, "recursion", json_true());
	if (!key->mapped)
		return wrong | set(loop, "offset", json_integer(key->header));
	if (key->line > 0)
		wrong |= set(loop, "line", json_integer(key->line));
	return wrong |
	       set(loop, "bci",
		   json_pack("[I, I]", (json_int_t)key->header, (json_int_t)row->latch_bci));
}

/* What was counted. */
static int set_counts(json_t *loop, const struct report_loop *l)
{
	const struct loop_row *row = l->row;
	int wrong = set(loop, "bursts", json_integer((json_int_t)row->bursts));

	wrong |= set(loop, "iterations", json_real(fmax(row->results.turns, row->entries.turns)));
	if (l->results.known) {
		if (!l->results.bound)
			wrong |= set(loop, "result_rate", json_real(l->results.rate));
		wrong |= set(loop, "result_rate_ci95",
			     interval_json(l->results.ci95.low, l->results.ci95.high));
	}
	if (l->row->lengths.read > 0)
		wrong |= set(loop, "instances_read", json_integer((json_int_t)row->lengths.read));
	if (l->length.known) {
		wrong |= set(loop, "iterations_per_instance", json_real(l->length.turns));
		wrong |= set(loop, "iterations_per_instance_ci95",
			     interval_json(l->length.ci95.low, l->length.ci95.high));
	} else if (l->entries.known) {
		if (l->entries.rate > 0)
			wrong |=
			    set(loop, "iterations_per_instance", json_real(1 / l->entries.rate));
		wrong |= set(loop, "iterations_per_instance_ci95",
			     interval_json(1 / l->entries.ci95.high, 1 / l->entries.ci95.low));
	}
	return wrong;
}

static int set_judgement(json_t *loop, const struct report_loop *l)
{
	int wrong = 0;

	if (l->type != LOOP_TYPE_UNKNOWN)
		wrong |= set(loop, "type", json_string(loop_type_name(l->type)));
	if (l->verdict != LOOP_NOT_JUDGED)
		wrong |= set(loop, "verdict", json_string(loop_verdict_name(l->verdict)));
	if (l->needs_s > 0)
		wrong |= set(loop, "needs_s", json_real(l->needs_s));
	wrong |= set(loop, "advice", advice_json(l));
	return wrong | set(loop, "unsure", unsure_json(l));
}

static int set_growth(json_t *loop, const struct loop_growth *g)
{
	int wrong;

	if (!g->compared)
		return 0;
	wrong = set(loop, "baseline_known", json_boolean(g->known));
	wrong |= set(loop, "baseline_fraction", json_real(g->baseline));
	wrong |= set(loop, "growth", json_real(g->growth));
	wrong |= set(loop, "growth_ci95", interval_json(g->ci95.low, g->ci95.high));
	wrong |= set(loop, "growth_interval", interval_json(g->among_all.low, g->among_all.high));
	return wrong | set(loop, "growth_significant", json_boolean(g->significant));
}

/* NULL without memory. */
static json_t *loop_json(struct json_writer *writer, const struct report_loop *l)
{
	_cleanup_json_ json_t *loop = json_object();
	int wrong = set_place(loop, writer, l->row);

	wrong |= set(loop, "time_fraction", json_real(l->fraction));
	wrong |= set(loop, "time_ci95", interval_json(l->fraction_ci95.low, l->fraction_ci95.high));
	wrong |= set(loop, "time_fraction_with_inner", json_real(l->within_fraction));
	wrong |= set(loop, "inclusive_fraction", json_real(l->inclusive_fraction));
	wrong |= set(loop, "ticks", json_integer((json_int_t)l->row->own.samples));
	wrong |= set_growth(loop, &l->growth);
	wrong |= set(loop, "contexts", contexts_json(writer, l));
	wrong |= set_judgement(loop, l);
	wrong |= set_counts(loop, l);
	wrong |= set(loop, "results", places_json(writer, l));
	if (l->again.instance_rate.known || l->again.turn_rate.known)
		wrong |= set(loop, "redundancy", redundancy_json(writer, l));
	wrong |= report_json_loop_pairs(writer, l, loop);
	return wrong ? NULL : TAKE_PTR(loop);
}

static json_t *summary_json(const struct report_loops *l, size_t shown)
{
	return json_pack("{s:f, s:f, s:f, s:f, s:I}", "compiled_fraction", l->compiled,
			 "looked_at_fraction_of_compiled", l->looked_at,
			 "in_loops_fraction_of_looked_at", l->in_loops,
			 "mapped_fraction_of_in_loops", l->mapped, "omitted",
			 (json_int_t)(l->count - shown));
}

int report_json_loops(struct json_writer *writer, size_t limit, json_t *document)
{
	const struct report_loops *l = &writer->model->loops;
	_cleanup_json_ json_t *loops = NULL;
	size_t shown = 0;

	if (!l->taken || !writer->model->shown.loops)
		return 0;
	loops = json_array();
	for (; shown < l->count && shown < limit; shown++)
		if (json_array_append_new(loops, loop_json(writer, &l->rows[shown])) < 0)
			return -ENOMEM;
	if (json_object_set(document, "loops", loops) < 0 ||
	    set(document, "loops_summary", summary_json(l, shown)) < 0)
		return -ENOMEM;
	if (l->baseline[0])
		return json_object_set_new(json_object_get(document, "loops_summary"), "baseline",
					   json_string(l->baseline)) < 0
			   ? -ENOMEM
			   : 0;
	return 0;
}
