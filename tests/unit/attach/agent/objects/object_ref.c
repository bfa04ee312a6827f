/* How a tracked object is referred to, by what its collector does with references. */
#include "tests/unit/support/test.h"

#include "attach/agent/code/safe_read.h"
#include "attach/agent/objects/fixed_objects.h"
#include "attach/agent/objects/object_ref.h"
#include "tests/unit/support/agent/fake_g1.h"
#include "tests/unit/support/agent/fake_jni.h"

#define SMALL 64u
#define LARGE (1u << FAKE_G1_SHIFT)

static uint64_t heap_bytes = UINT64_C(1) << 30;

static int set_up(void **state)
{
	(void)state;
	memset(fake_jni_slots, 0, sizeof(fake_jni_slots));
	fake_jni_weak_count = 0;
	fake_jni_out_of_memory = false;
	fixed_objects_clear();
	return safe_read_init();
}

/* A JVM whose collector is switched on by this flag. */
static void use_collector(const char *flag)
{
	static bool on = true;

	fake_vmstructs_reset();
	fake_flag(flag, &on);
	fake_flag("MaxHeapSize", &heap_bytes);
}

TEST(an_object_is_followed_where_it_goes_until_it_dies, set_up)
{
	struct object_refs_effect effect;
	uint64_t kept = 77;
	jobject object;
	void *ref;

	use_collector("UseParallelGC");
	effect = object_refs_init(&fake_jni, 0.01);
	assert_int_equal(effect.kept_bytes_max, UINT64_MAX);
	object = fake_jni_new(0x20000);
	ref = object_ref_new(&fake_jni, object, SMALL, &kept);
	assert_non_null(ref);
	assert_int_equal(kept, 0);
	assert_int_equal(object_ref_address(&fake_jni, ref), 0x20000);
	*fake_jni_slot(ref) = 0x30000;
	assert_int_equal(object_ref_address(&fake_jni, ref), 0x30000);
	*fake_jni_slot(ref) = 0;
	assert_int_equal(object_ref_address(&fake_jni, ref), 0);
	object_ref_delete(&fake_jni, ref);
	assert_int_equal(fake_jni_weak_count, 0);
}

TEST(a_humongous_object_of_g1_has_no_weak_reference, set_up)
{
	uint64_t kept;
	jobject object;
	void *ref;

	FAKE_G1("G1", false);
	(void)object_refs_init(&fake_jni, 0.01);
	atomic_store(&fake_g1_region[1].type.tag, FAKE_G1_STARTS);
	object = fake_jni_new(fake_g1_bottom(1));
	ref = object_ref_new(&fake_jni, object, LARGE, &kept);
	assert_true(fixed_object_is(ref));
	assert_int_equal(fake_jni_weak_count, 0);
	assert_int_equal(object_ref_address(&fake_jni, ref), fake_g1_bottom(1));
	atomic_store(&fake_g1_region[1].type.tag, 0);
	fixed_objects_pause_ends();
	assert_int_equal(object_ref_address(&fake_jni, ref), 0);
	object_ref_delete(&fake_jni, ref);
}

TEST(a_humongous_object_that_cannot_be_followed_is_left_alone, set_up)
{
	uint64_t kept;

	fake_g1_set_up(); /* Nothing that tells of regions. */
	(void)object_refs_init(&fake_jni, 0.01);
	assert_null(object_ref_new(&fake_jni, fake_jni_new(fake_g1_bottom(1)), LARGE, &kept));
	assert_int_equal(fake_jni_weak_count, 0);
	assert_non_null(object_ref_new(&fake_jni, fake_jni_new(0x20000), SMALL, &kept));
	assert_int_equal(fake_jni_weak_count, 1);
}

TEST(what_an_unknown_collector_may_keep_is_bounded, set_up)
{
	struct object_refs_effect effect;
	uint64_t kept = 0;

	use_collector("UseSomethingNew");
	effect = object_refs_init(&fake_jni, 0.01);
	assert_int_equal(effect.kept_bytes_max, heap_bytes / 64);
	assert_non_null(object_ref_new(&fake_jni, fake_jni_new(0x20000), SMALL, &kept));
	assert_int_equal(kept, SMALL);
}

TEST(zgc_keeps_what_is_referred_to_at_a_price, set_up)
{
	static bool generational = true;
	struct object_refs_effect effect;
	uint64_t kept = 0;

	use_collector("UseZGC");
	fake_flag("ZGenerational", &generational);
	effect = object_refs_init(&fake_jni, 0.01);
	assert_int_equal(effect.kept_bytes_max, heap_bytes / 8);
	assert_true(effect.kept_byte_ns > 0);
	assert_int_equal(effect.large_bytes, 8193);
	assert_non_null(object_ref_new(&fake_jni, fake_jni_new(0x20000), SMALL, &kept));
	assert_int_equal(kept, SMALL);
}

TEST(a_jvm_without_memory_throws_nothing_at_the_application, set_up)
{
	uint64_t kept = 77;

	use_collector("UseSerialGC");
	(void)object_refs_init(&fake_jni, 0.01);
	fake_jni_out_of_memory = true;
	assert_null(object_ref_new(&fake_jni, fake_jni_new(0x20000), SMALL, &kept));
	assert_false(fake_jni_pending);
	assert_int_equal(kept, 0);
}
