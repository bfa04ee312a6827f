/*
 * The types of arrays that bytecodes access, of methods that nobody compiled: by descriptors,
 * variables, the stack, and where ways meet.
 */
#include "tests/unit/support/test.h"

#include "profile/attribution/access_bytecodes.h"
#include "profile/attribution/array_types.h"
#include "tests/unit/support/code_file.h"

#define BYTES    ARRAY_TYPE(1, 'B')
#define BOOLEANS ARRAY_TYPE(1, 'Z')
#define STRINGS  ARRAY_TYPE(1, 'L')

static void read_types(struct code_image *image, const char *text)
{
	assert_true(code_file_read_text(image, text));
	assert_int_equal(array_types_make(image), 0);
}

/* Of method 0, static, with such a descriptor and bytecodes; more: of what these name. */
static uint16_t type_of(const char *descriptor, const char *code, const char *more, uint32_t bci)
{
	struct code_image image;
	char text[1024];
	uint16_t type;

	(void)snprintf(text, sizeof(text),
		       "image 10000 1 0\nbytes c3\nmethod 0 m %s\ndescriptor 0 1 %s\n%s", code,
		       descriptor, more);
	read_types(&image, text);
	type = array_type_at(&image, 0, bci);
	code_image_release(&image);
	return type;
}

TEST(parameters_have_types)
{
	struct code_image image;

	/* aload_0, iload_1, baload, ireturn */
	assert_int_equal(type_of("([BI)I", "2a1b33ac", "", 2), BYTES);
	assert_int_equal(type_of("([ZI)I", "2a1b33ac", "", 2), BOOLEANS);
	assert_int_equal(type_of("(II)I", "2a1b33ac", "", 2), ARRAY_TYPE_UNKNOWN);
	assert_int_equal(type_of("-", "2a1b33ac", "", 2), ARRAY_TYPE_UNKNOWN);
	/* Longs and doubles take two variables: aload_2; aload 4, wide. */
	assert_int_equal(type_of("(J[Z)I", "2cbeac", "", 1), BOOLEANS);
	assert_int_equal(type_of("(DLx/Y;J[[B)I", "c4190005beac", "", 4), ARRAY_TYPE(2, 'B'));
	/* An object's method has it first. */
	read_types(&image, "image 10000 1 0\nbytes c3\nmethod 0 m 2bbeac\ndescriptor 0 0 ([B)I\n");
	assert_int_equal(array_type_at(&image, 0, 1), BYTES);
	assert_int_equal(array_type_at(&image, 0, 9), ARRAY_TYPE_UNKNOWN);
	code_image_release(&image);
}

TEST(fields_and_results_have_types)
{
	const char *names = "member X f [Z -\nmember X - (JL;[I)[B -\nreference 0 1 0\n"
			    "reference 0 4 1\nreference 0 8 0\n";

	/* aload_0, getfield f; aload_0, iconst_0, baload */
	assert_int_equal(
	    type_of("(LX;)I", "2ab400010333ac", "member X f [Z -\nreference 0 1 0\n", 5), BOOLEANS);
	/* aload_0, getstatic, invokestatic (takes four slots and what lies there), arraylength */
	assert_int_equal(type_of("(LX;)I", "2ab20001b80001beac", names, 7), BYTES);
	/* What a call takes lies above the array: aload_0, lconst_0, aconst_null, aconst_null,
	 * invokestatic, arraylength, baload. */
	assert_int_equal(type_of("([Z)I", "2a090101b80001be33ac", names, 8), BOOLEANS);
	/* Of a call that nobody told of nothing is known, nor below. */
	assert_int_equal(type_of("([Z)I", "2a03b80001be33ac", "", 5), ARRAY_TYPE_UNKNOWN);
	assert_int_equal(type_of("([Z)I", "2aba0001000033ac", "", 6), ARRAY_TYPE_UNKNOWN);
	/* And what comes behind it is: aload_0, iconst_0, baload. */
	assert_int_equal(type_of("([Z)I", "ba000100002a0333ac", "", 7), BOOLEANS);
}

TEST(arrays_that_are_made_have_types)
{
	/* iconst_1, newarray boolean, astore_0, aload_0, iconst_0, iconst_1, bastore */
	assert_int_equal(type_of("()V", "04bc044b2a030454b1", "", 7), BOOLEANS);
	assert_int_equal(type_of("()V", "04bd00014b2a030153b1", "", 8), STRINGS);
	/* Another array in the same variable; an int there. */
	assert_int_equal(type_of("([B)V", "04bc044b2a030454b1", "", 7), BOOLEANS);
	assert_int_equal(type_of("([B)V", "033b2abeb1", "", 3), ARRAY_TYPE_UNKNOWN);
	/* Arrays of arrays: aload_0, iconst_0, aaload, iconst_0, baload. */
	assert_int_equal(type_of("([[B)V", "2a03320333b1", "", 2), ARRAY_TYPE(2, 'B'));
	assert_int_equal(type_of("([[B)V", "2a03320333b1", "", 4), BYTES);
	assert_int_equal(type_of("([LX;)V", "2a03320333b1", "", 4), ARRAY_TYPE_UNKNOWN);
}

TEST(the_stack_is_followed)
{
	/* a[i] |= 1: aload_0, iload_1, dup2, baload, iconst_1, ior, i2b, bastore */
	assert_int_equal(type_of("([ZI)V", "2a1b5c3304809154b1", "", 3), BOOLEANS);
	assert_int_equal(type_of("([ZI)V", "2a1b5c3304809154b1", "", 7), BOOLEANS);
	/* aload_0, aload_1, swap, iconst_0, baload: of the first */
	assert_int_equal(type_of("([Z[B)I", "2a2b5f0333ac", "", 4), BOOLEANS);
	/* aload_0, dup_x1 with an int below, pop, pop, arraylength */
	assert_int_equal(type_of("([B)I", "032a5a5757beac", "", 5), BYTES);
	/* An element that takes two slots: aload_0, iconst_0, lconst_0, lastore. */
	assert_int_equal(type_of("([J)V", "2a030950b1", "", 3), ARRAY_TYPE(1, 'J'));
}

TEST(where_ways_meet_what_differs_is_not_known)
{
	/* iload_2, ifeq 8: aload_0, goto 9; 8: aload_1; 9: iconst_0, baload */
	assert_int_equal(type_of("([Z[BI)I", "1c9900072aa700042b0333ac", "", 10),
			 ARRAY_TYPE_UNKNOWN);
	assert_int_equal(type_of("([Z[ZI)I", "1c9900072aa700042b0333ac", "", 10), BOOLEANS);
	/* A loop that puts another array into the variable: 0: aload_0, arraylength, ifeq 10,
	 * aload_1, astore_0, goto 0; 10: return. */
	assert_int_equal(type_of("([Z[B)V",
				 "2abe990008"
				 "2b4ba7fff9b1",
				 "", 1),
			 ARRAY_TYPE_UNKNOWN);
	assert_int_equal(type_of("([Z[Z)V",
				 "2abe990008"
				 "2b4ba7fff9b1",
				 "", 1),
			 BOOLEANS);
	/* Where an exception is caught: return; astore_1, aload_0, arraylength, return. */
	assert_int_equal(type_of("([Z)V", "b14c2abeb1", "", 3), ARRAY_TYPE_UNKNOWN);
	/* What a jsr leads to may change it: jsr 6; aload_0, arraylength, return; 6: astore_2,
	 * aload_1, arraylength, pop, aload_1, astore_0, ret 2. */
	assert_int_equal(type_of("([Z[B)V", "a800062abeb14d2bbe572b4ba902", "", 4),
			 ARRAY_TYPE_UNKNOWN);
	assert_int_equal(type_of("([Z[B)V", "a800062abeb14d2bbe572b4ba902", "", 8), BYTES);
	/* A switch: iload_1, tableswitch of 0 to 0, both to 20: aload_0, arraylength, return. */
	assert_int_equal(type_of("([ZI)V",
				 "1baa0000"
				 "00000013" /* at 4 */
				 "00000000"
				 "00000000"
				 "00000013"
				 "2abeb1",
				 "", 21),
			 BOOLEANS);
}

TEST(what_does_not_fit_together_harms_nobody)
{
	assert_int_equal(type_of("([Z", "2abe", "", 1), BOOLEANS);
	assert_int_equal(type_of("(Q[Z)V", "2abeb1", "", 1), BOOLEANS);
	assert_int_equal(type_of("([Lx", "2abeb1", "", 1), STRINGS);
	assert_int_equal(type_of("()V", "57585f5e3357be", "", 6), ARRAY_TYPE_UNKNOWN);
	/* A branch to nowhere; one into an instruction; an instruction that is cut. */
	assert_int_equal(type_of("([Z)V", "2abea77fff", "", 1), BOOLEANS);
	assert_int_equal(type_of("([Z)V", "2abea7fffe", "", 1), BOOLEANS);
	assert_int_equal(type_of("([Z)V", "2abea7", "", 1), ARRAY_TYPE_UNKNOWN);
}

TEST(a_type_is_held_against_classes)
{
	assert_true(array_type_may_be(ARRAY_TYPE_UNKNOWN, "int[]"));
	assert_true(array_type_may_be(BYTES, "byte[]"));
	assert_false(array_type_may_be(BYTES, "boolean[]"));
	assert_false(array_type_may_be(BYTES, "byte[][]"));
	assert_false(array_type_may_be(BYTES, "X"));
	assert_true(array_type_may_be(STRINGS, "java.lang.String[]"));
	assert_true(array_type_may_be(STRINGS, "int[][]"));
	assert_false(array_type_may_be(STRINGS, "int[]"));
	assert_false(array_type_may_be(ARRAY_TYPE(2, 'L'), "java.lang.String[]"));
}

/* Bytecodes of bytes and booleans are the same, and so are those of lengths. */
TEST(bytecodes_fit_arrays_of_their_type)
{
	struct attribution_access a = {
	    JXP__LOCATION__KIND__ELEMENT, "byte[]", "", "", "byte", true, false};
	struct code_image i;

	read_types(&i,
		   "image 10000 1 0\nbytes c3\nmethod 0 m 2abe2a0333b1\ndescriptor 0 1 ([Z)V\n");
	assert_int_equal(access_bytecode_fits(&i, 0, 4, &a), ACCESS_FIT_NONE);
	a.class_name = "boolean[]";
	a.type = "boolean";
	assert_int_equal(access_bytecode_fits(&i, 0, 4, &a), ACCESS_FIT);
	a = (struct attribution_access){
	    JXP__LOCATION__KIND__HEADER, "boolean[]", "length", "", "int", true, false};
	assert_int_equal(access_bytecode_fits(&i, 0, 1, &a), ACCESS_FIT);
	assert_int_equal(access_bytecode_fits(&i, 0, 4, &a), ACCESS_FIT);
	a.class_name = "byte[]";
	assert_int_equal(access_bytecode_fits(&i, 0, 1, &a), ACCESS_FIT_NONE);
	a.class_name = ""; /* nobody said */
	assert_int_equal(access_bytecode_fits(&i, 0, 1, &a), ACCESS_FIT);
	code_image_release(&i);
}
