#include "tests/unit/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/output/output.h"
#include "tests/unit/support/tree_fixture.h"

/* Every test runs in an empty directory of its own. */
struct scene {
	char directory[64];
	char report[96];
};

static int setup(void **state)
{
	static struct scene p;

	(void)snprintf(p.directory, sizeof(p.directory), "/tmp/jxperf-test-XXXXXX");
	if (!mkdtemp(p.directory))
		return -1;
	(void)snprintf(p.report, sizeof(p.report), "%s/report", p.directory);
	*state = &p;
	return 0;
}

/* Names in the directory, and what they cost: the entries besides "." and "..". */
static size_t entries(const struct scene *p)
{
	return tree_count(p->directory);
}

static int teardown(void **state)
{
	struct scene *p = *state;
	char other[128];

	(void)unlink(p->report);
	(void)snprintf(other, sizeof(other), "%s/link", p->directory);
	(void)unlink(other);
	return rmdir(p->directory);
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void assert_content(const char *path, const char *expected)
{
	char text[64] = "";
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	(void)fread(text, 1, sizeof(text) - 1, f);
	assert_int_equal(fclose(f), 0);
	assert_string_equal(text, expected);
}

TEST(a_new_file_appears_on_commit_and_alone, setup, teardown)
{
	struct scene *p = *state;
	struct output o;
	struct err err;

	assert_int_equal(output_open(&o, p->report, &err), 0);
	assert_int_equal(access(p->report, F_OK), -1);
	assert_int_equal(output_commit(&o, "new", 3, &err), 0);
	output_release(&o);
	assert_content(p->report, "new");
	assert_int_equal(entries(p), 1);
}

TEST(a_new_file_has_the_usual_mode, setup, teardown)
{
	struct scene *p = *state;
	mode_t mask = umask(0027);
	struct output o;
	struct stat st;
	struct err err;

	assert_int_equal(output_open(&o, p->report, &err), 0);
	assert_int_equal(output_commit(&o, "x", 1, &err), 0);
	output_release(&o);
	(void)umask(mask);
	assert_int_equal(stat(p->report, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
}

TEST(without_commit_nothing_changes, setup, teardown)
{
	struct scene *p = *state;
	struct output o;
	struct err err;

	write_file(p->report, "old");
	assert_int_equal(output_open(&o, p->report, &err), 0);
	output_release(&o);
	assert_content(p->report, "old");
	assert_int_equal(entries(p), 1);
}

TEST(an_old_file_is_replaced_and_its_mode_is_not_kept, setup, teardown)
{
	struct scene *p = *state;
	mode_t mask = umask(0022);
	struct output o;
	struct stat st;
	struct err err;

	write_file(p->report, "a longer old text");
	assert_int_equal(chmod(p->report, 04777), 0);
	assert_int_equal(output_open(&o, p->report, &err), 0);
	assert_int_equal(output_commit(&o, "new", 3, &err), 0);
	output_release(&o);
	(void)umask(mask);
	assert_content(p->report, "new");
	assert_int_equal(stat(p->report, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	assert_int_equal(entries(p), 1);
}

TEST(a_file_that_is_not_committed_has_no_name, setup, teardown)
{
	struct scene *p = *state;
	struct output o;
	struct err err;

	assert_int_equal(output_open(&o, p->report, &err), 0);
	assert_int_equal(entries(p), 0);
	output_release(&o);
}

TEST(where_files_need_names_a_temporary_one_is_used, setup, teardown)
{
	struct scene *p = *state;
	struct output o;
	struct err err;

	write_file(p->report, "old");
	assert_int_equal(output_open(&o, p->report, &err), 0);
	/* As open_file does where O_TMPFILE is not supported. */
	(void)close(o.fd);
	strcpy(o.temporary, ".jxperf-0123456789abcdef");
	o.fd = openat(o.place.directory, o.temporary, O_WRONLY | O_CREAT | O_EXCL, 0600);
	assert_true(o.fd >= 0);
	assert_int_equal(output_commit(&o, "new", 3, &err), 0);
	output_release(&o);
	assert_content(p->report, "new");
	assert_int_equal(entries(p), 1);
}

TEST(the_directory_is_the_one_that_was_looked_at, setup, teardown)
{
	struct scene *p = *state;
	char inner[128], moved[128], file[160];
	struct output o;
	struct err err;

	(void)snprintf(inner, sizeof(inner), "%s/link", p->directory);
	(void)snprintf(moved, sizeof(moved), "%s/moved", p->directory);
	assert_int_equal(mkdir(inner, 0700), 0);
	(void)snprintf(file, sizeof(file), "%s/report", inner);
	assert_int_equal(output_open(&o, file, &err), 0);
	assert_int_equal(rename(inner, moved), 0);
	assert_int_equal(symlink("/", inner), 0);
	assert_int_equal(output_commit(&o, "new", 3, &err), 0);
	output_release(&o);
	(void)snprintf(file, sizeof(file), "%s/report", moved);
	assert_content(file, "new");
	assert_int_equal(unlink(file), 0);
	assert_int_equal(rmdir(moved), 0);
}

TEST(a_dash_and_a_descriptor_are_what_they_stand_for)
{
	char path[64], text[8] = "";
	struct output o;
	struct err err;
	int fds[2];

	assert_int_equal(output_open(&o, "-", &err), 0);
	assert_int_equal(o.fd, -1);
	output_release(&o);
	assert_int_equal(pipe(fds), 0);
	(void)snprintf(path, sizeof(path), "/dev/fd/%d", fds[1]);
	assert_int_equal(output_open(&o, path, &err), 0);
	assert_int_equal(output_commit(&o, "new", 3, &err), 0);
	output_release(&o);
	assert_int_equal(read(fds[0], text, sizeof(text)), 3);
	(void)close(fds[0]);
	(void)close(fds[1]);
}

/* Opened anew, the file would be written from its beginning. */
TEST(a_descriptor_of_a_file_is_written_where_it_stands, setup, teardown)
{
	struct scene *p = *state;
	struct output o;
	char path[64];
	struct err err;
	int fd;

	write_file(p->report, "old");
	fd = open(p->report, O_WRONLY | O_APPEND);
	assert_true(fd >= 0);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(output_open(&o, path, &err), 0);
	assert_int_equal(output_commit(&o, "new", 3, &err), 0);
	output_release(&o);
	(void)close(fd);
	assert_content(p->report, "oldnew");
}

TEST(a_pipe_that_nobody_reads_is_said_and_not_waited_for, setup, teardown)
{
	struct scene *p = *state;
	struct output o;
	struct err err;

	assert_int_equal(mkfifo(p->report, 0600), 0);
	assert_int_equal(output_open(&o, p->report, &err), -ENXIO);
	assert_non_null(strstr(err.message, "start its reader first"));
	output_release(&o);
}

TEST(a_link_stays_and_its_file_is_replaced, setup, teardown)
{
	struct scene *p = *state;
	char link[128];
	struct output o;
	struct stat st;
	struct err err;

	write_file(p->report, "old");
	(void)snprintf(link, sizeof(link), "%s/link", p->directory);
	assert_int_equal(symlink("report", link), 0);
	assert_int_equal(output_open(&o, link, &err), 0);
	assert_int_equal(output_commit(&o, "new", 3, &err), 0);
	output_release(&o);
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_content(p->report, "new");
}

TEST(a_device_is_written_in_place)
{
	struct output o;
	struct stat st;
	struct err err;

	assert_int_equal(output_open(&o, "/dev/null", &err), 0);
	assert_int_equal(output_commit(&o, "x", 1, &err), 0);
	output_release(&o);
	assert_int_equal(stat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
}

TEST(a_full_device_is_an_error)
{
	struct output o;
	struct err err;

	assert_int_equal(output_open(&o, "/dev/full", &err), 0);
	assert_int_equal(output_commit(&o, "x", 1, &err), -ENOSPC);
	assert_string_equal(err.message, "cannot write '/dev/full': No space left on device");
	output_release(&o);
}

TEST(paths_that_cannot_be_written_are_found_out_at_once, setup, teardown)
{
	struct scene *p = *state;
	char deep[128];
	struct output o;
	struct err err;

	assert_int_equal(output_open(&o, p->directory, &err), -EISDIR);
	output_release(&o);
	(void)snprintf(deep, sizeof(deep), "%s/none/report", p->directory);
	assert_int_equal(output_open(&o, deep, &err), -ENOENT);
	assert_non_null(strstr(err.message, deep));
	output_release(&o);
	write_file(p->report, "a file");
	(void)snprintf(deep, sizeof(deep), "%s/report", p->report);
	assert_int_equal(output_open(&o, deep, &err), -ENOTDIR);
	output_release(&o);
	assert_int_equal(entries(p), 1);
}

TEST(what_is_binary_is_not_written_to_a_terminal, setup, teardown)
{
	const struct scene *p = *state;
	int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	char path[64];
	struct output o;
	struct err err;

	assert_true(terminal >= 0);
	assert_int_equal(grantpt(terminal), 0);
	assert_int_equal(unlockpt(terminal), 0);
	assert_int_equal(ptsname_r(terminal, path, sizeof(path)), 0);
	assert_int_equal(output_open_report(&o, path, JXP__FORMAT__FORMAT_PPROF, &err), -EINVAL);
	assert_non_null(strstr(err.message, "-o FILE"));
	output_release(&o);
	assert_int_equal(output_open_report(&o, p->report, JXP__FORMAT__FORMAT_PPROF, &err), 0);
	assert_int_equal(output_commit(&o, "\0\1", 2, &err), 0);
	output_release(&o);
	assert_int_equal(entries(p), 1);
	(void)close(terminal);
}
