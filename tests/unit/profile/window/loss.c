#include "tests/unit/support/test.h"

#include <string.h>

#include "profile/window/loss.h"

TEST(every_loss_has_a_name_of_its_own_and_a_sentence)
{
	for (int i = 0; i < LOSS_MAX; i++) {
		assert_non_null(loss_words[i].name);
		assert_non_null(loss_words[i].sentence);
		for (int j = 0; j < i; j++)
			assert_string_not_equal(loss_words[i].name, loss_words[j].name);
	}
}

TEST(events_that_cannot_be_used_are_lost_and_names_are_not)
{
	assert_true(loss_words[LOSS_INVALID].lost);
	assert_true(loss_words[LOSS_OBJECT_ORDER].lost);
	assert_false(loss_words[LOSS_METHODS].lost);
	assert_false(loss_words[LOSS_PAIRS].lost); /* In the totals. */
}
