#include "tests/unit/support/test.h"

#include <unistd.h>

#include "attach/room.h"

/* With blocks and inodes that only root may have. */
static const struct statvfs some = {.f_frsize = 4096,
				    .f_blocks = 100,
				    .f_bfree = 20,
				    .f_bavail = 10,
				    .f_files = 100,
				    .f_ffree = 2,
				    .f_favail = 1};

static bool room_of_user(struct statvfs fs, uint64_t bytes)
{
	bool room;

	if (geteuid() != 0)
		return room_for(&fs, bytes);
	assert_int_equal(seteuid(65534), 0);
	room = room_for(&fs, bytes);
	assert_int_equal(seteuid(0), 0);
	return room;
}

TEST(what_is_free_is_enough_for_less)
{
	assert_true(room_of_user(some, 0));
	assert_true(room_of_user(some, 9 * 4096));
	assert_false(room_of_user(some, 10 * 4096));
	assert_false(room_of_user(some, UINT64_MAX));
}

TEST(a_file_takes_an_inode)
{
	struct statvfs fs = some;

	fs.f_favail = 0;
	assert_false(room_of_user(fs, 0));
	fs.f_files = 0; /* It has no such limit. */
	assert_true(room_of_user(fs, 0));
}

TEST(an_empty_file_takes_no_block)
{
	struct statvfs fs = some;

	fs.f_bavail = 0;
	assert_true(room_of_user(fs, 0));
	assert_false(room_of_user(fs, 1));
}

TEST(what_does_not_say_how_much_it_has_has_room)
{
	assert_true(room_of_user((struct statvfs){0}, UINT64_MAX));
}

TEST(root_has_what_is_kept_back)
{
	struct statvfs fs = some;

	if (geteuid() != 0)
		skip();
	fs.f_favail = fs.f_bavail = 0;
	assert_true(room_for(&fs, 19 * 4096));
	assert_false(room_for(&fs, 20 * 4096));
}
