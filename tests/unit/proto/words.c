#include "tests/unit/support/test.h"

#include "proto/words.h"

TEST(every_value_has_its_word)
{
	assert_string_equal(name_of_region(JXP__REGION__REGION_STACK), "stack");
	assert_string_equal(name_of_tier(JXP__TIER__TIER_INTERPRETED), "interpreted");
	assert_string_equal(name_of_sampler(JXP__SAMPLER__SAMPLER_IBS), "ibs");
	assert_string_equal(name_of_location(JXP__LOCATION__KIND__SPILL), "spill");
	assert_string_equal(view_names[JXP__VIEW__VIEW_FIELDS], "fields");
	assert_non_null(view_names[VIEW_VALUES - 1]);
	assert_string_equal(name_of_location(JXP__LOCATION__KIND__ELEMENT), "element");
}

TEST(values_out_of_range_are_unknown)
{
	assert_string_equal(name_of_sampler((Jxp__Sampler)99), "unknown");
	assert_string_equal(name_of_tier((Jxp__Tier)-1), "unknown");
}
