#include "tests/unit/support/test.h"

#include <errno.h>

#include "daemon/shares/shares.h"

#define ANN 1000
#define BEN 1001
#define CAY 1002

static const struct share_limits ten = {
    .things = "seats", .advice = "wait until one is free", .all = 10, .reserved = 3, .of_user = 4};

TEST(a_user_has_no_more_than_a_share)
{
	struct shares s;
	struct err err;

	shares_init(&s, &ten);
	assert_int_equal(shares_take(&s, ANN, 4, &err), 0);
	assert_int_equal(shares_take(&s, ANN, 1, &err), -EDQUOT);
	assert_string_equal(err.message, "user 1000 has 4 seats, which is a user's share: wait "
					 "until one is free");
	assert_int_equal(shares_take(&s, BEN, 3, &err), 0);
	shares_give(&s, ANN, 1);
	assert_int_equal(shares_take(&s, ANN, 1, &err), 0);
	assert_int_equal(shares_of(&s, ANN), 4);
	assert_int_equal(s.held, 7);
	shares_release(&s);
}

TEST(all_users_together_leave_administrators_their_part)
{
	struct shares s;
	struct err err;

	shares_init(&s, &ten);
	assert_int_equal(shares_take(&s, ANN, 4, &err), 0);
	assert_int_equal(shares_take(&s, BEN, 3, &err), 0);
	assert_int_equal(shares_take(&s, CAY, 1, &err), -ENOSPC);
	assert_string_equal(err.message, "there are 7 seats, which is the limit: wait until one is "
					 "free");
	assert_int_equal(shares_take(&s, SHARES_ADMINS, 3, &err), 0);
	assert_int_equal(shares_take(&s, SHARES_ADMINS, 1, &err), -ENOSPC);
	shares_give(&s, ANN, 4);
	assert_int_equal(shares_take(&s, SHARES_ADMINS, 4, &err), 0);
	assert_int_equal(shares_take(&s, CAY, 1, &err), -ENOSPC);
	shares_release(&s);
}

TEST(what_passes_is_forgotten_by_halves)
{
	struct shares s;

	shares_init(&s, &ten);
	assert_int_equal(shares_add(&s, ANN, 9), 0);
	assert_int_equal(shares_add(&s, BEN, 1), 0);
	shares_halve(&s);
	assert_int_equal(shares_of(&s, ANN), 4);
	assert_int_equal(shares_of(&s, BEN), 0);
	assert_int_equal(s.held, 4);
	assert_int_equal(s.count, 1);
	shares_release(&s);
}

TEST(amounts_near_the_largest_do_not_wrap)
{
	struct share_limits limits = ten;
	struct shares s;
	struct err err;

	limits.all = limits.of_user = UINT64_MAX;
	shares_init(&s, &limits);
	assert_int_equal(shares_take(&s, ANN, UINT64_MAX - 8, &err), 0);
	assert_int_equal(shares_take(&s, ANN, UINT64_MAX - 8, &err), -EDQUOT);
	assert_int_equal(shares_take(&s, BEN, UINT64_MAX - 8, &err), -ENOSPC);
	shares_release(&s);
}

TEST(who_has_more_makes_way_until_both_have_as_much)
{
	struct shares s = {0};

	assert_false(shares_makes_way(&s, ANN, BEN)); /* There is none of ANN's. */
	assert_int_equal(shares_add(&s, ANN, 4), 0);
	assert_true(shares_makes_way(&s, ANN, BEN));
	assert_false(shares_makes_way(&s, ANN, ANN));
	assert_int_equal(shares_add(&s, BEN, 2), 0);
	assert_true(shares_makes_way(&s, ANN, BEN));
	assert_int_equal(shares_add(&s, BEN, 1), 0);
	assert_false(shares_makes_way(&s, ANN, BEN));
	shares_release(&s);
}

TEST(what_counts_something_of_a_user_is_set)
{
	struct shares s;

	shares_init(&s, &ten);
	assert_int_equal(shares_set(&s, ANN, 7), 0);
	assert_int_equal(shares_set(&s, BEN, 1), 0);
	assert_int_equal(shares_set(&s, ANN, 3), 0);
	assert_int_equal(shares_of(&s, ANN), 3);
	assert_int_equal(s.held, 4);
	assert_int_equal(shares_set(&s, ANN, 0), 0);
	assert_int_equal(shares_set(&s, CAY, 0), 0);
	assert_int_equal(shares_of(&s, ANN), 0);
	assert_int_equal(s.count, 1);
	shares_release(&s);
}
