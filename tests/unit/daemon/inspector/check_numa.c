#include "tests/unit/support/test.h"

#include <string.h>

#include "daemon/inspector/check_numa.h"

static void assert_items(unsigned nodes, const char *touch_reason, const char *numa,
			 Jxp__CheckItem__Result touches, const char *touch_words)
{
	Jxp__CheckResult *result;
	struct check_items c;

	check_items_init(&c);
	check_numa(&c, nodes, touch_reason);
	result = check_items_take(&c);
	assert_non_null(result);
	assert_int_equal(result->n_items, 2);
	assert_string_equal(result->items[0]->name, "numa");
	assert_int_equal(result->items[0]->result, JXP__CHECK_ITEM__RESULT__OK);
	assert_non_null(strstr(result->items[0]->detail, numa));
	assert_string_equal(result->items[1]->name, "first touches");
	assert_int_equal(result->items[1]->result, touches);
	assert_non_null(strstr(result->items[1]->detail, touch_words));
	jxp__check_result__free_unpacked(result, NULL);
}

TEST(on_one_node_there_is_nothing_to_trace)
{
	assert_items(1, "there is one NUMA node", "one node", JXP__CHECK_ITEM__RESULT__OK,
		     "not traced");
}

TEST(first_touches_are_traced_or_there_is_a_reason)
{
	assert_items(2, "", "2 nodes", JXP__CHECK_ITEM__RESULT__OK, "BPF");
	assert_items(2, "not today", "2 nodes", JXP__CHECK_ITEM__RESULT__WARNING, "not today");
}
