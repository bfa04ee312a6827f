#include "tests/unit/support/test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "daemon/http/own_metrics.h"
#include "daemon/store/keeper.h"

static double value_in(const char *text, const char *name)
{
	char line[96];
	const char *at;

	(void)snprintf(line, sizeof(line), "\n%s ", name);
	at = strstr(text, line);
	assert_non_null(at);
	return strtod(at + strlen(line), NULL);
}

static double process_value(const char *name)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	double value;

	process_metrics_write(out, process_metrics_start(), false);
	assert_int_equal(fclose(out), 0);
	value = value_in(text, name);
	free(text);
	return value;
}

TEST(a_descriptor_more_is_counted)
{
	double before = process_value("process_open_fds");
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_true(process_value("process_open_fds") == before + 1);
	assert_int_equal(close(fd), 0);
	assert_true(process_value("process_max_fds") >= before);
}

TEST(memory_that_is_touched_is_resident)
{
	const size_t bytes = (size_t)64 << 20;
	double before = process_value("process_resident_memory_bytes");
	char *memory = malloc(bytes);

	assert_non_null(memory);
	memset(memory, 1, bytes);
	assert_true(process_value("process_resident_memory_bytes") >= before + (double)bytes / 2);
	assert_true(process_value("process_virtual_memory_bytes") >= (double)bytes);
	free(memory);
}

TEST(the_start_is_a_moment_ago_and_cpu_time_grows)
{
	double now_s = (double)clock_ns(CLOCK_REALTIME) / (double)NS_PER_S;
	double start_s = process_metrics_start(),
	       cpu_s = process_value("process_cpu_seconds_total");
	uint64_t end = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + 50 * NS_PER_MS;

	assert_true(start_s <= now_s + 0.05 && start_s > now_s - 60);
	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < end)
		;
	assert_true(process_value("process_cpu_seconds_total") >= cpu_s + 0.03);
}

TEST(what_the_store_says_is_told)
{
	const struct keeper_stats stats = {.written = 2, .failing = true, .last_write_s = 0.25};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	store_metrics_write(out, &stats, false);
	assert_int_equal(fclose(out), 0);
	assert_true(value_in(text, "jxperf_store_available") == 1);
	assert_true(value_in(text, "jxperf_store_failing") == 1);
	assert_true(value_in(text, "jxperf_store_last_write_seconds") == 0.25);
	assert_true(value_in(text, "jxperf_store_windows_written_total") == 2);
	free(text);
}
