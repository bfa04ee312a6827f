/* How long instructions of Java are, and where they lead. */
#include "tests/unit/support/test.h"

#include "common/code/java_op.h"

static void assert_leads(const uint8_t *code, uint32_t size, uint32_t bci, uint32_t length,
			 uint32_t count, const int64_t *targets)
{
	assert_int_equal(java_op_length(code, size, bci), length);
	assert_int_equal(java_op_targets(code, size, bci), count);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(java_op_target(code, bci, i), targets[i]);
}

TEST(a_branch_leads_to_one_place)
{
	/* 0 nop; 1 goto -1; 4 ifeq 0x105; 7 jsr 10; 10 ifnonnull 7; 13 goto_w 0; 18 jsr_w 65555 */
	static const uint8_t code[] = {0x00, 0xa7, 0xff, 0xfe, 0x99, 0x01, 0x01, 0xa8,
				       0x00, 0x03, 0xc7, 0xff, 0xfd, 0xc8, 0xff, 0xff,
				       0xff, 0xf3, 0xc9, 0x00, 0x01, 0x00, 0x01};
	static const struct {
		uint32_t bci, length;
		int64_t target;
	} expected[] = {{1, 3, -1}, {4, 3, 0x105}, {7, 3, 10},
			{10, 3, 7}, {13, 5, 0},    {18, 5, 65555}};

	assert_leads(code, sizeof(code), 0, 1, 0, NULL);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_leads(code, sizeof(code), expected[i].bci, expected[i].length, 1,
			     &expected[i].target);
}

TEST(a_switch_leads_to_its_default_and_its_cases)
{
	/* 0 nop; 1 tableswitch 7 to 8: 100, 200, -1; 24 nop */
	static const uint8_t table[] = {0x00, 0xaa, 0, 0, 0, 0, 0,   99,   0,    0,    0,    7,   0,
					0,    0,    8, 0, 0, 0, 199, 0xff, 0xff, 0xff, 0xfe, 0x00};
	/* 0 lookupswitch: 100, of 5: 200 */
	static const uint8_t lookup[] = {0xab, 0, 0, 0, 0, 0, 0, 100, 0, 0,
					 0,    1, 0, 0, 0, 5, 0, 0,   0, 200};
	static const int64_t of_table[] = {100, 200, -1}, of_lookup[] = {100, 200};

	assert_leads(table, sizeof(table), 1, 23, 3, of_table);
	assert_int_equal(java_op_length(table, 23, 1), 0); /* It does not fit. */
	assert_leads(lookup, sizeof(lookup), 0, 20, 2, of_lookup);
	assert_int_equal(java_switch_cases(lookup, 19, 0), -1);
}

TEST(returns_throws_gotos_and_switches_end)
{
	static const uint8_t end[] = {JAVA_GOTO,        JAVA_GOTO_W,       JAVA_RET,
				      JAVA_TABLESWITCH, JAVA_LOOKUPSWITCH, JAVA_IRETURN,
				      JAVA_RETURN,      JAVA_ATHROW};
	static const uint8_t go_on[] = {0x00,           JAVA_IFEQ,      JAVA_IF_ACMPNE, JAVA_IFNULL,
					JAVA_IFNONNULL, JAVA_GETSTATIC, JAVA_JSR,       JAVA_JSR_W};

	for (size_t i = 0; i < sizeof(end); i++)
		assert_true(java_op_ends(end[i]));
	for (size_t i = 0; i < sizeof(go_on); i++)
		assert_false(java_op_ends(go_on[i]));
	assert_true(java_op_is_jsr(JAVA_JSR) && java_op_is_jsr(JAVA_JSR_W));
	assert_false(java_op_is_jsr(JAVA_GOTO));
}

TEST(what_does_not_fit_has_no_length)
{
	static const uint8_t wide[] = {0xc4, 0x84, 0, 1, 0, 2}, none[] = {0xca};

	assert_int_equal(java_op_length(wide, 6, 0), 6);
	assert_int_equal(java_op_length(wide, 5, 0), 0);
	assert_int_equal(java_op_length(wide, 1, 0), 0);
	assert_int_equal(java_op_length(none, 1, 0), 0);
}
