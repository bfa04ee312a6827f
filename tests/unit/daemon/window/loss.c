#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "daemon/window/loss.h"

static void every_loss_has_a_name_of_its_own_and_a_sentence(void **state)
{
	(void)state;
	for (int i = 0; i < LOSS_MAX; i++) {
		assert_non_null(loss_words[i].name);
		assert_non_null(loss_words[i].sentence);
		for (int j = 0; j < i; j++)
			assert_string_not_equal(loss_words[i].name, loss_words[j].name);
	}
}

static void events_that_cannot_be_used_are_lost_and_names_are_not(void **state)
{
	(void)state;
	assert_true(loss_words[LOSS_INVALID].lost);
	assert_true(loss_words[LOSS_OBJECT_ORDER].lost);
	assert_false(loss_words[LOSS_METHODS].lost);
	assert_false(loss_words[LOSS_PAIRS].lost); /* In the totals. */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_loss_has_a_name_of_its_own_and_a_sentence),
	    cmocka_unit_test(events_that_cannot_be_used_are_lost_and_names_are_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
