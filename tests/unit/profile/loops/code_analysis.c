/*
 * Loops of code that JVMs compiled (tests/unit/profile/loops/codes: the method, the JDK, the
 * collector; the programs beside them), and of some that nobody did.
 */
#include "tests/unit/support/test.h"
#include <errno.h>
#include <time.h>

#include "common/random.h"
#include "tests/unit/support/analysed_code.h"

/* Is it one whose turns are counted: not what only polls around another one? */
static bool counted(const struct code_loop *l)
{
	return !(l->doubts & LOOP_DOUBT_UNROLL);
}

/* A loop of the bytecodes. All its copies must be of that type, the longest be unrolled so. */
struct expected {
	const char *name;
	uint32_t method;
	int32_t header_bci, latch_bci;
	enum loop_type type;
	uint32_t unroll;
};

static void assert_loop(const struct expected *e)
{
	struct analysed x;
	uint32_t unroll = 0;

	analyse(&x, e->name);
	for (size_t i = 0; i < x.a.loop_count; i++) {
		const struct code_loop *l = &x.a.loops[i];

		if (!l->mapped)
			fail_msg("%s: the loop at %#x is not mapped", e->name, l->header);
		if (l->method != e->method || l->header_bci != e->header_bci)
			continue;
		assert_int_equal(l->latch_bci, e->latch_bci);
		if (l->type != e->type)
			fail_msg("%s: the loop at %#x is %s, not %s", e->name, l->header,
				 loop_type_name(l->type), loop_type_name(e->type));
		if (counted(l) && l->unroll > unroll)
			unroll = l->unroll;
	}
	if (unroll != e->unroll)
		fail_msg("%s: unrolled %u times, not %u", e->name, unroll, e->unroll);
	release(&x);
}

#define ASSERT_LOOPS(...)                                                      \
	do {                                                                   \
		static const struct expected all_[] = {__VA_ARGS__};           \
		for (size_t i_ = 0; i_ < sizeof(all_) / sizeof(all_[0]); i_++) \
			assert_loop(&all_[i_]);                                \
	} while (0)

/* ---------------------------------------------------------------- types */

TEST(a_search_has_a_result_in_its_last_turn)
{
	ASSERT_LOOPS({"indexOf-17-g1", 0, 2, 20, LOOP_LAST, 8},
		     {"indexOf-25-parallel", 0, 2, 20, LOOP_LAST, 8},
		     {"find-25-parallel", 0, 0, 19, LOOP_LAST, 1},
		     {"contains-17-parallel", 0, 7, 38, LOOP_LAST, 4},
		     {"tree-25-g1", 0, 0, 37, LOOP_LAST, 1});
}

TEST(a_walk_has_one_where_it_ends)
{
	ASSERT_LOOPS({"get-17-g1", 0, 2, 15, LOOP_LAST, 8});
}

TEST(a_count_has_one_in_each_turn)
{
	ASSERT_LOOPS({"length-25-parallel", 0, 2, 14, LOOP_EVERY, 1},
		     {"collatz-17-parallel", 0, 2, 33, LOOP_EVERY, 1});
}

TEST(a_sum_has_one_in_each_turn)
{
	ASSERT_LOOPS({"sum-25-g1", 0, 4, 19, LOOP_EVERY, 16},
		     {"keySum-25-parallel", 0, 2, 18, LOOP_EVERY, 1},
		     {"whileEvery2-17-g1", 0, 4, 19, LOOP_EVERY, 16},
		     {"lcg-25-g1", 0, 4, 21, LOOP_EVERY, 16},
		     {"fibo-25-g1", 0, 7, 26, LOOP_EVERY, 16},
		     {"any-25-g1", 0, 4, 19, LOOP_EVERY, 16},
		     {"longLoop-17-parallel", 0, 5, 26, LOOP_EVERY, 8});
}

TEST(stores_in_each_turn_are_results)
{
	ASSERT_LOOPS({"fill-25-g1", 0, 2, 17, LOOP_EVERY, 16},
		     {"objStore-17-g1", 0, 2, 15, LOOP_EVERY, 1},
		     {"build-25-parallel", 0, 4, 22, LOOP_EVERY, 4});
}

TEST(what_a_branch_leads_to_is_one_in_some_turns)
{
	ASSERT_LOOPS({"rareStore-17-g1", 0, 2, 23, LOOP_SOME, 4},
		     {"rareCount-25-parallel", 0, 4, 29, LOOP_SOME, 16},
		     {"zero-25-g1", 0, 4, 22, LOOP_SOME, 8},
		     {"max-17-parallel", 0, 6, 26, LOOP_SOME, 4},
		     {"copyArr-25-g1", 0, 2, 22, LOOP_SOME, 4});
}

/* Of tests/loops/programs/Searches.java: what says whether it is found is a method, inlined, whose
 * branch is a trap. */
TEST(a_search_that_never_found_has_its_type_from_the_bytecodes)
{
	ASSERT_LOOPS({"missCall-17-g1", 2, 2, 21, LOOP_LAST, 1},
		     {"missEquals-17-g1", 2, 2, 23, LOOP_LAST, 4},
		     {"missFlag-17-g1", 2, 4, 27, LOOP_LAST, 1});
}

/* It never found anything: what it would do then is a trap. So is what a branch in the loop leads
 * to. */
TEST(a_branch_that_was_never_taken_is_still_one)
{
	struct analysed x;
	const struct code_loop *l;

	ASSERT_LOOPS({"countPositives-25-parallel", 0, 7, 28, LOOP_LAST, 4},
		     {"strlen-17-g1", 0, 4, 32, LOOP_SOME, 8});
	analyse(&x, "strlen-17-g1");
	l = &x.a.loops[code_analysis_loop_at(&x.a, 0xc0)];
	assert_true(l->site_count > 0);
	for (uint32_t i = 0; i < l->site_count; i++)
		assert_int_equal(x.a.sites[l->first_site + i].result, LOOP_RESULT_EXIT);
	release(&x);
}

TEST(a_conditional_move_cannot_be_counted)
{
	struct analysed x;

	ASSERT_LOOPS({"mathMax-25-g1", 0, 5, 22, LOOP_SOME, 16});
	analyse(&x, "mathMax-25-g1");
	for (size_t i = 0; i < x.a.loop_count; i++) {
		assert_true(x.a.loops[i].doubts & LOOP_DOUBT_CONDITIONAL_MOVE);
		assert_int_equal(x.a.loops[i].site_count, 0);
	}
	release(&x);
}

/* Its copies go on from each other's counter, and where it has found nothing none is used. */
TEST(a_search_for_a_place_adds_nothing_up)
{
	static const char *const names[] = {"indexOf-17-g1", "indexOf-25-parallel",
					    "find-25-parallel"};
	struct analysed x;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		analyse(&x, names[i]);
		for (size_t loop = 0; loop < x.a.loop_count; loop++) {
			assert_int_equal(x.a.loops[loop].type, LOOP_LAST);
			if (x.a.loops[loop].doubts & LOOP_DOUBT_FOLDED)
				fail_msg("%s: the loop at %#x", names[i], x.a.loops[loop].header);
		}
		release(&x);
	}
}

/* Where it ends the next one begins: its counter is used. But its bytecodes add nothing up. */
TEST(a_loop_that_only_counts_adds_nothing_up)
{
	struct analysed x;
	unsigned found = 0;

	analyse(&x, "stores-17-g1");
	for (size_t loop = 0; loop < x.a.loop_count; loop++) {
		if (x.a.loops[loop].method != 4)
			continue;
		found++;
		assert_int_equal(x.a.loops[loop].type, LOOP_SOME);
		assert_false(x.a.loops[loop].doubts & LOOP_DOUBT_FOLDED);
	}
	assert_true(found > 0);
	release(&x);
}

TEST(a_loop_that_spins_waits)
{
	static const char *const names[] = {"spin-25-parallel", "spinPause-25-parallel"};
	struct analysed x;

	for (size_t i = 0; i < 2; i++) {
		analyse(&x, names[i]);
		assert_int_equal(x.a.loop_count, 1);
		assert_true(x.a.loops[0].waits);
		release(&x);
	}
	analyse(&x, "find-25-parallel");
	assert_false(x.a.loops[0].waits);
	release(&x);
}

/* ---------------------------------------------------------------- mapping */

TEST(nested_loops_are_nested_loops)
{
	ASSERT_LOOPS({"nested-25-parallel", 0, 13, 39, LOOP_LAST, 8},
		     {"nested-25-parallel", 0, 4, 45, LOOP_NEVER, 1},
		     {"three-25-parallel", 0, 21, 46, LOOP_EVERY, 4},
		     {"three-25-parallel", 0, 12, 52, LOOP_EVERY, 1},
		     {"three-25-parallel", 0, 4, 58, LOOP_EVERY, 1},
		     {"matrix-25-parallel", 0, 12, 31, LOOP_EVERY, 4},
		     {"matrix-25-parallel", 0, 4, 37, LOOP_SOME, 1});
}

TEST(loops_in_a_row_are_told_by_their_order)
{
	ASSERT_LOOPS({"two-17-parallel", 0, 4, 19, LOOP_EVERY, 16},
		     {"two-17-parallel", 0, 24, 39, LOOP_EVERY, 16},
		     {"two-25-g1", 0, 4, 19, LOOP_EVERY, 16},
		     {"two-25-g1", 0, 24, 39, LOOP_EVERY, 128},
		     {"threeInARow-17-parallel", 0, 5, 29, LOOP_LAST, 4},
		     {"threeInARow-17-parallel", 0, 35, 52, LOOP_EVERY, 16},
		     {"threeInARow-17-parallel", 0, 58, 73, LOOP_EVERY, 16});
}

TEST(an_inlined_loop_is_its_own_method_s)
{
	ASSERT_LOOPS({"inlinedTwice-17-parallel", 1, 2, 20, LOOP_LAST, 8});
}

/* The loop at an offset is the bytecodes' of that method, with that header; -1: of none. */
static void assert_mapped(const struct analysed *x, uint32_t offset, int method, int header_bci)
{
	uint32_t loop = code_analysis_loop_at(&x->a, offset);
	const struct code_loop *l = &x->a.loops[loop == LOOP_NO_PARENT ? 0 : loop];

	assert_int_not_equal(loop, LOOP_NO_PARENT);
	if ((l->mapped ? (int)l->method : -1) != method || l->header_bci != header_bci)
		fail_msg("the loop at %#x is method %d's at %d", offset,
			 l->mapped ? (int)l->method : -1, l->header_bci);
}

static void assert_type(const struct analysed *x, uint32_t offset, enum loop_type type)
{
	const struct code_loop *l = &x->a.loops[code_analysis_loop_at(&x->a, offset)];

	if (l->type != type || l->doubts & LOOP_DOUBT_CONDITIONAL_MOVE)
		fail_msg("the loop at %#x is %s, doubts %#x", offset, loop_type_name(l->type),
			 l->doubts);
}

/* What both have in common, the caller's loop, is the loop around them, and neither of them. What
 * may be either of them is none. */
TEST(loops_of_an_inlined_method_are_beside_each_other)
{
	struct analysed x;

	analyse(&x, "linkedList-17-g1");
	assert_mapped(&x, 0xa0, 1, 17);
	assert_mapped(&x, 0x163, 1, 47);
	assert_mapped(&x, 0x149, 1, 47);
	assert_mapped(&x, 0x123, 1, 47);
	assert_mapped(&x, 0x198, 1, 47);
	assert_mapped(&x, 0x4e, 0, 4);
	release(&x);
}

/* Some turns go on along a list, some to the next place of the table. What is spilled for a while
 * is no result. */
TEST(an_iterator_over_a_table_of_lists_is_progress)
{
	struct analysed x;

	analyse(&x, "maps-17-g1");
	assert_type(&x, 0x138, LOOP_LAST);
	release(&x);
	analyse(&x, "maps-25-g1");
	assert_type(&x, 0xa3, LOOP_LAST);
	release(&x);
}

/* Dense debug information, in which load barriers have the record of something else. */
TEST(records_of_load_barriers_tell_nothing)
{
	struct analysed x;

	analyse(&x, "retain-11-zgc");
	assert_mapped(&x, 0x38b, 14, 42);
	assert_mapped(&x, 0x581, 14, 42);
	assert_mapped(&x, 0x14d, 0, 11);
	release(&x);
}

/* What was peeled off, and tests that were taken out, lie in the loop around. */
TEST(what_lies_around_a_loop_for_it_is_its)
{
	struct analysed x;

	analyse(&x, "maps-25-g1");
	assert_mapped(&x, 0xd0, 8, 68);
	assert_mapped(&x, 0xe6, 8, 68);
	assert_mapped(&x, 0x80, 1, 12);
	release(&x);
}

/* The branch in front of the unrolled copy may lead to the one that makes the last turns. */
TEST(a_loop_that_may_be_passed_by_for_its_last_copy_is_entered)
{
	struct analysed x;

	analyse(&x, "linkedList-17-g1");
	for (unsigned i = 0; i < 2; i++) {
		uint32_t loop = code_analysis_loop_at(&x.a, i == 0 ? 0x149 : 0x79);

		assert_int_not_equal(loop, LOOP_NO_PARENT);
		assert_int_equal(x.a.loops[loop].entry_count, 1);
		assert_int_equal(x.a.loops[loop].doubts & LOOP_DOUBT_ENTRY, 0);
	}
	release(&x);
}

TEST(loops_without_records_are_told_by_the_way_they_count)
{
	struct analysed x;

	analyse(&x, "linkedList-17-parallel");
	assert_mapped(&x, 0x140, 4, 17);
	assert_mapped(&x, 0x170, 4, 17);
	assert_mapped(&x, 0x6d, 4, 47);
	assert_mapped(&x, 0xa0, 4, 47);
	assert_mapped(&x, 0xcc, 4, 47);
	assert_mapped(&x, 0x107, 0, 4);
	release(&x);
}

/* Two callees are inlined that no record knows of. */
TEST(the_only_loop_known_is_not_what_it_calls)
{
	struct analysed x;

	analyse(&x, "times-17-parallel");
	assert_mapped(&x, 0x19b, 0, 4);
	assert_mapped(&x, 0x6d, -1, -1);
	assert_mapped(&x, 0x1c0, -1, -1);
	release(&x);
}

TEST(loops_without_records_are_told_by_whether_they_fill)
{
	struct analysed x;

	analyse(&x, "different-17-parallel");
	assert_mapped(&x, 0x80, 1, 5);
	assert_mapped(&x, 0x20d, 3, 4);
	release(&x);
}

/* What polled around it turned once: the poll lies behind. */
TEST(a_loop_is_told_by_the_poll_behind_it)
{
	struct analysed x;

	analyse(&x, "different-17-g1");
	assert_mapped(&x, 0x22d, 3, 4);
	assert_mapped(&x, 0x33d, 3, 4);
	assert_mapped(&x, 0xa0, 1, 5);
	release(&x);
}

/* Two loops have one header: what is in it is in the inner one. */
TEST(a_loop_is_in_the_inner_one_of_those_with_one_header)
{
	struct analysed x;

	analyse(&x, "rare-21-parallel");
	assert_mapped(&x, 0xa8, 1, 2);
	assert_mapped(&x, 0x108, 1, 2);
	assert_mapped(&x, 0x12e, 0, 65);
	release(&x);
}

/* G1's long loops poll once in a while, in a loop around them. */
TEST(what_polls_around_a_loop_is_not_counted)
{
	struct analysed x;
	const struct code_loop *inner, *outer;

	analyse(&x, "get-17-g1");
	inner = &x.a.loops[code_analysis_loop_at(&x.a, 0x60)];
	assert_int_equal(inner->header, 0x60);
	assert_true(inner->parent != LOOP_NO_PARENT);
	outer = &x.a.loops[inner->parent];
	assert_true(counted(inner));
	assert_false(counted(outer));
	assert_int_equal(outer->header_bci, inner->header_bci);
	assert_int_equal(outer->type, inner->type);
	release(&x);
}

/* ... by its poll, where what else lies in it is the caller's. */
TEST(what_polls_around_an_inlined_loop_is_not_the_caller_s)
{
	struct analysed x;

	analyse(&x, "maps-17-g1");
	assert_mapped(&x, 0x1c0, 9, 68);
	assert_mapped(&x, 0x1b8, 9, 68);
	assert_mapped(&x, 0x138, 4, 12);
	assert_mapped(&x, 0x7f, 0, 8);
	release(&x);
}

/* Some of its records are of places in the loop around it: moved there. */
TEST(a_loop_that_records_are_too_far_out_of_is_between_others)
{
	struct analysed x;

	analyse(&x, "maps-25-g1");
	assert_mapped(&x, 0x110, 8, 68);
	assert_mapped(&x, 0x10a, 8, 68);
	assert_mapped(&x, 0xa3, 1, 12);
	assert_mapped(&x, 0x1c5, 0, 8);
	release(&x);
}

TEST(nothing_is_mapped_without_records_where_there_are_two_loops)
{
	struct analysed x;

	analyse(&x, "threeInARow-17-parallel");
	code_analysis_release(&x.a);
	x.image.record_count = 0;
	/* The second loop is another one than what its code does. */
	for (size_t i = 0; i < x.image.bytecode_bytes; i++)
		if (x.image.bytecodes[i] == 0x4f)
			x.image.bytecodes[i] = 0x60;
	assert_int_equal(code_analysis_make(&x.a, &x.image), 0);
	assert_true(x.a.loop_count > 3);
	for (size_t i = 0; i < x.a.loop_count; i++)
		assert_false(x.a.loops[i].mapped);
	release(&x);
}

TEST(the_only_loop_is_found_without_records)
{
	struct analysed x;

	analyse(&x, "sum-25-g1");
	code_analysis_release(&x.a);
	x.image.record_count = 0;
	assert_int_equal(code_analysis_make(&x.a, &x.image), 0);
	for (size_t i = 0; i < x.a.loop_count; i++) {
		assert_true(x.a.loops[i].mapped);
		assert_int_equal(x.a.loops[i].header_bci, 4);
	}
	release(&x);
}

/* An agent that does not know what is called: traps are told by their requests. */
TEST(traps_are_told_without_their_callees)
{
	struct analysed x;

	analyse(&x, "strlen-17-g1");
	for (size_t i = 0; i < x.image.call_count; i++)
		x.image.calls[i].target = CODE_TARGET_OTHER;
	for (unsigned listed = 0; listed < 2; listed++) {
		code_analysis_release(&x.a);
		assert_int_equal(code_analysis_make(&x.a, &x.image), 0);
		assert_int_equal(x.a.loops[code_analysis_loop_at(&x.a, 0xc0)].type, LOOP_SOME);
		assert_int_equal(x.a.loops[code_analysis_loop_at(&x.a, 0xc0)].unroll, 8);
		x.image.call_count = 0;
	}
	release(&x);
}

/* ---------------------------------------------------------------- places */

/* The rare store of each of four copies of the body; the card mark beside none. */
TEST(each_copy_of_the_body_has_its_site)
{
	struct analysed x;
	const struct code_loop *l;

	analyse(&x, "rareStore-17-g1");
	l = &x.a.loops[code_analysis_loop_at(&x.a, 0x7a)];
	assert_int_equal(l->unroll, 4);
	assert_int_equal(l->site_count, 4);
	for (uint32_t i = 0; i < l->site_count; i++) {
		const struct loop_site *site = &x.a.sites[l->first_site + i];

		assert_int_equal(site->result, LOOP_RESULT_STORE);
		assert_int_equal(code_analysis_loop_at(&x.a, site->offset), l - x.a.loops);
	}
	release(&x);
}

TEST(an_early_exit_is_where_it_leads)
{
	struct analysed x;

	analyse(&x, "find-25-parallel");
	assert_int_equal(x.a.loops[0].site_count, 1);
	assert_int_equal(x.a.sites[0].result, LOOP_RESULT_EXIT);
	assert_int_equal(code_analysis_loop_at(&x.a, x.a.sites[0].offset), LOOP_NO_PARENT);
	release(&x);
}

/* Storing references is one result a turn: not the queue of the barrier, nor its calls. */
TEST(barriers_are_no_results)
{
	struct analysed x;
	const struct code_loop *l;

	analyse(&x, "objStore-17-g1");
	l = &x.a.loops[code_analysis_loop_at(&x.a, 0xa9)];
	assert_int_equal(l->site_count, 1);
	assert_int_equal(x.a.sites[l->first_site].result, LOOP_RESULT_STORE);
	release(&x);
}

TEST(entries_lead_into_the_header)
{
	struct analysed x;
	const struct code_loop *l;

	analyse(&x, "two-17-parallel");
	if (!x.a.loops) {
		fail();
		return; /* Linters do not know that it is left there. */
	}
	l = &x.a.loops[code_analysis_loop_at(&x.a, 0x50)];
	assert_int_equal(l->entry_count, 1);
	assert_true(x.a.entries[l->first_entry] < l->header);
	assert_int_equal(code_analysis_loop_at(&x.a, x.a.entries[l->first_entry]), LOOP_NO_PARENT);
	assert_false(l->doubts & LOOP_DOUBT_ENTRY);
	release(&x);
}

TEST(parts_ascend_and_hold_their_loops)
{
	struct analysed x;

	analyse(&x, "three-25-parallel");
	assert_int_equal(code_analysis_loop_at(&x.a, 0), LOOP_NO_PARENT);
	for (size_t i = 0; i < x.a.part_count; i++) {
		const struct loop_part *p = &x.a.parts[i];

		assert_true(p->start < p->end && (i == 0 || p->start >= p[-1].end));
		assert_int_equal(code_analysis_loop_at(&x.a, p->end - 1), p->loop);
	}
	for (size_t i = 0; i < x.a.loop_count; i++)
		assert_int_equal(code_analysis_loop_at(&x.a, x.a.loops[i].header), i);
	assert_true(code_analysis_memory_bytes(&x.a) > 0);
	release(&x);
}

/* ---------------------------------------------------------------- hostile code */

TEST(code_without_loops_has_none)
{
	uint8_t ret = 0xc3;
	struct code_image image = {.bytes = &ret, .size = 1};
	struct code_analysis a;

	assert_int_equal(code_analysis_make(&a, &image), 0);
	assert_int_equal(a.loop_count, 0);
	assert_int_equal(code_analysis_loop_at(&a, 0), LOOP_NO_PARENT);
	code_analysis_release(&a);
	image.size = 0;
	assert_int_equal(code_analysis_make(&a, &image), -E2BIG);
	assert_int_equal(a.loop_count, 0);
}

enum { LARGEST = 64 << 10 };
static uint8_t largest[LARGEST];

static void fill_with_nops(void)
{
	static const uint8_t nop[8] = {0x0f, 0x1f, 0x84};

	for (unsigned i = 0; i < LARGEST; i += sizeof(nop))
		memcpy(largest + i, nop, sizeof(nop));
}

/* A conditional jump of six bytes; where the next instruction is to be. */
static unsigned put_jump(unsigned at, uint8_t condition, unsigned to)
{
	int32_t by = (int32_t)to - (int32_t)(at + 6);

	largest[at] = 0x0f;
	largest[at + 1] = condition;
	memcpy(largest + at + 2, &by, sizeof(by));
	return at + 6;
}

/* Loops in each other, and in the innermost one exits and sums of all registers. */
static void put_nest(unsigned depth, unsigned exits)
{
	unsigned at = 16 + depth * 8;

	fill_with_nops();
	for (unsigned i = 0; i < exits; i++) {
		largest[at++] = 0x01; /* add */
		largest[at++] = (uint8_t)(0xc0 + i * 7 % 0x20);
		largest[at++] = 0x39; /* cmp */
		largest[at++] = (uint8_t)(0xc0 + i * 11 % 0x20);
		at = put_jump(at, 0x84, LARGEST - 8);
	}
	for (unsigned i = depth; i-- > 0;)
		at = put_jump(at, 0x85, 16 + i * 8);
	largest[at] = largest[LARGEST - 8] = 0xc3;
}

static void put_row(unsigned gap)
{
	fill_with_nops();
	for (unsigned at = 64; at + 8 < LARGEST; at += gap) {
		largest[at] = 0x29; /* sub */
		largest[at + 1] = 0xc8;
		(void)put_jump(at + 2, 0x85, at - 40);
	}
}

TEST(the_largest_code_takes_its_time_and_no_more)
{
	struct code_image image = {.bytes = largest, .size = LARGEST};
	size_t loops = 0;
	double worst = 0;

	for (unsigned i = 0; i < 24; i++) {
		struct timespec before, after;
		struct code_analysis a;
		double ms;
		int rc;

		if (i < 12)
			put_nest(1 + i * 2, 100 + i % 4 * 90);
		else
			put_row(72 + i % 12 * 16);
		(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
		rc = code_analysis_make(&a, &image);
		(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
		assert_int_equal(rc, 0);
		ms = (double)(after.tv_sec - before.tv_sec) * 1e3 +
		     (double)(after.tv_nsec - before.tv_nsec) / 1e6;
		worst = ms > worst ? ms : worst;
		loops = a.loop_count > loops ? a.loop_count : loops;
		code_analysis_release(&a);
	}
	print_message("# at most %.1f ms, and %zu loops\n", worst, loops);
	assert_true(loops > 800);
	assert_true(worst < 3000); /* ThreadSanitizer is slow. */
}

TEST(random_bytes_are_told_or_refused)
{
	enum { SIZE = 4096 };
	static uint8_t bytes[SIZE];
	struct code_image image = {.bytes = bytes, .size = SIZE};
	struct random seed;
	struct code_analysis a;

	random_seed(&seed, 42);
	for (unsigned n = 0; n < 200; n++) {
		for (unsigned i = 0; i < SIZE; i++)
			bytes[i] = (uint8_t)random_next(&seed);
		(void)code_analysis_make(&a, &image);
		code_analysis_release(&a);
	}
}
