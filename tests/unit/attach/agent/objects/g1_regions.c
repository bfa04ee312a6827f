/* The regions of G1's heap, of every release's names and shapes. */
#include "tests/unit/support/test.h"

#include "attach/agent/code/safe_read.h"
#include "attach/agent/objects/g1_regions.h"
#include "tests/unit/support/agent/fake_g1.h"

static void assert_regions_are_read(void)
{
	g1_region_tag *tag;

	assert_true(g1_regions_init());
	assert_int_equal(g1_humongous_min_bytes(), (1u << FAKE_G1_SHIFT) / 2 + 8);
	assert_null(g1_humongous_tag(fake_g1_bottom(2)));
	atomic_store(&fake_g1_region[2].type.tag, FAKE_G1_STARTS);
	tag = g1_humongous_tag(fake_g1_bottom(2));
	assert_non_null(tag);
	assert_true(g1_tag_is_humongous(tag));
	/* Not where the region begins; another region. */
	assert_null(g1_humongous_tag(fake_g1_bottom(2) + 16));
	assert_null(g1_humongous_tag(fake_g1_bottom(1)));
	atomic_store(&fake_g1_region[2].type.tag, 0);
	assert_false(g1_tag_is_humongous(tag));
}

TEST(a_humongous_object_begins_its_region)
{
	FAKE_G1("G1", false);
	assert_regions_are_read();
}

TEST(older_releases_have_other_names)
{
	FAKE_G1("", false);
	assert_regions_are_read();
}

TEST(and_some_a_pointer_to_the_manager)
{
	FAKE_G1("", true);
	assert_regions_are_read();
}

TEST(regions_of_another_size_than_the_table_says_are_not_believed)
{
	FAKE_G1("G1", false);
	fake_g1_grain *= 2;
	assert_false(g1_regions_init());
	atomic_store(&fake_g1_region[2].type.tag, FAKE_G1_STARTS);
	assert_null(g1_humongous_tag(fake_g1_bottom(2)));
}

TEST(where_regions_cannot_be_read_the_smallest_there_are_count)
{
	fake_g1_set_up();
	assert_false(g1_regions_init());
	assert_int_equal(g1_humongous_min_bytes(), (1u << 20) / 2 + 8);
}

TEST(other_collectors_have_no_humongous_objects)
{
	FAKE_G1("G1", false);
	fake_g1_on = false;
	assert_false(g1_regions_init());
	assert_int_equal(g1_humongous_min_bytes(), UINT64_MAX);
}

static int set_up_process(void **state)
{
	(void)state;
	return safe_read_init();
}

int main(void)
{
	return tests_run(set_up_process, NULL);
}
