#include "tests/unit/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/bundle.h"
#include "attach/process/target_fs.h"
#include "proto/helper.h"
#include "tests/unit/support/tree_fixture.h"

static struct bundle bundle;
static struct err err;
static struct target_dir root;

static int setup(void **state)
{
	(void)state;
	memset(&err, 0, sizeof(err));
	memset(&bundle, 0, sizeof(bundle));
	(void)tree_make();
	root = (struct target_dir){.uid = geteuid(), .gid = getegid()};
	root.fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	tree_add_directory("bundle");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	bundle_close(&bundle);
	target_fs_close_dir(&root);
	tree_remove();
	return 0;
}

static void fill(void)
{
	tree_add_file("bundle/" AGENT_LIBRARY, "the agent");
	tree_add_file("bundle/libother.so", "the other");
}

TEST(it_is_all_regular_files_but_programs, setup, teardown)
{
	fill();
	tree_add_file("bundle/jxperf-attach", "the helper");
	tree_add_file("bundle/jxperf-child", "what brokers run");
	tree_add_directory("bundle/directory");
	assert_int_equal(symlink(AGENT_LIBRARY, tree_path("bundle/link")), 0);
	assert_int_equal(bundle_open(&bundle, tree_path("bundle"), &err), 0);
	assert_int_equal(bundle.count, 2);
}

TEST(its_path_is_canonical, setup, teardown)
{
	fill();
	assert_int_equal(symlink("bundle", tree_path("link")), 0);
	assert_int_equal(bundle_open(&bundle, tree_path("link/../link"), &err), 0);
	assert_string_equal(bundle.path, tree_path("bundle"));
}

TEST(without_the_agent_it_is_none, setup, teardown)
{
	tree_add_file("bundle/libother.so", "the other");
	assert_int_equal(bundle_open(&bundle, tree_path("bundle"), &err), -ENOENT);
	assert_non_null(strstr(err.message, "reinstall"));
	bundle_close(&bundle);
	assert_int_equal(bundle_open(&bundle, tree_path("absent"), &err), -ENOENT);
	assert_non_null(strstr(err.message, "absent"));
}

TEST(any_other_directory_is_refused_for_its_many_files, setup, teardown)
{
	char name[32];

	for (int i = 0; i <= BUNDLE_FILES_MAX; i++) {
		(void)snprintf(name, sizeof(name), "bundle/%d", i);
		tree_add_file(name, "");
	}
	assert_int_equal(bundle_open(&bundle, tree_path("bundle"), &err), -E2BIG);
}

TEST(it_is_visible_from_our_own_root, setup, teardown)
{
	fill();
	assert_int_equal(bundle_open(&bundle, tree_path("bundle"), &err), 0);
	assert_true(bundle_visible(&bundle, &root));
}

TEST(it_is_not_visible_where_its_path_leads_elsewhere, setup, teardown)
{
	struct target_dir other = {.uid = geteuid(), .gid = getegid()};

	fill();
	assert_int_equal(bundle_open(&bundle, tree_path("bundle"), &err), 0);
	tree_add_directory("root");
	other.fd = open(tree_path("root"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_false(bundle_visible(&bundle, &other));
	target_fs_close_dir(&other);
	/* The same names and contents are not the same files. */
	assert_int_equal(rename(tree_path("bundle"), tree_path("moved")), 0);
	tree_add_directory("bundle");
	fill();
	assert_false(bundle_visible(&bundle, &root));
}

TEST(it_is_not_visible_when_one_file_cannot_be_read, setup, teardown)
{
	bool visible;

	fill();
	assert_int_equal(bundle_open(&bundle, tree_path("bundle"), &err), 0);
	assert_int_equal(chmod(tree_path("bundle/libother.so"), 0), 0);
	if (geteuid() == 0)
		root.uid = 65534;
	visible = bundle_visible(&bundle, &root);
	assert_false(visible);
}

TEST(a_copy_has_the_same_content_whatever_the_umask, setup, teardown)
{
	mode_t mask = umask(077);
	char text[16] = "";
	struct stat st;
	int to, fd;

	fill();
	tree_add_directory("copy");
	to = open(tree_path("copy"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(bundle_open(&bundle, tree_path("bundle"), &err), 0);
	assert_int_equal(bundle_copy(&bundle, to, &err), 0);
	fd = openat(to, AGENT_LIBRARY, O_RDONLY | O_CLOEXEC);
	assert_int_equal(read(fd, text, sizeof(text) - 1), 9);
	assert_string_equal(text, "the agent");
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
	assert_int_equal(faccessat(to, "libother.so", F_OK, 0), 0);
	(void)close(fd);
	(void)close(to);
	(void)umask(mask);
}

TEST(a_copy_overwrites_nothing, setup, teardown)
{
	int to;

	fill();
	tree_add_directory("copy");
	tree_add_file("copy/" AGENT_LIBRARY, "in the way");
	to = open(tree_path("copy"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(bundle_open(&bundle, tree_path("bundle"), &err), 0);
	assert_int_equal(bundle_copy(&bundle, to, &err), -EEXIST);
	(void)close(to);
}
