/* What is read once in a window, and when it is read anew. */
#include "tests/unit/support/test.h"
#include <string.h>

#include "attach/agent/code/safe_read.h"
#include "attach/agent/method/method_table.h"
#include "attach/agent/stream/code_bytecodes.h"
#include "tests/unit/support/agent/fake_methods.h"

static struct fake_world world; /* the method that all numbers are of */
static struct method_layout layout;
static struct code_bytecodes *bytecodes;
static const struct method_copy *copy;

static int set_up(void **state)
{
	(void)state;
	if (method_table_init() < 0 || safe_read_init() < 0)
		return -1;
	fake_world_init(&world, "p/A", "run");
	layout = fake_method_layout;
	layout.code_known = true;
	for (unsigned i = 0; i < 256; i++)
		layout.java_op[i] = (uint8_t)i;
	if (method_number(method_table(), &layout, fake_address(&world), 0) != 1)
		return -1;
	copy = method_of_number(method_table(), 1);
	bytecodes = code_bytecodes_new(&layout);
	return bytecodes && code_bytecodes_begin(bytecodes, NULL, 0) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	code_bytecodes_free(bytecodes);
	method_table_release();
	return 0;
}

/* Numbers from 1 on; true if all have room. */
static bool read_methods(uint32_t count)
{
	for (uint32_t i = 1; i <= count; i++)
		if (!code_bytecodes_read(bytecodes, i, copy))
			return false;
	return true;
}

TEST(a_method_is_read_once, set_up, tear_down)
{
	assert_true(read_methods(1));
	fake_set(&world.name, "ran"); /* It cannot be read any more. */
	assert_true(code_bytecodes_begin(bytecodes, NULL, 0));
	assert_true(read_methods(1));
	assert_int_equal(code_bytecodes_read(bytecodes, 1, copy)->size, FAKE_CODE_SIZE);
	assert_false(read_methods(2));
	assert_false(code_bytecodes_cut(bytecodes));
}

TEST(what_is_forgotten_is_read_anew, set_up, tear_down)
{
	assert_true(read_methods(1));
	assert_false(code_bytecodes_forget(bytecodes)); /* It was of this image. */
	assert_true(read_methods(1));
	assert_true(code_bytecodes_begin(bytecodes, NULL, 0));
	assert_true(code_bytecodes_forget(bytecodes));
	fake_set(&world.name, "ran");
	assert_false(read_methods(1));
}

/* The next image may have room for what this one had not. */
TEST(what_an_image_has_no_room_for_is_kept_for_none, set_up, tear_down)
{
	assert_false(read_methods(CODE_METHODS_READ + 1));
	assert_true(code_bytecodes_cut(bytecodes));
	fake_set(&world.name, "ran");
	assert_true(code_bytecodes_begin(bytecodes, NULL, 0));
	assert_false(code_bytecodes_cut(bytecodes));
	assert_false(read_methods(1));
}
