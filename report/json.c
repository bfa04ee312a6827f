/* The JSON report, schema 1. Frames are leaf first. Keys are only ever added; a change of meaning
 * changes REPORT_SCHEMA. */
#include "report/formats.h"

#include <errno.h>

#include "common/clock.h"
#include "compare/side_json.h"
#include "profile/combine/window_side.h"
#include "machine/sampler_choice.h"
#include "profile/estimate.h"
#include "report/json_parts.h"
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

/* ---------------------------------------------------------------- the window */

/* The id of a window; "" for none. */
static json_t *id_json(unsigned number)
{
	return number ? json_sprintf("w%u", number) : json_string("");
}

static json_t *names_json(const struct merged_names *n)
{
	json_t *names = json_array();

	for (unsigned i = 0; i < n->count; i++)
		names = json_appended(
		    names, JSON_OBJECT({"name", json_string(n->names[i].name)},
				       {"windows", json_integer((json_int_t)n->names[i].windows)}));
	if (n->more > 0)
		names = json_appended(names,
				      JSON_OBJECT({"name", json_null()},
						  {"windows", json_integer((json_int_t)n->more)}));
	return names;
}

/* What each kind is of. */
static json_t *kinds_json(const struct window_result *w)
{
	Jxp__Kind kinds[KIND_VALUES];
	size_t count = kinds_list(w->request.kinds, kinds);
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++) {
		const struct merged_kind *k = &w->merged->kinds[kinds[i]];

		array = json_appended(
		    array, JSON_OBJECT({"kind", json_string(kind_option(kinds[i]))},
				       {"windows", json_integer((json_int_t)k->windows)},
				       {"duration_s", json_real(clock_s(k->elapsed_ns))},
				       {"cpu_s", json_real(window_result_own_part(w) * k->whole_ns /
							   (double)NS_PER_S)},
				       {"batches", json_integer((json_int_t)k->batches)}));
	}
	return array;
}

/* Tables with rows that are in nothing but sums. */
static json_t *cuts_json(const struct window_merged *m)
{
	json_t *cuts = json_array();

	for (unsigned i = 0; i < m->cut_count; i++) {
		const struct merged_cut *c = &m->cuts[i];

		cuts = json_appended(
		    cuts, JSON_OBJECT({"table", json_string(c->table)},
				      {"observations", json_integer((json_int_t)c->observations)},
				      {"all", json_integer((json_int_t)c->all)},
				      {"share", json_real(estimate_fraction((double)c->observations,
									    (double)c->all))}));
	}
	return cuts;
}

/* Writes what only merged ones have. */
static json_t *merged_json(const struct window_result *w)
{
	const struct window_merged *m = w->merged;
	json_t *notes = json_array();

	for (int i = 0; i < MERGED_NOTES; i++) {
		const struct merged_difference *d = &m->notes[i];

		if (d->windows > 0)
			notes = json_appended(
			    notes,
			    JSON_OBJECT(
				{"note", json_string(merged_note_words[i].name)},
				{"windows", json_integer((json_int_t)d->windows)},
				{"first", id_json(d->first)}, {"detail", json_string(d->detail)},
				{"skipped", json_boolean((int)merged_note_words[i].skipped)},
				{"words", json_string(merged_note_words[i].sentence)}));
	}
	return JSON_OBJECT(
	    {"windows", json_integer((json_int_t)m->windows)},
	    {"skipped", json_integer((json_int_t)m->skipped)}, {"first", id_json(m->first)},
	    {"last", id_json(m->last)}, {"processes", json_integer((json_int_t)m->processes)},
	    {"more_processes", json_boolean((int)m->more_processes)},
	    {"batches", json_integer((json_int_t)m->batches)},
	    {"hosts", m->hosts > 0 ? json_integer((json_int_t)m->hosts) : json_null()},
	    {"by_hosts", json_boolean((int)m->by_hosts)}, {"apps", names_json(&m->apps)},
	    {"schedules", names_json(&m->schedules)}, {"kinds", kinds_json(w)},
	    {"not_listed", cuts_json(m)}, {"notes", notes});
}

static json_t *window_json(const struct report_model *m)
{
	const struct report_period *period = &m->period;
	const struct window_result *w = m->window;
	const struct window_schedule *s = &w->request.schedule;
	json_t *window = JSON_OBJECT(
	    {"id", json_string(w->id)}, {"pid", json_integer((int)w->pid)},
	    {"app", json_string(w->app)}, {"version", json_string(w->version)},
	    {"start", time_or_null(w->start_unix_ns)}, {"end", time_or_null(w->end_unix_ns)},
	    {"duration_s", json_real(clock_s(m->elapsed_ns))},
	    {"requested_duration_s", json_real(clock_s(w->request.duration_ns))},
	    {"jdk", json_string(w->jdk)}, {"vm", json_string(w->vm)}, {"gc", json_string(w->gc)},
	    {"agent_version", json_string(w->agent_version)},
	    {"sampler", json_string(name_of_sampler(w->findings.sampler))},
	    {"period", json_integer((json_int_t)period->asked)},
	    {"period_unit", json_string(period->operations ? "operations" : "ns")},
	    {"effective_period", json_integer((json_int_t)period->effective)},
	    {"budget", json_real(w->request.budget)},
	    {"registers", json_integer((int)w->request.registers)},
	    {"state", json_string(window_result_state_name(w))},
	    {"ended_early", json_boolean(w->state == WINDOW_ENDED_EARLY)},
	    {"reason", json_string(w->reason)},
	    {"sampler_reason", json_string(w->findings.sampler_reason)},
	    JSON_MEMBER_IF_ANY("sampler_note", sampler_note(w->findings.sampler)),
	    {"gate", json_string(m->gate)}, {"gate_reason", json_string(w->findings.gate_reason)});

	if (w->findings.cpu_limit > 0)
		window = json_with(window, "cpu_limit", json_real(w->findings.cpu_limit));
	if (w->container[0])
		window = json_with(window, "container", json_string(w->container));
	if (w->pod[0])
		window = json_joined(window, JSON_OBJECT({"namespace", json_string(w->namespace)},
							 {"pod", json_string(w->pod)}));
	if (s->name[0])
		window =
		    json_joined(window, JSON_OBJECT({"schedule", json_string(s->name)},
						    {"epoch", json_integer((json_int_t)s->epoch)},
						    {"weight_s", json_real(s->weight_s)}));
	return w->merged ? json_with(window, "merged", merged_json(w)) : window;
}

/* Writes what another window's is compared with, whatever is wanted of the rest; null in a window
 * that has nothing. */
static json_t *comparison_json(const struct window_result *w)
{
	_cleanup_(compare_side_release) struct compare_side side;

	if (window_side_init(&side, w) < 0)
		return NULL;
	return compare_side_is_empty(&side) ? json_null() : compare_side_json(&side);
}

/* ---------------------------------------------------------------- the whole */

static json_t *document_json(struct json_writer *writer, size_t limit)
{
	const struct report_model *m = writer->model;
	json_t *kinds = report_json_kinds(writer, limit);
	json_t *problems = report_json_problems(writer);
	json_t *objects, *summary, *classes, *cpu, *document;

	if (m->objects.tracked) {
		objects = report_json_objects(writer, limit, &summary);
		classes = report_json_classes(writer, limit);
	} else {
		classes = json_array();
		objects = json_array();
		summary = json_null();
	}
	cpu = report_json_cpu(writer, limit);
	document =
	    JSON_OBJECT({"schema", json_integer(REPORT_SCHEMA)}, {"window", window_json(m)},
			{"quality", report_json_quality(m)}, {"problems", problems},
			{"inefficiency", kinds}, {"objects_summary", summary}, {"objects", objects},
			{"classes", classes}, {"numa", report_json_numa(m)}, {"cpu", cpu},
			{"subsuming", m->subsuming.analysed ? subsume_json(&m->subsuming.summary)
							    : json_null()});
	if (!writer->numbered)
		document = json_with(document, "comparison", comparison_json(m->window));
	document = report_json_with_loops(document, writer, limit);
	/* A page compares nothing itself, and shows what contexts there are. */
	return writer->numbered ? json_with(document, "contexts", report_json_contexts(writer))
				: document;
}

static int write_document(FILE *out, const struct report_model *m, size_t rows, bool numbered,
			  size_t layout)
{
	_cleanup_(json_writer_release) struct json_writer writer = {0};
	_cleanup_json_ json_t *document = NULL;

	if (json_writer_init(&writer, m, numbered) < 0)
		return -ENOMEM;
	document = document_json(&writer, rows);
	if (!document || json_dumpf(document, out, layout | JSON_REAL_PRECISION(9)) < 0 ||
	    fputc('\n', out) == EOF)
		return -ENOMEM;
	return 0;
}

int report_json_write(FILE *out, const struct report_model *m, size_t pairs)
{
	return write_document(out, m, pairs, false, JSON_INDENT(1));
}

int report_page_write(FILE *out, const struct report_model *m, size_t pairs)
{
	return write_document(out, m, pairs, true, JSON_COMPACT);
}
