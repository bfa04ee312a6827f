#include "compare/side_json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/json.h"
#include "common/utf8.h"
#include "compare/members.h"

/* What a record, or a server, may say of a sum is larger than an integer of JSON may be. */
#define JSON_INT_MAX 0x1p62

#define SCHEMA 1

/* As many values a member has at most: four of a node, ten of a place, names with their excess. */
#define VALUES_MAX (1u << 19)

/* More nanoseconds of CPU time than that are a lie: a thousand processors for a day. So are more
 * bytes. */
#define AMOUNT_MAX 1e17

/* Sums are no smaller, however little the windows of a merge weigh, and neither is the number of
 * equal observations that would have them. What is computed of them is finite then. */
#define AMOUNT_MIN 1e-6

/* Parts may come to so much of the whole, each of them rounded to a whole number. */
#define ROUNDED 1.01

/* No window is shorter. */
#define SECONDS_MIN 1e-3

/* ---------------------------------------------------------------- writing */

static json_t *nodes_json(const struct compare_side *s)
{
	json_t *parents = json_array(), *methods = json_array();
	json_t *ns = json_array(), *ticks = json_array();

	for (size_t i = 0; i < s->node_count; i++) {
		const struct compare_node *n = &s->nodes[i];
		double time = fmin(rint(n->ns), JSON_INT_MAX);
		double count = time > 0 ? fmin(fmax(rint(n->ticks), 1), JSON_INT_MAX) : 0;

		parents = json_appended(parents, json_integer(n->parent));
		methods = json_appended(methods, json_integer(n->method));
		ns = json_appended(ns, json_integer((json_int_t)time));
		ticks = json_appended(ticks, json_integer((json_int_t)count));
	}
	return JSON_OBJECT({"parent", parents}, {"method", methods}, {"ns", ns}, {"ticks", ticks});
}

/* By unit: what amounts are called. */
static const char *const unit_names[] = {"cpu", "bytes"};
static const char *const amount_names[] = {"ns", "bytes"};

/* The object with sums of a side. */
static json_t *with_sums(json_t *object, const struct compare_side *s,
			 const struct compare_sums *sums)
{
	return json_joined(object, JSON_OBJECT({amount_names[s->unit], json_real(sums->amount)},
					       {"squares", json_real(sums->squares)},
					       {"count", json_real(sums->count)}));
}

static json_t *kinds_json(const struct compare_side *s)
{
	json_t *kinds = json_array(), *object;

	for (size_t i = 0; i < PAIR_KINDS; i++) {
		Jxp__Kind kind = pair_kinds[i].kind;

		if (!s->kinds[kind].asked)
			continue;
		object = with_sums(JSON_OBJECT({"kind", json_string(pair_kinds[i].name)},
					       {"excess", json_real(s->kinds[kind].excess)},
					       {"freedom", json_real(s->kinds[kind].freedom)},
					       {"after", json_real(s->kinds[kind].after)}),
				   s, &s->kinds[kind].sums);
		if (s->unit == COMPARE_CHECKED)
			object = json_with(object, "checked",
					   with_sums(json_object(), s, &s->kinds[kind].checked));
		kinds = json_appended(kinds, object);
	}
	return kinds;
}

static json_t *waste_json(const struct compare_side *s, const struct compare_waste *w)
{
	return with_sums(JSON_OBJECT({"kind", json_string(pair_kind_find(w->at.kind)->name)},
				     {"method", json_integer((json_int_t)w->at.method)},
				     {"place", json_string(w->at.name)},
				     {"spill", json_boolean((int)w->at.spill)}),
			 s, &w->sums);
}

static json_t *method_json(const struct compare_side *s, char *const *name)
{
	(void)s;
	return json_string(*name);
}

/* A thousandth says enough of a variance. */
#define EXCESS_PARTS 1000

static json_t *excess_json(const struct compare_side *s)
{
	json_t *list = json_array();

	for (size_t i = 1; i <= s->method_count; i++)
		list = json_appended(
		    list,
		    json_real(rint(fmin(s->excess[i], AMOUNT_MAX) * EXCESS_PARTS) / EXCESS_PARTS));
	return list;
}

json_t *compare_side_json(const struct compare_side *s)
{
	json_t *side = JSON_OBJECT(
	    {"unit", json_string(unit_names[s->unit])},
	    {"methods", JSON_ROWS(s, s->methods, s->method_count, SIZE_MAX, method_json)},
	    {"kinds", kinds_json(s)},
	    {"waste", JSON_ROWS(s, s->waste, s->waste_count, SIZE_MAX, waste_json)},
	    {"waste_omitted", json_integer((json_int_t)s->waste_omitted)});

	if (s->unit == COMPARE_CHECKED)
		return side;
	if (s->excess)
		side = json_joined(side, JSON_OBJECT({"excess", excess_json(s)},
						     {"freedom", json_real(s->freedom)}));
	return json_joined(
	    side, JSON_OBJECT({"cpu_ns", json_real(s->whole_ns)}, {"ticks", json_real(s->ticks)},
			      {"after", json_real(s->after)}, {"nodes", nodes_json(s)},
			      {"nodes_omitted", json_integer((json_int_t)s->nodes_omitted)}));
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

/* The same of what reports of before do not have; *out is as it was then. */
static bool number_or_none(const json_t *value, double most, double *out)
{
	return !value || number(value, most, out);
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

static bool can_be(const struct compare_sums *sums)
{
	double equal = sums->amount * sums->amount / sums->squares;

	if (sums->amount == 0 || sums->squares == 0)
		return sums->amount == sums->squares;
	return sums->amount >= AMOUNT_MIN && equal >= AMOUNT_MIN && equal <= AMOUNT_MAX;
}

static bool read_sums(const json_t *object, enum compare_unit unit, struct compare_sums *sums)
{
	return number(json_object_get(object, amount_names[unit]), AMOUNT_MAX, &sums->amount) &&
	       number(json_object_get(object, "squares"), AMOUNT_MAX * AMOUNT_MAX,
		      &sums->squares) &&
	       number(json_object_get(object, "count"), AMOUNT_MAX, &sums->count) && can_be(sums);
}

static Jxp__Kind read_kind(const json_t *object)
{
	return pair_kind_named(json_string_value(json_object_get(object, "kind")));
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

/* Only a merge whose windows tell it has them. */
static int read_excess(struct compare_side *s, const json_t *list, const json_t *freedom)
{
	if (!list)
		return 0;
	if (json_array_size(list) != s->method_count || !number(freedom, AMOUNT_MAX, &s->freedom))
		return -EBADMSG;
	s->excess = calloc(s->method_count + 1, sizeof(*s->excess));
	if (!s->excess)
		return -ENOMEM;
	for (size_t i = 0; i < s->method_count; i++)
		if (!number(json_array_get(list, i), AMOUNT_MAX, &s->excess[i + 1]))
			return -EBADMSG;
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
	double sum = 0;

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
		    !number(json_array_get(ns, i), AMOUNT_MAX, &n->ns) ||
		    !number(json_array_get(ticks, i), AMOUNT_MAX, &n->ticks) ||
		    (n->ns == 0) != (n->ticks == 0) || (n->ns > 0 && (n->ns < 1 || n->ticks < 1)) ||
		    depths[n->parent] == COMPARE_DEPTH_MAX)
			return -EBADMSG;
		sum += n->ns;
		depths[i + 1] = (uint16_t)(depths[n->parent] + 1);
	}
	s->node_count = count;
	return sum <= ROUNDED * s->whole_ns + (double)count ? 0 : -EBADMSG;
}

/* No more of the checked bytes of a kind are wasteful than there are. */
static bool is_part(const struct compare_side *s, Jxp__Kind kind, const struct compare_sums *sums)
{
	return s->unit == COMPARE_CPU ||
	       sums->amount <= ROUNDED * s->kinds[kind].checked.amount + sums->count;
}

static int read_kinds(struct compare_side *s, const json_t *list)
{
	if (!json_is_array(list))
		return -EBADMSG;
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *object = json_array_get(list, i);
		Jxp__Kind kind = read_kind(object);

		if (kind == JXP__KIND__KIND_NONE ||
		    !read_sums(object, s->unit, &s->kinds[kind].sums))
			return -EBADMSG;
		if (s->unit == COMPARE_CHECKED && !read_sums(json_object_get(object, "checked"),
							     s->unit, &s->kinds[kind].checked))
			return -EBADMSG;
		if (!is_part(s, kind, &s->kinds[kind].sums) ||
		    !number_or_none(json_object_get(object, "excess"), AMOUNT_MAX,
				    &s->kinds[kind].excess) ||
		    !number_or_none(json_object_get(object, "freedom"), AMOUNT_MAX,
				    &s->kinds[kind].freedom) ||
		    !number_or_none(json_object_get(object, "after"), LIMIT_CPU_AFTER,
				    &s->kinds[kind].after))
			return -EBADMSG;
		s->kinds[kind].asked = true;
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
		Jxp__Kind kind = read_kind(object);
		struct compare_waste *w = &s->waste[i];

		if (kind == JXP__KIND__KIND_NONE || !place || !json_is_boolean(spill) ||
		    !index_of(json_object_get(object, "method"), s->method_count, &w->at.method) ||
		    !read_sums(object, s->unit, &w->sums) || !is_part(s, kind, &w->sums))
			return -EBADMSG;
		w->at.kind = kind;
		w->at.spill = json_is_true(spill);
		w->at.name = shown(place);
		if (!w->at.name)
			return -ENOMEM;
		s->waste_count = i + 1;
	}
	return 0;
}

/* Reports were of CPU time before they had units. */
static bool read_unit(const json_t *c, enum compare_unit *unit)
{
	const json_t *member = json_object_get(c, "unit");
	const char *name = member ? json_string_value(member) : unit_names[COMPARE_CPU];

	for (int u = COMPARE_CPU; u <= COMPARE_CHECKED && name; u++)
		if (strcmp(unit_names[u], name) == 0) {
			*unit = (enum compare_unit)u;
			return true;
		}
	return false;
}

static int read_comparison(struct compare_side *s, const json_t *c)
{
	int r;

	if (!read_unit(c, &s->unit))
		return -EBADMSG;
	r = read_methods(s, json_object_get(c, "methods"));
	if (r == 0 && s->unit == COMPARE_CPU) {
		if (!number(json_object_get(c, "cpu_ns"), AMOUNT_MAX, &s->whole_ns) ||
		    !(s->whole_ns >= 1) ||
		    !number(json_object_get(c, "ticks"), AMOUNT_MAX, &s->ticks) ||
		    !(s->ticks >= 1) ||
		    !number_or_none(json_object_get(c, "after"), LIMIT_CPU_AFTER, &s->after))
			return -EBADMSG;
		r = read_nodes(s, json_object_get(c, "nodes"));
		if (r == 0)
			r = read_excess(s, json_object_get(c, "excess"),
					json_object_get(c, "freedom"));
	}
	if (r == 0)
		r = read_kinds(s, json_object_get(c, "kinds"));
	if (r == 0)
		r = read_waste(s, json_object_get(c, "waste"));
	return r == 0 && compare_side_is_empty(s) ? -EBADMSG : r;
}

/* "org.example.Main.find" of { "class", "method" }, named as the comparison names it, or "". NULL
 * without memory. */
static char *read_method(const json_t *object)
{
	const char *class_name = json_string_value(json_object_get(object, "class"));
	const char *method = json_string_value(json_object_get(object, "method"));
	char owner[2 * COMPARE_NAME_MAX], name[2 * sizeof(owner)];

	if (!class_name || !method)
		return strdup("");
	(void)snprintf(owner, sizeof(owner), "%s", class_name); /* May be cut, and the name. */
	compare_unnumber(owner);
	(void)snprintf(name, sizeof(name), "%s.%s", owner, method);
	return shown(name);
}

/* Nothing is computed from them: what is none is left out. 0 or -ENOMEM. */
static int read_problems(struct compare_side *s, const json_t *list)
{
	static const char *const members[COMPARE_PROBLEM_METHODS] = {"operation", "watch", "trap"};
	size_t count = json_array_size(list);

	count = count < COMPARE_PROBLEMS_MAX ? count : COMPARE_PROBLEMS_MAX;
	s->problems = calloc(count + 1, sizeof(*s->problems));
	if (!s->problems)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const json_t *object = json_array_get(list, i);
		const char *sentence = json_string_value(json_object_get(object, "sentence"));
		const char *main_kind = json_string_value(json_object_get(object, "pair_kind"));
		struct compare_problem *p = &s->problems[s->problem_count];

		if (!sentence)
			continue;
		s->problem_count++;
		for (size_t k = 0; k < PAIR_KINDS; k++) {
			p->kinds[pair_kinds[k].kind] =
			    json_object_get(json_object_get(object, "pairs"), pair_kinds[k].name);
			if (main_kind && strcmp(main_kind, pair_kinds[k].name) == 0)
				p->main_kind = pair_kinds[k].kind;
		}
		p->sentence = shown(sentence);
		if (!p->sentence)
			return -ENOMEM;
		for (size_t m = 0; m < COMPARE_PROBLEM_METHODS; m++) {
			p->methods[m] = read_method(json_object_get(object, members[m]));
			if (!p->methods[m])
				return -ENOMEM;
		}
	}
	return 0;
}

static void read_fact(char fact[COMPARE_FACT_BYTES], const json_t *window, const char *key)
{
	const char *text = json_string_value(json_object_get(window, key));

	(void)utf8_sanitize(fact, COMPARE_FACT_BYTES, text ? text : ""); /* May be cut. */
}

static unsigned windows_of(const json_t *object)
{
	json_int_t windows = json_integer_value(json_object_get(object, "windows"));

	return windows > 0 && windows <= UINT16_MAX ? (unsigned)windows : 0;
}

static int read_note(struct compare_note *n, const json_t *note)
{
	char words[COMPARE_FACT_BYTES], first[COMPARE_FACT_BYTES], detail[COMPARE_FACT_BYTES];

	read_fact(words, note, "words");
	read_fact(first, note, "first");
	read_fact(detail, note, "detail");
	n->windows = windows_of(note);
	n->skipped = json_is_true(json_object_get(note, "skipped"));
	return asprintf(&n->words, "%s%s%s%s%s%s", words, first[0] ? " (first " : "", first,
			detail[0] ? ": " : "", detail, first[0] ? ")" : "") < 0
		   ? -ENOMEM
		   : 0;
}

/* Those of a merge; a report of before has no words for them. */
static int read_merged(struct compare_side *s, const json_t *merged)
{
	const json_t *notes = json_object_get(merged, "notes");
	const json_t *kinds = json_object_get(merged, "kinds");
	size_t count = json_array_size(notes);
	int r = 0;

	for (size_t i = 0; i < json_array_size(kinds); i++) {
		const json_t *k = json_array_get(kinds, i);
		const char *name = json_string_value(json_object_get(k, "kind"));
		Jxp__Kind kind = name ? kind_of_option(name, strlen(name)) : JXP__KIND__KIND_NONE;

		s->kinds[kind].windows = windows_of(k);
		(void)number(json_object_get(k, "duration_s"), AMOUNT_MAX,
			     &s->kinds[kind].elapsed_s); /* Else 0. */
	}
	for (size_t i = 0; i < count && i < COMPARE_NOTES_MAX && r == 0; i++) {
		const json_t *note = json_array_get(notes, i);

		if (!json_is_string(json_object_get(note, "words")))
			continue;
		r = read_note(&s->notes[s->note_count], note);
		s->note_count += r == 0;
	}
	return r;
}

/* Reads what people are told; nothing is computed from it but the rate. */
static bool read_window(struct compare_side *s, const json_t *window)
{
	const json_t *merged = json_object_get(window, "merged");
	json_int_t windows = json_integer_value(json_object_get(merged, "windows"));
	json_int_t skipped = json_integer_value(json_object_get(merged, "skipped"));
	json_int_t pid = json_integer_value(json_object_get(window, "pid"));

	read_fact(s->id, window, "id");
	read_fact(s->app, window, "app");
	read_fact(s->jdk, window, "jdk");
	read_fact(s->start, window, "start");
	s->pid = pid > 0 && pid <= INT32_MAX ? (int)pid : 0;
	s->windows = windows > 0 && windows <= UINT16_MAX ? (unsigned)windows : 1;
	s->skipped = skipped > 0 && skipped <= UINT16_MAX ? (unsigned)skipped : 0;
	return number(json_object_get(window, "duration_s"), AMOUNT_MAX, &s->elapsed_s) &&
	       (s->elapsed_s == 0 || s->elapsed_s >= SECONDS_MIN);
}

/* These members are read of a report. */
enum { SCHEMA_MEMBER, WINDOW, COMPARISON, PROBLEMS, MEMBERS };

static int find_members(struct member members[MEMBERS], const char *text, size_t size,
			struct err *err)
{
	if (size > COMPARE_REPORT_MAX)
		return err_set(err, EBADMSG, "it has more than %zu MiB, and no report has",
			       COMPARE_REPORT_MAX >> 20);
	if (size == 0)
		return err_set(err, EBADMSG, "it is empty");
	if (members_find(text, size, members, MEMBERS, err) < 0)
		return -EBADMSG;
	for (int i = 0; i < MEMBERS; i++)
		if (members[i].values > VALUES_MAX)
			return err_set(err, EBADMSG,
				       "its '%s' has more than %u values, and no report's has",
				       members[i].name, VALUES_MAX);
	return 0;
}

/* NULL: it has none, or none that is JSON. */
static json_t *parse(const struct member *m)
{
	return m->text ? json_loadb(m->text, m->size, JSON_DECODE_ANY, NULL) : NULL;
}

static int check_report(const json_t *schema, const json_t *window, struct err *err)
{
	if (!json_is_object(window) || !json_is_integer(schema))
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
	struct member members[MEMBERS] = {
	    {.name = "schema"}, {.name = "window"}, {.name = "comparison"}, {.name = "problems"}};
	_cleanup_json_ json_t *schema = NULL;
	_cleanup_json_ json_t *window = NULL;
	_cleanup_json_ json_t *comparison = NULL;
	_cleanup_json_ json_t *problems = NULL;
	struct compare_side side = {.pid = 0};
	int r = find_members(members, text, size, err);

	if (r < 0)
		return r;
	schema = parse(&members[SCHEMA_MEMBER]);
	window = parse(&members[WINDOW]);
	r = check_report(schema, window, err);
	if (r < 0)
		return r;
	if (!members[COMPARISON].text)
		return err_set(err, ENODATA,
			       "it is a report of an older jxperf, which has nothing to compare: "
			       "make it again");
	comparison = parse(&members[COMPARISON]);
	if (json_is_null(comparison))
		return err_set(err, ENODATA,
			       "its window has nothing to compare: profile while the program "
			       "runs, and for longer");
	(void)utf8_sanitize(side.name, sizeof(side.name), name); /* May be cut. */
	problems = parse(&members[PROBLEMS]);
	r = read_window(&side, window) ? read_comparison(&side, comparison) : -EBADMSG;
	if (r == 0)
		r = read_merged(&side, json_object_get(window, "merged"));
	if (r == 0)
		r = read_problems(&side, problems);
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
