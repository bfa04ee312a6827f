/*
 * Who makes an access, of code that nobody compiled: what a rule decides by is put in one by one.
 */
#include "tests/unit/support/test.h"
#include <errno.h>

#include "profile/attribution/attribution.h"
#include "tests/unit/support/code_file.h"

/*
 * Compiled from method 0, which calls the getter 1, then 2 for real, then the getter 3:
 *
 *    0  mov eax, [rsi+0xc]
 *    3  call 2               its record at 8
 *    8  mov ecx, [rbp+0xc]
 *   11  mov [rbp+0x10], ecx
 *   14  test [r10], eax      polls: the record is its own
 *   17  ret
 *   18  mov esi, request     the trap of the null check of 8
 *   23  call trap            its record at 28
 *   28  hlt
 */
#define CODE                                                                 \
	"image 10000 29 0\n"                                                 \
	"bytes 8b460ce8000100008b4d0c894d10418502c3beccffffffe800010000f4\n" \
	"call 3 JAVA 2\n"                                                    \
	"call 23 NO_RETURN 0\n"

/*
 * 0: aload_0, invokevirtual (1), aload_0, invokevirtual (5), aload_0, invokevirtual (9), putfield
 * (12), return (15)
 */
#define METHODS                                             \
	"method 0 outer 2ab600012ab600022ab60003b50004b1\n" \
	"method 1 first 2ab40001ac\n"                       \
	"method 2 called 2ab40001ac\n"                      \
	"method 3 second 2ab40001ac\n"                      \
	"member X f I -\n"                                  \
	"member X first ()I -\n"                            \
	"member X called ()I -\n"                           \
	"member X second ()I -\n"                           \
	"member X g I -\n"                                  \
	"reference 0 1 1 1\n"                               \
	"reference 0 5 2 2\n"                               \
	"reference 0 9 3 3\n"                               \
	"reference 0 12 4\n"                                \
	"reference 1 1 0\n"                                 \
	"reference 2 1 0\n"                                 \
	"reference 3 1 0\n"

#define RECORDS            \
	"record 8 0:5\n"   \
	"record 14 0:13\n" \
	"record 28 0:5\n"

static const struct attribution_access load_f = {
    JXP__LOCATION__KIND__FIELD, "X", "f", "X", "int", true, false};
static const struct attribution_access store_g = {
    JXP__LOCATION__KIND__FIELD, "X", "g", "X", "int", false, true};

static void make_with(struct attribution *a, const char *text, struct attribution_options options)
{
	struct code_image image;

	assert_true(code_file_read_text(&image, text));
	assert_int_equal(attribution_make(a, &image, &options), 0);
}

static void make(struct attribution *a, const char *text)
{
	make_with(a, text, (struct attribution_options){0});
}

/* The answer is this one, by the method and bytecode that make the access. */
static void assert_made(const struct attribution *a, uint32_t offset,
			const struct attribution_access *access, enum certainty certainty,
			uint32_t method, int32_t bci)
{
	struct attribution_answer answer;

	assert_int_equal(attribution_find(a, offset, access, &answer), 0);
	assert_string_equal(certainty_name(answer.certainty), certainty_name(certainty));
	assert_true(answer.count > 0);
	assert_int_equal(answer.calls[0].method, a->image.method);
	assert_int_equal(answer.calls[answer.count - 1].method, method);
	assert_int_equal(answer.calls[answer.count - 1].bci, bci);
}

TEST(the_only_bytecode_that_can_is_the_one)
{
	struct attribution a;

	make(&a, CODE METHODS RECORDS);
	assert_made(&a, 11, &store_g, CERTAINTY_CHECKED, 0, 12);
	attribution_release(&a);
}

static void assert_ticks(const struct attribution *a, uint32_t offset, uint32_t method, int32_t bci)
{
	struct attribution_answer answer;

	assert_int_equal(attribution_find_tick(a, offset, &answer), 0);
	assert_int_equal(answer.certainty, CERTAINTY_INFERRED);
	assert_int_equal(answer.calls[0].method, a->image.method);
	assert_int_equal(answer.calls[answer.count - 1].method, method);
	assert_int_equal(answer.calls[answer.count - 1].bci, bci);
}

TEST(a_tick_is_told_by_the_access_before_it)
{
	struct attribution_answer answer;
	struct attribution a;

	make(&a, CODE METHODS RECORDS);
	assert_ticks(&a, 0, 1, 1);  /* Nothing is before it. */
	assert_ticks(&a, 3, 1, 1);  /* At the call, it is the getter's before it, */
	assert_ticks(&a, 8, 3, 1);  /* behind it the other one's. */
	assert_ticks(&a, 11, 3, 1); /* The load takes the time, not the store that waits for it. */
	assert_ticks(&a, 14, 0, 12);
	assert_ticks(&a, 17, 0, 12); /* A poll is no access. */
	assert_int_equal(attribution_find_tick(&a, 28, &answer), 0);
	assert_int_equal(answer.certainty, CERTAINTY_UNKNOWN); /* Behind a call that ends. */
	attribution_release(&a);
}

TEST(a_tick_by_no_access_to_an_object_is_told_by_what_is_near)
{
	struct attribution a;

	/* mov eax, [rsp+8]; add eax, ecx; test [r10], eax; ret */
	make(&a, "image 10000 10 0\n"
		 "bytes 8b44240801c8418502c3\n" METHODS "record 6 3:1 0:9\n");
	assert_ticks(&a, 0, 3, 1);
	assert_ticks(&a, 6, 3, 1);
	attribution_release(&a);
}

TEST(callees_that_left_no_record_are_told_by_what_is_before_and_behind)
{
	struct attribution a;

	make(&a, CODE METHODS RECORDS);
	assert_made(&a, 0, &load_f, CERTAINTY_INFERRED, 1, 1);
	assert_made(&a, 8, &load_f, CERTAINTY_INFERRED, 3, 1);
	attribution_release(&a);
}

/* mov eax, [rsi+0xc]; mov ecx, [base+0xc]; mov [rbp+0x10], ecx; a poll at 9; ret */
#define TWO_LOADS(second) "image 10000 13 0\nbytes 8b460c8b" second "0c894d10418502c3\n"

TEST(the_same_field_of_different_objects_is_of_bytecodes_in_their_order)
{
	struct attribution a;

	make(&a, TWO_LOADS("4d") METHODS "record 9 0:13\n");
	assert_made(&a, 0, &load_f, CERTAINTY_INFERRED, 2, 1);
	assert_made(&a, 3, &load_f, CERTAINTY_INFERRED, 3, 1);
	attribution_release(&a);
	/* Of one object: nothing says that they are two. */
	make(&a, TWO_LOADS("4e") METHODS "record 9 0:13\n");
	assert_made(&a, 0, &load_f, CERTAINTY_INFERRED, 3, 1);
	assert_made(&a, 3, &load_f, CERTAINTY_INFERRED, 3, 1);
	attribution_release(&a);
}

TEST(what_is_called_for_real_is_not_inlined_there)
{
	struct attribution a;

	make(&a, CODE METHODS RECORDS);
	for (size_t i = 0; i < a.instances.count; i++)
		assert_int_not_equal(a.instances.list[i].method, 2);
	attribution_release(&a);
}

TEST(a_null_check_that_names_a_bytecode_that_can_is_exact)
{
	struct attribution a;

	make(&a, CODE METHODS "record 8 0:5\nrecord 14 0:13\nrecord 28 1:1 0:1\nnull 8 18\n");
	assert_made(&a, 8, &load_f, CERTAINTY_EXACT, 1, 1);
	attribution_release(&a);
	make_with(&a, CODE METHODS "record 8 0:5\nrecord 14 0:13\nrecord 28 1:1 0:1\nnull 8 18\n",
		  (struct attribution_options){.ignore_null_checks = true});
	assert_made(&a, 8, &load_f, CERTAINTY_INFERRED, 3, 1);
	attribution_release(&a);
}

TEST(a_null_check_that_names_a_call_leaves_what_is_called_there)
{
	struct attribution a;

	make(&a, CODE METHODS "record 8 0:5\nrecord 14 0:13\nrecord 28 0:1\nnull 8 18\n");
	assert_made(&a, 8, &load_f, CERTAINTY_INFERRED, 1, 1);
	attribution_release(&a);
}

TEST(where_none_can_it_is_inlined_somewhere_in_the_method)
{
	static const struct attribution_access other = {
	    JXP__LOCATION__KIND__FIELD, "Y", "f", "Y", "int", true, false};
	struct attribution_answer answer;
	struct attribution a;

	make(&a, CODE METHODS RECORDS);
	assert_int_equal(
	    attribution_find(&a, 11,
			     &(struct attribution_access){JXP__LOCATION__KIND__ELEMENT, "long[]",
							  "", "", "long", true, false},
			     &answer),
	    0);
	assert_int_equal(answer.certainty, CERTAINTY_METHOD);
	assert_int_equal(answer.count, 1);
	assert_int_equal(answer.calls[0].method, 0);
	assert_int_equal(answer.calls[0].bci, -1);
	assert_false(answer.inlined);
	assert_int_equal(attribution_find(&a, 0, &other, &answer), 0);
	assert_int_equal(answer.certainty, CERTAINTY_METHOD);
	attribution_release(&a);
}

TEST(what_no_bytecode_tells_is_unknown)
{
	static const struct attribution_access spill = {
	    JXP__LOCATION__KIND__SPILL, "", "", "", "", true, false};
	struct attribution_answer answer;
	struct attribution a;

	make(&a, CODE METHODS RECORDS);
	assert_int_equal(attribution_find(&a, 0, &spill, &answer), 0);
	assert_int_equal(answer.certainty, CERTAINTY_UNKNOWN);
	attribution_release(&a);
}

TEST(what_the_flow_does_not_lead_to_is_told_by_the_next_record)
{
	struct attribution a;

	make(&a, CODE METHODS RECORDS);
	assert_made(&a, 1, &load_f, CERTAINTY_INFERRED, 1, 1);
	assert_made(&a, 9, &load_f, CERTAINTY_INFERRED, 3, 1);
	assert_made(&a, 9, &store_g, CERTAINTY_CHECKED, 0, 12);
	attribution_release(&a);
}

TEST(the_calls_of_a_record_are_found_on_a_path)
{
	const struct instance_call inlined[] = {{11, 1}, {10, 1}, {99, 7}};
	const struct instance_call edge[] = {{10, 0}, {99, 7}};
	const struct instance_call other[] = {{12, 1}, {99, 7}};
	struct attribution a;

	make(&a, CODE METHODS "record 8 0:5\nrecord 14 0:13\nrecord 28 1:1 0:1\n");
	for (uint32_t i = 0; i < a.image.method_count; i++)
		a.image.methods[i].name = 10 + i;
	assert_int_equal(attribution_match(&a, inlined, 3), 2);
	assert_int_equal(attribution_match(&a, inlined, 1), 0);
	assert_int_equal(attribution_match(&a, edge, 2), 1);
	assert_int_equal(attribution_match(&a, other, 2), 0);
	attribution_release(&a);
}

/* A method that may call itself at three places: what may be inlined is bounded. */
TEST(recursion_ends)
{
	struct attribution a;

	make(&a, CODE "method 0 self 2ab600012ab600012ab60001b40000ac\n"
		      "member X self ()I -\nmember X f I -\n"
		      "reference 0 1 0 0\nreference 0 5 0 0\nreference 0 9 0 0\nreference 0 12 1\n"
		      "record 14 0:13\n");
	assert_int_equal(a.instances.count, 4); /* itself, and once more at each place */
	assert_made(&a, 0, &load_f, CERTAINTY_INFERRED, 0, 12);
	attribution_release(&a);
}

/* ---------------------------------------------------------------- stubs */

/*
 * The call at 3 is a stub's. 0 calls 1, which fills an array, and 2, which stores one element of
 * it, and something native.
 */
#define STUB                                                                 \
	"image 10000 29 0\n"                                                 \
	"bytes 8b460ce8000100008b4d0c894d10418502c3beccffffffe800010000f4\n" \
	"call 3 STUB 0\n"                                                    \
	"call 23 NO_RETURN 0\n"                                              \
	"method 0 outer b80001b80002b80003b1\n"                              \
	"method 1 fill 2a1a0654840001a7fff9b1\n"                             \
	"method 2 put 2a1a0654b1\n"                                          \
	"member X fill ()V -\n"                                              \
	"member X put ()V -\n"                                               \
	"reference 0 0 0 1\n"                                                \
	"reference 0 3 1 2\n"                                                \
	"reference 0 6 2\n"
#define CALL_OF_STUB 7u /* its last byte */

static const struct attribution_access store_byte = {
    JXP__LOCATION__KIND__ELEMENT, "byte[]", "", "", "byte", false, true};
static const struct attribution_access load_byte = {
    JXP__LOCATION__KIND__ELEMENT, "byte[]", "", "", "byte", true, false};

static enum certainty certainty_of(const struct attribution *a, uint32_t offset,
				   const struct attribution_access *access)
{
	struct attribution_answer answer;

	assert_int_equal(attribution_find(a, offset, access, &answer), 0);
	return answer.certainty;
}

TEST(a_stub_stands_for_a_loop_that_fills_an_array)
{
	struct attribution a;

	make(&a, STUB "member X native ()V -\nrecord 14 0:9\n");
	assert_made(&a, CALL_OF_STUB, &store_byte, CERTAINTY_CHECKED, 1, 3);
	assert_int_equal(certainty_of(&a, CALL_OF_STUB, &load_byte), CERTAINTY_METHOD);
	/* Of an instruction of the code's own each may be the one. */
	assert_made(&a, 8, &store_byte, CERTAINTY_INFERRED, 2, 3);
	attribution_release(&a);
}

TEST(a_stub_stands_for_a_call_that_copies)
{
	struct attribution a;

	make(&a, STUB "member java.lang.System arraycopy ()V -\nrecord 14 0:9\n");
	assert_made(&a, CALL_OF_STUB, &load_byte, CERTAINTY_CHECKED, 0, 6);
	attribution_release(&a);
}

TEST(of_a_call_of_the_run_time_the_record_tells)
{
	struct attribution a;

	make(&a, STUB "member java.lang.System arraycopy ()V -\nrecord 8 0:6\nrecord 14 0:9\n");
	assert_made(&a, CALL_OF_STUB, &load_byte, CERTAINTY_EXACT, 0, 6);
	attribution_release(&a);
	make(&a, STUB "member java.lang.System arraycopy ()V -\nrecord 8 0:3\nrecord 14 0:9\n");
	assert_int_equal(certainty_of(&a, CALL_OF_STUB, &load_byte), CERTAINTY_METHOD);
	attribution_release(&a);
}

/*
 * Both methods have a call alone, which may stand for code of the compiler's own: 0 calls 1 for the
 * first, 1 something that is not known.
 */
#define CALLS                              \
	CODE "method 0 outer 2ab60001b1\n" \
	     "method 1 inner 2ab60001b1\n" \
	     "record 14 0:4\n"             \
	     "reference 0 1 0 1\n"         \
	     "reference 1 1 1\n"

TEST(of_calls_that_may_make_it_the_innermost_counts)
{
	static const struct attribution_access mark = {
	    JXP__LOCATION__KIND__HEADER, "X", "mark", "", "", true, false};
	struct attribution a;

	make(&a, CALLS "member X inner ()V -\nmember X native ()V -\n");
	assert_made(&a, 0, &mark, CERTAINTY_CHECKED, 1, 1);
	attribution_release(&a);
}

TEST(of_calls_of_unsafe_the_outermost_counts)
{
	struct attribution a;

	make(&a, CALLS "member jdk.internal.misc.Unsafe getInt ()I -\n"
		       "member jdk.internal.misc.Unsafe getIntRaw ()I -\n");
	assert_made(&a, 0, &load_f, CERTAINTY_CHECKED, 0, 1);
	attribution_release(&a);
}

/* 0 calls a variable handle: 1 is what that was linked to, which calls what does the work, 2. */
TEST(what_does_a_handles_work_is_called_by_its_adapter)
{
	struct attribution_answer answer;
	struct attribution a;

	make(&a, CODE "method 0 outer 2ab60001b1\n"
		      "method 1 adapter 2ab60001b80001b1\n"
		      "method 2 get 2ab40001ac\n"
		      "record 14 0:4\n"
		      "member java.lang.invoke.VarHandle get (L;)I -\n"
		      "member java.lang.invoke.MethodHandle - ()V -\n"
		      "member X f I -\n"
		      "reference 0 1 0 1 2\n"
		      "reference 1 1 1\n"
		      "reference 1 4 1\n"
		      "reference 2 1 2\n");
	assert_int_equal(attribution_find(&a, 0, &load_f, &answer), 0);
	assert_int_equal(answer.certainty, CERTAINTY_CHECKED);
	assert_int_equal(answer.count, 3);
	assert_int_equal(answer.calls[1].method, 1);
	assert_int_equal(answer.calls[1].bci, 4);
	assert_int_equal(answer.calls[2].method, 2);
	attribution_release(&a);
}

/* Of a method that calls others and itself as often as there is room for: some thousand candidates,
 * which are not held against each other. */
TEST(of_many_calls_the_innermost_are_found_at_once)
{
	static const struct attribution_access word = {
	    JXP__LOCATION__KIND__HEADER, "X", "class", "", "", true, false};
	char text[65536];
	size_t at = (size_t)snprintf(text, sizeof(text), "%s", CODE "member X self ()V -\n");
	struct attribution a;

	for (unsigned m = 0; m < 4; m++) {
		at += (size_t)snprintf(text + at, sizeof(text) - at, "method %u m ", m);
		for (unsigned i = 0; i < 100; i++)
			at += (size_t)snprintf(text + at, sizeof(text) - at, "b80001");
		at += (size_t)snprintf(text + at, sizeof(text) - at, "b1\n");
	}
	for (unsigned m = 0; m < 4; m++)
		for (unsigned i = 0; i < 100; i++)
			at += (size_t)snprintf(text + at, sizeof(text) - at,
					       "reference %u %u 0 1 2 3\n", m, 3 * i);
	(void)snprintf(text + at, sizeof(text) - at, "record 14 0:3\n");
	make(&a, text);
	assert_int_equal(a.instances.count, INSTANCES_MAX);
	for (unsigned i = 0; i < 1000; i++) {
		struct attribution_answer answer;

		assert_int_equal(attribution_find(&a, 0, &word, &answer), 0);
		assert_true(answer.count > 1);
	}
	attribution_release(&a);
}

TEST(a_record_without_calls_is_nobodys)
{
	struct attribution a;

	make(&a, CODE METHODS "record 8\nrecord 14 0:13\n");
	assert_int_equal(a.instances.records[0].instance, INSTANCE_NONE);
	assert_made(&a, 11, &store_g, CERTAINTY_CHECKED, 0, 12);
	attribution_release(&a);
}

TEST(code_that_cannot_be_taken_apart_leaves_its_image)
{
	const struct attribution_options options = {0};
	struct code_image image;
	struct attribution a;

	assert_true(code_file_read_text(&image, "image 10000 0 0\nmethod 0 outer b1\n"));
	assert_int_equal(attribution_make(&a, &image, &options), -E2BIG);
	assert_non_null(image.methods);
	code_image_release(&image);
}

/* ---------------------------------------------------------------- calls */

/* How a call of the one member fits. */
static enum access_fit fit_of_call(const char *member, Jxp__Location__Kind kind,
				   const char *class_name, const char *type, bool stores)
{
	const struct attribution_access access = {kind, class_name, "f",   class_name,
						  type, !stores,    stores};
	struct code_image image;
	enum access_fit fit;
	char text[512];

	(void)snprintf(text, sizeof(text),
		       "image 10000 1 0\nbytes c3\nmethod 0 outer b80001b1\n"
		       "member %s\nreference 0 0 0\n",
		       member);
	assert_true(code_file_read_text(&image, text));
	fit = access_bytecode_fits(&image, 0, 0, &access);
	code_image_release(&image);
	return fit;
}

TEST(of_calls_those_with_code_of_the_jvms_own_access_what_they_are_given)
{
	const Jxp__Location__Kind field = JXP__LOCATION__KIND__FIELD,
				  element = JXP__LOCATION__KIND__ELEMENT;
	const char *unsafe = "jdk.internal.misc.Unsafe";
	const struct {
		const char *member;
		Jxp__Location__Kind kind;
		const char *class_name, *type;
		bool stores;
		enum access_fit fit;
	} cases[] = {
	    /* Without a name it has none. */
	    {"java.lang.System - (L;IL;II)V -", element, "int[]", "int", true, ACCESS_FIT_NONE},
	    {"java.lang.System arraycopy (L;IL;II)V -", element, "int[]", "int", true,
	     ACCESS_FIT_PERHAPS},
	    {"java.lang.System arraycopy (L;IL;II)V -", field, "X", "int", true, ACCESS_FIT_NONE},
	    {"java.lang.System identityHashCode (L;)I -", element, "int[]", "int", false,
	     ACCESS_FIT_NONE},
	    /* Arrays that it names. */
	    {"Y equals ([C[C)Z -", element, "char[]", "char", false, ACCESS_FIT_PERHAPS},
	    {"Y equals ([C[C)Z -", element, "int[]", "int", false, ACCESS_FIT_NONE},
	    {"Y copyOf ([L;IL;)[L; -", element, "X[]", "X", true, ACCESS_FIT_PERHAPS},
	    {"Y copyOf ([[I)V -", element, "int[][]", "int[]", true, ACCESS_FIT_PERHAPS},
	    {"Y copyOf ([[I)V -", element, "int[]", "int", true, ACCESS_FIT_NONE},
	    {"java.lang.Math max (II)I -", element, "int[]", "int", false, ACCESS_FIT_NONE},
	    {"java.lang.String equals (L;)Z -", element, "byte[]", "byte", false,
	     ACCESS_FIT_PERHAPS},
	    {"java.lang.String equals (L;)Z -", element, "int[]", "int", false, ACCESS_FIT_NONE},
	    /* By the class that has it. */
	    {"Y clone ()L; java.lang.Object", field, "X", "int", false, ACCESS_FIT_PERHAPS},
	    {"Y clone ()L; -", field, "X", "int", false, ACCESS_FIT_NONE},
	    {"Y get ()L; X", field, "X", "Y", false, ACCESS_FIT_PERHAPS},
	    {"X get ()L; Y", field, "X", "Y", false, ACCESS_FIT_NONE},
	    {"java.lang.invoke.VarHandle set (L;I)V -", field, "X", "int", true,
	     ACCESS_FIT_PERHAPS},
	    /* Unsafe's by what they are called. */
	    {"U getInt (L;J)I -", field, "X", "int", false, ACCESS_FIT_UNSAFE},
	    {"U getInt (L;J)I -", field, "X", "int", true, ACCESS_FIT_NONE},
	    {"U putInt (L;JI)V -", field, "X", "int", false, ACCESS_FIT_NONE},
	    {"U compareAndSetInt (L;JII)Z -", field, "X", "int", true, ACCESS_FIT_UNSAFE},
	    {"U getReference (L;J)L; -", field, "X", "int", false, ACCESS_FIT_NONE},
	    {"U getReference (L;J)L; -", field, "X", "Y", false, ACCESS_FIT_UNSAFE},
	    {"U getInt (L;J)I -", field, "X", "Y", false, ACCESS_FIT_NONE},
	    {"U putReference (L;JL;)V -", field, "X", "Y", false, ACCESS_FIT_UNSAFE},
	    {"U getLongUnaligned (L;J)J -", element, "byte[]", "byte", false, ACCESS_FIT_UNSAFE},
	    {"U allocateInstance (L;)L; -", field, "X", "int", true, ACCESS_FIT_NONE},
	    {"U setMemory0 (L;JJB)V -", element, "byte[]", "byte", true, ACCESS_FIT_UNSAFE},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool is_unsafe = cases[i].member[0] == 'U';
		char member[256];

		(void)snprintf(member, sizeof(member), "%s%s", is_unsafe ? unsafe : "",
			       cases[i].member + is_unsafe);
		if (fit_of_call(member, cases[i].kind, cases[i].class_name, cases[i].type,
				cases[i].stores) != cases[i].fit)
			fail_msg("%s of %s, %s", member, cases[i].class_name,
				 cases[i].stores ? "stored" : "loaded");
	}
}

/* ---------------------------------------------------------------- bytecodes */

#define OPS \
	"image 10000 1 0\nbytes c3\n"                                                    \
	/* iaload 0, baload 1, aastore 2, arraylength 3, getfield 4, putfield 7,       */ \
	/* invokevirtual 10, checkcast 13, newarray 16, bastore 18, new 19, getstatic 22 */ \
	"method 0 ops 2e3353beb40001b50001b60001c00001bc0854bb0001b20001\n"              \
	"member X f [Ljava/lang/String; -\n"                                             \
	"member Z f [Ljava/lang/String; X\n"                                             \
	"member X call ()V -\n"                                                          \
	"member Y f [Ljava/lang/String; Y\n"                                             \
	"reference 0 4 1\nreference 0 7 0\nreference 0 10 2\nreference 0 22 3\n"

static enum access_fit fit(const struct code_image *image, uint32_t bci, Jxp__Location__Kind kind,
			   const char *class_name, const char *field, const char *type, bool stores)
{
	const struct attribution_access access = {kind, class_name, field, "",
						  type, !stores,    stores};

	assert_true(access_bytecodes_tell(&access));
	return access_bytecode_fits(image, 0, bci, &access);
}

TEST(bytecodes_fit_what_they_access)
{
	const Jxp__Location__Kind field = JXP__LOCATION__KIND__FIELD,
				  statics = JXP__LOCATION__KIND__STATIC,
				  element = JXP__LOCATION__KIND__ELEMENT,
				  header = JXP__LOCATION__KIND__HEADER;
	const char *strings = "java.lang.String[]";
	struct code_image i;

	assert_true(code_file_read_text(&i, OPS));
	/* Fields, by the class that declares them, and by their type. */
	assert_int_equal(fit(&i, 4, field, "X", "f", strings, false), ACCESS_FIT);
	assert_int_equal(fit(&i, 4, field, "X", "f", strings, true), ACCESS_FIT_NONE);
	assert_int_equal(fit(&i, 4, field, "X", "f", "java.lang.String", false), ACCESS_FIT_NONE);
	assert_int_equal(fit(&i, 4, field, "X", "f", "java.lang.String[][]", false),
			 ACCESS_FIT_NONE);
	assert_int_equal(fit(&i, 4, field, "X", "g", strings, false), ACCESS_FIT_NONE);
	assert_int_equal(fit(&i, 4, field, "Y", "f", strings, false), ACCESS_FIT_NONE);
	assert_int_equal(fit(&i, 7, field, "X", "f", strings, true), ACCESS_FIT);
	assert_int_equal(fit(&i, 7, field, "X", "f", strings, false), ACCESS_FIT_BARRIER);
	assert_int_equal(fit(&i, 7, field, "Y", "f", strings, false), ACCESS_FIT_NONE);
	assert_int_equal(fit(&i, 22, statics, "Y", "f", strings, false), ACCESS_FIT);
	assert_int_equal(fit(&i, 22, field, "Y", "f", strings, false), ACCESS_FIT_NONE);
	/* Elements: bytes and booleans have the same bytecodes. */
	assert_int_equal(fit(&i, 0, element, "int[]", "", "int", false), ACCESS_FIT);
	assert_int_equal(fit(&i, 0, element, "int[][]", "", "int[]", false), ACCESS_FIT_NONE);
	assert_int_equal(fit(&i, 1, element, "byte[]", "", "byte", false), ACCESS_FIT);
	assert_int_equal(fit(&i, 1, element, "boolean[]", "", "boolean", false), ACCESS_FIT);
	assert_int_equal(fit(&i, 18, element, "boolean[]", "", "boolean", true), ACCESS_FIT);
	assert_int_equal(fit(&i, 2, element, "X[]", "", "X", true), ACCESS_FIT);
	assert_int_equal(fit(&i, 2, element, "X[]", "", "X", false), ACCESS_FIT_BARRIER);
	assert_int_equal(fit(&i, 16, element, "byte[]", "", "byte", true), ACCESS_FIT_PERHAPS);
	assert_int_equal(fit(&i, 16, element, "boolean[]", "", "boolean", true), ACCESS_FIT_NONE);
	/* Headers. */
	assert_int_equal(fit(&i, 3, header, "int[]", "length", "int", false), ACCESS_FIT);
	assert_int_equal(fit(&i, 0, header, "int[]", "length", "int", false), ACCESS_FIT);
	assert_int_equal(fit(&i, 16, header, "byte[]", "length", "int", true), ACCESS_FIT);
	assert_int_equal(fit(&i, 16, header, "int[]", "length", "int", true), ACCESS_FIT_NONE);
	assert_int_equal(fit(&i, 16, header, "byte[]", "mark", "", true), ACCESS_FIT);
	assert_int_equal(fit(&i, 16, header, "X", "mark", "", true), ACCESS_FIT_NONE);
	assert_int_equal(fit(&i, 19, header, "byte[]", "mark", "", true), ACCESS_FIT_NONE);
	assert_int_equal(fit(&i, 19, header, "", "class", "", true), ACCESS_FIT);
	assert_int_equal(fit(&i, 4, header, "int[]", "length", "int", false), ACCESS_FIT_NONE);
	assert_int_equal(fit(&i, 10, header, "int[]", "length", "int", false), ACCESS_FIT_NONE);
	assert_int_equal(fit(&i, 10, header, "X", "class", "", false), ACCESS_FIT);
	assert_int_equal(fit(&i, 13, header, "X", "class", "", false), ACCESS_FIT);
	assert_int_equal(fit(&i, 4, header, "X", "class", "", false), ACCESS_FIT_NONE);
	assert_int_equal(fit(&i, 19, header, "X", "mark", "", true), ACCESS_FIT);
	assert_int_equal(fit(&i, 10, header, "X", "mark", "", false), ACCESS_FIT_PERHAPS);
	assert_int_equal(fit(&i, 10, header, "X", "mark", "", true), ACCESS_FIT_NONE);
	/* A call that is no intrinsic has bytecodes of its own. */
	assert_int_equal(fit(&i, 10, element, "int[]", "", "int", false), ACCESS_FIT_NONE);
	code_image_release(&i);
}
