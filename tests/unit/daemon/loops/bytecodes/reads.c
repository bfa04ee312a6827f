/* Does what a method gives depend on more than what it is handed? */
#include "tests/unit/support/test.h"

#include "common/code/java_op.h"
#include "daemon/loops/bytecodes/reads.h"

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
