#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/container/strings.h"
#include "proto/limits.h"

TEST(the_same_text_has_one_id)
{
	struct strings s = {0};
	uint32_t a, b, c;

	assert_int_equal(strings_intern(&s, "first", &a), 0);
	assert_int_equal(strings_intern(&s, "second", &b), 0);
	assert_int_equal(strings_intern(&s, "first", &c), 0);
	assert_int_equal(a, c);
	assert_int_not_equal(a, b);
	assert_string_equal(strings_get(&s, a), "first");
	assert_string_equal(strings_get(&s, b), "second");
	strings_release(&s);
}

TEST(the_empty_string_is_id_0_also_of_an_empty_table)
{
	struct strings s = {0};
	uint32_t id = 7;

	assert_string_equal(strings_get(&s, 0), "");
	assert_int_equal(strings_intern(&s, "", &id), 0);
	assert_int_equal(id, 0);
}

TEST(many_strings_survive_growth)
{
	struct strings s = {0};
	uint32_t ids[5000];
	char text[32];

	for (int i = 0; i < 5000; i++) {
		(void)snprintf(text, sizeof(text), "name-%d", i);
		assert_int_equal(strings_intern(&s, text, &ids[i]), 0);
	}
	for (int i = 0; i < 5000; i++) {
		(void)snprintf(text, sizeof(text), "name-%d", i);
		assert_string_equal(strings_get(&s, ids[i]), text);
	}
	strings_release(&s);
}

TEST(long_text_is_cut_at_the_limit)
{
	char *text = malloc(3 * LIMIT_STRING_BYTES);
	struct strings s = {0};
	uint32_t id;

	memset(text, 'x', 3 * LIMIT_STRING_BYTES - 1);
	text[3 * LIMIT_STRING_BYTES - 1] = '\0';
	assert_int_equal(strings_intern(&s, text, &id), 0);
	assert_int_equal(strlen(strings_get(&s, id)), LIMIT_STRING_BYTES - 1);
	strings_release(&s);
	free(text);
}

TEST(a_full_table_refuses_new_text_and_still_finds_old)
{
	char text[LIMIT_STRING_BYTES];
	struct strings s = {0};
	uint32_t first, id = 0;
	int r = 0;

	assert_int_equal(strings_intern(&s, "first", &first), 0);
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (int i = 0; r == 0; i++) {
		(void)snprintf(text, 16, "%015d", i);
		text[15] = '-';
		r = strings_intern(&s, text, &id);
	}
	assert_int_equal(r, -ENOSPC);
	assert_true(s.used <= STRINGS_MAX_BYTES);
	assert_int_equal(strings_intern(&s, "first", &id), 0);
	assert_int_equal(id, first);
	strings_release(&s);
}
