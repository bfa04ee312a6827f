/* Loops of bytecodes, as javac lays them out and as others do. */
#include "tests/unit/support/test.h"
#include <errno.h>
#include <string.h>

#include "profile/loops/bytecodes/bytecode.h"
#include "common/code/java_op.h"

static struct bytecode read_code(const char *code, size_t size)
{
	struct bytecode b;

	assert_int_equal(bytecode_read(&b, (const uint8_t *)code, size), 0);
	return b;
}

#define READ(code) read_code(code, sizeof(code) - 1)

static void assert_one_loop(struct bytecode *b, int32_t header, int32_t latch)
{
	assert_int_equal(b->loop_count, 1);
	assert_int_equal(b->loops[0].header_bci, header);
	assert_int_equal(b->loops[0].latch_bci, latch);
	assert_int_equal(b->loops[0].parent, BYTECODE_NO_LOOP);
}

/* for (int i = 0; i < n; i++) s += i: iconst_0, istore_1, iconst_0, istore_2, 4: iload_2, iload_0,
 * if_icmpge +13 (19), iload_1, iload_2, iadd, istore_1, iinc 2 1, 16: goto 4, 19: iload_1, ireturn
 */
#define SUM "\x03\x3c\x03\x3d\x1c\x1a\xa2\x00\x0d\x1b\x1c\x60\x3c\x84\x02\x01\xa7\xff\xf4\x1b\xac"

TEST(a_condition_at_the_top_has_its_jump_back_at_the_end)
{
	struct bytecode b = READ(SUM);

	assert_one_loop(&b, 4, 16);
	assert_int_equal(bytecode_loop_at(&b, 3), BYTECODE_NO_LOOP);
	assert_int_equal(bytecode_loop_at(&b, 4), 0);
	assert_int_equal(bytecode_loop_at(&b, 14), 0); /* Inside iinc. */
	assert_int_equal(bytecode_loop_at(&b, 18), 0);
	assert_int_equal(bytecode_loop_at(&b, 19), BYTECODE_NO_LOOP);
	assert_int_equal(bytecode_loop_at(&b, -1), BYTECODE_NO_LOOP);
	assert_int_equal(bytecode_loop_at(&b, 21), BYTECODE_NO_LOOP);
	bytecode_release(&b);
}

TEST(a_jsr_comes_back_to_its_loop)
{
	/* 0: jsr 6; 3: goto 0; 6: astore_0, ret 0 */
	struct bytecode b = READ("\xa8\x00\x06\xa7\xff\xfd\x4b\xa9\x00");

	assert_one_loop(&b, 0, 3);
	assert_int_equal(bytecode_loop_at(&b, 6), BYTECODE_NO_LOOP);
	bytecode_release(&b);
}

/* What each turn adds, and a sum's what it is not: iadd of a variable. */
TEST(counters_have_steps)
{
	struct bytecode b = READ(SUM);

	assert_int_equal(b.loops[0].step_count, 1);
	assert_int_equal(b.loops[0].steps[0], 1);
	assert_true(b.loops[0].up && !b.loops[0].down);
	assert_false(b.loops[0].stores);
	bytecode_release(&b);
	/* 0: iload_0, iconst_5, isub, istore_0, iload_0, 5: ifgt 0; return */
	b = READ("\x1a\x08\x64\x3b\x1a\x9d\xff\xfb\xb1");
	assert_one_loop(&b, 0, 5);
	assert_int_equal(b.loops[0].step_count, 1);
	assert_int_equal(b.loops[0].steps[0], 5);
	assert_true(b.loops[0].down && !b.loops[0].up);
	bytecode_release(&b);
	/* 0: wide iinc 256 300; 6: goto 0 */
	b = READ("\xc4\x84\x01\x00\x01\x2c\xa7\xff\xfa");
	assert_one_loop(&b, 0, 6);
	assert_int_equal(b.loops[0].steps[0], 300);
	bytecode_release(&b);
}

TEST(the_only_variable_that_changes_is_told)
{
	struct bytecode b = READ(SUM);

	assert_int_equal(b.loops[0].variable, BYTECODE_MANY_VARIABLES);
	assert_false(b.loops[0].calls);
	bytecode_release(&b);
	/* 0: iload_0, iconst_5, isub, istore_0, iload_0, 5: ifgt 0; return */
	b = READ("\x1a\x08\x64\x3b\x1a\x9d\xff\xfb\xb1");
	assert_int_equal(b.loops[0].variable, 0);
	bytecode_release(&b);
	/* 0: wide iinc 256 300; 6: goto 0 */
	b = READ("\xc4\x84\x01\x00\x01\x2c\xa7\xff\xfa");
	assert_int_equal(b.loops[0].variable, 256);
	bytecode_release(&b);
	/* 0: invokestatic 1, 3: astore_3, 4: astore 3, 6: goto 0 */
	b = READ("\xb8\x00\x01\x4e\x3a\x03\xa7\xff\xfa");
	assert_int_equal(b.loops[0].variable, 3);
	assert_true(b.loops[0].calls);
	bytecode_release(&b);
	/* 0: goto 0 */
	b = READ("\xa7\x00\x00");
	assert_int_equal(b.loops[0].variable, BYTECODE_NO_VARIABLE);
	bytecode_release(&b);
}

/* 0: iload_0, 1: ifeq 7, 4: iinc 1 1, 7: iinc 2 4, 10: goto 0 */
TEST(a_branch_s_counter_is_no_turn_s)
{
	struct bytecode b = READ("\x1a\x99\x00\x06\x84\x01\x01\x84\x02\x04\xa7\xff\xf6");

	assert_int_equal(b.loops[0].step_count, 1);
	assert_int_equal(b.loops[0].steps[0], 4);
	bytecode_release(&b);
}

/* 0: goto 6, 3: iinc 0 1, 6: iload_0, iload_1, 8: if_icmplt 3, 11: return */
TEST(a_condition_at_the_end_is_in_the_loop)
{
	struct bytecode b = READ("\xa7\x00\x06\x84\x00\x01\x1a\x1b\xa1\xff\xfb\xb1");

	assert_one_loop(&b, 3, 8);
	assert_int_equal(bytecode_loop_at(&b, 0), BYTECODE_NO_LOOP);
	assert_int_equal(bytecode_loop_at(&b, 6), 0);
	assert_int_equal(b.loops[0].step_count, 1);
	bytecode_release(&b);
}

/* 0: iload_0, 1: ifeq 14, 4: iload_1, 5: ifeq 11, 8: goto 4, 11: goto 0, 14: return */
TEST(loops_lie_in_loops)
{
	struct bytecode b = READ("\x1a\x99\x00\x0d\x1b\x99\x00\x06\xa7\xff\xfc\xa7\xff\xf5\xb1");

	assert_int_equal(b.loop_count, 2);
	assert_int_equal(b.loops[0].header_bci, 0);
	assert_int_equal(b.loops[0].latch_bci, 11);
	assert_int_equal(b.loops[1].header_bci, 4);
	assert_int_equal(b.loops[1].latch_bci, 8);
	assert_int_equal(b.loops[1].parent, 0);
	assert_int_equal(bytecode_loop_at(&b, 8), 1);
	assert_int_equal(bytecode_loop_at(&b, 11), 0);
	bytecode_release(&b);
}

TEST(a_handler_between_is_the_loop_s)
{
	/* 0: iload_0, 1: ifeq 12, 4: goto 9, 7: pop, 8: nop, 9: goto 0, 12: return */
	struct bytecode b = READ("\x1a\x99\x00\x0b\xa7\x00\x05\x57\x00\xa7\xff\xf7\xb1");

	assert_one_loop(&b, 0, 9);
	assert_int_equal(bytecode_loop_at(&b, 7), 0);
	bytecode_release(&b);
}

/* 0: iload_0, tableswitch of 0 and 1: 28 and 24, default 32; 24: goto 0; 28: iastore, goto 0; 32:
 * return */
TEST(switches_lead_to_all_their_targets)
{
	struct bytecode b = READ("\x1a\xaa\0\0\0\0\0\x1f\0\0\0\0\0\0\0\x01\0\0\0\x1b\0\0\0\x17"
				 "\xa7\xff\xe8\x00\x4f\xa7\xff\xe3\xb1");
	struct bytecode lookup = READ("\x1a\xab\0\0\0\0\0\x13\0\0\0\x01\0\0\0\x05\xff\xff\xff\xff"
				      "\xb1");

	assert_int_equal(b.loop_count, 1);
	assert_int_equal(bytecode_loop_at(&b, 28), 0);
	assert_int_equal(bytecode_loop_at(&b, 24), 0);
	assert_int_equal(bytecode_loop_at(&b, 32), BYTECODE_NO_LOOP);
	assert_true(b.loops[0].stores);
	assert_false(b.loops[0].fills);
	bytecode_release(&b);
	/* Its one case leads back to its own beginning. */
	assert_one_loop(&lookup, 0, 1);
	bytecode_release(&lookup);
}

TEST(what_is_no_code_is_refused)
{
	static const struct {
		const char *code;
		size_t size;
	} bad[] = {
	    {"", 0},
	    {"\xff", 1},         /* no instruction */
	    {"\xa7\x00", 2},     /* cut off */
	    {"\xa7\x00\x01", 3}, /* into itself */
	    {"\xa7\x40\x00", 3}, /* out of it */
	    {"\x00", 1},         /* runs out of it */
	    {"\xaa\0\0\0\0\0\0\0\0\0\0\0\x7f\xff\xff\xff", 16},
	    {"\xab\0\0\0\0\0\0\0\xff\xff\xff\xff", 12},
	};
	struct bytecode b;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(bytecode_read(&b, (const uint8_t *)bad[i].code, bad[i].size),
				 -EBADMSG);
		assert_null(b.loops);
	}
}

/* A thousand branches to themselves. */
TEST(too_many_loops_are_refused)
{
	static const uint8_t branch[] = {0x99, 0x00, 0x00}, end[] = {0xb1, 0x00, 0xb1};
	static uint8_t code[3 * 1000];
	struct bytecode b;

	for (size_t i = 0; i < 1000; i++)
		memcpy(code + 3 * i, branch, sizeof(branch));
	memcpy(code + sizeof(code) - sizeof(end), end, sizeof(end));
	assert_int_equal(bytecode_read(&b, code, sizeof(code)), -E2BIG);
	assert_null(b.loops);
}

/* for (n = first; n != null; n = n.next) if (matches(n, wanted)) return n; return null: aload_0,
 * astore_2, 2: aload_2, ifnull +21 (24), aload_2, iload_1, 8: invokestatic, 11: ifeq +5 (16),
 * aload_2, areturn, 16: aload_2, getfield, astore_2, goto 2, 24: aconst_null, areturn */
#define SEARCH                                                                                     \
	"\x2a\x4d\x2c\xc6\x00\x15\x2c\x1b\xb8\x00\x09\x99\x00\x05\x2c\xb0\x2c\xb4\x00\x0d\x4d\xa7" \
	"\xff"                                                                                     \
	"\xed\x01\xb0"
/* while (more()) walk(): 0: invokestatic, ifeq +9 (12), invokestatic, goto 0, 12: return */
#define WALK "\xb8\x00\x01\x99\x00\x09\xb8\x00\x02\xa7\xff\xf7\xb1"

static bool invoked_leaves(const char *code, size_t size, int32_t bci)
{
	struct bytecode b = read_code(code, size);
	bool leaves = bytecode_invoked_leaves(&b, (const uint8_t *)code, bci);

	bytecode_release(&b);
	return leaves;
}

TEST(what_is_invoked_may_have_a_search_left)
{
	assert_true(invoked_leaves(SEARCH, sizeof(SEARCH) - 1, 8));
	assert_false(invoked_leaves(SEARCH, sizeof(SEARCH) - 1, 17)); /* A field. */
	assert_false(invoked_leaves(SEARCH, sizeof(SEARCH) - 1, 24)); /* In no loop. */
	assert_false(invoked_leaves(SEARCH, sizeof(SEARCH) - 1, 100));
}

TEST(what_says_how_far_a_loop_goes_is_no_match)
{
	assert_false(invoked_leaves(WALK, sizeof(WALK) - 1, 0)); /* Its only way out. */
	assert_false(
	    invoked_leaves(WALK, sizeof(WALK) - 1, 6)); /* Another comes before a branch. */
}

/* boolean found = false; for (n = first; n != null && !found; n = n.next) if (n.key == wanted)
 * found = true; return found: iconst_0, istore_2, aload_0, astore_3, 4: aload_3, ifnull +25 (30),
 * iload_2, 9: ifne +21 (30), aload_3, getfield, iload_1, 17: if_icmpne +5 (22), iconst_1, istore_2,
 * 22: aload_3, getfield, astore_3, goto 4, 30: iload_2, ireturn */
#define FLAG                                                                                       \
	"\x03\x3d\x2a\x4e\x2d\xc6\x00\x19\x1c\x9a\x00\x15\x2d\xb4\x00\x00\x1b\xa0\x00\x05\x04\x3d" \
	"\x2d"                                                                                     \
	"\xb4\x00\x00\x4e\xa7\xff\xe9\x1c\xac"

TEST(a_flag_that_the_loop_goes_by_has_it_left)
{
	char code[] = FLAG;
	struct bytecode b = READ(FLAG);

	assert_true(bytecode_branch_leaves(&b, (const uint8_t *)code, 17));
	assert_true(bytecode_branch_leaves(&b, (const uint8_t *)code, 5));
	code[20] = 0x03; /* It is set to false. */
	assert_false(bytecode_branch_leaves(&b, (const uint8_t *)code, 17));
	code[20] = 0x1b; /* To what is not known. */
	assert_false(bytecode_branch_leaves(&b, (const uint8_t *)code, 17));
	bytecode_release(&b);
}

struct invoked {
	uint32_t bci;
	bool reads;
};

static bool invoked(void *context, uint32_t bci)
{
	struct invoked *i = context;

	i->bci = bci;
	return i->reads;
}

static bool reads(const uint8_t *code, size_t size)
{
	struct invoked none = {.reads = true};

	return bytecode_reads(code, size, invoked, &none);
}

TEST(what_is_computed_of_arguments_alone_reads_nothing)
{
	/* (a + 182) * a, where 182 is the code of an invocation; and the length of an array. */
	static const uint8_t sum[] = {0x1a, 0x10, JAVA_INVOKEVIRTUAL, JAVA_IADD,
				      0x1a, 0x68, JAVA_IRETURN};
	static const uint8_t length[] = {JAVA_ALOAD_0, JAVA_ARRAYLENGTH, JAVA_IRETURN};

	assert_false(reads(sum, sizeof(sum)));
	assert_false(reads(length, sizeof(length)));
}

TEST(fields_elements_and_locks_read)
{
	static const uint8_t field[] = {JAVA_ALOAD_0, JAVA_GETFIELD, 0, 1, JAVA_IRETURN};
	static const uint8_t constant[] = {JAVA_GETSTATIC, 0, 1, JAVA_IRETURN};
	static const uint8_t element[] = {JAVA_ALOAD_0, 0x1b, JAVA_IALOAD, JAVA_IRETURN};
	static const uint8_t lock[] = {JAVA_ALOAD_0, 0xc2, JAVA_RETURN};

	assert_true(reads(field, sizeof(field)));
	assert_true(reads(constant, sizeof(constant)));
	assert_true(reads(element, sizeof(element)));
	assert_true(reads(lock, sizeof(lock)));
}

TEST(an_invocation_reads_what_is_invoked)
{
	static const uint8_t code[] = {0x1a, JAVA_INVOKESTATIC, 0, 1, JAVA_IRETURN};
	struct invoked pure = {.reads = false};

	assert_true(reads(code, sizeof(code)));
	assert_false(bytecode_reads(code, sizeof(code), invoked, &pure));
	assert_int_equal(pure.bci, 1);
}

TEST(what_is_no_code_may_read_anything)
{
	static const uint8_t cut[] = {0x1a, JAVA_INVOKESTATIC, 0};

	assert_true(reads(cut, sizeof(cut)));
	assert_true(reads(NULL, 0));
}
