/* Where counters tell the turns of an instance, in code that JVMs compiled. */
#include "tests/unit/support/test.h"

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

TEST(all_copies_are_read_together)
{
	static const uint32_t headers[] = {0xf0, 0x7a, 0xc9};
	struct analysed x;

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

TEST(a_turn_may_step_the_counter_by_more_than_one)
{
	const struct loop_reading *r;
	struct analysed x;

	analyse(&x, "whileEvery2-17-g1");
	r = reading_of(&x, 0x90); /* By 32 in 16 turns. */
	assert_non_null(r);
	assert_int_equal(r->step, 2);
	release(&x);
}

TEST(a_counter_that_goes_down_is_one)
{
	const struct loop_reading *r;
	struct analysed x;

	analyse(&x, "linkedList-17-g1");
	r = reading_of(&x, 0x163);
	assert_non_null(r);
	assert_int_equal(r->step, -1);
	release(&x);
}

/* It is set from a vector register by the last instruction in front of the loop. */
TEST(it_is_read_where_it_can_be)
{
	const struct loop_reading *r;
	struct analysed x;

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
TEST(a_counter_that_is_changed_behind_the_loop_is_none)
{
	struct analysed x;

	analyse(&x, "indexOf-17-g1");
	assert_null(reading_of(&x, 0x70));
	release(&x);
}

TEST(a_walk_along_a_list_has_no_counter)
{
	struct analysed x;

	analyse(&x, "find-25-parallel");
	assert_null(reading_of(&x, 0x33));
	release(&x);
}
