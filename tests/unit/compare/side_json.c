#include "tests/unit/support/test.h"

#include <sys/resource.h>

#include <errno.h>

#include "common/cleanup.h"
#include "common/err.h"
#include "compare/side_json.h"
#include "tests/unit/support/compare_side_fixture.h"

static char *report(json_t *comparison)
{
	json_t *document = json_pack("{s:i, s:{s:s, s:i, s:s, s:s, s:s, s:f, s:{s:i}}, s:o}",
				     "schema", 1, "window", "id", "w7", "pid", 4242, "app", "shop",
				     "jdk", "17", "start", "today", "duration_s", 12.5, "merged",
				     "windows", 3, "comparison", comparison);
	char *text = json_dumps(document, JSON_INDENT(1));

	assert_non_null(text);
	json_decref(document);
	return text;
}

static struct compare_side sample(void)
{
	struct compare_side s = side_of(1, 2000);

	side_ticks(&s, "main run find", 300);
	side_ticks(&s, "main write", 100);
	side_waste(&s, JXP__KIND__KIND_DEAD_STORE, "find", "org.example.Main.next", false, 40);
	side_waste(&s, JXP__KIND__KIND_SILENT_LOAD, "write", "", true, 4);
	s.excess = calloc(s.method_count + 1, sizeof(*s.excess));
	assert_non_null(s.excess);
	s.excess[side_method(&s, "find")] = 0.75;
	s.freedom = 5;
	return s;
}

TEST(a_side_is_read_as_it_was_written)
{
	_cleanup_(compare_side_release) struct compare_side from = sample(), to = {.pid = 0};
	_cleanup_free_ char *text = report(compare_side_json(&from));
	struct err err = {""};

	assert_int_equal(compare_side_read(&to, "a.json", text, strlen(text), &err), 0);
	assert_string_equal(to.name, "a.json");
	assert_string_equal(to.id, "w7");
	assert_string_equal(to.app, "shop");
	assert_int_equal(to.windows, 3);
	assert_float_equal(to.elapsed_s, 12.5, 1e-9);
	assert_float_equal(to.whole_ns, from.whole_ns, 1);
	assert_float_equal(to.ticks, 2000, 1e-6);
	assert_int_equal(to.method_count, from.method_count);
	assert_int_equal(to.node_count, from.node_count);
	for (size_t i = 1; i <= to.method_count; i++)
		assert_float_equal(to.excess[i], from.excess[i], 1e-9);
	assert_float_equal(to.freedom, 5, 0);
	for (size_t i = 0; i < to.node_count; i++) {
		assert_int_equal(to.nodes[i].parent, from.nodes[i].parent);
		assert_int_equal(to.nodes[i].method, from.nodes[i].method);
		assert_float_equal(to.nodes[i].ns, from.nodes[i].ns, 1);
		assert_string_equal(compare_side_method(&to, to.nodes[i].method),
				    compare_side_method(&from, from.nodes[i].method));
	}
	assert_true(to.kinds[JXP__KIND__KIND_DEAD_STORE].asked);
	assert_false(to.kinds[JXP__KIND__KIND_SILENT_STORE].asked);
	assert_int_equal(to.waste_count, 2);
	assert_string_equal(to.waste[0].at.name, "org.example.Main.next");
	assert_float_equal(to.waste[0].sums.count, 40, 1e-9);
	assert_true(to.waste[1].at.spill);
}

TEST(problems_are_those_that_the_report_names)
{
	static const char *const text =
	    "{\"schema\": 1, \"window\": {\"duration_s\": 2}, \"comparison\": {\"unit\": \"cpu\", "
	    "\"cpu_ns\": 9, "
	    "\"ticks\": 9, \"methods\": [], \"nodes\": {\"parent\": [], \"method\": [], \"ns\": "
	    "[], "
	    "\"ticks\": []}, \"kinds\": [], \"waste\": []}, \"problems\": [7, {\"sentence\": "
	    "\"Main.sum adds\", \"operation\": {\"class\": \"org.example.Main\", \"method\": "
	    "\"sum\"}, \"watch\": null, \"trap\": {\"class\": \"a.B$$Lambda$14/0x00007f2a0c0\", "
	    "\"method\": \"run\"}}]}";
	_cleanup_(compare_side_release) struct compare_side to = {.pid = 0};
	struct err err = {""};

	assert_int_equal(compare_side_read(&to, "a.json", text, strlen(text), &err), 0);
	assert_int_equal(to.problem_count, 1);
	assert_string_equal(to.problems[0].sentence, "Main.sum adds");
	assert_string_equal(to.problems[0].methods[0], "org.example.Main.sum");
	assert_string_equal(to.problems[0].methods[1], "");
	assert_string_equal(to.problems[0].methods[2], "a.B$$Lambda$.run");
}

TEST(a_side_of_checked_bytes_is_read_as_it_was_written)
{
	_cleanup_(compare_side_release) struct compare_side from = side_of(1, 1), to = {.pid = 0};
	_cleanup_free_ char *text = NULL;
	struct err err = {""};

	side_checked(&from, JXP__KIND__KIND_DEAD_STORE, 50);
	side_waste(&from, JXP__KIND__KIND_DEAD_STORE, "find", "org.example.Main.next", false, 40);
	text = report(compare_side_json(&from));
	assert_null(strstr(text, "\"ns\""));
	assert_int_equal(compare_side_read(&to, "a.json", text, strlen(text), &err), 0);
	assert_int_equal(to.unit, COMPARE_CHECKED);
	assert_float_equal(to.kinds[JXP__KIND__KIND_DEAD_STORE].checked.amount, 400, 1e-9);
	assert_float_equal(to.kinds[JXP__KIND__KIND_DEAD_STORE].sums.squares, 2560, 1e-9);
	assert_float_equal(to.waste[0].sums.amount, 320, 1e-9);
	assert_string_equal(compare_side_method(&to, to.waste[0].at.method), "find");
}

TEST(a_report_without_a_unit_is_of_cpu_time)
{
	_cleanup_(compare_side_release) struct compare_side from = sample(), to = {.pid = 0};
	json_t *comparison = compare_side_json(&from);
	_cleanup_free_ char *text = NULL;
	struct err err = {""};

	assert_int_equal(json_object_del(comparison, "unit"), 0);
	text = report(comparison);
	assert_int_equal(compare_side_read(&to, "a.json", text, strlen(text), &err), 0);
	assert_int_equal(to.unit, COMPARE_CPU);
	assert_float_equal(to.ticks, 2000, 1e-6);
}

static void assert_refused(const char *text, size_t size, int code, const char *words)
{
	struct compare_side side = {.pid = 0};
	struct err err = {""};

	assert_int_equal(compare_side_read(&side, "a.json", text, size, &err), -code);
	if (!strstr(err.message, words))
		fail_msg("'%s' without '%s'", err.message, words);
	assert_null(strchr(err.message, '\n'));
	assert_null(side.methods);
}

static void refused(const char *text, int code, const char *words)
{
	assert_refused(text, strlen(text), code, words);
}

TEST(what_is_no_report_is_refused_with_the_reason)
{
	_cleanup_(compare_side_release) struct compare_side from = sample();
	_cleanup_free_ char *text = report(compare_side_json(&from));

	assert_refused(NULL, 0, EBADMSG, "it is empty");
	assert_refused(text, strlen(text) / 2, EBADMSG, "ends in the middle");
	assert_refused(text, COMPARE_REPORT_MAX + 1, EBADMSG, "more than 64 MiB");
	refused("What to look at first\n", EBADMSG, "no JSON");
	refused("{\"schema\": 1, \"window\": {}} x", EBADMSG, "no JSON");
	refused("{\"schema\": 1, \"win\\\"dow\": {}}", EBADMSG, "no report of jxperf");
	refused("{\"a\": {\"schema\": 1, \"window\": {}}}", EBADMSG, "no report of jxperf");
	refused("{\"schema\": 1, \"window\": {\"a\" 1}}", EBADMSG, "no report of jxperf");
	refused("[1, 2]", EBADMSG, "no report of jxperf");
	refused("{\"schema\": 1}", EBADMSG, "no report of jxperf");
	refused("{\"schema\": 2, \"window\": {}}", EBADMSG, "schema 2");
	refused("{\"schema\": 1, \"window\": {}}", ENODATA, "older jxperf");
	refused("{\"schema\": 1, \"window\": {}, \"comparison\": null}", ENODATA,
		"nothing to compare");
	refused("{\"schema\": 1, \"window\": {}, \"comparison\": {}}", EBADMSG, "figures");
}

/* A member that nobody asked for takes no room, and one that has too much is not parsed. */
TEST(empty_objects_by_the_million_are_not_parsed)
{
	static const struct {
		const char *member;
		int code;
		const char *words;
	} cases[] = {{"pairs", ENODATA, "nothing to compare"},
		     {"comparison", EBADMSG, "'comparison' has more than 524288 values"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_free_ char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);
		struct rusage usage;
		long before_kib;

		fprintf(out, "{\"schema\": 1, \"window\": {}, \"comparison\": null, \"%s\": [{}",
			cases[i].member);
		for (unsigned n = 0; n < 4000000; n++)
			fputs(",{}", out);
		fputs("]}", out);
		assert_int_equal(fclose(out), 0);
		(void)getrusage(RUSAGE_SELF, &usage);
		before_kib = usage.ru_maxrss;
		assert_refused(text, size, cases[i].code, cases[i].words);
		(void)getrusage(RUSAGE_SELF, &usage);
		assert_true(usage.ru_maxrss - before_kib < 4096);
	}
}

/* Sets a member at a path of the comparison of the sample and expects that it is refused. */
static void assert_lie(const char *object, const char *array, size_t index, json_t *value)
{
	_cleanup_(compare_side_release) struct compare_side from = sample();
	json_t *comparison = compare_side_json(&from), *at = comparison;
	_cleanup_free_ char *text = NULL;

	if (object)
		at = json_object_get(at, object);
	assert_int_equal(json_is_array(json_object_get(at, array))
			     ? json_array_set_new(json_object_get(at, array), index, value)
			     : json_object_set_new(at, array, value),
			 0);
	text = report(comparison);
	refused(text, EBADMSG, "figures");
}

TEST(figures_that_cannot_be_are_refused)
{
	assert_lie(NULL, "cpu_ns", 0, json_real(0));
	assert_lie(NULL, "cpu_ns", 0, json_real(1e300));
	assert_lie(NULL, "ticks", 0, json_real(-1));
	assert_lie(NULL, "ticks", 0, json_string("many"));
	assert_lie(NULL, "unit", 0, json_string("bytes")); /* which it has none of */
	assert_lie(NULL, "unit", 0, json_string("hours"));
	assert_lie(NULL, "unit", 0, json_null());
	assert_lie(NULL, "methods", 0, json_integer(1));
	assert_lie("nodes", "parent", 1, json_integer(2)); /* itself */
	assert_lie("nodes", "parent", 1, json_integer(-1));
	assert_lie("nodes", "parent", 1, json_real(0.5));
	assert_lie("nodes", "method", 0, json_integer(5));
	assert_lie("nodes", "ns", 2, json_integer(-5));
	assert_lie("nodes", "ticks", 2, json_integer(0));
	assert_lie("nodes", "ticks", 0, json_null());
	assert_lie("nodes", "ns", 2, json_real(1e-320));
	assert_lie("nodes", "ns", 2, json_integer(100000000000)); /* more than all */
	assert_lie(NULL, "kinds", 0, json_string("dead_store"));
	assert_lie(NULL, "kinds", 0,
		   json_pack("{s:s, s:f, s:f, s:f}", "kind", "dead_store", "ns", 2e8, "squares",
			     5e-324, "count", 40.));
	assert_lie(NULL, "waste", 0, json_null());
	assert_lie(NULL, "excess", 0, json_real(-1));
	assert_lie(NULL, "excess", 0, json_string("much"));
	assert_lie(NULL, "freedom", 0, json_null());
}

TEST(methods_have_an_excess_each_or_none)
{
	_cleanup_(compare_side_release) struct compare_side from = sample(), to = {.pid = 0};
	json_t *few = compare_side_json(&from), *none = compare_side_json(&from);
	_cleanup_free_ char *text = NULL, *without = NULL;
	struct err err = {""};

	json_array_remove(json_object_get(few, "excess"), 0);
	text = report(few);
	refused(text, EBADMSG, "figures");
	json_object_del(none, "excess");
	without = report(none);
	assert_int_equal(compare_side_read(&to, "a.json", without, strlen(without), &err), 0);
	assert_null(to.excess);
}

static json_t *bytes_of(double bytes, double squares, double count)
{
	return json_pack("{s:f, s:f, s:f}", "bytes", bytes, "squares", squares, "count", count);
}

/* Of 50 pairs of 8 bytes, of which 40 are wasteful. */
TEST(bytes_that_cannot_be_are_refused)
{
	json_t *const lies[] = {bytes_of(1e-320, 1e-320, 50), bytes_of(400, 5e-324, 50),
				bytes_of(400, 1e30, 50), bytes_of(200, 1600, 25),
				bytes_of(400, 0, 50)};

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		_cleanup_(compare_side_release) struct compare_side from = side_of(1, 1);
		_cleanup_free_ char *text = NULL;
		json_t *comparison;

		side_checked(&from, JXP__KIND__KIND_DEAD_STORE, 50);
		side_waste(&from, JXP__KIND__KIND_DEAD_STORE, "find", "", false, 40);
		comparison = compare_side_json(&from);
		assert_int_equal(
		    json_object_set_new(json_array_get(json_object_get(comparison, "kinds"), 0),
					"checked", lies[i]),
		    0);
		text = report(comparison);
		refused(text, EBADMSG, "figures");
	}
}

/* As deep as contexts are, and one deeper. */
TEST(contexts_that_are_too_deep_are_refused)
{
	for (unsigned depth = COMPARE_DEPTH_MAX; depth <= COMPARE_DEPTH_MAX + 1; depth++) {
		_cleanup_(compare_side_release) struct compare_side from = sample(),
								    to = {.pid = 0};
		struct err err = {""};
		_cleanup_free_ char *text = NULL;

		free(from.nodes);
		from.nodes = calloc(depth, sizeof(*from.nodes));
		assert_non_null(from.nodes);
		for (from.node_count = 0; from.node_count < depth; from.node_count++)
			from.nodes[from.node_count] =
			    (struct compare_node){.parent = (uint32_t)from.node_count, .method = 1};
		text = report(compare_side_json(&from));
		if (depth > COMPARE_DEPTH_MAX)
			refused(text, EBADMSG, "figures");
		else
			assert_int_equal(compare_side_read(&to, "a.json", text, strlen(text), &err),
					 0);
	}
}
