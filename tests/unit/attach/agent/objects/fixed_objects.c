/* Objects that are known by their address alone, and the pauses that find them dead. */
#include "tests/unit/support/test.h"
#include <pthread.h>
#include <stdatomic.h>

#include "attach/agent/objects/fixed_objects.h"
#include "attach/agent/objects/g1_regions.h"

/* No JVM: the tag of a humongous region is the number that G1 was not asked for, 0. */
#define HUMONGOUS 0u
#define REUSED    2u

static _Atomic uint32_t tags[2 * FIXED_OBJECTS_MAX];

static int set_up(void **state)
{
	(void)state;
	fixed_objects_clear();
	for (unsigned i = 0; i < 2 * FIXED_OBJECTS_MAX; i++)
		atomic_store(&tags[i], HUMONGOUS);
	return 0;
}

TEST(an_object_lives_as_long_as_its_region_is_humongous, set_up)
{
	void *a = fixed_object_add(0x1000, &tags[0]), *b = fixed_object_add(0x2000, &tags[1]);

	fixed_objects_pause_ends();
	assert_int_equal(fixed_object_address(a), 0x1000);
	atomic_store(&tags[0], REUSED);
	assert_int_equal(fixed_object_address(a), 0x1000);
	fixed_objects_pause_ends();
	assert_int_equal(fixed_object_address(a), 0);
	assert_int_equal(fixed_object_address(b), 0x2000);
}

TEST(a_dead_object_stays_dead_when_its_region_has_another, set_up)
{
	void *a = fixed_object_add(0x1000, &tags[0]);

	atomic_store(&tags[0], REUSED);
	fixed_objects_pause_ends();
	atomic_store(&tags[0], HUMONGOUS);
	fixed_objects_pause_ends();
	assert_int_equal(fixed_object_address(a), 0);
}

TEST(a_reference_is_told_from_a_weak_one, set_up)
{
	uint64_t slot = 0;

	assert_true(fixed_object_is(fixed_object_add(0x1000, &tags[0])));
	assert_false(fixed_object_is((void *)((uintptr_t)&slot | 1)));
	assert_false(fixed_object_is(NULL));
}

TEST(a_full_table_takes_no_more_until_one_is_released, set_up)
{
	void *refs[FIXED_OBJECTS_MAX];

	for (unsigned i = 0; i < FIXED_OBJECTS_MAX; i++)
		assert_non_null(refs[i] = fixed_object_add(0x1000 + i, &tags[i]));
	assert_null(fixed_object_add(1, &tags[0]));
	fixed_object_release(refs[7]);
	assert_ptr_equal(fixed_object_add(2, &tags[0]), refs[7]);
	assert_null(fixed_object_add(3, &tags[0]));
}

static _Atomic bool ended;

static void *pauses(void *arg)
{
	(void)arg;
	while (!atomic_load(&ended))
		fixed_objects_pause_ends();
	return NULL;
}

/* Entries change hands while pauses look at them: of each two objects in turn, one is dead by its
 * region when it is released, and the other must never be taken for it. */
TEST(a_pause_never_takes_one_object_for_the_next, set_up)
{
	pthread_t thread;

	atomic_store(&tags[0], REUSED);
	atomic_store(&ended, false);
	assert_int_equal(pthread_create(&thread, NULL, pauses, NULL), 0);
	for (unsigned i = 0; i < 200000; i++) {
		void *dead = fixed_object_add(0x1000, &tags[0]);
		void *alive;

		fixed_object_release(dead);
		alive = fixed_object_add(0x2000, &tags[1]);
		assert_int_equal(fixed_object_address(alive), 0x2000);
		fixed_object_release(alive);
	}
	atomic_store(&ended, true);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

TEST(without_g1_no_object_is_humongous)
{
	assert_false(g1_regions_init());
	assert_int_equal(g1_humongous_min_bytes(), UINT64_MAX);
	assert_null(g1_humongous_tag(0x1000));
}
