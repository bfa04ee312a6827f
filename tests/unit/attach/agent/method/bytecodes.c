/* Instructions as the JVM interprets them become those of class files, or are refused. */
#include "tests/unit/support/test.h"
#include <string.h>

#include "attach/agent/method/bytecodes.h"
#include "common/code/java_op.h"

enum { GETFIELD_OWN = 210, SWITCH_OWN, LDC_OWN, ILOAD_OWN };

static uint8_t java_op[256];

static int ops(void **state)
{
	(void)state;
	memset(java_op, METHOD_OP_UNKNOWN, sizeof(java_op));
	for (unsigned op = 0; op < JAVA_OPS; op++)
		java_op[op] = (uint8_t)op;
	java_op[GETFIELD_OWN] = JAVA_GETFIELD;
	java_op[SWITCH_OWN] = JAVA_LOOKUPSWITCH;
	java_op[LDC_OWN] = JAVA_LDC;
	java_op[ILOAD_OWN] = JAVA_ILOAD;
	return 0;
}

TEST(the_jvm_s_own_become_java_s)
{
	uint8_t code[] = {ILOAD_OWN, 210, GETFIELD_OWN, 7, 9, LDC_OWN, 211, 0xba, 1, 2,
			  3,         4,   0xb9,         5, 6, 2,       0,   0xb1};
	const uint8_t expected[] = {JAVA_ILOAD, 210, JAVA_GETFIELD, 0, 0, JAVA_LDC, 0, 0xba, 0, 0,
				    0,          0,   0xb9,          0, 0, 2,        0, 0xb1};

	assert_true(bytecodes_restore(java_op, code, sizeof(code)));
	assert_memory_equal(code, expected, sizeof(code));
}

TEST(switches_keep_their_cases)
{
	uint8_t code[] = {0, SWITCH_OWN, 0, 0, 0,   0, 0, 20, 0,  0,   0,
			  1, 0,          0, 0, 210, 0, 0, 0,  19, 0xb1};
	uint8_t expected[sizeof(code)];

	memcpy(expected, code, sizeof(code));
	expected[1] = JAVA_LOOKUPSWITCH;
	assert_true(bytecodes_restore(java_op, code, sizeof(code)));
	assert_memory_equal(code, expected, sizeof(code));
}

TEST(what_is_not_known_is_refused)
{
	uint8_t breakpoint[] = {0, 202, 0xb1}, short_one[] = {0, GETFIELD_OWN, 1};

	assert_false(bytecodes_restore(java_op, breakpoint, sizeof(breakpoint)));
	assert_false(bytecodes_restore(java_op, short_one, sizeof(short_one)));
}

TEST(names_of_own_instructions_are_known)
{
	assert_int_equal(bytecodes_op_of("fast_agetfield"), JAVA_GETFIELD);
	assert_int_equal(bytecodes_op_of("fast_zputfield"), JAVA_PUTFIELD);
	assert_int_equal(bytecodes_op_of("fast_iaccess_0"), JAVA_ALOAD_0);
	assert_int_equal(bytecodes_op_of("fast_iload"), JAVA_ILOAD);
	assert_int_equal(bytecodes_op_of("fast_iload2"), JAVA_ILOAD);
	assert_int_equal(bytecodes_op_of("fast_aldc_w"), JAVA_LDC_W);
	assert_int_equal(bytecodes_op_of("fast_aldc"), JAVA_LDC);
	assert_int_equal(bytecodes_op_of("fast_getfield"), METHOD_OP_UNKNOWN);
	assert_int_equal(bytecodes_op_of("breakpoint"), METHOD_OP_UNKNOWN);
	assert_int_equal(bytecodes_op_of(""), METHOD_OP_UNKNOWN);
}

int main(void)
{
	return tests_run(ops, NULL);
}
