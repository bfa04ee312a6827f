#include "tests/unit/support/test.h"

#include <errno.h>
#include <string.h>

#include "daemon/shares/miss.h"

TEST(an_error_is_what_its_row_says)
{
	assert_int_equal(attach_error(EBUSY)->refusal, MISS_BUSY);
	assert_int_equal(attach_error(EOPNOTSUPP)->refusal, MISS_UNSUPPORTED);
	assert_true(attach_error(ESRCH)->absent && attach_error(ENOEXEC)->absent);
	assert_true(attach_error(EPROTONOSUPPORT)->no_window);
	assert_false(attach_error(EPROTONOSUPPORT)->absent);
	assert_int_equal(attach_error(ETIMEDOUT)->refusal, MISS_NONE);
}

TEST(an_unknown_error_was_tried_for_another_reason)
{
	const int unknown[] = {0, -1, EXDEV, 1 << 30};

	for (size_t i = 0; i < 4; i++) {
		const struct attach_error *e = attach_error(unknown[i]);

		assert_int_equal(e->reason, ATTACH_OTHER);
		assert_int_equal(e->refusal, MISS_NONE);
		assert_false(e->absent || e->no_window || e->agents);
	}
}

TEST(every_reason_has_a_name_of_its_own)
{
	for (unsigned i = 0; i < ATTACH_REASONS; i++) {
		assert_non_null(attach_reason_name(i));
		for (unsigned j = 0; j < i; j++)
			assert_string_not_equal(attach_reason_name(i), attach_reason_name(j));
	}
}
