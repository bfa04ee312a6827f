#include "tests/unit/support/test.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "compare/comparison.h"
#include "compare/gate.h"
#include "compare/output.h"
#include "tests/unit/support/compare_side_fixture.h"
#include "tests/unit/support/golden.h"

#define LOAD JXP__KIND__KIND_SILENT_LOAD
#define DEAD JXP__KIND__KIND_DEAD_STORE

static void compare(struct comparison *c, struct compare_side sides[2], const double *operations)
{
	struct err err = {""};

	if (comparison_init(c, sides, operations, &err) < 0)
		fail_msg("%s", err.message);
}

static void release(struct comparison *c, struct compare_side sides[2])
{
	comparison_release(c);
	compare_side_release(&sides[0]);
	compare_side_release(&sides[1]);
}

/* Of 2,000 ticks each: find searches a list, which takes half of A's time; other methods do what
 * they did, and parse none of the time. */
static void repaired(struct compare_side sides[2])
{
	static const double share[2] = {1, 2};

	for (int i = 0; i < 2; i++) {
		struct compare_side *s = &sides[i];

		*s = side_of((unsigned)i + 1, 2000);
		side_ticks(s, "main run find", i == 0 ? 300 : 0);
		side_ticks(s, "main run find get", i == 0 ? 700 : 0);
		side_ticks(s, "main run write", 300 * share[i]);
		side_ticks(s, "main run read", 250 * share[i]);
		side_ticks(s, "main run hash", 200 * share[i]);
		side_ticks(s, "main run format", 150 * share[i]);
		side_ticks(s, "main", 50 * share[i]);
		side_ticks(s, COMPARE_GC, 50 * share[i]);
		if (i == 0)
			side_waste(s, LOAD, "get", "org.example.Main.next", false, 400);
		side_waste(s, LOAD, "write", "org.example.Main.total", false, 40 * share[i]);
		side_waste(s, DEAD, "read", "", true, 20 * share[i]);
	}
}

/* As a report names it, of silent loads. */
static void name_problem(struct compare_side *s, const char *sentence, const char *operation)
{
	s->problems = calloc(1, sizeof(*s->problems));
	assert_non_null(s->problems);
	s->problems[s->problem_count++] =
	    (struct compare_problem){strdup(sentence),
				     {strdup(operation), strdup("other"), strdup("")},
				     {[LOAD] = true},
				     LOAD};
}

static const struct comparison_row *row_of(const struct comparison *c, const char *method)
{
	for (size_t i = 0; i < c->row_count; i++)
		if (!c->rows[i].kind &&
		    strcmp(c->tree.methods[c->rows[i].at.method].name, method) == 0)
			return &c->rows[i];
	fail_msg("no row of %s", method);
	return NULL;
}

TEST(what_was_repaired_comes_first_and_the_rest_is_unchanged)
{
	struct compare_side sides[2];
	char line[COMPARE_HEADLINE_BYTES];
	struct comparison c;

	repaired(sides);
	compare(&c, sides, NULL);
	assert_int_equal(c.work.basis, COMPARE_BY_METHODS);
	assert_float_equal(c.work.estimate, 0.5, 0.02);
	assert_string_equal(c.tree.methods[c.rows[0].at.method].name, "find");
	assert_true(row_of(&c, "run")->messenger);
	assert_true(row_of(&c, "main")->messenger);
	assert_int_equal(row_of(&c, "get")->part_of, 0);
	assert_false(row_of(&c, "write")->change.shown);
	assert_false(row_of(&c, COMPARE_GC)->change.shown);
	assert_true(c.kinds[LOAD].change.shown && c.kinds[LOAD].change.difference < 0);
	assert_false(c.kinds[DEAD].change.shown);
	compare_headline(&c, line);
	assert_non_null(strstr(line, "CPU time fell: the same work takes 50.0% less"));
	assert_false(compare_gate_judge(&c, 0.02).fails);
	release(&c, sides);
}

TEST(what_was_made_worse_fails_the_gate)
{
	struct compare_side sides[2], turned[2];
	struct compare_gate gate;
	struct comparison c;

	repaired(sides);
	turned[0] = sides[1];
	turned[1] = sides[0];
	compare(&c, turned, NULL);
	assert_float_equal(c.work.estimate, 2, 0.05);
	gate = compare_gate_judge(&c, 0.02);
	assert_true(gate.fails);
	assert_non_null(strstr(gate.reason, "rose"));
	assert_false(compare_gate_judge(&c, 0.9999).fails);
	release(&c, turned);
}

TEST(the_problem_that_went_is_named)
{
	struct compare_side sides[2];
	char line[COMPARE_HEADLINE_BYTES];
	struct comparison c;

	repaired(sides);
	name_problem(&sides[0], "find goes over a list again", "find");
	name_problem(&sides[1], "main is slow", "main");
	compare(&c, sides, NULL);
	assert_string_equal(row_of(&c, "find")->problem[0], "find goes over a list again");
	assert_null(row_of(&c, "find")->problem[1]);
	assert_null(row_of(&c, "get")->problem[0]);
	assert_true(c.rows[1].kind && c.rows[1].problem[0]);
	assert_string_equal(row_of(&c, "main")->problem[1], "main is slow");
	compare_headline(&c, line);
	assert_non_null(
	    strstr(line, "; not among B's first five problems: find goes over a list again"));
	release(&c, sides);
}

/* The first problem is of all that main does; the second one is find's own. */
TEST(who_does_it_is_named_before_who_calls_it)
{
	struct compare_side sides[2];
	struct comparison c;

	repaired(sides);
	name_problem(&sides[0], "main looks twice", "main");
	sides[0].problems = realloc(sides[0].problems, 2 * sizeof(*sides[0].problems));
	assert_non_null(sides[0].problems);
	sides[0].problems[sides[0].problem_count++] =
	    (struct compare_problem){strdup("get loads again"),
				     {strdup("get"), strdup(""), strdup("")},
				     {[LOAD] = true},
				     LOAD};
	compare(&c, sides, NULL);
	assert_true(c.rows[1].kind != NULL);
	assert_string_equal(c.tree.methods[c.rows[1].at.method].name, "get");
	assert_string_equal(c.rows[1].problem[0], "get loads again");
	release(&c, sides);
}

TEST(a_comparison_is_written)
{
	struct compare_side sides[2];
	struct compare_gate gate;
	struct comparison c;
	_cleanup_free_ char *text = NULL;
	char *json;
	json_t *object;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	repaired(sides);
	name_problem(&sides[0], "find goes over a list again", "find");
	compare(&c, sides, NULL);
	gate = compare_gate_judge(&c, 0.02);
	compare_text_write(out, &c, &gate, 10);
	assert_int_equal(fclose(out), 0);
	assert_golden("compare.txt", text);
	object = compare_json(&c, &gate, 5);
	json = json_dumps(object, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
	assert_golden("compare.json", json);
	free(json);
	json_decref(object);
	release(&c, sides);
}

/* Of two methods nobody knows which one has changed. */
TEST(shares_alone_say_nothing_of_the_work)
{
	struct compare_side sides[2] = {side_of(1, 2000), side_of(2, 2000)};
	char line[COMPARE_HEADLINE_BYTES];
	struct comparison c;

	side_ticks(&sides[0], "main a", 1200);
	side_ticks(&sides[0], "main b", 800);
	side_ticks(&sides[1], "main a", 600);
	side_ticks(&sides[1], "main b", 1400);
	compare(&c, sides, NULL);
	assert_int_equal(c.work.basis, COMPARE_BY_SHARES);
	compare_headline(&c, line);
	assert_non_null(strstr(line, "what the same work takes is not known"));
	comparison_release(&c);
	compare(&c, sides, (const double[]){100, 175}); /* a does, b is unchanged */
	assert_int_equal(c.work.basis, COMPARE_BY_OPERATIONS);
	assert_string_equal(c.tree.methods[c.rows[0].at.method].name, "a");
	assert_false(row_of(&c, "b")->change.shown);
	compare_headline(&c, line);
	assert_non_null(strstr(line, "CPU time fell: an operation takes 42.9% less"));
	assert_false(compare_gate_judge(&c, 0.02).fails);
	release(&c, sides);
}

/* As when it is renamed, or when what it did is told as another one's. */
TEST(what_has_moved_below_its_caller_fails_no_gate)
{
	struct compare_side sides[2];
	struct comparison c;

	for (int i = 0; i < 2; i++) {
		sides[i] = side_of((unsigned)i + 1, 2000);
		side_ticks(&sides[i], i == 0 ? "main step old" : "main step new", 600);
		side_ticks(&sides[i], "main write", 500);
		side_ticks(&sides[i], "main read", 400);
		side_ticks(&sides[i], "main hash", 300);
		side_ticks(&sides[i], "main", 200);
	}
	compare(&c, sides, NULL);
	assert_true(row_of(&c, "new")->change.shown && row_of(&c, "new")->moved);
	assert_true(row_of(&c, "old")->moved);
	assert_false(row_of(&c, "step")->change.shown);
	assert_false(c.work.shown);
	assert_false(compare_gate_judge(&c, 0.02).fails);
	release(&c, sides);
}

/* What step did is a method of its own now, and takes twice the time: that it has moved hides no
 * rise of step with what it calls. */
TEST(what_was_taken_out_and_got_slower_fails_the_gate)
{
	struct compare_side sides[2];
	struct comparison c;
	char line[COMPARE_HEADLINE_BYTES];

	for (int i = 0; i < 2; i++) {
		sides[i] = side_of((unsigned)i + 1, i == 0 ? 10000 : 10700);
		side_ticks(&sides[i], i == 0 ? "main step" : "main step new", i == 0 ? 900 : 1600);
		side_ticks(&sides[i], "main write", 3000);
		side_ticks(&sides[i], "main read", 2500);
		side_ticks(&sides[i], "main hash", 2000);
		side_ticks(&sides[i], "main", 1600);
	}
	compare(&c, sides, NULL);
	assert_true(row_of(&c, "step")->change.shown && row_of(&c, "new")->moved);
	assert_true(comparison_row_leads(row_of(&c, "step")));
	assert_true(compare_gate_judge(&c, 0.02).fails);
	compare_headline(&c, line);
	assert_non_null(strstr(line, "step rose from 9"));
	release(&c, sides);
}

TEST(spills_come_last_and_compilers_are_left_out)
{
	struct compare_side sides[2];
	struct comparison c;

	for (int i = 0; i < 2; i++) {
		sides[i] = side_of((unsigned)i + 1, i == 0 ? 4010 : 4120 + 4000);
		side_ticks(&sides[i], "main write", 1000);
		side_ticks(&sides[i], "main read", 1000);
		side_ticks(&sides[i], "main hash", 1000);
		side_ticks(&sides[i], "main other", 1000);
		side_ticks(&sides[i], "main small", i == 0 ? 0 : 120);
		side_ticks(&sides[i], COMPARE_COMPILERS, i == 0 ? 10 : 4000);
		side_waste(&sides[i], LOAD, "write", "", true, i == 0 ? 10 : 900);
	}
	name_problem(&sides[1], "write loads again", "write");
	compare(&c, sides, NULL);
	assert_false(c.work.shown);
	assert_float_equal(row_of(&c, "write")->change.share[1], 1000 / 4120.0, 1e-6);
	assert_int_equal(c.shown_count, 2);
	assert_string_equal(c.tree.methods[c.rows[0].at.method].name, "small");
	assert_true(c.rows[1].at.spill);
	assert_null(c.rows[1].problem[1]);
	assert_true(compare_gate_judge(&c, 0.01).fails);
	release(&c, sides);
}

/* Without CPU time: most dead stores are repaired, silent loads are as they were. */
static void fewer_wasted(struct compare_side sides[2])
{
	for (int i = 0; i < 2; i++) {
		sides[i] = side_of((unsigned)i + 1, 1);
		side_checked(&sides[i], DEAD, 1000);
		side_checked(&sides[i], LOAD, 500);
		side_waste(&sides[i], DEAD, "clear", "elements of int[]", false, i == 0 ? 600 : 0);
		side_waste(&sides[i], DEAD, "put", "org.example.Main.total", false, 100);
		side_waste(&sides[i], LOAD, "find", "org.example.Main.next", false, 90 + 10 * i);
	}
}

TEST(without_cpu_time_parts_of_checked_bytes_are_compared)
{
	struct compare_side sides[2], turned[2];
	struct compare_gate gate;
	struct comparison c;
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	fewer_wasted(sides);
	compare(&c, sides, NULL);
	assert_int_equal(c.shown_count, 1);
	assert_float_equal(c.rows[0].change.share[0], 0.6, 1e-9);
	assert_true(c.kinds[DEAD].change.shown && !c.kinds[LOAD].change.shown);
	assert_float_equal(c.kinds[DEAD].change.share[1], 0.1, 1e-9);
	gate = compare_gate_judge(&c, 0.02);
	assert_false(gate.fails);
	compare_text_write(out, &c, &gate, 10);
	assert_int_equal(fclose(out), 0);
	assert_golden("compare_bytes.txt", text);
	comparison_release(&c);
	turned[0] = sides[1];
	turned[1] = sides[0];
	compare(&c, turned, NULL);
	gate = compare_gate_judge(&c, 0.02);
	assert_true(gate.fails);
	assert_non_null(strstr(gate.reason, "of checked bytes"));
	release(&c, turned);
}

static void assert_not_compared(struct compare_side sides[2], const double *operations, int code,
				const char *words)
{
	struct err err = {""};
	struct comparison c;

	assert_int_equal(comparison_init(&c, sides, operations, &err), -code);
	assert_non_null(strstr(err.message, words));
	assert_null(strchr(err.message, '\n'));
	comparison_release(&c);
	compare_side_release(&sides[0]);
	compare_side_release(&sides[1]);
}

TEST(what_has_no_unit_in_common_is_refused)
{
	struct compare_side sides[2] = {side_of(1, 2000), side_of(2, 2000)};

	side_checked(&sides[1], DEAD, 100);
	assert_not_compared(sides, NULL, ENODATA, "'1.json' has CPU time and '2.json' has none");
	sides[0] = side_of(1, 1);
	sides[1] = side_of(2, 1);
	side_checked(&sides[0], DEAD, 100);
	side_checked(&sides[1], LOAD, 100);
	assert_not_compared(sides, NULL, ENODATA, "of no kind in common");
	fewer_wasted(sides);
	assert_not_compared(sides, (const double[]){1, 2}, EINVAL, "profile with kind cpu");
}

/* A tick of recursion counts once. */
TEST(recursion_counts_once)
{
	struct compare_side sides[2];
	struct comparison c;

	for (int i = 0; i < 2; i++) {
		sides[i] = side_of((unsigned)i + 1, 1000);
		side_ticks(&sides[i], "main walk walk visit walk", 400);
		side_ticks(&sides[i], "main walk", 100);
	}
	compare(&c, sides, NULL);
	assert_float_equal(row_of(&c, "walk")->change.share[0], 0.5, 1e-9);
	assert_float_equal(row_of(&c, "walk")->own.share[0], 0.5, 1e-9);
	assert_float_equal(row_of(&c, "visit")->change.share[1], 0.4, 1e-9);
	release(&c, sides);
}

static double uniform(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (double)(*seed >> 11) * 0x1p-53;
}

/* 1,500 ticks of thirty methods, the Nth of which has a share like 1 / N, and the first so many
 * times as much; each drifts by 5%. */
static struct compare_side drawn(unsigned number, double first, uint64_t *seed)
{
	struct compare_side s = side_of(number, 1500);
	double bounds[31] = {0}, counts[30] = {0};
	char path[32];

	for (int m = 0; m < 30; m++) {
		double normal = -6;

		for (int i = 0; i < 12; i++)
			normal += uniform(seed);
		bounds[m + 1] =
		    bounds[m] + (m == 0 ? first : 1) * (1 + CHANGE_DRIFT * normal) / (m + 1);
	}
	for (int i = 0; i < 1500; i++) {
		double at = uniform(seed) * bounds[30];
		int m = 0;

		while (at >= bounds[m + 1])
			m++;
		counts[m]++;
	}
	for (int m = 0; m < 30; m++) {
		(void)snprintf(path, sizeof(path), "main g%d m%d", m % 4, m);
		side_ticks(&s, path, counts[m]);
		if (m < 10)
			side_waste(&s, LOAD, path + 8, "place", false, floor(counts[m] / 3));
	}
	return s;
}

/* The level is one in a hundred comparisons. */
TEST(a_program_rarely_differs_from_itself)
{
	static const double firsts[] = {1, 12}; /* 25% of the time, and 80% */

	for (int k = 0; k < 2; k++) {
		unsigned different = 0, factors = 0;
		uint64_t seed = 1;

		for (int i = 0; i < 500; i++) {
			struct compare_side sides[2] = {drawn(1, firsts[k], &seed),
							drawn(2, firsts[k], &seed)};
			struct comparison c;

			compare(&c, sides, NULL);
			different += comparison_is_shown(&c);
			factors += c.work.shown;
			release(&c, sides);
		}
		print_message("%u of 500 comparisons differ, %u by the work\n", different, factors);
		assert_true(different <= 10);
		assert_true(factors <= 5);
	}
}
