/*
 * Unit tests that are registered where they stand: a test cannot be written and then not be run.
 *
 *	TEST(a_sentence_that_is_true)
 *	TEST(a_sentence_that_is_true, set_up)
 *	TEST(a_sentence_that_is_true, set_up, tear_down)
 *	{
 *		struct what_set_up_left *s = *state;
 *		...
 *	}
 *
 * They run in the order of the file, whatever order the compiler leaves them in. A program needs no
 * main; one that has something to do first has its own, which ends in tests_run(). This includes
 * cmocka and what cmocka needs.
 */
#ifndef TESTS_UNIT_SUPPORT_TEST_H
#define TESTS_UNIT_SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

struct test {
	const char *name;
	CMUnitTestFunction run;
	int line;
	CMFixtureFunction around[2]; /* Before it and after it; NULL: nothing. */
};

/*
 * A pointer in a section of its own: the linker puts them beside each other and names the section's
 * bounds.
 */
#define TEST(called, ...)                                                                    \
	static void called(void **);                                                         \
	static const struct test called##_test = {#called, called, __LINE__, {__VA_ARGS__}}; \
	static const struct test *const called##_registered                                  \
	    __attribute__((section("unit_tests"), used)) = &called##_test;                   \
	static void called(void **state __attribute__((unused)))

/*
 * Runs the tests of this program between set_up and tear_down, each of which may be NULL. Returns
 * how many failed.
 */
int tests_run(CMFixtureFunction set_up, CMFixtureFunction tear_down);

#endif
