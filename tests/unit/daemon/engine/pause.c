#include "tests/unit/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "daemon/engine/pause.h"

static char directory[] = "/tmp/jxperf-pause-XXXXXX";
static char kept[64], file[64];
static struct err err;

static int set_up(void **state)
{
	(void)state;
	strcpy(directory + sizeof(directory) - 7, "XXXXXX");
	assert_non_null(mkdtemp(directory));
	(void)snprintf(kept, sizeof(kept), "%s/pause", directory);
	(void)snprintf(file, sizeof(file), "%s/forbidden", directory);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	(void)unlink(kept);
	(void)unlink(file);
	return rmdir(directory);
}

static struct pause load(void)
{
	struct pause p = {.file = file};

	assert_int_equal(pause_load(&p, directory, &err), 0);
	return p;
}

TEST(a_pause_outlives_the_daemon, set_up, tear_down)
{
	struct pause p = load();

	assert_false(pause_forbids(&p, &err));
	assert_int_equal(pause_begin(&p, 1000, 0, "an incident\nof ours", &err), 0);
	p = load();
	assert_true(pause_forbids(&p, &err));
	assert_string_equal(err.message, "windows are paused by user 1000, an incident?of ours: "
					 "'jxperfctl resume' ends that");
	assert_int_equal(pause_end(&p, &err), 0);
	assert_false(pause_forbids(&p, NULL));
	p = load();
	assert_false(pause_forbids(&p, NULL));
	assert_int_equal(pause_end(&p, &err), 0);
}

TEST(a_pause_ends_at_its_time, set_up, tear_down)
{
	struct pause p = load();

	assert_int_equal(pause_begin(&p, 0, 3600 * NS_PER_S, "", &err), 0);
	p = load();
	assert_true(pause_forbids(&p, &err));
	assert_non_null(strstr(err.message, "windows are paused by root until 20"));
	p.until_unix_ns = clock_ns(CLOCK_REALTIME) - 1;
	assert_false(pause_forbids(&p, NULL));
	assert_int_equal(pause_begin(&p, 0, UINT64_MAX, "", &err), -EINVAL);
	assert_false(pause_forbids(&p, NULL));
}

TEST(a_file_forbids_windows_as_long_as_it_is_there, set_up, tear_down)
{
	struct pause p = load();
	int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(close(fd), 0);
	assert_true(pause_forbids(&p, &err));
	assert_non_null(strstr(err.message, file));
	assert_int_equal(pause_end(&p, &err), -EEXIST);
	assert_int_equal(unlink(file), 0);
	assert_false(pause_forbids(&p, NULL));
}

TEST(what_cannot_be_kept_holds_until_a_restart, set_up, tear_down)
{
	struct pause p = load();

	(void)snprintf(p.path, sizeof(p.path), "%s/none/pause", directory);
	assert_int_equal(pause_begin(&p, 0, 0, "", &err), -EIO);
	assert_non_null(strstr(err.message, "windows are paused, but not after a restart"));
	assert_true(pause_forbids(&p, NULL));
	/* Where there is no state directory it holds for as long as the daemon runs. */
	p.path[0] = '\0';
	assert_int_equal(pause_begin(&p, 0, 0, "", &err), 0);
	assert_true(pause_forbids(&p, NULL));
}

TEST(what_is_no_pause_is_said, set_up, tear_down)
{
	struct pause p = {0};
	FILE *out = fopen(kept, "we");

	assert_non_null(out);
	fputs("x", out);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(pause_load(&p, directory, &err), -EBADMSG);
	assert_false(p.on);
}
