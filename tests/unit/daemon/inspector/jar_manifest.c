#include "tests/unit/support/test.h"

#include <errno.h>
#include <string.h>

#include "daemon/inspector/jar_manifest.h"

#define IMPLEMENTATION "Implementation-Version: "
#define SIXTY          "123456789.123456789.123456789.123456789.123456789.123456789."

static char version[JAR_VERSION_BYTES];

static int parse(const char *text)
{
	strcpy(version, "before");
	return jar_manifest_version(text, strlen(text), true, version);
}

static void assert_version(const char *expected, const char *text)
{
	assert_int_equal(parse(text), 0);
	assert_string_equal(version, expected);
}

static void assert_none(const char *text)
{
	assert_int_equal(parse(text), -ENODATA);
	assert_string_equal(version, "before");
}

TEST(the_version_is_the_implementations)
{
	assert_version("1.2.3",
		       "Manifest-Version: 1.0\n" IMPLEMENTATION "1.2.3\nMain-Class: A\n\n");
	assert_version("1.2", "implementation-VERSION: 1.2\n"); /* Names have no case. */
}

TEST(lines_end_in_each_of_the_three_ways)
{
	assert_version("1", "A: b\r\n" IMPLEMENTATION "1\r\n\r\n");
	assert_version("2", "A: b\n" IMPLEMENTATION "2\n\n");
	assert_version("3", "A: b\r" IMPLEMENTATION "3\r\r");
	assert_version("4", "A: b\r\n" IMPLEMENTATION "4"); /* Or not at all. */
}

TEST(a_bundles_version_is_taken_where_there_is_no_other)
{
	assert_version("7.1", "Bundle-Version: 7.1\n");
	assert_version("7.1", "Bundle-Version: 7.1\n" IMPLEMENTATION "\n");
	assert_version("1.2", "Bundle-Version: 7.1\n" IMPLEMENTATION "1.2\n");
	assert_none("Specification-Version: 3\nVersion: 4\nX-Bundle-Version: 5\n");
}

TEST(a_line_goes_on_in_the_next)
{
	assert_version("1.2.3-SNAPSHOT",
		       IMPLEMENTATION "1.2\r\n .3-SNAP\r\n SHOT\r\nA: b\r\n c\r\n\r\n");
	/* What another one goes on with is not its. */
	assert_version("1.2", IMPLEMENTATION "1.2\nA: b\n .3\n");
	assert_none("A: b\n " IMPLEMENTATION "1.2\n");
	assert_none(" " IMPLEMENTATION "1.2\n");
}

TEST(only_the_main_section_counts)
{
	assert_none("A: b\n\n" IMPLEMENTATION "1.2\n");
	assert_none("\n" IMPLEMENTATION "1.2\n");
	assert_none("");
}

TEST(of_one_that_is_there_twice_the_last_holds)
{
	assert_version("2", IMPLEMENTATION "1\n" IMPLEMENTATION "2\n");
}

TEST(blanks_around_it_are_not_the_versions)
{
	assert_version("1.2 b", IMPLEMENTATION "  1.2 b \n");
	assert_none(IMPLEMENTATION "   \n");
	assert_none("Implementation-Version:1.2\n"); /* Which is no line of a manifest. */
}

TEST(a_version_that_is_too_long_is_none)
{
	assert_version(SIXTY "123", IMPLEMENTATION SIXTY "123\n");
	assert_none(IMPLEMENTATION SIXTY "1234\n");
	assert_none(IMPLEMENTATION SIXTY "\n " SIXTY "\n");
	assert_none("Bundle-Version: 1\n" IMPLEMENTATION SIXTY "1234\n");
}

TEST(what_cannot_be_shown_is_none)
{
	static const char nul[] = IMPLEMENTATION "1\0002\n";

	assert_version("1.0-\xc3\xa4", IMPLEMENTATION "1.0-\xc3\xa4\n");
	assert_none(IMPLEMENTATION "1.0\xff\n");
	assert_none(IMPLEMENTATION "1.0\xc3\n");
	assert_none(IMPLEMENTATION "1\033[31m\n");
	assert_none(IMPLEMENTATION "1\xe2\x80\xae"
				   "2\n"); /* Turns the direction around. */
	assert_int_equal(jar_manifest_version(nul, sizeof(nul) - 1, true, version), -ENODATA);
}

TEST(of_a_beginning_the_main_section_has_to_be_there_whole)
{
	static const char text[] = IMPLEMENTATION "1.2\nA: b\n\nName: x";
	size_t section = strlen(IMPLEMENTATION "1.2\nA: b\n\n");

	for (size_t size = 0; size < sizeof(text); size++) {
		int r = jar_manifest_version(text, size, false, version);

		assert_int_equal(r, size < section ? -EFBIG : 0);
	}
}
