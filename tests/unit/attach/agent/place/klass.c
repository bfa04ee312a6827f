/* Which addresses are classes. */
#include "tests/unit/support/test.h"

#include "tests/unit/support/agent/fake_heap.h"

static enum klass_found find(uint64_t address, struct klass *out)
{
	return klass_find(&fake_layout, &fake_regions, address, out);
}

TEST(a_class_is_what_its_mirror_names, fake_heap_setup)
{
	uint64_t a = fake_klass_add(FAKE_INSTANCE(32), 0x100);
	uint64_t b = fake_klass_add(FAKE_ARRAY(16, FAKE_T_LONG, 3), 0x200);
	struct klass first, again, other;

	assert_false(klass_is_met(a));
	assert_int_equal(find(a, &first), KLASS_FOUND);
	assert_int_equal(find(b, &other), KLASS_FOUND);
	assert_int_equal(find(a, &again), KLASS_FOUND);
	assert_true(klass_is_met(a));
	assert_int_equal(first.id, again.id);
	assert_int_not_equal(first.id, other.id);
	assert_int_equal(klass_address(other.id), b);
	assert_int_equal(klass_instance_bytes(first.layout_helper), 32);
	assert_true(klass_is_array(other.layout_helper));
	assert_int_equal(klass_array_header_bytes(other.layout_helper), 16);
	assert_int_equal(klass_element_log2(other.layout_helper), 3);
	assert_int_equal(klass_element_type(other.layout_helper), FAKE_T_LONG);
}

TEST(what_no_mirror_names_is_none, fake_heap_setup)
{
	uint64_t a = fake_klass_add(FAKE_INSTANCE(32), 0x100);
	struct klass k;

	memset(fake_heap + 0x100, 0, 64); /* It stands for another one. */
	assert_int_equal(find(a, &k), KLASS_NONE);
	assert_int_equal(find(a + 4, &k), KLASS_NONE);
	assert_int_equal(find(0, &k), KLASS_NONE);
	assert_int_equal(find(16, &k), KLASS_NONE);
	assert_int_equal(klass_address(0), 0);
}

/* From JDK 28 on: of arrays of references, beside the one that the mirror names. */
TEST(an_array_class_may_share_the_mirror_of_another_one, fake_heap_setup)
{
	uint64_t named = fake_klass_add(FAKE_ARRAY(16, FAKE_T_LONG, 2), 0x100);
	uint64_t refined = fake_klass_add(FAKE_ARRAY(16, FAKE_T_LONG, 2), 0x200);
	uint64_t instance = fake_klass_add(FAKE_INSTANCE(32), 0x300);
	struct klass k;

	memset(fake_heap + 0x200, 0, 64);
	assert_int_equal(find(refined, &k), KLASS_NONE);
	fake_handles[1] = fake_at(0x100);
	assert_int_equal(find(refined, &k), KLASS_FOUND);
	assert_int_equal(klass_address(k.id), refined);
	/* Not if the one that is named has another mirror, and not of instances. */
	klass_clear();
	fake_handles[0] = fake_at(0x400);
	assert_int_equal(find(refined, &k), KLASS_NONE);
	fake_handles[0] = fake_handles[2] = fake_at(0x100);
	assert_int_equal(find(instance, &k), KLASS_NONE);
	assert_int_equal(find(named, &k), KLASS_FOUND);
}

TEST(a_mirror_outside_of_the_heap_does_not_count, fake_heap_setup)
{
	uint64_t a = fake_klass_add(FAKE_INSTANCE(32), 0x100);
	uint64_t elsewhere[8] = {[2] = a};
	struct klass k;

	fake_handles[0] = (uintptr_t)elsewhere;
	assert_int_equal(find(a, &k), KLASS_NONE);
}

/* An instance class is vouched for without its mirror, which collectors move. */
TEST(a_class_is_what_its_constant_pool_names, fake_heap_setup)
{
	uint64_t a = fake_klass_add(FAKE_INSTANCE(32), 0x100), pool[4] = {[3] = a};
	struct klass k;

	memset(fake_heap + 0x100, 0, 64);
	fake_layout.klass_constants = offsetof(struct fake_klass, constants);
	fake_layout.pool_holder = 3 * sizeof(pool[0]);
	assert_int_equal(find(a, &k), KLASS_NONE);
	fake_klass_of(a)->constants = (uintptr_t)pool;
	assert_int_equal(find(a, &k), KLASS_FOUND);
}

TEST(layout_helpers_that_none_has_are_refused, fake_heap_setup)
{
	const int32_t wrong[] = {0, 4, FAKE_ARRAY(16, FAKE_T_LONG, 9),
				 FAKE_ARRAY(4, FAKE_T_LONG, 3), FAKE_ARRAY(16, 200, 3)};
	struct klass k;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(find(fake_klass_add(wrong[i], 0x100), &k), KLASS_NONE);
}

/* ZGC: a handle may have to be brought up to date by a load barrier, which is not ours to run. */
TEST(a_coloured_handle_that_is_not_up_to_date_is_not_read, fake_heap_setup)
{
	static uint64_t bad = 0x1, shift = 4;
	uint64_t a = fake_klass_add(FAKE_INSTANCE(32), 0x100);
	uint64_t b = fake_klass_add(FAKE_INSTANCE(48), 0x200);
	struct klass k;

	fake_layout.handle_bad = &bad;
	fake_layout.handle_shift = &shift;
	fake_klass_of(b)->table = 0x2000;
	fake_handles[1] = fake_handles[1] << 4 | bad;
	assert_int_equal(find(b, &k), KLASS_NONE);
	/* Another one's mirror can be read, and has the same virtual table. */
	fake_klass_of(a)->table = 0x2000;
	fake_handles[0] <<= 4;
	assert_int_equal(find(a, &k), KLASS_FOUND);
	assert_int_equal(find(b, &k), KLASS_FOUND);
}

TEST(a_class_that_took_anothers_place_says_its_own_size, fake_heap_setup)
{
	uint64_t a = fake_klass_add(FAKE_INSTANCE(32), 0x100);
	struct klass k;

	assert_int_equal(find(a, &k), KLASS_FOUND);
	fake_klass_of(a)->layout_helper = FAKE_INSTANCE(64);
	assert_int_equal(find(a, &k), KLASS_FOUND);
	assert_int_equal(klass_instance_bytes(k.layout_helper), 64);
}
