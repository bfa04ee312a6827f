#include "tests/unit/support/test.h"
#include <stdlib.h>
#include <string.h>

#include "report/problems/problems.h"
#include "tests/unit/support/clock_window.h"

#define DEAD  JXP__KIND__KIND_DEAD_STORE
#define STORE JXP__KIND__KIND_SILENT_STORE
#define LOAD  JXP__KIND__KIND_SILENT_LOAD

#define FIELD   JXP__LOCATION__KIND__FIELD
#define ELEMENT JXP__LOCATION__KIND__ELEMENT

static int set_up(void **state)
{
	(void)state;
	clock_window_new(10000);
	return 0;
}

/* "Class.name" at a bytecode, below a caller. */
static uint32_t frame(uint32_t parent, const char *class_name, const char *name, int32_t bci)
{
	return context_of(&(struct cct_node){.parent = parent,
					     .method = method_of(class_name, name),
					     .bci = bci,
					     .line = 10 + bci,
					     .tier = JXP__TIER__TIER_JIT});
}

static uint32_t place(Jxp__Location__Kind kind, const char *class_name, const char *field,
		      const char *type)
{
	struct location l = {.kind = kind, .class_name = text(class_name)};

	l.declared_in = kind == FIELD ? l.class_name : 0;
	l.field = text(field);
	l.type = text(type);
	return location_of(&l);
}

/* Objects of 100 bytes, each of which stands for others; as many of them die. */
static void allocate(uint32_t node, const char *class_name, double weight, unsigned count,
		     unsigned dead)
{
	struct object_profile *o = &w->objects;
	uint32_t site;

	assert_int_equal(object_profile_site(o, text(class_name), node, &site), 0);
	for (unsigned i = 0; i < count; i++)
		object_profile_allocated(o, site, weight, 100);
	for (unsigned i = 0; i < dead; i++)
		object_profile_died(o, site, weight, 100, 0);
}

static struct problems problems(void)
{
	struct pair_scope scope;
	struct problems out;

	assert_int_equal(pair_scope_init(&scope, w, NULL), 0);
	assert_int_equal(problems_init(&out, &scope), 0);
	pair_scope_release(&scope);
	return out;
}

static const char *method(uint32_t id)
{
	return strings_get(&w->profile.strings, cct_method(&w->profile.cct, id)->name);
}

/* Three fields of one copy, and the work that it is done for, which is not in vain. */
TEST(a_copy_is_one_problem_whatever_fields_it_has, set_up, clock_window_free)
{
	uint32_t main = frame(0, "Main", "main", 1);
	uint32_t copy = frame(main, "Table", "getEntry", 2);
	struct problems found;

	observe(DEAD, copy, copy, place(FIELD, "Entry", "name", "Name"), true, 30);
	observe(DEAD, copy, copy, place(FIELD, "Entry", "key", "Key"), true, 20);
	observe(DEAD, copy, copy, place(FIELD, "Entry", "value", "Value"), true, 10);
	observe(DEAD, copy, copy, place(FIELD, "Entry", "value", "Value"), false, 20);
	observe(LOAD, copy, copy, place(FIELD, "Name", "text", "Text"), false, 80);
	tick(copy, 1000);
	tick(main, 500);
	found = problems();
	assert_int_equal(found.count, 1);
	assert_int_equal(found.list[0].kind, PROBLEM_COPIED);
	assert_string_equal(method(found.list[0].method), "getEntry");
	assert_string_equal(method(found.list[0].callers[0].method), "main");
	assert_int_equal(found.list[0].evidence, 60);
	assert_int_equal(found.list[0].told, 60);
	assert_int_equal(found.list[0].place_count, 3);
	assert_int_equal(found.list[0].field_count, 3);
	/* What it loads it loads for the stores: three quarters of a tenth of the time. */
	assert_float_equal(found.list[0].own.share, 0.1, 1e-9);
	assert_float_equal(found.list[0].fraction, 0.75, 1e-9);
	assert_float_equal(found.list[0].saved.share, 0.075, 1e-9);
	assert_true(found.list[0].saved.ci95.low < 0.07 && found.list[0].saved.ci95.low > 0.05);
	assert_true(found.list[0].saved.ci95.high > 0.08 && found.list[0].saved.ci95.high < 0.1);
}

/* A store that is both overwritten unread and has the same value goes once. */
TEST(what_could_go_by_two_kinds_is_gained_once, set_up, clock_window_free)
{
	uint32_t store = frame(0, "Main", "put", 1);
	uint32_t field = place(FIELD, "Main", "last", "int");
	struct problems found;

	observe(DEAD, store, store, field, true, 60);
	observe(DEAD, store, store, field, false, 40);
	observe(STORE, store, store, field, true, 80);
	observe(STORE, store, store, field, false, 20);
	tick(store, 1000);
	found = problems();
	assert_int_equal(found.count, 1);
	assert_int_equal(found.list[0].kind, PROBLEM_REWRITTEN);
	assert_int_equal(found.list[0].evidence, 80);
	assert_float_equal(found.list[0].gain.share, 0.08, 1e-9);
	assert_float_equal(found.list[0].fraction, 0.8, 1e-9);
}

/* Twice as much of the time, and a tenth of it in vain: that is less. */
TEST(what_could_be_saved_decides, set_up, clock_window_free)
{
	uint32_t often = frame(0, "Main", "often", 1), rarely = frame(0, "Main", "rarely", 2);
	uint32_t bytes = place(ELEMENT, "byte[]", "", "byte");
	struct problems found;

	observe(LOAD, rarely, rarely, bytes, true, 40);
	observe(LOAD, rarely, rarely, bytes, false, 360);
	observe(LOAD, often, often, bytes, true, 30);
	tick(rarely, 2000);
	tick(often, 1000);
	found = problems();
	assert_int_equal(found.count, 2);
	assert_string_equal(method(found.list[0].method), "often");
	assert_float_equal(found.list[0].saved.share, 0.1, 1e-9);
	assert_string_equal(method(found.list[1].method), "rarely");
	assert_float_equal(found.list[1].saved.share, 0.02, 1e-9);
}

TEST(loads_that_a_walk_makes_are_no_problem, set_up, clock_window_free)
{
	uint32_t get = frame(0, "Map", "get", 1), again = frame(0, "Map", "get", 5);
	uint32_t next = place(FIELD, "Map$Node", "next", "Map$Node");
	struct problems found;

	observe(LOAD, get, get, next, true, 50);
	observe(LOAD, get, get, place(FIELD, "Map$Node", "key", "Key"), true, 50);
	observe(LOAD, get, get, place(FIELD, "Map", "table", "Map$Node[]"), true, 50);
	observe(LOAD, get, get, place(ELEMENT, "Map$Node[]", "", "Map$Node"), true, 50);
	observe(LOAD, get, get, place(JXP__LOCATION__KIND__HEADER, "Map", "class", ""), true, 50);
	tick(get, 1000);
	assert_int_equal(problems().count, 0);
	/* One call has loaded it already. */
	observe(LOAD, get, again, next, true, 50);
	tick(again, 100);
	found = problems();
	assert_int_equal(found.count, 1);
	assert_int_equal(found.list[0].evidence, 50);
	assert_float_equal(found.list[0].fraction, 1. / 6, 1e-9);
}

TEST(stacks_and_spills_are_no_problem, set_up, clock_window_free)
{
	uint32_t node = frame(0, "Main", "run", 1);

	observe(STORE, node, node, place(JXP__LOCATION__KIND__SPILL, "", "", ""), true, 50);
	observe(STORE, node, node, place(JXP__LOCATION__KIND__STACK, "", "", ""), true, 50);
	tick(node, 1000);
	assert_int_equal(problems().count, 0);
}

/* All of get's waste is scan's doing. */
TEST(a_step_is_part_of_the_operation_that_takes_it, set_up, clock_window_free)
{
	uint32_t main = frame(0, "Main", "main", 1);
	uint32_t scan = frame(main, "Reader", "scan", 2), get = frame(scan, "Buffer", "get", 3);
	uint32_t other = frame(main, "Other", "work", 4);
	uint32_t bytes = place(ELEMENT, "byte[]", "", "byte");
	struct problems found;

	observe(LOAD, scan, scan, bytes, true, 20);
	observe(LOAD, get, get, place(FIELD, "Buffer", "limit", "int"), true, 30);
	observe(LOAD, other, other, bytes, true, 10);
	tick(scan, 1000);
	tick(get, 500);
	tick(other, 400);
	found = problems();
	assert_int_equal(found.count, 2);
	assert_string_equal(method(found.list[0].method), "scan");
	assert_int_equal(found.list[0].evidence, 50);
	assert_float_equal(found.list[0].own.share, 0.15, 1e-9);
	assert_string_equal(method(found.list[1].method), "work");
}

/* A driver clears a table, and has marks set that are set. */
TEST(stores_of_two_natures_are_two_problems, set_up, clock_window_free)
{
	uint32_t rounds = frame(0, "Main", "rounds", 1);
	uint32_t clear = frame(rounds, "Main", "clear", 2), fill = frame(rounds, "Main", "fill", 3);
	uint32_t mark = frame(rounds, "Main", "mark", 4);
	uint32_t ints = place(ELEMENT, "int[]", "", "int");
	uint32_t bytes = place(ELEMENT, "byte[]", "", "byte");
	struct problems found;

	observe(DEAD, clear, fill, ints, true, 30);
	observe(DEAD, mark, mark, bytes, true, 25);
	observe(STORE, mark, mark, bytes, true, 25);
	tick(clear, 1000);
	tick(mark, 800);
	found = problems();
	assert_int_equal(found.count, 2);
	assert_string_equal(method(found.list[0].method), "rounds");
	assert_int_equal(found.list[0].kind, PROBLEM_CLEARED);
	assert_string_equal(method(found.list[1].method), "mark");
	assert_int_equal(found.list[1].kind, PROBLEM_REWRITTEN);
}

/* A driver looks through a table, and calls what copies. */
TEST(who_calls_most_of_a_problem_is_said, set_up, clock_window_free)
{
	uint32_t main = frame(0, "Main", "main", 1);
	uint32_t rounds = frame(main, "Main", "rounds", 2), copy = frame(rounds, "Main", "copy", 3);
	uint32_t twice = frame(main, "Main", "twice", 4), other = frame(twice, "Main", "other", 5);
	uint32_t more = frame(frame(main, "Main", "more", 6), "Main", "other", 5);
	uint32_t bytes = place(ELEMENT, "byte[]", "", "byte");
	struct problems found;

	observe(LOAD, rounds, rounds, bytes, true, 30);
	observe(DEAD, copy, copy, place(FIELD, "Entry", "key", "Key"), true, 30);
	observe(LOAD, other, other, bytes, true, 12);
	observe(LOAD, more, more, bytes, true, 10);
	tick(rounds, 1000);
	tick(copy, 800);
	tick(other, 400);
	found = problems();
	assert_int_equal(found.count, 3);
	assert_int_equal(found.list[0].part_of.method, 0);
	assert_int_equal(problems_rank(&found, found.list[1].part_of.method), 1);
	assert_float_equal(found.list[1].part_of.part, 1, 1e-9);
	assert_int_equal(problems_rank(&found, found.list[2].part_of.method), 0);
	assert_string_equal(method(found.list[2].callers[0].method), "twice");
	assert_string_equal(method(found.list[2].callers[1].method), "more");
	assert_float_equal(found.list[2].callers[1].part, 10. / 22, 1e-9);
}

/* Two loads in methods that one method calls, and a caller of code in java.util. */
TEST(whose_doing_it_is, set_up, clock_window_free)
{
	uint32_t main = frame(0, "Main", "main", 1);
	uint32_t check = frame(main, "Form", "check", 2),
		 check_again = frame(main, "Form", "check", 7);
	uint32_t first = frame(check, "Form", "isEmpty", 1);
	uint32_t second = frame(check_again, "Form", "isLong", 1);
	uint32_t subtract = frame(main, "Lists", "subtract", 4);
	uint32_t remove = frame(subtract, "java.util.ArrayList", "remove", 3);
	uint32_t jdk = frame(remove, "java.util.Objects", "equals", 5);
	uint32_t equals = frame(jdk, "java.lang.Integer", "equals", 4);
	struct problems found;

	observe(LOAD, first, second, place(FIELD, "Form", "text", "String"), true, 30);
	observe(LOAD, equals, equals, place(FIELD, "java.lang.Integer", "value", "int"), true, 20);
	observe(LOAD, remove, remove, place(ELEMENT, "Object[]", "", "Object"), true, 20);
	tick(second, 1000);
	tick(remove, 800);
	tick(equals, 100);
	found = problems();
	assert_int_equal(found.count, 2);
	assert_string_equal(method(found.list[0].method), "check");
	assert_string_equal(method(found.list[0].callers[0].method), "main");
	assert_string_equal(method(found.list[1].method), "remove");
	assert_string_equal(method(found.list[1].callers[0].method), "subtract");
	assert_int_equal(found.list[1].kind, PROBLEM_SEARCHED);
	assert_true(found.list[1].basic && !found.list[0].basic);
	assert_non_null(strstr(found.list[1].advice, "a set or a map"));
}

/* By halving, or of nothing but fields. */
TEST(who_does_not_look_through_many_gets_no_set, set_up, clock_window_free)
{
	uint32_t halves = frame(0, "Table", "binarySearchOf", 1),
		 find = frame(0, "Node", "find", 2);
	struct problems found;

	observe(LOAD, halves, halves, place(ELEMENT, "Object[]", "", "Object"), true, 20);
	observe(LOAD, find, find, place(FIELD, "Node", "size", "int"), true, 20);
	tick(halves, 1000);
	tick(find, 800);
	found = problems();
	assert_int_equal(found.count, 2);
	for (size_t i = 0; i < found.count; i++) {
		assert_int_equal(found.list[i].kind, PROBLEM_SEARCHED);
		assert_non_null(strstr(found.list[i].advice, "keeping the result"));
	}
}

TEST(too_little_evidence_or_time_is_no_problem, set_up, clock_window_free)
{
	uint32_t four = frame(0, "Main", "four", 1), small = frame(0, "Main", "small", 2);
	uint32_t unsure = frame(0, "Main", "unsure", 3);
	uint32_t bytes = place(ELEMENT, "byte[]", "", "byte");

	observe(LOAD, four, four, bytes, true, 4);
	observe(LOAD, small, small, bytes, true, 40);
	tick(four, 1000);
	observe(LOAD, unsure, unsure, bytes, true, 40);
	tick(small, 5);
	tick(unsure, 14);
	assert_int_equal(problems().count, 0);
	assert_int_equal(problems().small, 2);
}

/* Who saves more comes later where another window might not show it. */
TEST(what_is_sure_comes_first, set_up, clock_window_free)
{
	uint32_t often = frame(0, "Main", "often", 1), large = frame(0, "Main", "large", 2);
	uint32_t close = frame(0, "Main", "close", 3);
	uint32_t bytes = place(ELEMENT, "byte[]", "", "byte");
	struct problems found;

	observe(LOAD, large, large, bytes, true, PROBLEM_SURE - 1);
	observe(LOAD, often, often, bytes, true, PROBLEM_SURE);
	observe(LOAD, close, close, bytes, true, 40);
	tick(large, 4000);
	tick(often, 400);
	tick(close, 20); /* 0.2%, and little more than 0.1% at least. */
	found = problems();
	assert_int_equal(found.count, 3);
	assert_string_equal(method(found.list[0].method), "often");
	assert_true(found.list[0].sure);
	assert_string_equal(method(found.list[1].method), "large");
	assert_false(found.list[1].sure);
	assert_string_equal(method(found.list[2].method), "close");
	assert_false(found.list[2].sure);
}

/* A hash is made of what is then compared. */
TEST(who_goes_on_with_what_another_one_loads_is_one_problem_with_it, set_up, clock_window_free)
{
	uint32_t find = frame(0, "Table", "find", 1), hash = frame(find, "Key", "hash", 2);
	uint32_t same = frame(frame(find, "Key", "equals", 3), "Arrays", "same", 4);
	uint32_t name = frame(frame(0, "Main", "main", 5), "Path", "name", 6);
	uint32_t bytes = place(ELEMENT, "byte[]", "", "byte");
	struct problems found;

	observe(LOAD, name, hash, bytes, true, 30);
	observe(LOAD, hash, same, bytes, true, 20);
	tick(hash, 1000);
	tick(same, 500);
	found = problems();
	for (size_t i = 1; i < found.count; i++)
		assert_int_not_equal(found.list[i].kind, found.list[0].kind);
}

/* A table's fields are asked for by what is called, too: "bookkeeping" there, "repeated" here. */
TEST(what_is_loaded_again_for_a_caller_that_loads_it_is_one_problem_with_it, set_up,
     clock_window_free)
{
	uint32_t main = frame(0, "Main", "main", 1), next = frame(main, "Scanner", "next", 1);
	uint32_t limit = frame(next, "Reader", "limit", 2);
	uint32_t other = frame(frame(main, "Main", "more", 2), "Reader", "limit", 2);
	uint32_t length = place(FIELD, "Reader", "length", "int");

	observe(LOAD, limit, limit, length, true, 30);
	observe(LOAD, other, other, length, true, 10);
	observe(LOAD, next, next, length, true, 20);
	tick(limit, 1000);
	tick(next, 500);
	assert_int_equal(problems().count, 1);
	/* To store it is another matter. */
	observe(DEAD, next, next, length, true, 30);
	assert_int_equal(problems().count, 2);
}

/* A sum of numbers that are objects: of what makes them, and not of who calls it. */
static uint32_t numbers_are_added_up(unsigned dead)
{
	uint32_t main = frame(0, "Main", "main", 1), sum = frame(main, "Sum", "add", 2);
	uint32_t plus = frame(sum, "Number", "plus", 3), of = frame(sum, "Number", "of", 4);
	uint32_t made = frame(plus, "java.math.Big", "add", 5);

	allocate(made, "Number", 1e6, 40, dead);
	allocate(of, "Number", 1e6, 40, dead);
	allocate(frame(0, "Other", "run", 3), "byte[]", 1e6, 20, 20);
	tick(sum, 300);
	tick(frame(of, "Cache", "find", 1), 200);
	tick(plus, 400);
	tick(made, 100);
	w->cpu.beside = (struct cpu_beside){.span_ns = NS_PER_S, .gc_ns = NS_PER_S};
	w->start_ns = NS_PER_S;
	w->end_ns = 6 * NS_PER_S;
	return plus;
}

TEST(what_an_operation_allocates_is_a_problem, set_up, clock_window_free)
{
	const struct problem_allocation *what;
	struct problems found;

	(void)numbers_are_added_up(40);
	found = problems();
	assert_int_equal(found.count, 2);
	assert_int_equal(found.list[0].kind, PROBLEM_ALLOCATED);
	assert_string_equal(method(found.list[0].method), "add");
	assert_string_equal(method(found.list[0].callers[0].method), "main");
	what = &found.list[0].allocated;
	assert_int_equal(what->samples, 80);
	assert_float_equal(what->fraction, 0.8, 1e-9);
	assert_float_equal(what->garbage, 1, 1e-9);
	assert_non_null(strstr(found.list[0].advice, "values without objects"));
	assert_non_null(strstr(found.list[1].advice, "one array that is used again"));
	assert_int_equal(what->class_count, 1);
	/* The collector has 5 of 55 s. */
	assert_float_equal(what->gc_share, 0.8 * 5 / 55, 1e-9);
	/* All in Number's methods, and in what these call. */
	assert_float_equal(found.list[0].own.share, 3.5 / 55, 1e-9);
	assert_float_equal(found.list[0].saved.share, (3.5 + 4) / 55, 1e-9);
	assert_float_equal(found.list[0].inclusive, 5. / 55, 1e-9);
	/* At the allocations; and all that it takes, with the collector's time. */
	assert_true(found.list[0].saved_bounds.low > 0.005);
	assert_true(found.list[0].saved_bounds.low < 0.5 / 55);
	assert_true(found.list[0].saved_bounds.high > (5. + 4) / 55);
	assert_true(found.list[0].saved_bounds.high < 0.2);
}

/* Whose class nobody knows either. */
TEST(a_frame_that_nobody_can_name_is_no_objects, set_up, clock_window_free)
{
	struct cct_node unknown = {.parent =
				       cct_node(&w->profile.cct, numbers_are_added_up(40))->parent,
				   .bci = -1,
				   .line = -1,
				   .tier = JXP__TIER__TIER_NATIVE};
	struct problems found;
	uint32_t id;

	assert_int_equal(cct_add_node(&w->profile.cct, &unknown, &id), 0);
	tick(id, 500);
	found = problems();
	assert_string_equal(method(found.list[0].method), "add");
	assert_float_equal(found.list[0].own.share, 3.5 / 55, 1e-9);
	assert_float_equal(found.list[0].inclusive, 7.5 / 55, 1e-9);
}

TEST(what_is_kept_is_no_problem, set_up, clock_window_free)
{
	(void)numbers_are_added_up(19);
	for (size_t i = 0; i < problems().count; i++)
		assert_string_not_equal(method(problems().list[i].method), "add");
}

/* What is called has a little more in one window, and who calls it in the next. */
TEST(of_neighbours_that_allocate_as_much_it_is_the_outer_one, set_up, clock_window_free)
{
	uint32_t main = frame(0, "Main", "main", 1), open = frame(main, "Heap", "open", 2);
	uint32_t get = frame(open, "Cache", "get", 3);
	struct problems found;

	allocate(get, "Container", 1e6, 30, 30);
	allocate(open, "Heap", 1e6, 9, 9); /* 0.75 of 30, and 9, are 31.5, */
	tick(open, 500);
	tick(get, 500);
	w->start_ns = NS_PER_S;
	w->end_ns = 6 * NS_PER_S;
	found = problems();
	assert_string_equal(method(found.list[0].method), "open");
	allocate(get, "Container", 1e6, 8, 8); /* and of 38 37.5. */
	found = problems();
	assert_string_equal(method(found.list[0].method), "open");
	allocate(get, "Container", 1e6, 30, 30);
	found = problems();
	assert_string_equal(method(found.list[0].method), "get");
}

/* Of small objects nobody knows what becomes of them: what the tracked ones tell is taken. */
TEST(objects_that_are_not_tracked_are_made_for_somebody_too, set_up, clock_window_free)
{
	struct object_profile *o = &w->objects;
	uint32_t site, node = frame(0, "Sum", "add", 2);
	struct problems found;

	assert_int_equal(object_profile_site(o, text("Number"), node, &site), 0);
	for (unsigned i = 0; i < 60; i++)
		object_profile_told(o, site, 1e6, 100);
	tick(node, 1000);
	w->start_ns = NS_PER_S;
	w->end_ns = 6 * NS_PER_S;
	assert_int_equal(problems().count, 0);
	allocate(node, "Number", 1e6, 20, 15);
	found = problems();
	assert_int_equal(found.count, 1);
	assert_int_equal(found.list[0].allocated.samples, 80);
	assert_float_equal(found.list[0].allocated.garbage, 0.75, 1e-9);
	assert_float_equal(found.list[0].allocated.bytes, 8e9, 1);
}

TEST(what_allocates_and_accesses_in_vain_is_one_problem, set_up, clock_window_free)
{
	uint32_t plus = numbers_are_added_up(40);
	struct problems found;

	observe(LOAD, plus, plus, place(FIELD, "Number", "scale", "int"), true, 30);
	found = problems();
	assert_int_equal(found.count, 2);
	assert_int_equal(found.list[0].kind, PROBLEM_ALLOCATED);
	assert_string_equal(method(found.list[0].method), "add");
	assert_int_equal(found.list[0].evidence, 30);
}

/* Two recursions, 60 or 70 calls deep, with one caller. */
static void allocate_below(uint32_t node, const char *class_name, unsigned depth)
{
	for (unsigned i = 0; i < depth; i++)
		node = frame(node, class_name, "visit", 1);
	node = frame(node, "java.util.ArrayList", "grow", 1);
	allocate(node, class_name, 1e6, 40, 40);
	tick(node, 100);
}

TEST(recursion_hides_callers_that_are_far_away, set_up, clock_window_free)
{
	uint32_t main = frame(0, "Main", "main", 1);
	uint32_t shallow = frame(main, "Main", "shallow", 2), deep = frame(main, "Main", "deep", 3);
	struct problems found;

	allocate_below(shallow, "Left", 60);
	allocate_below(shallow, "Right", 60);
	allocate_below(deep, "Up", 70);
	allocate_below(deep, "Down", 70);
	found = problems();
	assert_int_equal(found.count, 3);
	assert_string_equal(method(found.list[0].method), "shallow");
	assert_string_equal(method(found.list[1].method), "visit");
	assert_string_equal(method(found.list[2].method), "visit");
}

/* A few lists, and what is done with them. */
TEST(work_that_is_not_for_the_objects_is_no_problem_of_theirs, set_up, clock_window_free)
{
	uint32_t subtract = frame(0, "Main", "subtract", 1);

	allocate(subtract, "List", 1, 80, 80);
	tick(frame(subtract, "List", "indexOf", 1), 1000);
	assert_int_equal(problems().count, 0);
}

/* 100 ms of CPU time in ten seconds, and in the first of these objects for 44 ms. */
TEST(objects_that_were_tracked_for_a_part_are_as_many_in_the_rest, set_up, clock_window_free)
{
	uint32_t split = frame(0, "Main", "split", 1);

	allocate(split, "Part", 1e3, 40, 40);
	tick(split, 20);
	w->request.kinds[JXP__KIND__KIND_OBJECTS] = true;
	w->start_ns = NS_PER_S;
	w->end_ns = 11 * NS_PER_S;
	assert_int_equal(problems().count, 0);
	w->objects_off_ns = 2 * NS_PER_S;
	assert_int_equal(problems().count, 1);
}

/* Ticks that were lost, cut, or had no room may all be the operation's; our own are not. */
TEST(ticks_that_nobody_can_place_may_be_its, set_up, clock_window_free)
{
	uint32_t put = frame(0, "Main", "put", 1), other = frame(0, "Main", "other", 2);
	double high;

	observe(STORE, put, put, place(FIELD, "Main", "last", "int"), true, 60);
	tick(put, 1000);
	high = problems().list[0].saved_bounds.high;
	assert_int_equal(
	    cpu_profile_add(&w->cpu, JXP__CPU_SAMPLE__STATE__KERNEL, 0, false, 100 * NS_PER_MS), 0);
	assert_int_equal(cpu_profile_add(&w->cpu, JXP__CPU_SAMPLE__STATE__COMPILED, other, true,
					 200 * NS_PER_MS),
			 0);
	/* There was no room for a context of these. */
	cpu_sum_add(&w->cpu.states[JXP__CPU_SAMPLE__STATE__COMPILED],
		    &(struct cpu_sum){.samples = 1, .ns = 400 * NS_PER_MS}, 1);
	w->counters[JXP__COUNTER__COUNTER_KERNEL_NS] = 100 * NS_PER_MS;
	w->overhead_ns = 100 * NS_PER_MS;
	assert_float_equal(problems().list[0].saved_bounds.high, high + 0.6 / 50, 1e-3);
}

/* Each has less of the waste than a step has at least. */
TEST(no_more_is_saved_than_can_be_at_most, set_up, clock_window_free)
{
	uint32_t main = frame(0, "Main", "main", 1);
	uint32_t field = place(FIELD, "Main", "last", "int");
	struct problems found;

	observe(STORE, main, main, field, true, 10);
	tick(main, 40);
	for (int i = 0; i < 24; i++) {
		const char name[] = {(char)('a' + i), '\0'};
		uint32_t step = frame(main, "Main", name, 2 + i);

		observe(STORE, step, step, field, true, 10);
		tick(step, 40);
	}
	found = problems();
	assert_int_equal(found.count, 1);
	assert_float_equal(found.list[0].own.share, 0.004, 1e-9);
	assert_float_equal(found.list[0].saved.share, 0.1, 1e-9);
	assert_true(found.list[0].saved_bounds.high >= found.list[0].saved.ci95.high);
}

/* Without CPU time the part of the accesses decides. */
TEST(operations_samplers_rank_by_accesses, set_up, clock_window_free)
{
	uint32_t some = frame(0, "Main", "some", 1), all = frame(0, "Main", "all", 2);
	uint32_t bytes = place(ELEMENT, "byte[]", "", "byte");
	struct problems found;

	w->findings.sampler = JXP__SAMPLER__SAMPLER_PEBS;
	w->request.kinds[JXP__KIND__KIND_CPU] = false;
	observe(LOAD, some, some, bytes, true, 50);
	observe(LOAD, some, some, bytes, false, 50);
	observe(LOAD, all, all, bytes, true, 50);
	found = problems();
	assert_int_equal(found.count, 2);
	assert_string_equal(method(found.list[0].method), "all");
	assert_false(found.list[0].saved.known || found.list[0].gain.known);
}
