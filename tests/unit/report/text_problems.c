#include "tests/unit/support/test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/text_parts.h"
#include "tests/unit/support/clock_window.h"

#define DEAD JXP__KIND__KIND_DEAD_STORE
#define LOAD JXP__KIND__KIND_SILENT_LOAD

static struct report_model m;
static struct pair pair;

/* "Name.setValues", which is called from two methods, and copies a field. */
static struct problem a_copy(void)
{
	struct location l = {.kind = JXP__LOCATION__KIND__FIELD,
			     .class_name = text("org.example.Name"),
			     .declared_in = text("org.example.Name"),
			     .field = text("prefix")};
	struct problem problem = {.kind = PROBLEM_COPIED,
				  .pairs_kind = DEAD,
				  .method = method_of("org.example.Name", "setValues"),
				  .advice = "reading the original",
				  .largest = &pair,
				  .place_count = 1,
				  .field_count = 1,
				  .fraction = 0.99,
				  .fraction_ci95 = {0.98, 1},
				  .evidence = 50,
				  .told = 50};

	assert_int_equal(locations_add(&w->profile.locations, &l, &problem.places[0]), 0);
	problem.pairs[DEAD] = (struct problem_pairs){.wasteful = 50, .count = 51};
	problem.callers[0] = (struct problem_caller){method_of("Main", "first"), 0.45};
	problem.callers[1] = (struct problem_caller){method_of("Main", "second"), 0.38};
	return problem;
}

static void costs(struct problem *problem)
{
	problem->own = (struct cpu_share){true, 0.315, {0.3, 0.33}};
	problem->inclusive = 0.986;
	problem->saved = (struct cpu_share){true, 0.313, {0.292, 0.336}};
	problem->gain = (struct cpu_share){true, 0.3, {0.29, 0.31}};
	problem->saved_bounds = (struct interval){0.16, 0.61};
}

static struct problem_allocation arrays(uint32_t operation)
{
	return (struct problem_allocation){.operation = operation,
					   .samples = 40,
					   .fraction = 0.98,
					   .fraction_ci95 = {0.97, 0.99},
					   .per_s = 1.1e6,
					   .garbage = 1,
					   .classes = {{text("int[]"), 1}},
					   .class_count = 1,
					   .maker = operation,
					   .maker_part = 1};
}

static int set_up(void **state)
{
	(void)state;
	clock_window_new(0);
	m = (struct report_model){.window = w};
	m.problems.list[m.problems.count++] = a_copy();
	return 0;
}

static char *said(size_t rank)
{
	char *text_of;
	size_t size;
	FILE *out = open_memstream(&text_of, &size);

	assert_non_null(out);
	report_text_problem(out, &m, rank);
	assert_int_equal(fclose(out), 0);
	return text_of;
}

static bool says(size_t rank, const char *part)
{
	char *text_of = said(rank);
	bool found = strstr(text_of, part) != NULL;

	free(text_of);
	return found;
}

TEST(figures_are_named_and_so_are_callers, set_up, clock_window_free)
{
	char *text_of;

	costs(&m.problems.list[0]);
	text_of = said(0);
	assert_string_equal(
	    text_of,
	    "1. Name.setValues copies Name.prefix;\n"
	    "   99% of these stores (98 to 100%) are overwritten before anybody reads them\n"
	    "   mostly stored in [calling context unknown],\n"
	    "   stored again in [calling context unknown],\n"
	    "   called from Main.first (45%), Main.second (38%)\n"
	    "   a rewrite that does not do it again could save 31.3% of CPU time (29.2 to 33.6%), "
	    "at least 16.0% and at most 61.0%\n"
	    "   of CPU time the methods that make these accesses take 31.5% themselves; "
	    "Name.setValues takes 98.6% with all that it calls\n"
	    "   removing only the first store could save up to 31.0% (estimate 30.0%)\n"
	    "   50 wasteful pairs, the method is known for 100%; perhaps: reading the original\n");
	free(text_of);
	m.problems.list[0].gain = (struct cpu_share){true, 0, {0, 0.003}};
	assert_true(says(0, "could save up to 0.3% (estimate: next to nothing)\n"));
	m.problems.list[0].gain.ci95.high = 0.0001;
	assert_true(says(0, "removing only the first store saves next to nothing\n"));
}

TEST(what_a_caller_allocates_is_said_once, set_up, clock_window_free)
{
	struct problem *second = &m.problems.list[m.problems.count++];

	m.problems.list[0].allocated = arrays(m.problems.list[0].callers[0].method);
	*second = a_copy();
	second->method = method_of("org.example.Name", "copyValues");
	second->allocated = m.problems.list[0].allocated;
	second->part_of = (struct problem_caller){m.problems.list[0].method, 0.99};
	assert_true(says(0, "   on behalf of Main.first, which calls it, 98% of all bytes are "
			    "allocated (97 to 99%): int[]\n"
			    "   1.1 million objects a second, 100% garbage by the end\n"));
	assert_false(says(1, "objects a second"));
	assert_true(says(1,
			 "   problem 1 calls this (99%): a fix of that one may remove it; do not "
			 "add the two\n"));
	m.problems.list[0].allocated.operation = m.problems.list[0].method;
	assert_true(
	    says(0, "   the same operation allocates 98% of all bytes (97 to 99%): int[]\n"));
}

TEST(what_is_allocated_has_words_of_its_own, set_up, clock_window_free)
{
	struct problem *problem = &m.problems.list[0];

	problem->kind = PROBLEM_ALLOCATED;
	problem->largest = NULL;
	problem->evidence = 0;
	problem->allocated = arrays(problem->method);
	costs(problem);
	problem->gain.known = false;
	assert_true(says(0, "a rewrite without these objects could save 31.3% of CPU time"));
}

/* Of a search in the JDK it is the caller that people can change. */
TEST(callers_of_basic_code_come_first, set_up, clock_window_free)
{
	struct problem *problem = &m.problems.list[0];

	problem->kind = PROBLEM_SEARCHED;
	problem->pairs_kind = LOAD;
	problem->method = method_of("java.util.Arrays", "binarySearch");
	problem->basic = true;
	problem->callers[0].part = 0.9;
	memset(problem->pairs, 0, sizeof(problem->pairs));
	problem->pairs[LOAD] = (struct problem_pairs){.wasteful = 50, .count = 50};
	assert_true(says(0, "1. Arrays.binarySearch goes over Name.prefix again;\n"
			    "   99% of its sampled loads (98 to 100%) gave the same value\n"
			    "   90% when called from Main.first,\n"
			    "   mostly loaded in"));
	problem->pairs[DEAD].count = 5;
	assert_true(says(0, "99% of its sampled accesses (98 to 100%) are in vain\n"));
}
