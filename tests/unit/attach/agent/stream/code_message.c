/* Images as large as they come, and what has no room in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "attach/agent/stream/code_message.h"
#include "proto/limits.h"

#define METHOD UINT64_C(0x7000)

static struct code_copy *copy;
static uint64_t unnumbered; /* a method that gets none */

/* As large as the agent's numbers become. */
static uint32_t number_of(void *arg, uint64_t method)
{
	(void)arg;
	return method == unnumbered ? 0 : (uint32_t)(method - METHOD) / 8 + 20000;
}

static struct agct_frame call_of(uint64_t method, jint bci)
{
	struct agct_frame call = {.bci = bci};

	memcpy(&call.method, &method, sizeof(call.method));
	return call;
}

/* Of so many methods. */
static int fill(unsigned methods)
{
	copy = calloc(1, sizeof(*copy));
	if (!copy)
		return -1;
	copy->blob = (struct code_blob){.start = UINT64_MAX / 2,
					.size = LIMIT_CODE_BYTES,
					.serial = UINT64_MAX / 2,
					.method = METHOD};
	copy->frame_count = COPIED_FRAMES_MAX;
	copy->stack_count = COPIED_STACKS_MAX;
	copy->record_count = COPIED_RECORDS_MAX;
	copy->call_count = COPIED_CALLS_MAX;
	for (uint32_t i = 0; i < COPIED_FRAMES_MAX; i++)
		copy->frames[i] = call_of(METHOD + 8 * (i % methods), -1);
	for (uint32_t i = 0; i < COPIED_STACKS_MAX; i++)
		copy->stacks[i] = (uint16_t)(i % COPIED_FRAMES_MAX);
	for (uint32_t i = 0; i < COPIED_RECORDS_MAX; i++)
		copy->records[i] = (struct copied_record){21 * i, (uint16_t)(5 * i), 5};
	for (uint32_t i = 0; i < COPIED_CALLS_MAX; i++)
		copy->calls[i] = (struct copied_call){31 * i, JXP__CODE_IMAGE__CALL__TARGET__JAVA,
						      METHOD + 8 * (i % methods)};
	unnumbered = 0;
	return 0;
}

static int set_up(void **state)
{
	(void)state;
	return fill(LIMIT_CODE_METHODS);
}

static int tear_down(void **state)
{
	(void)state;
	free(copy);
	return 0;
}

static void the_largest_image_fits_a_frame(void **state)
{
	struct code_message *m = code_message_new(copy, number_of, NULL, NULL);

	(void)state;
	assert_non_null(m);
	assert_int_equal(code_message_image(m)->n_records, COPIED_RECORDS_MAX);
	assert_int_equal(code_message_image(m)->n_calls, COPIED_CALLS_MAX);
	/* With all the bytecodes that it may have. */
	assert_true(jxp__code_image__get_packed_size(code_message_image(m)) + CODE_BYTECODES_MAX +
			LIMIT_CODE_METHODS * 16 <
		    FRAME_MAX_AGENT);
	code_message_free(m);
}

static void frames_without_a_number_are_left_out(void **state)
{
	struct code_message *m;

	(void)state;
	unnumbered = METHOD + 8;
	m = code_message_new(copy, number_of, NULL, NULL);
	assert_non_null(m);
	assert_int_equal(code_message_image(m)->records[0]->n_frames, 4); /* 0 to 4, but 1 */
	assert_int_equal(code_message_image(m)->records[1]->n_frames, 5);
	assert_int_equal(code_message_image(m)->calls[1]->method, 0);
	code_message_free(m);
}

static void methods_beyond_the_limit_are_left_out(void **state)
{
	struct code_message *m;
	size_t frames = 0;

	free(copy);
	(void)state;
	assert_int_equal(fill(2 * LIMIT_CODE_METHODS), 0);
	m = code_message_new(copy, number_of, NULL, NULL);
	assert_non_null(m);
	for (size_t i = 0; i < code_message_image(m)->n_records; i++)
		for (size_t j = 0; j < code_message_image(m)->records[i]->n_frames; j++, frames++)
			assert_true(code_message_image(m)->records[i]->frames[j]->method <
				    20000 + LIMIT_CODE_METHODS);
	assert_in_range(frames, 1, COPIED_STACKS_MAX - 1);
	code_message_free(m);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(the_largest_image_fits_a_frame),
	    TEST(frames_without_a_number_are_left_out),
	    TEST(methods_beyond_the_limit_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
