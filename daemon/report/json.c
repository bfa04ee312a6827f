/* The JSON report, schema 1. Frames are leaf first. Keys are only ever added; a change of meaning
 * changes REPORT_SCHEMA. */
#include "daemon/report/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "daemon/machine/sampler_choice.h"
#include "daemon/profile/estimate.h"
#include "daemon/report/report.h"
#include "daemon/report/side_effects_format.h"
#include "proto/words.h"

#define REPORT_SCHEMA 1

/* Frames of one document, over all its pairs: about 200 bytes each as text. Pairs beyond it are
 * omitted, and counted in pairs_omitted. */
#define FRAMES_MAX 250000

/* The names in them: 160 bytes a frame, where 100 are usual and a hostile JVM's have 12 KiB. */
#define NAME_BYTES_MAX ((size_t)40 << 20)

static json_t *real_or_null(bool known, double value)
{
	return known ? json_real(value) : json_null();
}

static json_t *time_or_null(uint64_t unix_ns)
{
	char text[REPORT_TIME_BYTES];

	if (unix_ns == 0)
		return json_null();
	report_time(text, unix_ns);
	return json_string(text);
}

static json_t *window_json(const struct window_result *w)
{
	return json_pack(
	    "{s:s, s:i, s:s, s:o, s:o, s:f, s:f, s:s, s:s, s:s, s:s, s:I, s:s, s:I, s:f, "
	    "s:i, s:s, s:b, s:s, s:s, s:s*, s:s, s:s}",
	    "id", w->id, "pid", (int)w->pid, "app", w->app, "start", time_or_null(w->start_unix_ns),
	    "end", time_or_null(w->end_unix_ns), "duration_s",
	    (double)window_result_elapsed_ns(w) / (double)NS_PER_S, "requested_duration_s",
	    (double)w->request.duration_ns / (double)NS_PER_S, "jdk", w->jdk, "vm", w->vm, "gc",
	    w->gc, "sampler", name_of_sampler(w->findings.sampler), "period",
	    (json_int_t)w->findings.period, "period_unit",
	    w->findings.event_count > 0 ? "operations" : "ns", "effective_period",
	    (json_int_t)w->effective_period, "budget", w->request.budget, "registers",
	    (int)w->request.registers, "state", window_result_state_name(w), "ended_early",
	    w->state == WINDOW_ENDED_EARLY, "reason", w->reason, "sampler_reason",
	    w->findings.sampler_reason, "sampler_note", sampler_note(w->findings.sampler), "gate",
	    window_result_gate(w), "gate_reason", w->findings.gate_reason);
}

static json_t *seconds(uint64_t ns)
{
	return json_real((double)ns / (double)NS_PER_S);
}

static json_t *quality_json(const struct window_result *w)
{
	_cleanup_json_ json_t *quality = json_object();
	char key[COUNTER_NAME_BYTES];
	int r = 0;

	for (int i = 0; i < JXP__COUNTER__COUNTER_MAX; i++) {
		name_of_counter((Jxp__Counter)i, key);
		r |= json_object_set_new(quality, key, json_integer((json_int_t)w->counters[i]));
	}
	for (int i = 0; i < LOSS_MAX; i++) {
		(void)snprintf(key, sizeof(key), "dropped_%s", name_of_loss((enum loss)i));
		r |= json_object_set_new(quality, key, json_integer((json_int_t)w->losses[i]));
	}
	r |= json_object_set_new(quality, "dropped",
				 json_integer((json_int_t)window_result_dropped(w)));
	r |= json_object_set_new(quality, "cpu_ns", json_integer((json_int_t)w->cpu_ns));
	r |= json_object_set_new(quality, "overhead_ns", json_integer((json_int_t)w->overhead_ns));
	r |= json_object_set_new(quality, "target_cpu_s", seconds(w->cpu_ns));
	r |= json_object_set_new(quality, "overhead_cpu_s", seconds(w->overhead_ns));
	r |= json_object_set_new(quality, "setup_cpu_s", seconds(w->setup_ns));
	r |= json_object_set_new(quality, "target_idle",
				 json_boolean(window_result_target_was_idle(w)));
	r |= json_object_set_new(quality, "overhead_fraction",
				 real_or_null(w->cpu_ns > 0, window_result_overhead_fraction(w)));
	r |= json_object_set_new(quality, "objects_switched_off",
				 json_integer(w->objects_off_ns != 0));
	r |= json_object_set_new(quality, "side_effects", report_side_effects_json(w));
	return r == 0 ? TAKE_PTR(quality) : NULL;
}

/* A new reference to the node's frame, or NULL without memory. */
static json_t *frame_json(struct json_writer *writer, uint32_t id)
{
	const struct profile *p = &writer->window->profile;
	const struct cct_node *node = cct_node(&p->cct, id);
	const struct cct_method *method = cct_method(&p->cct, node->method);

	if (!writer->frames[id])
		writer->frames[id] = json_pack(
		    "{s:s, s:s, s:s, s:i, s:i, s:s}", "class",
		    method ? strings_get(&p->strings, method->class_name) : "", "method",
		    method ? strings_get(&p->strings, method->name) : "", "file",
		    method ? strings_get(&p->strings, method->file) : "", "line", node->line, "bci",
		    node->bci, "tier", name_of_tier((Jxp__Tier)node->tier));
	return json_incref(writer->frames[id]);
}

json_t *report_json_frames(struct json_writer *writer, uint32_t node)
{
	const struct profile *p = &writer->window->profile;
	_cleanup_json_ json_t *frames = json_array();

	for (; node != 0; node = cct_node(&p->cct, node)->parent)
		if (json_array_append_new(frames, frame_json(writer, node)) < 0)
			return NULL;
	return TAKE_PTR(frames);
}

static size_t name_bytes(const struct profile *p, uint32_t id)
{
	const struct cct_method *method = cct_method(&p->cct, cct_node(&p->cct, id)->method);

	return method ? strlen(strings_get(&p->strings, method->class_name)) +
			    strlen(strings_get(&p->strings, method->name)) +
			    strlen(strings_get(&p->strings, method->file))
		      : 0;
}

bool report_json_take_contexts(struct json_writer *writer, uint32_t node, uint32_t other)
{
	const struct profile *p = &writer->window->profile;
	size_t frames = cct_depth(&p->cct, node) + cct_depth(&p->cct, other), bytes = 0;

	if (frames > writer->frames_left)
		return false;
	for (uint32_t id = node; id != 0; id = cct_node(&p->cct, id)->parent)
		bytes += name_bytes(p, id);
	for (uint32_t id = other; id != 0; id = cct_node(&p->cct, id)->parent)
		bytes += name_bytes(p, id);
	if (bytes > writer->name_bytes_left)
		return false;
	writer->frames_left -= frames;
	writer->name_bytes_left -= bytes;
	return true;
}

static json_t *access_json(struct json_writer *writer, uint32_t node, uint32_t instruction)
{
	return json_pack("{s:s, s:o}", "instruction",
			 strings_get(&writer->window->profile.strings, instruction), "frames",
			 report_json_frames(writer, node));
}

static json_t *pair_json(struct json_writer *writer, const struct ranked_pair *ranked)
{
	const struct pair *pair = &ranked->sum;
	const struct totals *totals = &writer->window->profile.kinds[pair->kind].application;

	return json_pack(
	    "{s:f, s:I, s:I, s:I, s:I, s:I, s:s, s:o, s:o}", "fraction",
	    estimate_fraction((double)pair->wasteful_bytes, (double)totals->checked_bytes),
	    "wasteful_bytes", (json_int_t)pair->wasteful_bytes, "checked_bytes",
	    (json_int_t)pair->checked_bytes, "count", (json_int_t)pair->count, "wasteful_count",
	    (json_int_t)pair->wasteful_count, "variants", (json_int_t)ranked->variants, "region",
	    name_of_region((Jxp__Region)pair->region), "watch",
	    access_json(writer, pair->watch_node, pair->watch_instruction), "trap",
	    access_json(writer, pair->trap_node, pair->trap_instruction));
}

/* The first pairs of the ranking that the limits admit. */
static json_t *pairs_json(struct json_writer *writer, const struct ranking *ranking, size_t limit)
{
	_cleanup_json_ json_t *pairs = json_array();

	for (size_t i = 0; i < ranking->count && i < limit; i++) {
		const struct pair *pair = &ranking->pairs[i].sum;

		if (!report_json_take_contexts(writer, pair->watch_node, pair->trap_node))
			break;
		if (json_array_append_new(pairs, pair_json(writer, &ranking->pairs[i])) < 0)
			return NULL;
	}
	return TAKE_PTR(pairs);
}

static json_t *kind_json(struct json_writer *writer, Jxp__Kind kind, size_t limit)
{
	const struct profile *p = &writer->window->profile;
	const struct totals *t = &p->kinds[kind].application;
	const struct totals *jvm = &p->kinds[kind].jvm;
	struct interval ci = estimate_ci95((double)t->wasteful_bytes, (double)t->checked_bytes,
					   (double)t->sum_squares);
	_cleanup_(ranking_release) struct ranking ranking = {0};
	_cleanup_json_ json_t *pairs = NULL;

	if (ranking_init(&ranking, p, kind) < 0)
		return NULL;
	pairs = pairs_json(writer, &ranking, limit);
	if (!pairs)
		return NULL;
	return json_pack("{s:s, s:I, s:I, s:f, s:[f,f], s:I, s:I, s:I, s:I, s:O, s:{s:I, s:I}}",
			 "kind", name_of_kind(kind), "checked_bytes", (json_int_t)t->checked_bytes,
			 "wasteful_bytes", (json_int_t)t->wasteful_bytes, "fraction",
			 estimate_fraction((double)t->wasteful_bytes, (double)t->checked_bytes),
			 "fraction_ci95", ci.low, ci.high, "checked_accesses", (json_int_t)t->count,
			 "wasteful_accesses", (json_int_t)t->wasteful_count, "pairs_total",
			 (json_int_t)ranking.count, "pairs_omitted",
			 (json_int_t)(ranking.count - json_array_size(pairs)), "pairs", pairs,
			 "jvm_internal", "checked_bytes", (json_int_t)jvm->checked_bytes,
			 "wasteful_bytes", (json_int_t)jvm->wasteful_bytes);
}

static json_t *document_json(struct json_writer *writer, size_t limit)
{
	const struct window_result *w = writer->window;
	_cleanup_json_ json_t *kinds = json_array();
	_cleanup_json_ json_t *objects = NULL;
	_cleanup_json_ json_t *objects_summary = NULL;

	for (int kind = 1; kind < PROFILE_KINDS; kind++)
		if (w->request.kinds[kind] &&
		    json_array_append_new(kinds, kind_json(writer, (Jxp__Kind)kind, limit)) < 0)
			return NULL;
	if (window_result_tracks_objects(w)) {
		if (report_json_objects(writer, limit, &objects, &objects_summary) < 0)
			return NULL;
	} else {
		objects = json_array();
		objects_summary = json_null();
	}
	return json_pack("{s:i, s:o, s:o, s:O, s:O, s:O, s:o}", "schema", REPORT_SCHEMA, "window",
			 window_json(w), "quality", quality_json(w), "inefficiency", kinds,
			 "objects_summary", objects_summary, "objects", objects, "numa",
			 report_json_numa(w));
}

int report_json_write(FILE *out, const struct window_result *w, size_t pairs)
{
	size_t frame_slots = w->profile.cct.node_count + 1;
	struct json_writer writer = {
	    .window = w, .frames_left = FRAMES_MAX, .name_bytes_left = NAME_BYTES_MAX};
	_cleanup_json_ json_t *document = NULL;
	int r = -ENOMEM;

	writer.frames = calloc(frame_slots, sizeof(json_t *));
	if (!writer.frames)
		return -ENOMEM;
	document = document_json(&writer, pairs);
	if (document && json_dumpf(document, out, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) == 0 &&
	    fputc('\n', out) != EOF)
		r = 0;
	for (size_t i = 0; i < frame_slots; i++)
		json_decref(writer.frames[i]);
	free(writer.frames);
	return r;
}
