/* Which object an access touches, by what the thread has in its hands. */
#include "tests/unit/support/test.h"

#include "common/code/registers.h"
#include "attach/agent/place/place.h"
#include "tests/unit/support/agent/fake_heap.h"

#define MARKED 3u /* a mark word of an object that was moved */

static gregset_t regs;
static struct place_memory met;
static uint64_t frame[256];
static uint64_t point, longs; /* classes */

static void hold(int reg, uint64_t value)
{
	register_set(regs, reg, value);
}

static int set_up(void **state)
{
	if (fake_heap_setup(state) < 0)
		return -1;
	point = fake_klass_add(FAKE_INSTANCE(40), 0x100);
	longs = fake_klass_add(FAKE_ARRAY(16, FAKE_T_LONG, 3), 0x200);
	memset(regs, 0, sizeof(regs));
	met = (struct place_memory){0};
	memset(frame, 0, sizeof(frame));
	hold(RSP, (uintptr_t)frame);
	return 0;
}

static enum place_result find(uint64_t address, int base, int index, struct place *out)
{
	const struct place_operand operand = {.base = base, .index = index};

	return place_find(&fake_layout, &fake_regions, address, &operand, regs, &met, out);
}

static void assert_in(const struct place *p, uint64_t klass, unsigned offset, unsigned words)
{
	assert_int_equal(p->kind, PLACE_OBJECT);
	assert_int_equal(klass_address(p->klass), klass);
	assert_int_equal(p->offset, offset);
	assert_int_equal(p->words, words);
}

TEST(the_base_register_names_the_object, set_up)
{
	uint64_t object = fake_object_add(point, 0x1000, FAKE_UNLOCKED);
	struct place p;

	hold(RBX, object);
	assert_int_equal(find(object + 24, RBX, -1, &p), PLACE_FOUND);
	assert_in(&p, point, 24, 5);
	assert_false(p.element);
	/* Behind its end lies something else. */
	assert_int_equal(find(object + 40, RBX, -1, &p), PLACE_NO_OBJECT);
}

TEST(an_index_register_may_be_a_narrow_pointer, set_up)
{
	uint64_t object = fake_object_add(point, 0x1000, FAKE_UNLOCKED);
	struct place p;

	hold(R12, fake_at(0));
	regs[REG_RDX] = 0x1000 >> 3;
	assert_int_equal(find(object + 16, R12, RDX, &p), PLACE_FOUND);
	assert_in(&p, point, 16, 5);
}

TEST(an_array_is_as_long_as_it_says, set_up)
{
	uint64_t array = fake_array_add(longs, 0x2000, 10);
	struct place p;

	hold(RSI, array);
	assert_int_equal(find(array + 16 + 9 * 8, RSI, RCX, &p), PLACE_FOUND);
	assert_in(&p, longs, 16 + 9 * 8, 12);
	assert_true(p.element);
	assert_int_equal(find(array + 12, RSI, -1, &p), PLACE_FOUND);
	assert_false(p.element);
	assert_int_equal(find(array + 16 + 10 * 8, RSI, RCX, &p), PLACE_NO_OBJECT);
}

TEST(a_pointer_into_an_array_leaves_it_to_other_registers, set_up)
{
	uint64_t array = fake_array_add(longs, 0x2000, 1000);
	struct place p;

	hold(RSI, array + 4000);
	assert_int_equal(find(array + 4064, RSI, -1, &p), PLACE_NO_OBJECT); /* Not met yet. */
	regs[REG_R9] = 0x2000 >> 3;                                         /* narrow */
	assert_int_equal(find(array + 4064, RSI, -1, &p), PLACE_FOUND);
	assert_in(&p, longs, 4064, 1002);
}

TEST(a_frame_may_have_the_pointer, set_up)
{
	uint64_t array = fake_array_add(longs, 0x2000, 1000);
	struct place p;

	hold(RSI, array + 4000);
	frame[100] = array;
	assert_int_equal(find(array + 4000, RSI, -1, &p), PLACE_FOUND);
	assert_in(&p, longs, 4000, 1002);
	/* Or one half of a word. */
	frame[100] = (uint64_t)(0x2000 >> 3) << 32 | 0x7fffffff;
	assert_int_equal(find(array + 4000, RSI, -1, &p), PLACE_FOUND);
}

/* G1 since JDK 24 stores by a pointer to the field. */
TEST(a_pointer_to_a_field_leads_to_the_header_before_it, set_up)
{
	uint64_t object = fake_object_add(point, 0x1000, FAKE_UNLOCKED);
	struct place p;

	hold(R9, object);
	assert_int_equal(find(object + 8, R9, -1, &p), PLACE_FOUND); /* So the class is met. */
	hold(R9, object + 32);
	assert_int_equal(find(object + 32, R9, -1, &p), PLACE_FOUND);
	assert_in(&p, point, 32, 5);
}

TEST(a_stub_fills_an_array_whose_header_lies_far_before, set_up)
{
	uint64_t array = fake_array_add(longs, 0x2000, 40000);
	struct place p;

	hold(RDI, array + 100000);
	assert_int_equal(find(array + 100000, RDI, -1, &p), PLACE_NO_OBJECT);
	hold(RDI, array);
	assert_int_equal(find(array + 12, RDI, -1, &p), PLACE_FOUND); /* So its class is met. */
	met = (struct place_memory){0};
	hold(RDI, array + 100000);
	assert_int_equal(find(array + 100000, RDI, -1, &p), PLACE_FOUND);
	assert_in(&p, longs, 100000, 40002);
	/* It is remembered as long as nothing moves. */
	memset(fake_heap + 0x2000, 0, 16);
	assert_int_equal(find(array + 200000, RDI, -1, &p), PLACE_FOUND);
	assert_true(p.element);
	assert_int_equal(find(array + 12, RDI, -1, &p), PLACE_FOUND);
	assert_false(p.element);
	place_forget(&met);
	assert_int_equal(find(array + 200000, RDI, -1, &p), PLACE_NO_OBJECT);
}

TEST(looking_far_in_vain_is_not_done_again_at_once, set_up)
{
	uint64_t array = fake_array_add(longs, 0x2000, 40000);
	struct place p;
	unsigned tries = 0;

	hold(RDI, fake_at(0x80000));
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(find(fake_at(0x80000), RDI, -1, &p), PLACE_NO_OBJECT);
	hold(RBX, array);
	assert_int_equal(find(array + 12, RBX, -1, &p), PLACE_FOUND);
	place_forget(&met);
	regs[REG_RBX] = 0;
	while (find(array + 100000, RDI, -1, &p) != PLACE_FOUND)
		assert_true(++tries < 64);
	assert_true(tries > 0);
}

TEST(an_instance_does_not_begin_far_before, set_up)
{
	uint64_t large = fake_klass_add(FAKE_INSTANCE(4096), 0x300);
	uint64_t object = fake_object_add(large, 0x2000, FAKE_UNLOCKED);
	struct place p;

	hold(RBX, object);
	assert_int_equal(find(object + 16, RBX, -1, &p), PLACE_FOUND);
	hold(RBX, object + 2000);
	assert_int_equal(find(object + 2000, RBX, -1, &p), PLACE_NO_OBJECT);
}

TEST(the_nearest_of_several_holds_the_access, set_up)
{
	uint64_t stale = fake_array_add(longs, 0x2000, 1000);
	uint64_t object = fake_object_add(point, 0x2800, FAKE_UNLOCKED);
	struct place p;

	/* What the array was lies around what is there now. */
	hold(R8, stale);
	hold(R9, object);
	hold(RDI, object + 24);
	assert_int_equal(find(object + 24, RDI, -1, &p), PLACE_FOUND);
	assert_in(&p, point, 24, 5);
}

TEST(headers_that_none_has_are_refused, set_up)
{
	const uint64_t marks[] = {0, MARKED, 0x80 | FAKE_UNLOCKED,
				  UINT64_C(1) << 50 | FAKE_UNLOCKED};
	struct place p;

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		hold(RBX, fake_object_add(point, 0x1000, marks[i]));
		assert_int_equal(find(fake_at(0x1018), RBX, -1, &p), PLACE_NO_OBJECT);
	}
	/* A hash, a lock's record, a monitor. */
	hold(RBX, fake_object_add(point, 0x1000, 0x123400 | FAKE_UNLOCKED));
	assert_int_equal(find(fake_at(0x1018), RBX, -1, &p), PLACE_FOUND);
	(void)fake_object_add(point, 0x1000, 0x7fff00001000);
	assert_int_equal(find(fake_at(0x1018), RBX, -1, &p), PLACE_FOUND);
	(void)fake_object_add(point, 0x1000, 0x7fff00001002);
	assert_int_equal(find(fake_at(0x1018), RBX, -1, &p), PLACE_FOUND);
}

static enum place_result find_store(uint64_t address, int base, struct place *out)
{
	const struct place_operand operand = {.base = base, .index = -1, .plain_store = true};

	return place_find(&fake_layout, &fake_regions, address, &operand, regs, &met, out);
}

/* Of what was there before, as long as the new header is not written. */
TEST(a_store_that_makes_a_header_is_not_told, set_up)
{
	uint64_t object = fake_object_add(point, 0x1000, FAKE_UNLOCKED);
	struct place p;

	hold(RAX, object);
	assert_int_equal(find_store(object, RAX, &p), PLACE_FRESH);
	assert_int_equal(find_store(object + 8, RAX, &p), PLACE_FRESH);
	assert_int_equal(find_store(object + 16, RAX, &p), PLACE_FOUND);
}

TEST(in_the_allocation_buffer_a_store_may_be_the_first, set_up)
{
	uint64_t stale = fake_array_add(longs, 0x2000, 100);
	uint64_t thread[2] = {fake_at(0x2000), fake_at(0x3000)};
	struct place p;

	hold(R15, (uintptr_t)thread);
	fake_layout.tlab_start = 0;
	fake_layout.tlab_end = sizeof(thread[0]);
	/* A new object lies in what was an array. */
	hold(RBX, stale);
	hold(RAX, stale + 64);
	assert_int_equal(find_store(stale + 64, RAX, &p), PLACE_FRESH);
	thread[0] = fake_at(0x2800);
	assert_int_equal(find_store(stale + 64, RAX, &p), PLACE_FOUND);
	assert_in(&p, longs, 64, 102);
}

/* G1's pointer to the field names nothing, but its barrier says that the object is there. */
TEST(a_store_to_what_is_made_is_told_in_the_allocation_buffer, set_up)
{
	uint64_t object = fake_object_add(point, 0x2000, FAKE_UNLOCKED);
	uint64_t thread[2] = {fake_at(0x2000), fake_at(0x3000)};
	struct place_operand operand = {.base = R9, .index = -1, .plain_store = true};
	struct place p;

	hold(R15, (uintptr_t)thread);
	fake_layout.tlab_end = sizeof(thread[0]);
	hold(RBX, object);
	hold(R9, object + 24);
	assert_int_equal(
	    place_find(&fake_layout, &fake_regions, object + 24, &operand, regs, &met, &p),
	    PLACE_FRESH);
	operand.to_made = true;
	assert_int_equal(
	    place_find(&fake_layout, &fake_regions, object + 24, &operand, regs, &met, &p),
	    PLACE_FOUND);
	assert_in(&p, point, 24, 5);
}

TEST(a_loop_that_clears_backward_leaves_an_old_header_for_last, set_up)
{
	uint64_t array = fake_array_add(longs, 0x2000, 20);
	uint64_t stale = fake_object_add(point, 0x2010, FAKE_UNLOCKED);
	uint64_t thread[2] = {fake_at(0x2000), fake_at(0x3000)};
	struct place p;

	hold(R15, (uintptr_t)thread);
	fake_layout.tlab_end = sizeof(thread[0]);
	hold(RDI, stale);
	assert_int_equal(find_store(stale + 32, RDI, &p), PLACE_FOUND);
	assert_in(&p, longs, 48, 22);
	assert_int_equal(array + 16, stale);
}

TEST(what_a_string_instruction_clears_begins_before_it, set_up)
{
	uint64_t array = fake_array_add(longs, 0x2000, 20);
	const struct place_operand stos = {
	    .base = -1, .index = -1, .plain_store = true, .stored_to = array + 64};
	uint64_t thread[2] = {fake_at(0x2000), fake_at(0x3000)};
	struct place p;

	hold(R15, (uintptr_t)thread);
	fake_layout.tlab_end = sizeof(thread[0]);
	hold(RBX, array);
	assert_int_equal(find(array + 12, RBX, -1, &p), PLACE_FOUND); /* So its class is met. */
	hold(RBX, 0);
	/* It has come to where there still is another one's header; the access is behind that. */
	(void)fake_object_add(point, 0x2040, FAKE_UNLOCKED);
	assert_int_equal(place_find(&fake_layout, &fake_regions, array + 96, &stos, regs, &met, &p),
			 PLACE_FOUND);
	assert_in(&p, longs, 96, 22);
}

TEST(what_was_found_is_there_until_its_header_is_anothers, set_up)
{
	uint64_t object = fake_object_add(point, 0x1000, FAKE_UNLOCKED);
	struct place p;

	hold(RBX, object);
	assert_int_equal(find(object + 24, RBX, -1, &p), PLACE_FOUND);
	assert_true(place_holds(&fake_layout, &fake_regions, object + 24, &p));
	(void)fake_array_add(longs, 0x1000, 100);
	assert_false(place_holds(&fake_layout, &fake_regions, object + 24, &p));
}

TEST(no_object_is_larger_than_the_heap, set_up)
{
	uint64_t array = fake_array_add(longs, 0x2000, 1 << 20);
	struct place p;

	hold(RBX, array);
	fake_layout.heap_max = FAKE_HEAP_BYTES;
	assert_int_equal(find(array + 64, RBX, -1, &p), PLACE_NO_OBJECT);
}

TEST(a_class_that_is_none_is_told_apart, set_up)
{
	struct place p;

	regs[REG_RBX] =
	    (greg_t)fake_object_add(point + 5 * FAKE_KLASS_BYTES, 0x1000, FAKE_UNLOCKED);
	assert_int_equal(find(fake_at(0x1018), RBX, -1, &p), PLACE_NO_CLASS);
}

TEST(a_mirror_says_what_it_stands_for_and_how_long_it_is, set_up)
{
	uint64_t class_class = fake_klass_add(FAKE_INSTANCE(48), 0x300);
	struct place p;

	fake_layout.mirror_class = class_class;
	(void)fake_object_add(class_class, 0x100, FAKE_UNLOCKED); /* that of point */
	hold(R10, fake_at(0x100));
	assert_int_equal(find(fake_at(0x100 + 56), R10, -1, &p), PLACE_FOUND);
	assert_in(&p, class_class, 56, FAKE_MIRROR_BYTES / 8);
	assert_int_equal(klass_address(p.subject), point);
}

TEST(compact_headers_have_the_class_in_the_mark_word, set_up)
{
	uint64_t object;
	struct place p;

	fake_layout.class_word = CLASS_WORD_COMPACT;
	fake_layout.compact_shift = 42;
	fake_layout.hash_shift = 11;
	fake_layout.array_length = 8;
	fake_layout.classes.shift = 10;
	object = fake_object_add(point, 0x1000, FAKE_UNLOCKED);
	hold(RBX, object);
	assert_int_equal(find(object + 8, RBX, -1, &p), PLACE_FOUND);
	assert_in(&p, point, 8, 5);
	/* Locked; and what resembles it, with one of the bits that a reference of ZGC's has. */
	hold(RBX, fake_object_add(point, 0x1000, 0x800));
	assert_int_equal(find(object + 8, RBX, -1, &p), PLACE_FOUND);
	hold(RBX, fake_object_add(point, 0x1000, 0x900));
	assert_int_equal(find(object + 8, RBX, -1, &p), PLACE_NO_OBJECT);
}

TEST(full_class_pointers_are_read_whole, set_up)
{
	uint64_t array;
	struct place p;

	fake_layout.class_word = CLASS_WORD_FULL;
	fake_layout.array_length = 16;
	array = fake_array_add(longs, 0x2000, 4);
	hold(RBX, array);
	assert_int_equal(find(array + 24, RBX, -1, &p), PLACE_FOUND);
	assert_in(&p, longs, 24, 6);
}

/* ZGC before its generations: a pointer's state lies in its address. */
TEST(views_of_the_heap_are_one, set_up)
{
	uint64_t view = UINT64_C(1) << 46, object = fake_object_add(point, 0x1000, FAKE_UNLOCKED);
	struct place p;

	fake_regions.offset_mask = view - 1;
	fake_regions.view = fake_at(0) & view;
	(void)region_add_heap(&fake_regions, fake_at(0) ^ view, fake_at(FAKE_HEAP_BYTES) ^ view);
	hold(RBX, object ^ view);
	assert_int_equal(find((object + 24) ^ view, RBX, -1, &p), PLACE_FOUND);
	assert_in(&p, point, 24, 5);
}
