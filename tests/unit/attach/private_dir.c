#include "tests/unit/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/private_dir.h"
#include "common/cleanup.h"
#include "tests/unit/support/tree_fixture.h"

#define TMP     0 /* candidates by number */
#define VAR_TMP 1
#define CWD     4
#define HOME    5

#define COPY_BYTES 1

static struct target target;
static struct private_dir dir;
static struct err err;

/* A target whose root is an almost empty tree. */
static int setup(void **state)
{
	(void)state;
	memset(&target, 0, sizeof(target));
	memset(&err, 0, sizeof(err));
	target.jvm.euid = geteuid();
	target.root = (struct target_dir){.fd = -1, .uid = geteuid(), .gid = getegid()};
	target.root.fd = open(tree_make(), O_PATH | O_DIRECTORY | O_CLOEXEC);
	target.cwd = TARGET_DIR_NONE;
	dir = (struct private_dir){.parent_fd = -1, .fd = -1};
	tree_add_directory("tmp");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	private_dir_remove(&dir);
	target_close(&target);
	tree_remove();
	return 0;
}

TEST(it_is_private_and_known_by_the_targets_path, setup, teardown)
{
	struct stat st;

	assert_int_equal(private_dir_create(&dir, &target, TMP, 0, &err), 0);
	assert_memory_equal(dir.path, "/tmp/.jxperf-", 13);
	assert_int_equal(strlen(dir.path), strlen("/tmp/.jxperf-XXXXXX"));
	assert_int_equal(stat(tree_path(dir.path + 1), &st), 0);
	assert_true(S_ISDIR(st.st_mode));
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(st.st_uid, geteuid());
}

TEST(it_is_removed_with_everything_in_it, setup, teardown)
{
	char path[PRIVATE_DIR_PATH_BYTES];

	assert_int_equal(private_dir_create(&dir, &target, TMP, COPY_BYTES, &err), 0);
	strcpy(path, dir.path);
	for (char name[] = "a"; name[0] < 'h'; name[0]++)
		assert_int_equal(mknodat(dir.fd, name, S_IFREG | 0600, 0), 0);
	private_dir_remove(&dir);
	assert_int_equal(access(tree_path(path + 1), F_OK), -1);
	assert_int_equal(access(tree_path("tmp"), F_OK), 0);
	private_dir_remove(&dir); /* Once more does nothing. */
}

TEST(two_are_different, setup, teardown)
{
	struct private_dir other;

	assert_int_equal(private_dir_create(&dir, &target, TMP, 0, &err), 0);
	assert_int_equal(private_dir_create(&other, &target, TMP, 0, &err), 0);
	assert_string_not_equal(dir.path, other.path);
	private_dir_remove(&other);
}

TEST(what_is_not_there_is_passed_over_without_a_reason, setup, teardown)
{
	for (unsigned i = 1; i < PRIVATE_DIR_CANDIDATES + 2; i++)
		assert_int_equal(private_dir_create(&dir, &target, i, 0, &err), -ENOENT);
	tree_add_directory("var");
	tree_add_file("var/tmp", "not a directory");
	assert_int_equal(private_dir_create(&dir, &target, VAR_TMP, 0, &err), -ENOENT);
	assert_string_equal(err.message, "");
	assert_int_equal(dir.fd, -1);
}

TEST(a_link_is_followed_inside_the_targets_root, setup, teardown)
{
	tree_add_directory("var");
	assert_int_equal(symlink("/tmp", tree_path("var/tmp")), 0);
	assert_int_equal(private_dir_create(&dir, &target, VAR_TMP, 0, &err), 0);
	assert_memory_equal(dir.path, "/tmp/.jxperf-", 13);
}

TEST(the_working_directory_and_home_are_candidates, setup, teardown)
{
	tree_add_directory("work");
	target.cwd.fd = open(tree_path("work"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(private_dir_create(&dir, &target, CWD, 0, &err), 0);
	assert_memory_equal(dir.path, "/work/.jxperf-", 14);
	private_dir_remove(&dir);
	strcpy(target.home, "/work");
	assert_int_equal(private_dir_create(&dir, &target, HOME, 0, &err), 0);
	assert_memory_equal(dir.path, "/work/.jxperf-", 14);
}

TEST(a_deleted_working_directory_is_passed_over, setup, teardown)
{
	tree_add_directory("work");
	target.cwd.fd = open(tree_path("work"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(rmdir(tree_path("work")), 0);
	assert_int_equal(private_dir_create(&dir, &target, CWD, 0, &err), -ENOENT);
}

TEST(a_path_too_long_for_a_socket_is_refused, setup, teardown)
{
	static const char name[] = "a-name-of-forty-characters-aaaaaaaaaaaaa/"
				   "a-name-of-forty-characters-aaaaaaaaaaaaa";

	tree_add_directory("a-name-of-forty-characters-aaaaaaaaaaaaa");
	tree_add_directory(name);
	strcpy(target.home, "/");
	strcat(target.home, name);
	assert_int_equal(private_dir_create(&dir, &target, HOME, 0, &err), -ENAMETOOLONG);
	assert_non_null(strstr(err.message, "too long for a socket"));
}

TEST(an_unwritable_directory_is_refused, setup, teardown)
{
	int r;

	if (geteuid() == 0) { /* Whom nothing stops. */
		assert_int_equal(seteuid(65534), 0);
		r = private_dir_create(&dir, &target, TMP, 0, &err);
		assert_int_equal(seteuid(0), 0);
	} else {
		assert_int_equal(chmod(tree_path("tmp"), 0555), 0);
		r = private_dir_create(&dir, &target, TMP, 0, &err);
	}
	assert_int_equal(r, -EACCES);
	assert_string_equal(err.message, "'/tmp' is not writable");
}

TEST(a_directory_whose_entries_others_may_replace_is_refused, setup, teardown)
{
	static const mode_t open_to_others[] = {0777, 0775, 0757};

	for (size_t i = 0; i < sizeof(open_to_others) / sizeof(open_to_others[0]); i++) {
		assert_int_equal(chmod(tree_path("tmp"), open_to_others[i]), 0);
		assert_int_equal(private_dir_create(&dir, &target, TMP, COPY_BYTES, &err), -EPERM);
		assert_string_equal(err.message,
				    "other users can replace what is in '/tmp' (chmod +t)");
	}
	assert_int_equal(chmod(tree_path("tmp"), 01777), 0);
	assert_int_equal(private_dir_create(&dir, &target, TMP, COPY_BYTES, &err), 0);
}

TEST(so_is_one_below_such_a_directory, setup, teardown)
{
	tree_add_directory("shared");
	tree_add_directory("shared/home");
	assert_int_equal(chmod(tree_path("shared"), 0777), 0);
	strcpy(target.home, "/shared/home");
	assert_int_equal(private_dir_create(&dir, &target, HOME, COPY_BYTES, &err), -EPERM);
	assert_string_equal(err.message, "other users can replace what is in '/shared' (chmod +t)");
}

TEST(a_directory_of_another_user_is_refused, setup, teardown)
{
	if (geteuid() != 0)
		skip(); /* Only root can give a directory away. */
	assert_int_equal(chown(tree_path("tmp"), 65534, 65534), 0);
	assert_int_equal(private_dir_create(&dir, &target, TMP, COPY_BYTES, &err), -EPERM);
	assert_int_equal(chown(tree_path(""), 65534, 65534), 0); /* Root of a user namespace. */
	assert_int_equal(private_dir_create(&dir, &target, TMP, COPY_BYTES, &err), 0);
}

TEST(a_probe_makes_nothing, setup, teardown)
{
	char path[PRIVATE_DIR_PATH_BYTES];
	int parent = -1;

	assert_int_equal(private_dir_probe(&target, TMP, COPY_BYTES, &parent, path, &err), 0);
	assert_string_equal(path, "/tmp");
	assert_int_equal(rmdir(tree_path("tmp")), 0); /* Nothing is in it. */
	cleanup_close(&parent);
}
