#include "tests/unit/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/process/target_fs.h"
#include "common/capabilities.h"
#include "common/cleanup.h"
#include "tests/unit/support/tree_fixture.h"

static struct target_dir root = {.fd = -1};
static char text[16];

static int setup(void **state)
{
	(void)state;
	root.uid = geteuid();
	root.gid = getegid();
	root.fd = open(tree_make(), O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(root.fd >= 0);
	strcpy(text, "before");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	target_fs_close_dir(&root);
	tree_remove();
	return 0;
}

TEST(a_file_is_read_and_terminated, setup, teardown)
{
	tree_add_file("f", "hello");
	assert_int_equal(target_fs_read(&root, "/f", text, sizeof(text)), 5);
	assert_string_equal(text, "hello");
	assert_int_equal(target_fs_read(&root, "f", text, 3), 2);
	assert_string_equal(text, "he");
}

TEST(no_path_leads_out_of_the_root, setup, teardown)
{
	static const char *const ways_out[] = {"/../../etc/passwd", "../../../../etc/passwd", "up",
					       "absolute", "directory/passwd"};

	assert_int_equal(symlink("../../../../../etc/passwd", tree_path("up")), 0);
	assert_int_equal(symlink("/etc/passwd", tree_path("absolute")), 0);
	assert_int_equal(symlink("/etc", tree_path("directory")), 0);
	for (size_t i = 0; i < sizeof(ways_out) / sizeof(ways_out[0]); i++)
		assert_int_equal(target_fs_read(&root, ways_out[i], text, sizeof(text)), -ENOENT);
	/* But they do lead to what has that name inside. */
	tree_add_directory("etc");
	tree_add_file("etc/passwd", "ours");
	for (size_t i = 0; i < sizeof(ways_out) / sizeof(ways_out[0]); i++)
		assert_int_equal(target_fs_read(&root, ways_out[i], text, sizeof(text)), 4);
}

TEST(what_is_no_file_is_not_read_and_does_not_block, setup, teardown)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(mkfifo(tree_path("fifo"), 0644), 0);
	assert_int_equal(target_fs_read(&root, "fifo", text, sizeof(text)), -EINVAL);
	tree_add_directory("directory");
	assert_int_equal(target_fs_read(&root, "directory", text, sizeof(text)), -EINVAL);
	strcpy(address.sun_path, tree_path("socket"));
	assert_int_equal(bind(s, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(target_fs_read(&root, "socket", text, sizeof(text)), -EINVAL);
	(void)close(s);
	assert_string_equal(text, "before");
}

TEST(what_is_no_file_is_not_even_opened, setup, teardown)
{
	int events = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	char event[sizeof(struct inotify_event) + NAME_MAX + 1];

	assert_int_equal(mkfifo(tree_path("fifo"), 0644), 0);
	assert_true(inotify_add_watch(events, tree_path("fifo"), IN_OPEN) >= 0);
	assert_int_equal(target_fs_read(&root, "fifo", text, sizeof(text)), -EINVAL);
	assert_int_equal(read(events, event, sizeof(event)), -1);
	assert_int_equal(errno, EAGAIN);
	(void)close(events);
}

TEST(a_path_is_the_one_below_the_root, setup, teardown)
{
	char path[64] = "before";
	int fd;

	tree_add_directory("a");
	tree_add_directory("a/b");
	assert_int_equal(symlink("/a/b", tree_path("link")), 0);
	fd = target_fs_open(&root, "link", O_PATH);
	assert_true(fd >= 0);
	assert_int_equal(target_fs_path(&root, fd, path, 4), -ENAMETOOLONG);
	assert_string_equal(path, "before");
	assert_int_equal(target_fs_path(&root, fd, path, sizeof(path)), 0);
	assert_string_equal(path, "/a/b");
	assert_int_equal(rename(tree_path("a"), tree_path("c")), 0);
	assert_int_equal(target_fs_path(&root, fd, path, sizeof(path)), 0);
	assert_string_equal(path, "/c/b");
	assert_int_equal(target_fs_path(&root, root.fd, path, sizeof(path)), 0);
	assert_string_equal(path, "/");
	(void)close(fd);
}

TEST(what_is_deleted_or_outside_has_no_path, setup, teardown)
{
	char path[64] = "before";
	int fd, outside = open("/proc/self", O_PATH | O_CLOEXEC);

	tree_add_directory("a");
	fd = target_fs_open(&root, "a", O_PATH);
	assert_int_equal(rmdir(tree_path("a")), 0);
	assert_int_equal(target_fs_path(&root, fd, path, sizeof(path)), -ENOENT);
	tree_add_directory("a"); /* Another one of the same name. */
	assert_int_equal(target_fs_path(&root, fd, path, sizeof(path)), -ENOENT);
	assert_int_equal(target_fs_path(&root, outside, path, sizeof(path)), -ENOENT);
	assert_string_equal(path, "before");
	(void)close(fd);
	(void)close(outside);
}

TEST(only_the_whole_root_is_taken_off_a_path, setup, teardown)
{
	char path[128], inside[64];
	const char *self = tree_path("");

	(void)snprintf(path, sizeof(path), "%s", self);
	path[strlen(path) - 1] = '\0';
	assert_int_equal(target_fs_inside_root(root.fd, path, inside, sizeof(inside)), 0);
	assert_string_equal(inside, "/");
	strcat(path, "/x/y");
	assert_int_equal(target_fs_inside_root(root.fd, path, inside, sizeof(inside)), 0);
	assert_string_equal(inside, "/x/y");
	path[strlen(path) - 4] = '-';
	assert_int_equal(target_fs_inside_root(root.fd, path, inside, sizeof(inside)), 0);
	assert_string_equal(inside, path);
}

TEST(sameness_is_that_of_the_object, setup, teardown)
{
	int a, b, c;

	tree_add_file("a", "same");
	tree_add_file("c", "same");
	assert_int_equal(link(tree_path("a"), tree_path("b")), 0);
	a = target_fs_open(&root, "a", O_RDONLY);
	b = target_fs_open(&root, "b", O_RDONLY);
	c = target_fs_open(&root, "c", O_RDONLY);
	assert_true(target_fs_same(a, b));
	assert_false(target_fs_same(a, c));
	assert_false(target_fs_same(a, -1));
	(void)close(a);
	(void)close(b);
	(void)close(c);
}

/* What only root may read, and what nobody may, is not there for another user, whatever this
 * process may and whichever groups it is in. */
TEST(files_are_opened_with_the_rights_of_the_user, setup, teardown)
{
	struct target_dir theirs = {.fd = root.fd, .uid = 65534, .gid = 65534};
	gid_t groups[4] = {0}, after[4] = {0};

	if (geteuid() != 0) {
		print_message("# SKIP needs root\n");
		skip();
	}
	tree_add_file("mine", "secret");
	tree_add_file("group", "secret");
	tree_add_file("all", "public");
	tree_add_directory("closed");
	tree_add_file("closed/all", "public");
	assert_int_equal(chmod(tree_path("mine"), 0600), 0);
	assert_int_equal(chmod(tree_path("group"), 0640), 0);
	assert_int_equal(chmod(tree_path("closed"), 0750), 0);
	assert_int_equal(symlink("mine", tree_path("link")), 0);
	assert_int_equal(setgroups(1, groups), 0);
	assert_int_equal(target_fs_read(&theirs, "mine", text, sizeof(text)), -EACCES);
	assert_int_equal(target_fs_read(&theirs, "link", text, sizeof(text)), -EACCES);
	assert_int_equal(target_fs_read(&theirs, "group", text, sizeof(text)), -EACCES);
	assert_int_equal(target_fs_read(&theirs, "closed/all", text, sizeof(text)), -EACCES);
	assert_int_equal(target_fs_open(&theirs, "mine", O_RDONLY), -EACCES);
	assert_string_equal(text, "before");
	assert_int_equal(target_fs_read(&theirs, "all", text, sizeof(text)), 6);
	/* And our own are as they were. */
	assert_int_equal(getgroups(4, after), 1);
	assert_int_equal(target_fs_read(&root, "closed/all", text, sizeof(text)), 6);
	assert_int_equal(target_fs_read(&root, "link", text, sizeof(text)), 6);
	assert_int_equal(close(open(tree_path("mine"), O_RDONLY | O_CLOEXEC)), 0);
}

/* The change of users says nothing when it fails, and would leave root's rights. */
TEST(rights_that_cannot_be_had_open_nothing, setup, teardown)
{
	struct target_dir theirs = {.fd = root.fd, .uid = 65534, .gid = 65534};
	int status;
	pid_t pid;

	if (geteuid() != 0) {
		print_message("# SKIP needs root\n");
		skip();
	}
	tree_add_file("all", "public");
	pid = fork();
	if (pid == 0) {
		if (capabilities_limit(0, false, NULL) < 0)
			_exit(2);
		_exit(target_fs_read(&theirs, "all", text, sizeof(text)) == -EPERM &&
			      target_fs_read(&root, "all", text, sizeof(text)) == 6
			  ? 0
			  : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

TEST(a_link_on_the_way_is_one_too_many_where_none_is_wanted, setup, teardown)
{
	int fd;

	tree_add_directory("real");
	tree_add_file("real/f", "hello");
	assert_int_equal(symlink("real", tree_path("link")), 0);
	assert_int_equal(target_fs_open_file(&root, "link/f", O_NOFOLLOW), -ELOOP);
	assert_int_equal(target_fs_read(&root, "link/f", text, sizeof(text)), 5);
	fd = target_fs_open_file(&root, "real/f", O_NOFOLLOW);
	assert_true(fd >= 0);
	(void)close(fd);
}
