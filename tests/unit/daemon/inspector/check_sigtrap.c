#include "tests/unit/support/test.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "daemon/inspector/check_sigtrap.h"

static int fine(void)
{
	return 0;
}

static int trapped(void)
{
	return raise(SIGTRAP);
}

static int not_permitted(void)
{
	return EACCES;
}

static int never_fired(void)
{
	return ENODATA;
}

TEST(each_outcome_has_a_line_that_says_what_to_do)
{
	static const struct {
		sigtrap_trial_fn trial;
		Jxp__CheckItem__Result result;
		const char *words;
	} cases[] = {
	    {fine, CHECK_OK, "waits"},
	    {trapped, CHECK_FAILED, SIGTRAP_KILLS_MESSAGE},
	    {not_permitted, CHECK_WARNING, "not tried: Permission denied"},
	    {never_fired, CHECK_WARNING, "did not fire"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct check_items c;
		Jxp__CheckResult *result;

		check_items_init(&c);
		check_sigtrap(&c, cases[i].trial);
		result = check_items_take(&c);
		assert_non_null(result);
		assert_int_equal(result->n_items, 1);
		assert_string_equal(result->items[0]->name, "watchpoint signals");
		assert_int_equal(result->items[0]->result, cases[i].result);
		assert_non_null(strstr(result->items[0]->detail, cases[i].words));
		jxp__check_result__free_unpacked(result, NULL);
	}
}
