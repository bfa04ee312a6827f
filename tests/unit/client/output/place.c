/* Other users' files and directories are made by root: without it, only our own are tested. */
#include "tests/unit/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/output/place.h"

#define OTHER 65534

/* One directory in which a test makes files "file", "link" and a directory "inner". */
struct scene {
	char directory[64];
	char file[96];
	char link[96];
	char inner[96];
};

static int set_up(void **state)
{
	static struct scene s;

	(void)snprintf(s.directory, sizeof(s.directory), "/tmp/jxperf-test-XXXXXX");
	if (!mkdtemp(s.directory))
		return -1;
	(void)snprintf(s.file, sizeof(s.file), "%s/file", s.directory);
	(void)snprintf(s.link, sizeof(s.link), "%s/link", s.directory);
	(void)snprintf(s.inner, sizeof(s.inner), "%s/inner", s.directory);
	*state = &s;
	return 0;
}

static int tear_down(void **state)
{
	const struct scene *s = *state;

	(void)unlink(s->file);
	(void)unlink(s->link);
	(void)rmdir(s->inner);
	return rmdir(s->directory);
}

static void make_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);

	assert_true(fd >= 0);
	(void)close(fd);
}

static void give_away(const char *path)
{
	if (geteuid() != 0)
		skip();
	assert_int_equal(lchown(path, OTHER, OTHER), 0);
}

/* Finds path and says what is there. */
static int kind_of(const char *path)
{
	struct output_place p = PLACE_NONE;
	struct err err;
	int kind = place_find(&p, path, &err);

	if (kind == 0)
		kind = (int)p.kind;
	place_release(&p);
	return kind;
}

TEST(what_is_there_is_told, set_up, tear_down)
{
	const struct scene *s = *state;
	char path[160];

	assert_int_equal(kind_of(s->file), PLACE_FREE);
	make_file(s->file);
	assert_int_equal(kind_of(s->file), PLACE_FILE);
	assert_int_equal(kind_of("/dev/null"), PLACE_OBJECT);
	assert_int_equal(kind_of("/dev/stdout"), PLACE_DESCRIPTOR);
	assert_int_equal(kind_of(s->directory), -EISDIR);
	assert_int_equal(kind_of("/"), -EISDIR);
	assert_int_equal(kind_of(".."), -EISDIR);
	assert_int_equal(kind_of(""), -ENOENT);
	(void)snprintf(path, sizeof(path), "%s/", s->file);
	assert_int_equal(kind_of(path), -ENOTDIR);
	(void)snprintf(path, sizeof(path), "%s/none/file", s->directory);
	assert_int_equal(kind_of(path), -ENOENT);
	(void)snprintf(path, sizeof(path), "%s/none/", s->directory);
	assert_int_equal(kind_of(path), -EISDIR);
	(void)snprintf(path, sizeof(path), "%s//./../%s/file", s->directory,
		       strrchr(s->directory, '/') + 1);
	assert_int_equal(kind_of(path), PLACE_FILE);
}

TEST(links_of_our_own_are_followed_wherever_they_lead, set_up, tear_down)
{
	const struct scene *s = *state;
	char path[160];

	assert_int_equal(symlink("file", s->link), 0);
	assert_int_equal(kind_of(s->link), PLACE_FREE);
	make_file(s->file);
	assert_int_equal(kind_of(s->link), PLACE_FILE);
	assert_int_equal(unlink(s->link), 0);
	assert_int_equal(mkdir(s->inner, 0700), 0);
	assert_int_equal(symlink(s->inner, s->link), 0); /* absolute */
	(void)snprintf(path, sizeof(path), "%s//../file", s->link);
	assert_int_equal(kind_of(path), PLACE_FILE);
	(void)snprintf(path, sizeof(path), "%s/", s->link);
	assert_int_equal(kind_of(path), -EISDIR);
	assert_int_equal(unlink(s->link), 0);
	assert_int_equal(symlink("link", s->link), 0);
	assert_int_equal(kind_of(s->link), -ELOOP);
}

TEST(a_name_that_is_too_long_is_refused)
{
	char path[PATH_MAX + 16];

	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(kind_of(path), -ENAMETOOLONG);
	path[NAME_MAX + 1] = '\0';
	assert_int_equal(kind_of(path), -ENAMETOOLONG);
	path[NAME_MAX] = '\0';
	assert_int_equal(kind_of(path), PLACE_FREE);
}

TEST(in_a_sticky_directory_links_of_others_are_not_followed, set_up, tear_down)
{
	const struct scene *s = *state;

	assert_int_equal(chmod(s->directory, 01777), 0);
	assert_int_equal(symlink("/etc/hostname", s->link), 0);
	assert_true(kind_of(s->link) >= 0); /* our own */
	assert_int_equal(link(s->link, s->file), 0);
	assert_int_equal(kind_of(s->link), -EPERM); /* perhaps one of ours from elsewhere */
	assert_int_equal(unlink(s->file), 0);
	give_away(s->link);
	assert_int_equal(kind_of(s->link), -EPERM);
}

TEST(where_others_may_rename_no_link_is_followed, set_up, tear_down)
{
	const struct scene *s = *state;

	assert_int_equal(symlink("/etc/hostname", s->link), 0);
	assert_int_equal(chmod(s->directory, 0770), 0);
	assert_int_equal(kind_of(s->link), -EPERM);
	assert_int_equal(chmod(s->directory, 0700), 0);
	assert_true(kind_of(s->link) >= 0);
	give_away(s->directory);
	assert_int_equal(kind_of(s->link), -EPERM);
}

TEST(a_directory_of_ours_below_one_of_theirs_may_be_another, set_up, tear_down)
{
	const struct scene *s = *state;
	char path[160];

	assert_int_equal(mkdir(s->inner, 0700), 0);
	(void)snprintf(path, sizeof(path), "%s/link", s->inner);
	assert_int_equal(symlink("/etc/hostname", path), 0);
	assert_true(kind_of(path) >= 0);
	assert_int_equal(chmod(s->directory, 0777), 0);
	assert_int_equal(kind_of(path), -EPERM);
	assert_int_equal(unlink(path), 0);
}

TEST(what_others_put_where_they_may_is_not_replaced, set_up, tear_down)
{
	const struct scene *s = *state;

	make_file(s->file);
	assert_int_equal(chmod(s->directory, 01777), 0);
	assert_int_equal(kind_of(s->file), PLACE_FILE);
	give_away(s->file);
	assert_int_equal(kind_of(s->file), -EPERM);
	assert_int_equal(chmod(s->directory, 0770), 0);
	assert_int_equal(kind_of(s->file), -EPERM);
	/* In a directory where only its owner may put files, the name is all that matters. */
	assert_int_equal(chmod(s->directory, 0755), 0);
	assert_int_equal(kind_of(s->file), PLACE_FILE);
	assert_int_equal(unlink(s->file), 0);
	assert_int_equal(mkfifo(s->file, 0666), 0);
	give_away(s->file);
	assert_int_equal(kind_of(s->file), PLACE_OBJECT);
	give_away(s->directory);
	assert_int_equal(kind_of(s->file), -EPERM);
}

TEST(a_file_that_came_meanwhile_is_asked_about_again, set_up, tear_down)
{
	const struct scene *s = *state;
	struct output_place p = PLACE_NONE;
	struct err err;

	assert_int_equal(chmod(s->directory, 01777), 0);
	assert_int_equal(place_find(&p, s->file, &err), 0);
	assert_int_equal(place_check_file(&p, s->file, &err), 0);
	make_file(s->file);
	assert_int_equal(place_check_file(&p, s->file, &err), 0);
	if (geteuid() == 0) {
		give_away(s->file);
		assert_int_equal(place_check_file(&p, s->file, &err), -EPERM);
	}
	place_release(&p);
}
