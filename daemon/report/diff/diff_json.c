/* The difference of two windows as JSON, schema 1; paths of methods are leaf first. */
#include "daemon/report/diff/diff_report.h"

#include <errno.h>
#include <string.h>

#include "common/clock.h"
#include "daemon/report/formats.h"
#include "daemon/report/json_parts.h"

#define DIFF_SCHEMA 1

#define CONTEXTS_MAX 3u
#define FRAMES_MAX   32u

/* Names of methods in one document: what a hostile JVM calls its methods has a limit, too. */
#define NAME_BYTES_MAX ((size_t)16 << 20)

struct diff_writer {
	const struct diff *diff;
	size_t name_bytes_left;
};

static const char *verdict_name(enum diff_verdict v)
{
	static const char *const names[] = {"none", "more", "less"};

	return names[v];
}

static json_t *interval_json(const struct interval *i)
{
	return json_pack("[f,f]", i->low, i->high);
}

/* ---------------------------------------------------------------- windows and kinds */

static json_t *time_json(uint64_t unix_ns)
{
	char text[REPORT_TIME_BYTES];

	report_time(text, unix_ns);
	return json_string(text);
}

static json_t *side_json(const struct window_result *w)
{
	_cleanup_json_ json_t *side = json_pack(
	    "{s:s, s:s, s:i, s:o, s:o, s:f, s:s, s:I}", "id", w->id, "app", w->app, "pid",
	    (int)w->pid, "start", time_json(w->start_unix_ns), "end", time_json(w->end_unix_ns),
	    "duration_s", (double)window_result_elapsed_ns(w) / (double)NS_PER_S, "jdk", w->jdk,
	    "samples", (json_int_t)w->counters[JXP__COUNTER__COUNTER_SAMPLES]);

	if (side && w->merged &&
	    json_object_set_new(side, "merged", report_json_merged(w->merged)) < 0)
		return NULL;
	return TAKE_PTR(side);
}

/* Takes an object, and adds what a test has found. NULL without memory. */
static json_t *with_test(json_t *taken, const struct diff_test *t)
{
	const struct share_comparison *c = &t->share;
	_cleanup_json_ json_t *object = taken;
	_cleanup_json_ json_t *test =
	    json_pack("{s:[f,f], s:f, s:o, s:f, s:s}", "fraction", c->share[0], c->share[1],
		      "difference", c->difference, "difference_ci95", interval_json(&c->ci95), "p",
		      t->p, "verdict", verdict_name(t->verdict));

	return object && test && json_object_update(object, test) == 0 ? TAKE_PTR(object) : NULL;
}

static json_t *kind_json(const struct diff *d, const struct diff_kind *k)
{
	json_t *kind = json_pack("{s:s, s:b}", "kind", k->pairs ? k->pairs->name : "objects",
				 "compared", (int)k->compared);
	_cleanup_json_ json_t *more = NULL;

	if (!kind || !k->compared || !k->pairs)
		return kind;
	more = json_pack("{s:[o,o], s:f}", "fraction_ci95", interval_json(&k->ci95[0]),
			 interval_json(&k->ci95[1]), "visible_difference", diff_visible(d, k));
	if (!more || json_object_update(kind, more) < 0) {
		json_decref(kind);
		return NULL;
	}
	return with_test(kind, &k->test);
}

static json_t *kinds_json(const struct diff *d)
{
	_cleanup_json_ json_t *kinds = json_array();

	for (size_t i = 0; i < d->kind_count; i++)
		if (json_array_append_new(kinds, kind_json(d, &d->kinds[i])) < 0)
			return NULL;
	return TAKE_PTR(kinds);
}

/* ---------------------------------------------------------------- rows */

static size_t method_bytes(const struct diff *d, uint32_t id)
{
	const struct cct_method *m = cct_method(&d->names.cct, id);

	return m ? strlen(strings_get(&d->names.strings, m->class_name)) +
		       strlen(strings_get(&d->names.strings, m->name))
		 : 0;
}

static json_t *method_json(const struct diff *d, uint32_t id)
{
	const struct cct_method *m = cct_method(&d->names.cct, id);

	return m ? json_sprintf("%s.%s", strings_get(&d->names.strings, m->class_name),
				strings_get(&d->names.strings, m->name))
		 : json_string("");
}

static size_t path_bytes(const struct diff *d, uint32_t node)
{
	size_t bytes = 0;

	for (unsigned i = 0; node && i < FRAMES_MAX; i++) {
		const struct cct_node *n = cct_node(&d->names.cct, node);

		bytes += method_bytes(d, n->method);
		node = n->parent;
	}
	return bytes;
}

static json_t *path_json(const struct diff *d, uint32_t node)
{
	_cleanup_json_ json_t *path = json_array();

	for (unsigned i = 0; node && i < FRAMES_MAX; i++) {
		const struct cct_node *n = cct_node(&d->names.cct, node);

		if (json_array_append_new(path, method_json(d, n->method)) < 0)
			return NULL;
		node = n->parent;
	}
	return TAKE_PTR(path);
}

/* False, with nothing taken, when the document has no room for so many bytes of names. */
static bool take_names(struct diff_writer *w, size_t bytes)
{
	if (bytes > w->name_bytes_left)
		return false;
	w->name_bytes_left -= bytes;
	return true;
}

static json_t *contexts_json(struct diff_writer *w, const struct diff_row *r)
{
	const struct diff *d = w->diff;
	_cleanup_json_ json_t *contexts = json_array();

	for (size_t i = 0; i < r->context_count && i < CONTEXTS_MAX; i++) {
		const struct diff_context *c = &d->contexts[r->first_context + i];

		if (!take_names(w, path_bytes(d, c->watch) + path_bytes(d, c->trap)))
			break;
		if (json_array_append_new(contexts,
					  json_pack("{s:[f,f], s:o, s:o}", "fraction", c->share[0],
						    c->share[1], "watch", path_json(d, c->watch),
						    "trap", path_json(d, c->trap))) < 0)
			return NULL;
	}
	return TAKE_PTR(contexts);
}

/* Of an allocation site "watch" is the class, and "trap" the method that allocates. */
static json_t *row_json(struct diff_writer *w, const struct diff_row *r)
{
	const struct diff *d = w->diff;
	const struct diff_kind *k = &d->kinds[r->kind];
	_cleanup_json_ json_t *contexts = contexts_json(w, r);

	if (!contexts)
		return NULL;
	return with_test(json_pack("{s:s, s:o, s:o, s:I, s:b, s:I, s:O}", "kind",
				   k->pairs ? k->pairs->name : "objects", "watch",
				   k->pairs ? method_json(d, r->watch)
					    : json_string(strings_get(&d->names.strings, r->watch)),
				   "trap", method_json(d, r->trap), "count", (json_int_t)r->count,
				   "explains", (int)r->explains, "contexts_total",
				   (json_int_t)r->context_count, "contexts", contexts),
			 &r->test);
}

static json_t *rows_json(struct diff_writer *w, size_t limit)
{
	const struct diff *d = w->diff;
	_cleanup_json_ json_t *rows = json_array();

	for (size_t i = 0; i < d->row_count && i < limit; i++) {
		const struct diff_row *r = &d->rows[i];

		if (!take_names(w, method_bytes(d, r->trap) +
				       (d->kinds[r->kind].pairs
					    ? method_bytes(d, r->watch)
					    : strlen(strings_get(&d->names.strings, r->watch)))))
			break;
		if (json_array_append_new(rows, row_json(w, r)) < 0)
			return NULL;
	}
	return TAKE_PTR(rows);
}

/* ---------------------------------------------------------------- document */

static json_t *document_json(const struct diff *d, size_t limit)
{
	struct diff_writer w = {.diff = d, .name_bytes_left = NAME_BYTES_MAX};
	_cleanup_json_ json_t *rows = rows_json(&w, limit);
	json_int_t lost = 0;

	if (!rows)
		return NULL;
	for (int i = 0; i < LOSS_MAX; i++)
		lost += (json_int_t)d->losses[i];
	return json_pack("{s:i, s:{s:o, s:o, s:f, s:f, s:I, s:b, s:o, s:I, s:I, s:I, s:O}}",
			 "schema", DIFF_SCHEMA, "diff", "a", side_json(d->side[0]), "b",
			 side_json(d->side[1]), "level", DIFF_LEVEL, "drift", SHARE_DRIFT, "tested",
			 (json_int_t)d->tested, "different", (int)diff_is_shown(d), "kinds",
			 kinds_json(d), "rows_total", (json_int_t)d->row_count, "rows_omitted",
			 (json_int_t)(d->row_count - json_array_size(rows)), "names_lost", lost,
			 "rows", rows);
}

int diff_json_write(FILE *out, const void *diff, size_t rows)
{
	_cleanup_json_ json_t *document = document_json(diff, rows);

	if (!document || json_dumpf(document, out, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) < 0 ||
	    fputc('\n', out) == EOF)
		return -ENOMEM;
	return 0;
}
