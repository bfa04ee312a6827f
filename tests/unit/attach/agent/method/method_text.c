/* Names and descriptors, and what only looks like some. */
#include "tests/unit/support/test.h"
#include <string.h>

#include "attach/agent/method/method_text.h"

static bool is_class(const char *text)
{
	return text_is_class_name(text, strlen(text));
}

static bool is_method(const char *text)
{
	return text_is_method_name(text, strlen(text));
}

static bool is_descriptor(const char *text)
{
	return text_is_descriptor(text, strlen(text));
}

TEST(names_of_classes_have_parts)
{
	assert_true(is_class("A"));
	assert_true(is_class("java/lang/String"));
	assert_true(is_class("p/A$$Lambda+0x00007f0000001000"));
	assert_true(is_class("gr\xc3\xb6\xc3\x9f"
			     "e/\xed\xa1\x80\xed\xb0\x80"));
	assert_false(is_class(""));
	assert_false(is_class("/A"));
	assert_false(is_class("p//A"));
	assert_false(is_class("p/"));
	assert_false(is_class("p.A"));
	assert_false(is_class("[I"));
	assert_false(is_class("a\x01"));
	assert_false(text_is_class_name("a\0b", 3));
}

TEST(names_of_methods_have_none)
{
	assert_true(is_method("indexOf"));
	assert_true(is_method("lambda$main$0"));
	assert_true(is_method("<init>"));
	assert_true(is_method("<clinit>"));
	assert_true(is_method("a-b"));
	assert_false(is_method(""));
	assert_false(is_method("<other>"));
	assert_false(is_method("a<b"));
	assert_false(is_method("a/b"));
	assert_false(is_method("\x7f\x02"));
	assert_false(text_is_method_name("\0", 1));
}

TEST(descriptors_are_types)
{
	assert_true(is_descriptor("()V"));
	assert_true(is_descriptor("(BCDFIJSZ)I"));
	assert_true(is_descriptor("(I[[Ljava/lang/Object;[J)[Ljava/lang/String;"));
	assert_false(is_descriptor(""));
	assert_false(is_descriptor("("));
	assert_false(is_descriptor("()"));
	assert_false(is_descriptor("V"));
	assert_false(is_descriptor("(V)V"));
	assert_false(is_descriptor("()[V"));
	assert_false(is_descriptor("()II"));
	assert_false(is_descriptor("([)V"));
	assert_false(is_descriptor("(Ljava/lang/Object)V"));
	assert_false(is_descriptor("(L;)V"));
	assert_false(is_descriptor("()["));
	assert_false(is_descriptor("(I"));
	assert_false(text_is_descriptor("(\0)V", 4));
}
