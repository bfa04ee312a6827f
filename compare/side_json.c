#include "compare/side_json.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/utf8.h"

#define SCHEMA 1

/* More CPU time than that is a lie: a thousand processors for a day. */
#define NS_MAX 1e17

/* No window is shorter. */
#define SECONDS_MIN 1e-3

static void cleanup_json(json_t **json)
{
	json_decref(*json);
}
#define _cleanup_json_ _cleanup_(cleanup_json)

/* ---------------------------------------------------------------- writing */

static json_t *methods_json(const struct compare_side *s)
{
	_cleanup_json_ json_t *methods = json_array();

	for (size_t i = 0; i < s->method_count; i++)
		if (json_array_append_new(methods, json_string(s->methods[i])) < 0)
			return NULL;
	return TAKE_PTR(methods);
}

static json_t *nodes_json(const struct compare_side *s)
{
	_cleanup_json_ json_t *parents = json_array();
	_cleanup_json_ json_t *methods = json_array();
	_cleanup_json_ json_t *ns = json_array();
	_cleanup_json_ json_t *ticks = json_array();

	for (size_t i = 0; i < s->node_count; i++) {
		const struct compare_node *n = &s->nodes[i];
		double time = rint(n->ns), count = time > 0 ? fmax(rint(n->ticks), 1) : 0;

		if (json_array_append_new(parents, json_integer(n->parent)) < 0 ||
		    json_array_append_new(methods, json_integer(n->method)) < 0 ||
		    json_array_append_new(ns, json_integer((json_int_t)time)) < 0 ||
		    json_array_append_new(ticks, json_integer((json_int_t)count)) < 0)
			return NULL;
	}
	return json_pack("{s:O, s:O, s:O, s:O}", "parent", parents, "method", methods, "ns", ns,
			 "ticks", ticks);
}

static json_t *kinds_json(const struct compare_side *s)
{
	_cleanup_json_ json_t *kinds = json_array();

	for (size_t i = 0; i < PAIR_KINDS; i++) {
		const struct pair_kind *kind = &pair_kinds[i];
		const struct compare_sums *sums = &s->kinds[kind->kind].sums;

		if (s->kinds[kind->kind].asked &&
		    json_array_append_new(
			kinds, json_pack("{s:s, s:f, s:f, s:f}", "kind", kind->name, "ns", sums->ns,
					 "squares", sums->squares, "count", sums->count)) < 0)
			return NULL;
	}
	return TAKE_PTR(kinds);
}

static json_t *waste_json(const struct compare_side *s)
{
	_cleanup_json_ json_t *list = json_array();

	for (size_t i = 0; i < s->waste_count; i++) {
		const struct compare_waste *w = &s->waste[i];

		if (json_array_append_new(list, json_pack("{s:s, s:I, s:s, s:b, s:f, s:f, s:f}",
							  "kind", pair_kind_find(w->kind)->name,
							  "method", (json_int_t)w->method, "place",
							  w->place, "spill", (int)w->spill, "ns",
							  w->sums.ns, "squares", w->sums.squares,
							  "count", w->sums.count)) < 0)
			return NULL;
	}
	return TAKE_PTR(list);
}

json_t *compare_side_json(const struct compare_side *s)
{
	return json_pack("{s:f, s:f, s:o, s:o, s:I, s:o, s:o, s:I}", "cpu_ns", s->whole_ns, "ticks",
			 s->ticks, "methods", methods_json(s), "nodes", nodes_json(s),
			 "nodes_omitted", (json_int_t)s->nodes_omitted, "kinds", kinds_json(s),
			 "waste", waste_json(s), "waste_omitted", (json_int_t)s->waste_omitted);
}

/* ---------------------------------------------------------------- reading */

static bool number(const json_t *value, double most, double *out)
{
	double d = json_number_value(value); /* 0 of what is none. */

	if (!json_is_number(value) || !(d >= 0) || !(d <= most))
		return false;
	*out = d;
	return true;
}

static bool index_of(const json_t *value, size_t count, uint32_t *out)
{
	json_int_t n = json_integer_value(value);

	if (!json_is_integer(value) || n < 0 || (uint64_t)n > count)
		return false;
	*out = (uint32_t)n;
	return true;
}

/* NULL without memory. */
static char *shown(const char *text)
{
	char name[COMPARE_NAME_MAX];

	(void)utf8_sanitize(name, sizeof(name), text); /* May be cut. */
	return strdup(name);
}

static bool read_sums(const json_t *object, struct compare_sums *sums)
{
	return number(json_object_get(object, "ns"), NS_MAX, &sums->ns) &&
	       number(json_object_get(object, "squares"), NS_MAX * NS_MAX, &sums->squares) &&
	       number(json_object_get(object, "count"), NS_MAX, &sums->count) &&
	       (sums->ns == 0) == (sums->squares == 0);
}

static const struct pair_kind *read_kind(const json_t *object)
{
	const char *name = json_string_value(json_object_get(object, "kind"));

	for (size_t i = 0; i < PAIR_KINDS && name; i++)
		if (strcmp(pair_kinds[i].name, name) == 0)
			return &pair_kinds[i];
	return NULL;
}

/* 0, -EBADMSG or -ENOMEM, of each. */
static int read_methods(struct compare_side *s, const json_t *list)
{
	size_t count = json_array_size(list);

	if (!json_is_array(list) || count > COMPARE_NODES_MAX + COMPARE_WASTE_MAX)
		return -EBADMSG;
	s->methods = calloc(count + 1, sizeof(*s->methods));
	if (!s->methods)
		return -ENOMEM;
	for (; s->method_count < count; s->method_count++) {
		const char *name = json_string_value(json_array_get(list, s->method_count));

		if (!name)
			return -EBADMSG;
		s->methods[s->method_count] = shown(name);
		if (!s->methods[s->method_count])
			return -ENOMEM;
	}
	return 0;
}

static int read_nodes(struct compare_side *s, const json_t *object)
{
	const json_t *parents = json_object_get(object, "parent");
	const json_t *methods = json_object_get(object, "method");
	const json_t *ns = json_object_get(object, "ns");
	const json_t *ticks = json_object_get(object, "ticks");
	size_t count = json_array_size(parents);
	_cleanup_free_ uint16_t *depths = NULL; /* by node */

	if (!json_is_array(parents) || count > COMPARE_NODES_MAX ||
	    json_array_size(methods) != count || json_array_size(ns) != count ||
	    json_array_size(ticks) != count)
		return -EBADMSG;
	s->nodes = calloc(count + 1, sizeof(*s->nodes));
	depths = calloc(count + 1, sizeof(*depths));
	if (!s->nodes || !depths)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct compare_node *n = &s->nodes[i];

		if (!index_of(json_array_get(parents, i), i, &n->parent) ||
		    !index_of(json_array_get(methods, i), s->method_count, &n->method) ||
		    !number(json_array_get(ns, i), NS_MAX, &n->ns) ||
		    !number(json_array_get(ticks, i), NS_MAX, &n->ticks) ||
		    (n->ns == 0) != (n->ticks == 0) || depths[n->parent] == COMPARE_DEPTH_MAX)
			return -EBADMSG;
		depths[i + 1] = (uint16_t)(depths[n->parent] + 1);
	}
	s->node_count = count;
	return 0;
}

static int read_kinds(struct compare_side *s, const json_t *list)
{
	if (!json_is_array(list))
		return -EBADMSG;
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *object = json_array_get(list, i);
		const struct pair_kind *kind = read_kind(object);

		if (!kind || !read_sums(object, &s->kinds[kind->kind].sums))
			return -EBADMSG;
		s->kinds[kind->kind].asked = true;
	}
	return 0;
}

static int read_waste(struct compare_side *s, const json_t *list)
{
	size_t count = json_array_size(list);

	if (!json_is_array(list) || count > COMPARE_WASTE_MAX)
		return -EBADMSG;
	s->waste = calloc(count + 1, sizeof(*s->waste));
	if (!s->waste)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const json_t *object = json_array_get(list, i);
		const char *place = json_string_value(json_object_get(object, "place"));
		const json_t *spill = json_object_get(object, "spill");
		const struct pair_kind *kind = read_kind(object);
		struct compare_waste *w = &s->waste[i];

		if (!kind || !place || !json_is_boolean(spill) ||
		    !index_of(json_object_get(object, "method"), s->method_count, &w->method) ||
		    !read_sums(object, &w->sums))
			return -EBADMSG;
		w->kind = kind->kind;
		w->spill = json_is_true(spill);
		w->place = shown(place);
		if (!w->place)
			return -ENOMEM;
		s->waste_count = i + 1;
	}
	return 0;
}

static int read_comparison(struct compare_side *s, const json_t *c)
{
	int r;

	if (!number(json_object_get(c, "cpu_ns"), NS_MAX, &s->whole_ns) || !(s->whole_ns >= 1) ||
	    !number(json_object_get(c, "ticks"), NS_MAX, &s->ticks) || !(s->ticks >= 1))
		return -EBADMSG;
	r = read_methods(s, json_object_get(c, "methods"));
	if (r == 0)
		r = read_nodes(s, json_object_get(c, "nodes"));
	if (r == 0)
		r = read_kinds(s, json_object_get(c, "kinds"));
	return r < 0 ? r : read_waste(s, json_object_get(c, "waste"));
}

static void read_fact(char fact[COMPARE_FACT_BYTES], const json_t *window, const char *key)
{
	const char *text = json_string_value(json_object_get(window, key));

	(void)utf8_sanitize(fact, COMPARE_FACT_BYTES, text ? text : ""); /* May be cut. */
}

/* What people are told; nothing is computed from it but the rate. */
static bool read_window(struct compare_side *s, const json_t *window)
{
	json_int_t windows =
	    json_integer_value(json_object_get(json_object_get(window, "merged"), "windows"));
	json_int_t pid = json_integer_value(json_object_get(window, "pid"));

	read_fact(s->id, window, "id");
	read_fact(s->app, window, "app");
	read_fact(s->jdk, window, "jdk");
	read_fact(s->start, window, "start");
	s->pid = pid > 0 && pid <= INT32_MAX ? (int)pid : 0;
	s->windows = windows > 0 && windows <= UINT16_MAX ? (unsigned)windows : 1;
	return number(json_object_get(window, "duration_s"), NS_MAX, &s->elapsed_s) &&
	       (s->elapsed_s == 0 || s->elapsed_s >= SECONDS_MIN);
}

/* Does it at least begin like a report? */
static bool begins_as_object(const char *text, size_t size)
{
	size_t at = 0;

	while (at < size && strchr(" \t\r\n", text[at]) && text[at])
		at++;
	return at < size && text[at] == '{';
}

static json_t *parse(const char *text, size_t size, struct err *err)
{
	json_error_t why;
	json_t *report = NULL;

	if (size > COMPARE_REPORT_MAX)
		(void)err_set(err, EBADMSG, "it has more than %zu MiB, and no report has",
			      COMPARE_REPORT_MAX >> 20);
	else if (size == 0)
		(void)err_set(err, EBADMSG, "it is empty");
	else if (!(report = json_loadb(text, size, 0, &why)))
		(void)err_set(err, EBADMSG,
			      begins_as_object(text, size) &&
				      json_error_code(&why) == json_error_premature_end_of_input
				  ? "it ends in the middle of a report: make it again"
				  : "it is no JSON: use a report that was made with --format "
				    "json");
	return report;
}

static int check_report(const json_t *report, struct err *err)
{
	const json_t *schema = json_object_get(report, "schema");

	if (!json_is_object(json_object_get(report, "window")) || !json_is_integer(schema))
		return err_set(err, EBADMSG,
			       "it is no report of jxperf: use one that was made with --format "
			       "json");
	if (json_integer_value(schema) != SCHEMA)
		return err_set(err, EBADMSG,
			       "it is a report of schema %lld and this jxperfctl knows %d: compare "
			       "it with a jxperfctl of its version",
			       (long long)json_integer_value(schema), SCHEMA);
	return 0;
}

int compare_side_read(struct compare_side *s, const char *name, const void *text, size_t size,
		      struct err *err)
{
	_cleanup_json_ json_t *report = parse(text, size, err);
	struct compare_side side = {.pid = 0};
	const json_t *comparison;
	int r;

	if (!report)
		return -EBADMSG;
	r = check_report(report, err);
	if (r < 0)
		return r;
	comparison = json_object_get(report, "comparison");
	if (!comparison)
		return err_set(err, ENODATA,
			       "it is a report of an older jxperf, which has nothing to compare: "
			       "make it again");
	if (!json_is_object(comparison))
		return err_set(err, ENODATA,
			       "its window has no CPU time to compare: profile with kind cpu, and "
			       "while the program runs");
	(void)utf8_sanitize(side.name, sizeof(side.name), name); /* May be cut. */
	r = read_window(&side, json_object_get(report, "window"))
		? read_comparison(&side, comparison)
		: -EBADMSG;
	if (r < 0) {
		compare_side_release(&side);
		return err_set(err, -r,
			       r == -ENOMEM ? "no memory for it"
					    : "its figures are none that jxperf writes: make it "
					      "again");
	}
	*s = side;
	return 0;
}
