/*
 * Texts that are compared with files. UPDATE_GOLDEN=1 writes them anew: read the difference before
 * it is committed. Tests run from the top of the source tree.
 */
#ifndef JXPERF_TESTS_UNIT_SUPPORT_GOLDEN_H
#define JXPERF_TESTS_UNIT_SUPPORT_GOLDEN_H

#include "tests/unit/support/test.h"

#include <stdio.h>
#include <stdlib.h>

#define GOLDEN_DIR  "tests/unit/golden/"
#define GOLDEN_SIZE 65536

static inline void assert_golden(const char *name, const char *text)
{
	static char expected[GOLDEN_SIZE];
	char path[128];
	size_t size;
	FILE *file;

	(void)snprintf(path, sizeof(path), GOLDEN_DIR "%s", name);
	if (getenv("UPDATE_GOLDEN")) {
		file = fopen(path, "we");
		assert_non_null(file);
		assert_true(fputs(text, file) >= 0);
		assert_int_equal(fclose(file), 0);
	}
	file = fopen(path, "re");
	assert_non_null(file);
	size = fread(expected, 1, sizeof(expected) - 1, file);
	expected[size] = '\0';
	assert_int_equal(fclose(file), 0);
	assert_string_equal(text, expected);
}

#endif
