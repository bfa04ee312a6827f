/* The JSON report, schema 1. Frames are leaf first. Keys are only ever added; a change of meaning
 * changes REPORT_SCHEMA. */
#include "daemon/report/formats.h"

#include <errno.h>

#include "common/clock.h"
#include "compare/side_json.h"
#include "daemon/combine/window_side.h"
#include "daemon/machine/sampler_choice.h"
#include "daemon/report/json_parts.h"
#include "proto/words.h"
#include "subsume/output.h"

#define REPORT_SCHEMA 1

static json_t *time_or_null(uint64_t unix_ns)
{
	char text[REPORT_TIME_BYTES];

	if (unix_ns == 0)
		return json_null();
	report_time(text, unix_ns);
	return json_string(text);
}

/* Takes what is known of every window, and adds what only merged ones have. NULL without memory. */
static json_t *with_merged(json_t *taken, const struct window_merged *m)
{
	_cleanup_json_ json_t *window = taken;

	if (!window || !m)
		return TAKE_PTR(window);
	return json_object_set_new(window, "merged", report_json_merged(m)) == 0 ? TAKE_PTR(window)
										 : NULL;
}

/* Likewise what only scheduled ones have. */
static json_t *with_schedule(json_t *taken, const struct window_schedule *s)
{
	_cleanup_json_ json_t *window = taken;
	_cleanup_json_ json_t *more = NULL;

	if (!window || !s->name[0])
		return TAKE_PTR(window);
	more = json_pack("{s:s, s:I, s:f}", "schedule", s->name, "epoch", (json_int_t)s->epoch,
			 "weight_s", s->weight_s);
	return more && json_object_update(window, more) == 0 ? TAKE_PTR(window) : NULL;
}

static json_t *window_json(const struct report_model *m)
{
	const struct report_period *period = &m->period;
	const struct window_result *w = m->window;
	json_t *window = json_pack(
	    "{s:s, s:i, s:s, s:o, s:o, s:f, s:f, s:s, s:s, s:s, s:s, s:I, s:s, s:I, s:f, "
	    "s:i, s:s, s:b, s:s, s:s, s:s*, s:s, s:s}",
	    "id", w->id, "pid", (int)w->pid, "app", w->app, "start", time_or_null(w->start_unix_ns),
	    "end", time_or_null(w->end_unix_ns), "duration_s",
	    (double)m->elapsed_ns / (double)NS_PER_S, "requested_duration_s",
	    (double)w->request.duration_ns / (double)NS_PER_S, "jdk", w->jdk, "vm", w->vm, "gc",
	    w->gc, "sampler", name_of_sampler(w->findings.sampler), "period",
	    (json_int_t)period->asked, "period_unit", period->operations ? "operations" : "ns",
	    "effective_period", (json_int_t)period->effective, "budget", w->request.budget,
	    "registers", (int)w->request.registers, "state", window_result_state_name(w),
	    "ended_early", w->state == WINDOW_ENDED_EARLY, "reason", w->reason, "sampler_reason",
	    w->findings.sampler_reason, "sampler_note", sampler_note(w->findings.sampler), "gate",
	    m->gate, "gate_reason", w->findings.gate_reason);

	if (w->findings.cpu_limit > 0)
		(void)json_object_set_new(window, "cpu_limit",
					  json_real(w->findings.cpu_limit)); /* Or without. */
	return with_merged(with_schedule(window, &w->request.schedule), w->merged);
}

/* What another window's is compared with, whatever is wanted of the rest; null in a window that
 * has nothing. */
static json_t *comparison_json(const struct window_result *w)
{
	_cleanup_(compare_side_release) struct compare_side side;

	if (window_side_init(&side, w) < 0)
		return NULL;
	return compare_side_is_empty(&side) ? json_null() : compare_side_json(&side);
}

static json_t *document_json(struct json_writer *writer, size_t limit)
{
	const struct report_model *m = writer->model;
	_cleanup_json_ json_t *kinds = report_json_kinds(writer, limit);
	_cleanup_json_ json_t *problems = report_json_problems(writer);
	_cleanup_json_ json_t *objects = NULL;
	_cleanup_json_ json_t *objects_summary = NULL;
	_cleanup_json_ json_t *classes = NULL;
	_cleanup_json_ json_t *cpu = NULL;
	_cleanup_json_ json_t *subsuming = NULL;
	_cleanup_json_ json_t *document = NULL;

	if (!kinds || !problems)
		return NULL;
	if (m->objects.tracked) {
		if (report_json_objects(writer, limit, &objects, &objects_summary) < 0)
			return NULL;
		classes = report_json_classes(writer, limit);
		if (!classes)
			return NULL;
	} else {
		classes = json_array();
		objects = json_array();
		objects_summary = json_null();
	}
	cpu = report_json_cpu(writer, limit);
	subsuming = m->subsuming.analysed ? subsume_json(&m->subsuming.summary) : json_null();
	if (!cpu || !subsuming)
		return NULL;
	document = json_pack("{s:i, s:o, s:o, s:O, s:O, s:O, s:O, s:O, s:o, s:O, s:O, s:o}",
			     "schema", REPORT_SCHEMA, "window", window_json(m), "quality",
			     report_json_quality(m), "problems", problems, "inefficiency", kinds,
			     "objects_summary", objects_summary, "objects", objects, "classes",
			     classes, "numa", report_json_numa(m), "cpu", cpu, "subsuming",
			     subsuming, "comparison", comparison_json(m->window));
	return document && report_json_loops(writer, limit, document) == 0 ? TAKE_PTR(document)
									   : NULL;
}

int report_json_write(FILE *out, const struct report_model *m, size_t pairs)
{
	_cleanup_(json_writer_release) struct json_writer writer = {0};
	_cleanup_json_ json_t *document = NULL;

	if (json_writer_init(&writer, m) < 0)
		return -ENOMEM;
	document = document_json(&writer, pairs);
	if (!document || json_dumpf(document, out, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) < 0 ||
	    fputc('\n', out) == EOF)
		return -ENOMEM;
	return 0;
}
