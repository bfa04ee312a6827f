#include "tests/unit/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "daemon/watcher/stat.h"

TEST(a_process_is_read_from_its_stat_file)
{
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	struct watcher_stat stat;

	assert_true(fd >= 0);
	assert_int_equal(watcher_stat_read(fd, &stat), 0);
	assert_int_equal(stat.threads, 1);
	assert_true(stat.page_faults > 0);
	assert_true(stat.start_ticks > 0);
	(void)close(fd);
}

TEST(what_is_no_stat_file_is_refused)
{
	struct watcher_stat stat = {.threads = 7};
	int fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(watcher_stat_read(fd, &stat), -EPROTO);
	(void)close(fd);
	assert_int_equal(watcher_stat_read(-1, &stat), -EBADF);
	assert_int_equal(stat.threads, 7);
}
