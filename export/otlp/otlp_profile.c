#include "export/otlp/otlp_profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/cleanup.h"
#include "common/label.h"
#include "common/saturate.h"
#include "export/profiles/window_profiles.h"
#include "profile/container/hash.h"
#include "proto/words.h"
#include "report/content/names.h"

/* Of Profile; Profile.sample_type and .period_type are ValueType {type_strindex, unit_strindex}. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLES = 2,
	PROFILE_TIME_UNIX_NANO = 3,
	PROFILE_DURATION_NANO = 4,
	PROFILE_PERIOD_TYPE = 5,
	PROFILE_PERIOD = 6,
	PROFILE_ID = 7,
	PROFILE_ATTRIBUTE_INDICES = 11,
};

/* Of Sample, which version 1.10 numbered anew. */
struct sample_fields {
	unsigned stack_index, values, attribute_indices;
};

static const struct sample_fields sample_fields[2] = {
    [false] = {.stack_index = 1, .values = 2, .attribute_indices = 3},
    [true] = {.stack_index = 1, .attribute_indices = 2, .values = 4},
};

/* What makes two samples the same one; and its value. */
struct otlp_sample {
	uint32_t ids[1 + SAMPLE_LABELS_MAX]; /* the stack, then attributes; 0: none */
	uint64_t value;
};

struct otlp_samples {
	struct otlp_sample *samples;
	size_t count, capacity;
	struct hash_index index;
};

static void samples_release(struct otlp_samples *s)
{
	free(s->samples);
	hash_index_release(&s->index);
}

int otlp_window_init(struct otlp_window *w, const struct report_model *model,
		     struct otlp_dictionary *dictionary)
{
	const struct cct *cct = &model->window->profile.cct;

	*w = (struct otlp_window){.model = model, .dictionary = dictionary};
	w->locations = calloc(cct->node_count + 1, sizeof(*w->locations));
	if (w->locations && cct_lines(cct, &w->lines) == 0)
		return 0;
	otlp_window_release(w);
	return -ENOMEM;
}

void otlp_window_release(struct otlp_window *w)
{
	free(w->lines);
	free(w->locations);
	*w = (struct otlp_window){0};
}

/* ---------------------------------------------------------------- stacks */

/* "java.util.HashMap.get", as in collapsed stacks. */
static uint32_t function_of(struct otlp_window *w, uint32_t method)
{
	struct method_names names = method_names(&w->model->window->profile, method);
	char name[2 * LIMIT_STRING_BYTES];

	if (!names.known || (!names.class_name[0] && !names.name[0]))
		return otlp_function(w->dictionary, METHOD_UNKNOWN, "");
	(void)snprintf(name, sizeof(name), "%s.%s", names.class_name,
		       names.name); /* Fits: texts are cut. */
	return otlp_function(w->dictionary, name, names.file);
}

/* A frame of a context is one of the JVM's, also where nobody knows of what method. */
static uint32_t location_of(struct otlp_window *w, uint32_t node)
{
	uint32_t oldest = w->lines[node];
	const struct cct_node *n = cct_node(&w->model->window->profile.cct, oldest);

	if (w->locations[oldest] == 0)
		w->locations[oldest] =
		    otlp_location(w->dictionary, function_of(w, n ? n->method : 0),
				  n && n->line > 0 ? (uint64_t)n->line : 0, "jvm");
	return w->locations[oldest];
}

/* How many locations the context has, the leaf first. */
static size_t put_context(struct otlp_window *w, uint32_t leaf, uint32_t *locations)
{
	const struct cct *cct = &w->model->window->profile.cct;
	size_t count = 0;

	if (leaf == 0)
		locations[count++] = location_of(w, 0);
	for (uint32_t id = leaf; id != 0; id = cct_node(cct, id)->parent)
		locations[count++] = location_of(w, id); /* The tree admits no deeper path. */
	return count;
}

static uint32_t frame_of(struct otlp_window *w, const char *name, const char *type)
{
	return otlp_location(w->dictionary, otlp_function(w->dictionary, name, ""), 0, type);
}

/* What stands between two contexts is no frame of any type. The JVM's own threads run native code.
 */
static uint32_t stack_of(struct otlp_window *w, const struct sample_stack *stack)
{
	uint32_t locations[SAMPLE_FRAMES_MAX];
	size_t count = 0;

	if (stack->frame)
		locations[count++] = frame_of(w, stack->frame, "native");
	else
		count = put_context(w, stack->leaf, locations);
	if (stack->between) {
		locations[count++] = frame_of(w, stack->between, "");
		count += put_context(w, stack->outer, locations + count);
	}
	return otlp_stack(w->dictionary, locations, count);
}

/* ---------------------------------------------------------------- samples */

static bool matches(const void *table, uint32_t position, const void *key)
{
	const struct otlp_samples *s = table;

	return memcmp(s->samples[position].ids, key, sizeof(s->samples[0].ids)) == 0;
}

/* Samples of the same stack and attributes add up. */
static int add_sample(struct otlp_samples *s, const struct otlp_sample *sample)
{
	uint32_t hash = hash_ids(sample->ids, sizeof(sample->ids) / sizeof(sample->ids[0]));
	uint32_t position;
	int r;

	if (hash_index_find(&s->index, hash, matches, s, sample->ids, &position)) {
		saturate_add(&s->samples[position].value, sample->value);
		return 0;
	}
	r = array_reserve(&s->samples, &s->capacity, s->count + 1, sizeof(s->samples[0]));
	if (r < 0)
		return r;
	s->samples[s->count] = *sample;
	return hash_index_insert(&s->index, hash, (uint32_t)s->count++);
}

static struct otlp_sample sample_of(struct otlp_window *w, const struct series_sample *from,
				    int64_t value)
{
	struct otlp_sample sample = {.ids = {stack_of(w, &from->stack)}, .value = (uint64_t)value};
	char key[64];

	for (size_t i = 0; i < from->label_count; i++) {
		(void)snprintf(key, sizeof(key), "jxperf.%s", from->labels[i].key); /* Fits. */
		sample.ids[1 + i] = otlp_attribute_text(w->dictionary, key, from->labels[i].text);
	}
	return sample;
}

static void put_sample(struct protobuf *out, const struct otlp_sample *s,
		       const struct sample_fields *fields)
{
	size_t begun = protobuf_begin(out, PROFILE_SAMPLES), attributes = 0, value;

	while (attributes < SAMPLE_LABELS_MAX && s->ids[1 + attributes] != 0)
		attributes++;
	protobuf_number(out, fields->stack_index, s->ids[0]);
	protobuf_numbers(out, fields->attribute_indices, s->ids + 1, attributes);
	value = protobuf_begin(out, fields->values); /* A list of one. */
	protobuf_element(out, s->value < INT64_MAX ? s->value : INT64_MAX);
	protobuf_end(out, value);
	protobuf_end(out, begun);
}

/* ---------------------------------------------------------------- the whole */

static void put_type(struct otlp_window *w, struct protobuf *out, unsigned field, const char *type,
		     const char *unit)
{
	size_t begun = protobuf_begin(out, field);

	protobuf_number(out, 1, otlp_string(w->dictionary, type));
	protobuf_number(out, 2, otlp_string(w->dictionary, unit));
	protobuf_end(out, begun);
}

static void put_id(struct otlp_window *w, struct protobuf *out, const struct export_origin *origin,
		   const char *type)
{
	uint8_t id[WINDOW_PROFILE_ID_BYTES];

	window_profile_id(id, origin, w->model->window, type);
	protobuf_bytes(out, PROFILE_ID, id, sizeof(id));
}

/* What is of the window and not of the JVM. */
static void put_attributes(struct otlp_window *w, struct protobuf *out, const char *kind,
			   uint64_t cut)
{
	const struct window_result *r = w->model->window;
	struct otlp_dictionary *d = w->dictionary;
	uint32_t attributes[7];
	size_t count = 0;

	attributes[count++] = otlp_attribute_text(d, "jxperf.kind", kind);
	attributes[count++] = otlp_attribute_number(d, "jxperf.window", r->number, "");
	attributes[count++] =
	    otlp_attribute_text(d, "jxperf.window_state", window_result_state_name(r));
	attributes[count++] =
	    otlp_attribute_text(d, "jxperf.sampler", name_of_sampler(r->findings.sampler));
	if (window_request_is_scheduled(&r->request)) {
		attributes[count++] =
		    otlp_attribute_text(d, "jxperf.schedule", r->request.schedule.name);
		attributes[count++] =
		    otlp_attribute_double(d, "jxperf.weight", r->request.schedule.weight_s, "s");
	}
	if (cut > 0)
		attributes[count++] =
		    otlp_attribute_number(d, "jxperf.samples_left_out", (int64_t)cut, "");
	protobuf_numbers(out, PROFILE_ATTRIBUTE_INDICES, attributes, count);
}

static void put_profile(struct otlp_window *w, const struct export_origin *origin,
			const struct sample_series *s, const struct sample_value *v, uint64_t cut,
			struct protobuf *out)
{
	put_type(w, out, PROFILE_SAMPLE_TYPE, v->type, v->unit);
	protobuf_fixed64(out, PROFILE_TIME_UNIX_NANO, w->model->window->start_unix_ns);
	protobuf_number(out, PROFILE_DURATION_NANO, w->model->elapsed_ns);
	if (v->period.period > 0) {
		put_type(w, out, PROFILE_PERIOD_TYPE, v->period.type, v->period.unit);
		protobuf_number(out, PROFILE_PERIOD, v->period.period);
	}
	put_id(w, out, origin, v->type);
	put_attributes(w, out, s->kind, cut);
}

/* The samples that were picked, until there is no more room. */
static int collect(struct otlp_window *w, const struct sample_series *s,
		   const struct series_pick *picks, size_t count, size_t bytes,
		   struct otlp_samples *samples)
{
	struct series_row row;

	for (size_t i = 0; i < count; i++) {
		struct otlp_sample sample;

		sample_series_row(w->model, s, picks[i].row, &row);
		sample = sample_of(w, &row.samples[picks[i].sample], picks[i].value);
		if (w->dictionary->error < 0 || add_sample(samples, &sample) < 0)
			return -ENOMEM;
		if (otlp_dictionary_bytes(w->dictionary) > bytes)
			return -EMSGSIZE;
	}
	return 0;
}

int otlp_profile_write(struct otlp_window *w, const struct export_origin *origin,
		       const struct sample_series *s, size_t value,
		       const struct otlp_limits *limits, struct protobuf *out, unsigned field,
		       uint64_t *cut)
{
	_cleanup_(samples_release) struct otlp_samples merged = {0};
	_cleanup_free_ struct series_pick *picks = NULL;
	size_t count, shown, begun;
	int r = sample_series_heaviest(w->model, s, value, &picks, &count);

	if (r < 0)
		return r;
	shown = count < limits->samples ? count : limits->samples;
	*cut = count - shown;
	r = collect(w, s, picks, shown, limits->bytes, &merged);
	if (r < 0)
		return r;
	begun = protobuf_begin(out, field);
	put_profile(w, origin, s, &s->values[value], *cut, out);
	for (size_t i = 0; i < merged.count; i++)
		put_sample(out, &merged.samples[i], &sample_fields[limits->renumbered]);
	protobuf_end(out, begun);
	if (out->error < 0 || w->dictionary->error < 0)
		return -ENOMEM;
	return out->used + otlp_dictionary_bytes(w->dictionary) > limits->bytes ? -EMSGSIZE : 0;
}
