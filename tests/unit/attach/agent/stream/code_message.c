/* Images as large as they come, and what has no room in them. */
#include "tests/unit/support/test.h"
#include <stdlib.h>
#include <string.h>

#include "attach/agent/code/safe_read.h"
#include "attach/agent/stream/code_message.h"
#include "proto/limits.h"
#include "tests/unit/support/agent/fake_methods.h"

#define METHOD UINT64_C(0x7000)

/* Of an image's arrays. */
#define COUNT(image, array, type) ((image)->array.len / sizeof(type))
#define AT(image, array, type, i) (((const type *)(image)->array.data)[i])

/* As large as the agent's numbers become. */
#define NUMBER (METHODS_MAX - 2 * LIMIT_CODE_METHODS)

static struct code_copy *copy;
static uint32_t first_number;
static uint64_t unnumbered;     /* a method that gets none */
static struct fake_world world; /* the method that all of them are in truth */
static struct method_layout layout;

static uint32_t number_of(void *arg, uint64_t method)
{
	(void)arg;
	return method == unnumbered ? 0 : (uint32_t)(method - METHOD) / 8 + first_number;
}

static struct code_message *new_message(void)
{
	static struct code_methods methods = {.layout = &layout, .number = number_of};

	methods.table = method_table();
	return code_message_new(&methods);
}

static const Jxp__CodeImage *image_of(struct code_message *m)
{
	const Jxp__CodeImage *image = code_message_make(m, copy);

	assert_non_null(image);
	return image;
}

/* All numbers are the one method's. */
static int make_methods(void)
{
	struct method_table *t = method_table();

	fake_world_init(&world, "p/A", "run");
	layout = fake_method_layout;
	if (method_number(t, &layout, fake_address(&world), 0) != 1)
		return -1;
	for (uint32_t i = 1; i < METHODS_MAX; i++)
		memcpy(&t->methods[i], &t->methods[0], sizeof(t->methods[0]));
	return 0;
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
	copy->check_count = COPIED_CHECKS_MAX;
	for (uint32_t i = 0; i < COPIED_CHECKS_MAX; i++)
		copy->checks[i] = (struct code_null_check){16 * i, LIMIT_CODE_BYTES - 1};
	for (uint32_t i = 0; i < COPIED_FRAMES_MAX; i++)
		copy->frames[i] = (struct scope_call){METHOD + 8 * (i % methods), -1};
	for (uint32_t i = 0; i < COPIED_STACKS_MAX; i++)
		copy->stacks[i] = (uint16_t)(i % COPIED_FRAMES_MAX);
	for (uint32_t i = 0; i < COPIED_RECORDS_MAX; i++)
		copy->records[i] = (struct copied_record){21 * i, (uint16_t)(5 * i), 5};
	for (uint32_t i = 0; i < COPIED_CALLS_MAX; i++)
		copy->calls[i] =
		    (struct copied_call){31 * i, CODE_TARGET_JAVA, METHOD + 8 * (i % methods)};
	unnumbered = 0;
	first_number = NUMBER;
	return 0;
}

static int set_up(void **state)
{
	(void)state;
	if (method_table_init() < 0 || safe_read_init() < 0 || make_methods() < 0)
		return -1;
	return fill(LIMIT_CODE_METHODS);
}

static int tear_down(void **state)
{
	(void)state;
	free(copy);
	method_table_release();
	return 0;
}

TEST(the_largest_image_fits_a_frame, set_up, tear_down)
{
	struct code_message *m = new_message();
	const Jxp__CodeImage *image = image_of(m);

	assert_int_equal(COUNT(image, records, struct code_record), COPIED_RECORDS_MAX);
	assert_int_equal(COUNT(image, calls, struct code_call), COPIED_CALLS_MAX);
	assert_int_equal(COUNT(image, null_checks, struct code_null_check), COPIED_CHECKS_MAX);
	/* With all the bytecodes that it may have, and all that they may name. */
	assert_true(jxp__code_image__get_packed_size(image) + CODE_BYTECODES_MAX +
			CODE_REFERENCES_MAX *
			    (sizeof(struct code_reference) + TARGETS_MAX * sizeof(uint32_t)) +
			CODE_MEMBER_BYTES + CODE_MEMBERS_MAX * sizeof(struct code_member) <
		    FRAME_MAX_AGENT);
	code_message_free(m);
}

TEST(frames_without_a_number_are_left_out, set_up, tear_down)
{
	struct code_message *m = new_message();
	const Jxp__CodeImage *image;

	unnumbered = METHOD + 8;
	image = image_of(m);
	assert_int_equal(AT(image, records, struct code_record, 0).frame_count,
			 4); /* 0 to 4, but 1 */
	assert_int_equal(AT(image, records, struct code_record, 1).frame_count, 5);
	assert_int_equal(AT(image, calls, struct code_call, 1).method, 0);
	code_message_free(m);
}

TEST(methods_beyond_the_limit_are_left_out, set_up, tear_down)
{
	struct code_message *m = new_message();
	const Jxp__CodeImage *image;
	size_t frames;

	free(copy);
	assert_int_equal(fill(2 * LIMIT_CODE_METHODS), 0);
	image = image_of(m);
	assert_int_equal(COUNT(image, methods, struct code_method), LIMIT_CODE_METHODS);
	frames = COUNT(image, frames, struct code_frame);
	for (size_t i = 0; i < frames; i++)
		assert_true(AT(image, frames, struct code_frame, i).method < LIMIT_CODE_METHODS);
	assert_in_range(frames, 1, COPIED_STACKS_MAX - 1);
	code_message_free(m);
}

static void know_bytecodes(void)
{
	layout.code_known = true;
	for (unsigned i = 0; i < 256; i++)
		layout.java_op[i] = (uint8_t)i;
}

TEST(bytecodes_are_those_of_methods_that_are_still_there, set_up, tear_down)
{
	struct code_message *m = new_message();
	const Jxp__CodeImage *image;

	assert_int_equal(image_of(m)->bytecodes.len, 0); /* How is not known. */
	know_bytecodes();
	image = image_of(m);
	assert_int_equal(image->bytecodes.len, LIMIT_CODE_METHODS * FAKE_CODE_SIZE);
	assert_int_equal(AT(image, methods, struct code_method, 0).name, NUMBER);
	assert_int_equal(AT(image, methods, struct code_method, 0).bytecode_bytes, FAKE_CODE_SIZE);
	assert_memory_equal(image->bytecodes.data, world.const_method.bytes, FAKE_CODE_SIZE);
	code_message_free(m);
	/* Another method has come to lie there. */
	fake_set(&world.name, "ran");
	m = new_message();
	image = image_of(m);
	assert_int_equal(image->bytecodes.len, 0);
	assert_int_equal(COUNT(image, records, struct code_record), COPIED_RECORDS_MAX);
	code_message_free(m);
}

/* A number is that of one method for good. */
TEST(bytecodes_are_read_once, set_up, tear_down)
{
	uint8_t code[FAKE_CODE_SIZE];
	struct code_message *m = new_message();
	const Jxp__CodeImage *image;

	know_bytecodes();
	memcpy(code, world.const_method.bytes, sizeof(code));
	assert_int_equal(image_of(m)->bytecodes.len, LIMIT_CODE_METHODS * FAKE_CODE_SIZE);
	fake_set(&world.name, "ran");
	memset(world.const_method.bytes, 0, FAKE_CODE_SIZE);
	image = image_of(m);
	assert_int_equal(image->bytecodes.len, LIMIT_CODE_METHODS * FAKE_CODE_SIZE);
	assert_memory_equal(image->bytecodes.data + image->bytecodes.len - sizeof(code), code,
			    sizeof(code));
	assert_false(code_message_cut(m));
	code_message_free(m);
}

TEST(images_before_take_no_room, set_up, tear_down)
{
	struct code_message *m = new_message();
	const unsigned room = CODE_METHODS_READ / LIMIT_CODE_METHODS;

	know_bytecodes();
	for (unsigned i = 0; i <= 2 * room; i++) {
		const Jxp__CodeImage *image;

		/* Others than before. */
		first_number = NUMBER - i * LIMIT_CODE_METHODS;
		image = image_of(m);
		assert_int_equal(image->bytecodes.len, LIMIT_CODE_METHODS * FAKE_CODE_SIZE);
		assert_int_equal(AT(image, methods, struct code_method, 0).name, first_number);
		assert_false(code_message_cut(m));
	}
	code_message_free(m);
}
