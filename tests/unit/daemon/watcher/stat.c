#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "daemon/watcher/stat.h"

static void a_process_is_read_from_its_stat_file(void **state)
{
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	struct watcher_stat stat;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(watcher_stat_read(fd, &stat), 0);
	assert_int_equal(stat.threads, 1);
	assert_true(stat.page_faults > 0);
	assert_true(stat.start_ticks > 0);
	(void)close(fd);
}

static void what_is_no_stat_file_is_refused(void **state)
{
	struct watcher_stat stat = {.threads = 7};
	int fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(watcher_stat_read(fd, &stat), -EPROTO);
	(void)close(fd);
	assert_int_equal(watcher_stat_read(-1, &stat), -EBADF);
	assert_int_equal(stat.threads, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_process_is_read_from_its_stat_file),
	    cmocka_unit_test(what_is_no_stat_file_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
