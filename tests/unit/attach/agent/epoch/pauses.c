/* The JVM's count of pauses, found in performance data as HotSpot writes it. */
#include "tests/unit/support/test.h"

#include "attach/agent/code/safe_read.h"
#include "attach/agent/epoch/pauses.h"
#include "tests/unit/support/perfdata_file.h"

/* As it lies in memory. */
static _Alignas(8) struct perfdata_file data;

static uint64_t start(void)
{
	return (uintptr_t)data.bytes;
}

TEST(the_epoch_is_what_the_counter_says_at_the_moment)
{
	struct pauses p;
	uint64_t more = 8000;
	size_t at;

	perfdata_file_init(&data);
	(void)perfdata_file_add_number(&data, "sun.rt.safepoints", 3);
	at = perfdata_file_add_number(&data, "sun.rt.safepointSyncTime", 7000);
	assert_true(pauses_find(&p, start(), data.size));
	assert_true(pauses_are_known(&p));
	assert_int_equal(pauses_epoch(&p), 7000);
	memcpy(data.bytes + at, &more, sizeof(more));
	assert_int_equal(pauses_epoch(&p), 8000);
}

TEST(what_is_no_such_counter_is_not_known)
{
	static const uint8_t text[] = "text";
	struct pauses p = {.stopping_ns = (const _Atomic uint64_t *)(uintptr_t)data.bytes};

	perfdata_file_init(&data);
	(void)perfdata_file_add_number(&data, "sun.rt.safepointTime", 7000);
	(void)perfdata_file_add(&data, "sun.rt.safepointSyncTime", 'B', text, sizeof(text));
	assert_false(pauses_find(&p, start(), data.size));
	assert_false(pauses_are_known(&p));
}

TEST(a_jvm_without_performance_data_has_none)
{
	struct pauses p;

	assert_false(pauses_find(&p, 0, 0));
	assert_false(pauses_are_known(&p));
	/* Nothing is mapped there. */
	assert_false(pauses_find(&p, 4096, 4096));
}

int main(void)
{
	if (safe_read_init() < 0)
		return 1;
	return tests_run(NULL, NULL);
}
