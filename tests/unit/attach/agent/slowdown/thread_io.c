/* What the kernel tells of a thread's reads and writes. */
#include "tests/unit/support/test.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "attach/agent/slowdown/thread_io.h"

static bool parse(const char *text, uint64_t *bytes)
{
	return thread_io_parse(text, strlen(text), bytes);
}

TEST(reads_and_writes_are_added_up)
{
	uint64_t bytes;

	assert_true(parse("rchar: 4292\nwchar: 8\nsyscr: 1\n", &bytes));
	assert_int_equal(bytes, 4300);
}

TEST(what_is_cut_off_or_another_file_tells_nothing)
{
	static const char *const texts[] = {"",
					    "rchar: ",
					    "rchar: 12",
					    "rchar: 12\n",
					    "rchar: 12\nwchar: 3",
					    "rchar: \nwchar: 3\n",
					    "rchar: 1x\nwchar: 3\n",
					    "wchar: 3\nrchar: 12\n"};
	uint64_t bytes;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_false(parse(texts[i], &bytes));
}

TEST(what_the_thread_reads_is_in_it)
{
	enum { CHUNK = 100000 };
	static char chunk[CHUNK];
	uint64_t before, after;
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	if (!thread_io_bytes(&before))
		skip(); /* A kernel without CONFIG_TASK_IO_ACCOUNTING. */
	assert_true(fd >= 0);
	assert_int_equal(read(fd, chunk, sizeof(chunk)), CHUNK);
	(void)close(fd);
	assert_true(thread_io_bytes(&after));
	assert_in_range(after - before, CHUNK, CHUNK + 4096);
}
