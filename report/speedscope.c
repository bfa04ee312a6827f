/* Profiles for speedscope (https://www.speedscope.app/file-format-schema.json): of each kind of
 * pairs where the program spends CPU time, or moves bytes, in vain; where all CPU time goes; where
 * bytes are allocated. A frame is a method, of whatever line. A pair has the context of the access
 * that is in vain, so that graphs show what would be gone. */
#include "report/formats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "compare/side.h"
#include "report/content/names.h"
#include "proto/limits.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

/* Of all samples together: 8 bytes each, and about as much as text. */
#define FRAMES_MAX ((size_t)4 << 20)

/* Of frames, which have each name once. */
#define NAME_BYTES_MAX ((size_t)32 << 20)

/* Exact as a double, and far above what is true. */
#define VALUE_MAX 9e15

struct speedscope {
	const struct report_model *model;
	size_t rows; /* of each list at most */
	size_t frames_left, name_bytes_left;
	json_t *frames;
	json_t **methods; /* by method id: the number of its frame, NULL until needed */
	json_t *others;   /* numbers of frames that are no methods, by their names */
};

static void speedscope_release(struct speedscope *s)
{
	for (size_t i = 0; s->methods && i <= s->model->window->profile.cct.method_count; i++)
		json_decref(s->methods[i]);
	free(s->methods);
	json_decref(s->others);
	json_decref(s->frames);
}

/* ---------------------------------------------------------------- frames */

/* A new frame's number; NULL without memory. */
static json_t *add_frame(struct speedscope *s, json_t *name, const char *file)
{
	json_t *frame = json_pack("{s:o}", "name", name);
	size_t number = json_array_size(s->frames);

	if (file[0])
		frame = json_with(frame, "file", json_string(file));
	return json_array_append_new(s->frames, frame) == 0 ? json_integer((json_int_t)number)
							    : NULL;
}

/* Numbers are borrowed, and NULL without memory. */
static json_t *method_number(struct speedscope *s, uint32_t method)
{
	struct method_names names = method_names(&s->model->window->profile, method);

	if (!s->methods[method])
		s->methods[method] =
		    add_frame(s,
			      names.known ? json_sprintf("%s.%s", names.class_name, names.name)
					  : json_string(METHOD_UNKNOWN),
			      names.file);
	return s->methods[method];
}

static json_t *other_number(struct speedscope *s, const char *name)
{
	if (!json_object_get(s->others, name))
		(void)json_object_set_new(s->others, name, add_frame(s, json_string(name), ""));
	return json_object_get(s->others, name);
}

/* The frames of a context and the names that come new with it, from what the document may hold.
 * False, with nothing taken, where there is not enough left. */
static bool take_context(struct speedscope *s, uint32_t leaf, const char *class_name)
{
	const struct profile *p = &s->model->window->profile;
	size_t frames = 1, bytes = strlen(class_name);

	for (uint32_t id = leaf; id != 0; id = cct_node(&p->cct, id)->parent) {
		struct method_names names = frame_names(p, id);

		frames++;
		if (!s->methods[cct_node(&p->cct, id)->method])
			bytes += strlen(names.class_name) + strlen(names.name) + strlen(names.file);
	}
	if (frames > s->frames_left || bytes > s->name_bytes_left)
		return false;
	s->frames_left -= frames;
	s->name_bytes_left -= bytes;
	return true;
}

/* Root first. */
static json_t *stack_json(struct speedscope *s, uint32_t leaf)
{
	const struct cct *cct = &s->model->window->profile.cct;
	json_t *stack = json_array();
	uint32_t path[MAX_FRAMES_LIMIT];
	size_t depth = 0;

	for (uint32_t id = leaf; id != 0; id = cct_node(cct, id)->parent)
		path[depth++] = id; /* The tree admits no deeper path. */
	if (depth == 0)
		stack = json_appended(stack, json_incref(method_number(s, 0)));
	while (depth-- > 0)
		stack = json_appended(
		    stack, json_incref(method_number(s, cct_node(cct, path[depth])->method)));
	return stack;
}

/* ---------------------------------------------------------------- profiles */

/* One, as it is put together. */
struct speedscope_profile {
	json_t *samples, *weights;
	json_int_t total;
	size_t rows, listed; /* how many there are, and how many of them it has room for */
};

static struct speedscope_profile graph_of(size_t rows)
{
	return (struct speedscope_profile){
	    .samples = json_array(), .weights = json_array(), .rows = rows};
}

/* What weighs nothing has no width. */
static void add_sample(struct speedscope_profile *g, json_t *stack, double weight)
{
	json_int_t rounded = (json_int_t)fmin(fmax(round(weight), 0), VALUE_MAX);

	g->listed++;
	if (rounded == 0) {
		json_decref(stack);
		return;
	}
	g->total += rounded;
	g->samples = json_appended(g->samples, stack);
	g->weights = json_appended(g->weights, json_integer(rounded));
}

/* Its name says what there was no room for. */
static json_t *graph_json(struct speedscope_profile *g, const char *name, const char *of,
			  const char *unit)
{
	size_t omitted = g->rows - g->listed;
	json_t *title = omitted > 0 ? json_sprintf("%s%s, without %zu of %zu contexts", name, of,
						   omitted, g->rows)
				    : json_sprintf("%s%s", name, of);

	return json_pack("{s:s, s:o, s:s, s:i, s:I, s:o, s:o}", "type", "sampled", "name", title,
			 "unit", unit, "startValue", 0, "endValue", g->total, "samples", g->samples,
			 "weights", g->weights);
}

static json_t *pairs_json(struct speedscope *s, const struct report_kind *k)
{
	struct speedscope_profile g = graph_of(k->pairs.count);

	for (size_t i = 0; i < g.rows && i < s->rows; i++) {
		const struct pair *pair = &k->pairs.pairs[i].sum;
		uint32_t leaf = pair_removable_node(pair);

		if (!take_context(s, leaf, ""))
			break;
		add_sample(&g, stack_json(s, leaf),
			   k->cpu.known ? pair->cpu.ns : (double)pair->wasteful_bytes);
	}
	return k->cpu.known ? graph_json(&g, "wasteful CPU time: ", k->kind->title, "nanoseconds")
			    : graph_json(&g, "wasteful bytes: ", k->kind->title, "bytes");
}

/* The JVM's own threads have no ticks: they have their measured CPU time. */
static void add_beside(struct speedscope *s, struct speedscope_profile *g, const char *name,
		       double seen_ns)
{
	const struct window_result *w = s->model->window;

	g->rows++;
	add_sample(g, json_pack("[O]", other_number(s, name)),
		   window_result_own_part(w) * window_result_beside_ns(w, seen_ns));
}

static json_t *ticks_json(struct speedscope *s)
{
	const struct window_result *w = s->model->window;
	const struct cpu_ranking *ranking = &s->model->cpu.ranking;
	const double own = window_result_own_part(w);
	struct speedscope_profile g = graph_of(ranking->context_count);

	for (size_t i = 0; i < ranking->context_count && i < s->rows; i++) {
		const struct cpu_context *c = &ranking->contexts[i];

		if (!take_context(s, c->node, ""))
			break;
		add_sample(&g, stack_json(s, c->node), own * cpu_context_sum(c).ns);
	}
	add_beside(s, &g, COMPARE_GC, w->cpu.beside.gc_ns);
	add_beside(s, &g, COMPARE_COMPILERS, w->cpu.beside.jit_ns);
	return graph_json(&g, "CPU time", "", "nanoseconds");
}

/* The class that is allocated is the leaf. */
static json_t *sites_json(struct speedscope *s)
{
	const struct object_ranking *ranking = &s->model->objects.ranking;
	struct speedscope_profile g = graph_of(ranking->count);

	for (size_t i = 0; i < g.rows && i < s->rows; i++) {
		const struct object_site *site = &ranking->sites[i].sum;
		const char *class_name =
		    strings_get(&s->model->window->profile.strings, site->class_name);

		if (!take_context(s, site->node, class_name))
			break;
		add_sample(&g,
			   json_appended(stack_json(s, site->node),
					 json_incref(other_number(s, class_name))),
			   site->alloc_bytes);
	}
	return graph_json(&g, "allocated bytes", "", "bytes");
}

/* ---------------------------------------------------------------- the whole */

static json_t *profiles_json(struct speedscope *s)
{
	const struct report_model *m = s->model;
	json_t *profiles = json_array();

	for (size_t i = 0; i < m->kind_count && m->shown.pairs; i++)
		profiles = json_appended(profiles, pairs_json(s, &m->kinds[i]));
	if (m->cpu.taken)
		profiles = json_appended(profiles, ticks_json(s));
	if (m->objects.tracked)
		profiles = json_appended(profiles, sites_json(s));
	return profiles;
}

int report_speedscope_write(FILE *out, const struct report_model *m, size_t rows)
{
	_cleanup_(speedscope_release) struct speedscope s = {
	    .model = m,
	    .rows = rows,
	    .frames_left = FRAMES_MAX,
	    .name_bytes_left = NAME_BYTES_MAX,
	    .frames = json_array(),
	    .methods = calloc(m->window->profile.cct.method_count + 1, sizeof(json_t *)),
	    .others = json_object(),
	};
	_cleanup_json_ json_t *document = NULL;
	json_t *profiles;

	if (!s.methods)
		return -ENOMEM;
	profiles = profiles_json(&s);
	document = json_pack("{s:s, s:s, s:o, s:{s:O}, s:o}", "$schema", SCHEMA, "exporter",
			     "jxperf " JXPERF_VERSION, "name",
			     json_sprintf("%s, window %s", m->window->app, m->window->id), "shared",
			     "frames", s.frames, "profiles", profiles);
	if (!document || json_dumpf(document, out, JSON_COMPACT) < 0 || fputc('\n', out) == EOF)
		return -ENOMEM;
	return 0;
}
