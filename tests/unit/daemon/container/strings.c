#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/container/strings.h"
#include "proto/limits.h"

static void the_same_text_has_one_id(void **state)
{
	struct strings s = {0};
	uint32_t a, b, c;

	(void)state;
	assert_int_equal(strings_intern(&s, "first", &a), 0);
	assert_int_equal(strings_intern(&s, "second", &b), 0);
	assert_int_equal(strings_intern(&s, "first", &c), 0);
	assert_int_equal(a, c);
	assert_int_not_equal(a, b);
	assert_string_equal(strings_get(&s, a), "first");
	assert_string_equal(strings_get(&s, b), "second");
	strings_release(&s);
}

static void the_empty_string_is_id_0_also_of_an_empty_table(void **state)
{
	struct strings s = {0};
	uint32_t id = 7;

	(void)state;
	assert_string_equal(strings_get(&s, 0), "");
	assert_int_equal(strings_intern(&s, "", &id), 0);
	assert_int_equal(id, 0);
}

static void many_strings_survive_growth(void **state)
{
	struct strings s = {0};
	uint32_t ids[5000];
	char text[32];

	(void)state;
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

static void long_text_is_cut_at_the_limit(void **state)
{
	char *text = malloc(3 * LIMIT_STRING_BYTES);
	struct strings s = {0};
	uint32_t id;

	(void)state;
	memset(text, 'x', 3 * LIMIT_STRING_BYTES - 1);
	text[3 * LIMIT_STRING_BYTES - 1] = '\0';
	assert_int_equal(strings_intern(&s, text, &id), 0);
	assert_int_equal(strlen(strings_get(&s, id)), LIMIT_STRING_BYTES - 1);
	strings_release(&s);
	free(text);
}

static void a_full_table_refuses_new_text_and_still_finds_old(void **state)
{
	char text[LIMIT_STRING_BYTES];
	struct strings s = {0};
	uint32_t first, id = 0;
	int r = 0;

	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_same_text_has_one_id),
	    cmocka_unit_test(the_empty_string_is_id_0_also_of_an_empty_table),
	    cmocka_unit_test(many_strings_survive_growth),
	    cmocka_unit_test(long_text_is_cut_at_the_limit),
	    cmocka_unit_test(a_full_table_refuses_new_text_and_still_finds_old),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
