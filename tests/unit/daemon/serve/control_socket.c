#include "tests/unit/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/serve/control_socket.h"

struct fixture {
	char directory[64];
	char path[96];
};

static int set_up(void **state)
{
	static struct fixture f;

	strcpy(f.directory, "/tmp/jxperf-test-XXXXXX");
	assert_non_null(mkdtemp(f.directory));
	(void)snprintf(f.path, sizeof(f.path), "%s/s", f.directory);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	(void)unlink(f->path); /* Some tests leave nothing. */
	return rmdir(f->directory);
}

TEST(a_new_socket_is_for_owner_and_group_only, set_up, tear_down)
{
	struct fixture *f = *state;
	struct err err;
	struct stat st;
	int fd = control_socket_listen(f->path, geteuid() == 0, &err);

	assert_true(fd >= 0);
	assert_int_equal(stat(f->path, &st), 0);
	assert_true(S_ISSOCK(st.st_mode));
	assert_int_equal(st.st_mode & 0777, geteuid() == 0 ? 0660 : 0600);
	(void)close(fd);
}

TEST(a_users_socket_is_not_for_its_group, set_up, tear_down)
{
	struct fixture *f = *state;
	struct err err;
	struct stat st;
	int fd;

	if (geteuid() != 0)
		skip(); /* The test above says it. */
	assert_int_equal(chown(f->directory, 65534, 65534), 0);
	assert_int_equal(seteuid(65534), 0);
	fd = control_socket_listen(f->path, geteuid() == 0, &err);
	assert_int_equal(seteuid(0), 0);
	assert_true(fd >= 0);
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	(void)close(fd);
}

TEST(a_socket_that_somebody_answers_on_is_left_alone, set_up, tear_down)
{
	struct fixture *f = *state;
	struct err err;
	int first = control_socket_listen(f->path, geteuid() == 0, &err);

	assert_true(first >= 0);
	assert_int_equal(control_socket_listen(f->path, geteuid() == 0, &err), -EADDRINUSE);
	assert_non_null(strstr(err.message, "another jxperfd"));
	assert_int_equal(access(f->path, F_OK), 0);
	(void)close(first);
}

TEST(a_stale_socket_is_replaced, set_up, tear_down)
{
	struct fixture *f = *state;
	struct err err;
	int fd = control_socket_listen(f->path, geteuid() == 0, &err);

	assert_true(fd >= 0);
	(void)close(fd);
	assert_int_equal(access(f->path, F_OK), 0);
	fd = control_socket_listen(f->path, geteuid() == 0, &err);
	assert_true(fd >= 0);
	(void)close(fd);
}

TEST(a_file_that_is_no_socket_is_never_removed, set_up, tear_down)
{
	struct fixture *f = *state;
	struct err err;
	int fd = open(f->path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	(void)close(fd);
	assert_int_equal(control_socket_listen(f->path, geteuid() == 0, &err), -EEXIST);
	assert_non_null(strstr(err.message, "not a socket"));
	assert_int_equal(access(f->path, F_OK), 0);
}

TEST(paths_that_cannot_be_bound_are_named, set_up, tear_down)
{
	struct err err;
	char path[200];

	assert_int_equal(control_socket_listen("/nonexistent/s", true, &err), -ENOENT);
	assert_non_null(strstr(err.message, "'/nonexistent/s'"));
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(control_socket_listen(path, true, &err), -ENAMETOOLONG);
}
