/*
 * For tests of configurations: what a text is expected to come to. Complaints name it j.yaml.
 */
#ifndef JXPERF_TESTS_CONFIG_EXPECTED_H
#define JXPERF_TESTS_CONFIG_EXPECTED_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/support/config_text.h"
#include "tests/unit/support/test.h"

/* A configuration that is taken, to be released. */
static inline void load(struct config *c, const char *text)
{
	struct err err = {.message = ""};

	if (config_parse(c, "j.yaml", text, strlen(text), &err) == 0)
		return;
	fail_msg("refused: %s", err.message);
	abort(); /* fail_msg does not return, which analyzers are not told. */
}

/* One that is refused with this message, and leaves what was there. */
static inline void assert_refused(const char *text, const char *message)
{
	struct config c;
	struct err err = {.message = ""};

	memset(&c, 0x5a, sizeof(c));
	assert_int_equal(config_parse(&c, "j.yaml", text, strlen(text), &err), -EINVAL);
	assert_string_equal(err.message, message);
	for (size_t i = 0; i < sizeof(c); i++)
		assert_int_equal(((unsigned char *)&c)[i], 0x5a);
}

#endif
