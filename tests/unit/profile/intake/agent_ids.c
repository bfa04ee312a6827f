#include "tests/unit/support/test.h"

#include "profile/intake/agent_ids.h"

TEST(an_unknown_key_is_not_found)
{
	struct agent_ids m = {0};
	uint32_t value = 5;

	assert_false(agent_ids_get(&m, 1, &value));
	assert_int_equal(agent_ids_add(&m, 1, 10), 0);
	assert_false(agent_ids_get(&m, 2, &value));
	assert_int_equal(value, 5);
	agent_ids_release(&m);
}

TEST(sparse_keys_keep_their_values_through_growth)
{
	struct agent_ids m = {0};
	uint32_t value;

	for (uint32_t i = 1; i <= 20000; i++)
		assert_int_equal(agent_ids_add(&m, i * UINT32_C(2654435761), i), 0);
	for (uint32_t i = 1; i <= 20000; i++) {
		assert_true(agent_ids_get(&m, i * UINT32_C(2654435761), &value));
		assert_int_equal(value, i);
	}
	assert_int_equal(m.count, 20000);
	agent_ids_release(&m);
}
