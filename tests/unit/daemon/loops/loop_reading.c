/* Where counters tell the turns of an instance, in code that JVMs compiled. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/support/analysed_code.h"

/* The reading of a loop, by its header; NULL: there is none. */
static const struct loop_reading *reading_of(const struct analysed *x, uint32_t header)
{
	for (size_t i = 0; i < x->a.loop_count; i++)
		if (x->a.loops[i].header == header)
			return x->a.loops[i].reading ? &x->a.readings[x->a.loops[i].reading - 1]
						     : NULL;
	fail_msg("no loop at %#x", header);
	return NULL;
}

static void all_copies_are_read_together(void **state)
{
	static const uint32_t headers[] = {0xf0, 0x7a, 0xc9};
	struct analysed x;

	(void)state;
	analyse(&x, "rareStore-17-g1");
	for (unsigned i = 0; i < 3; i++) {
		const struct loop_reading *r = reading_of(&x, headers[i]);

		assert_non_null(r);
		assert_int_equal(r->begin.offset,
				 0x56); /* In front of the main one and the last one. */
		assert_int_equal(r->begin.at.reg, 9);
		assert_false(r->begin.at.slot);
		assert_int_equal(r->step, 1);
		assert_int_equal(r->end_count, 1);
		assert_int_equal(r->ends[0].place.offset, 0xff);
		assert_int_equal(r->ends[0].place.at.reg, 9);
		assert_int_equal(r->ends[0].low, 0);
		assert_int_equal(r->ends[0].high, 0);
	}
	release(&x);
}

static void a_turn_may_step_the_counter_by_more_than_one(void **state)
{
	const struct loop_reading *r;
	struct analysed x;

	(void)state;
	analyse(&x, "whileEvery2-17-g1");
	r = reading_of(&x, 0x90); /* By 32 in 16 turns. */
	assert_non_null(r);
	assert_int_equal(r->step, 2);
	release(&x);
}

static void a_counter_that_goes_down_is_one(void **state)
{
	const struct loop_reading *r;
	struct analysed x;

	(void)state;
	analyse(&x, "linkedList-17-g1");
	r = reading_of(&x, 0x163);
	assert_non_null(r);
	assert_int_equal(r->step, -1);
	release(&x);
}

/* It is set from a vector register by the last instruction in front of the loop. */
static void it_is_read_where_it_can_be(void **state)
{
	const struct loop_reading *r;
	struct analysed x;

	(void)state;
	analyse(&x, "marked-17-g1");
	r = reading_of(&x, 0x67);
	assert_non_null(r);
	assert_int_equal(r->begin.offset, 0x198);
	assert_int_equal(r->begin.at.reg, 9);
	assert_int_equal(r->ends[0].place.offset, 0x12b);
	assert_int_equal(r->ends[0].place.at.reg, 1);
	release(&x);
	analyse(&x, "markedAll-17-g1"); /* ... in the block before that one. */
	r = reading_of(&x, 0x120);
	assert_non_null(r);
	assert_int_equal(r->begin.offset, 0x78);
	assert_int_equal(r->begin.at.reg, 11);
	release(&x);
}

/* The compiler has made the place of what is found of the counter, another one at each way out. */
static void a_counter_that_is_changed_behind_the_loop_is_none(void **state)
{
	struct analysed x;

	(void)state;
	analyse(&x, "indexOf-17-g1");
	assert_null(reading_of(&x, 0x70));
	release(&x);
}

static void a_walk_along_a_list_has_no_counter(void **state)
{
	struct analysed x;

	(void)state;
	analyse(&x, "find-25-parallel");
	assert_null(reading_of(&x, 0x33));
	release(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(all_copies_are_read_together),
	    cmocka_unit_test(a_turn_may_step_the_counter_by_more_than_one),
	    cmocka_unit_test(a_counter_that_goes_down_is_one),
	    cmocka_unit_test(it_is_read_where_it_can_be),
	    cmocka_unit_test(a_counter_that_is_changed_behind_the_loop_is_none),
	    cmocka_unit_test(a_walk_along_a_list_has_no_counter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
