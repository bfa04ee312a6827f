#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "proto/words.h"

static void every_value_has_its_word(void **state)
{
	(void)state;
	assert_string_equal(name_of_region(JXP__REGION__REGION_STACK), "stack");
	assert_string_equal(name_of_tier(JXP__TIER__TIER_INTERPRETED), "interpreted");
	assert_string_equal(name_of_sampler(JXP__SAMPLER__SAMPLER_IBS), "ibs");
}

static void values_out_of_range_are_unknown(void **state)
{
	(void)state;
	assert_string_equal(name_of_sampler((Jxp__Sampler)99), "unknown");
	assert_string_equal(name_of_tier((Jxp__Tier)-1), "unknown");
}

static void every_counter_is_named_after_its_protocol_name(void **state)
{
	char name[COUNTER_NAME_BYTES];

	(void)state;
	name_of_counter(JXP__COUNTER__COUNTER_RESERVOIR_KEPT, name);
	assert_string_equal(name, "reservoir_kept");
	for (int i = 0; i < JXP__COUNTER__COUNTER_MAX; i++) {
		name_of_counter((Jxp__Counter)i, name);
		assert_string_not_equal(name, "unknown");
		assert_true(strlen(name) < COUNTER_NAME_BYTES - 1); /* not cut */
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_value_has_its_word),
	    cmocka_unit_test(values_out_of_range_are_unknown),
	    cmocka_unit_test(every_counter_is_named_after_its_protocol_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
