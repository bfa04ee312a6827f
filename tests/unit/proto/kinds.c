#include "tests/unit/support/test.h"

#include <stdio.h>
#include <string.h>

#include "proto/kinds.h"

/* Values of Kind that somebody may add to jxperf.proto and to no table. */
TEST(every_value_has_one_row)
{
	const ProtobufCEnumDescriptor *kinds = &jxp__kind__descriptor;

	assert_int_equal(kinds->n_values, 1 + PAIR_KINDS + SUBJECT_KINDS); /* KIND_NONE */
	for (unsigned i = 0; i < kinds->n_values; i++) {
		Jxp__Kind kind = (Jxp__Kind)kinds->values[i].value;
		bool set[KIND_VALUES] = {false};
		int rows = kinds_add(set, kind);

		assert_in_range(kind, 0, KIND_VALUES - 1);
		if (rows != (kind != JXP__KIND__KIND_NONE))
			fail_msg("%s has %d rows", kinds->values[i].name, rows);
	}
}

TEST(a_row_is_whole)
{
	for (size_t i = 0; i < PAIR_KINDS; i++) {
		const struct pair_kind *k = &pair_kinds[i];
		char option[64];

		assert_true(k->title[0] && k->heading[0] && k->separator[0]);
		/* One name, written in two ways. */
		assert_int_equal(strlen(k->name), strlen(k->option));
		(void)snprintf(option, sizeof(option), "%s", k->name);
		for (char *c = strchr(option, '_'); c; c = strchr(c, '_'))
			*c = '-';
		assert_string_equal(k->option, option);
	}
}

TEST(a_register_traps_on_what_ends_its_wait)
{
	for (size_t i = 0; i < PAIR_KINDS; i++) {
		const struct pair_kind *k = &pair_kinds[i];

		assert_true(k->sampled == PAIR_LOAD || k->sampled == PAIR_STORE);
		assert_true(k->watched == PAIR_STORE || k->watched == PAIR_LOAD_OR_STORE);
		assert_true(k->ends);
		assert_int_equal(k->ends & ~k->watched, 0);
	}
}

/* One register waits for the pairs of all kinds that sample the same access: what ends those of the
 * second ends those of the first, and a store ends either. */
TEST(kinds_that_sample_the_same_share_a_register)
{
	const enum pair_access types[] = {PAIR_LOAD, PAIR_STORE};

	for (size_t type = 0; type < 2; type++) {
		const struct pair_kind *of[PAIR_KINDS];
		unsigned count = 0;

		for (size_t i = 0; i < PAIR_KINDS; i++)
			if (pair_kinds[i].sampled == types[type])
				of[count++] = &pair_kinds[i];
		assert_in_range(count, 0, 2);
		if (count == 2) {
			assert_int_equal(of[0]->ends, PAIR_LOAD_OR_STORE);
			assert_int_equal(of[0]->watched, PAIR_LOAD_OR_STORE);
			assert_int_equal(of[1]->ends, PAIR_STORE);
		}
	}
}

TEST(what_is_no_kind_has_no_row)
{
	assert_null(pair_kind_find(JXP__KIND__KIND_NONE));
	assert_null(pair_kind_find(JXP__KIND__KIND_OBJECTS));
	assert_null(pair_kind_find((Jxp__Kind)99));
	assert_null(pair_kind_find((Jxp__Kind)-1));
	assert_string_equal(kind_option(JXP__KIND__KIND_NONE), "none");
	assert_string_equal(kind_option((Jxp__Kind)99), "none");
}

TEST(a_kind_comes_with_what_it_needs)
{
	bool set[KIND_VALUES] = {false};
	Jxp__Kind list[PAIR_KINDS + SUBJECT_KINDS];

	assert_true(kinds_add(set, JXP__KIND__KIND_LOOPS));
	assert_false(kinds_add(set, (Jxp__Kind)99));
	assert_int_equal(kinds_list(set, list), 2);
	assert_int_equal(list[0], JXP__KIND__KIND_CPU);
	assert_int_equal(list[1], JXP__KIND__KIND_LOOPS);
}

TEST(options_lead_to_their_kinds_and_back)
{
	static const Jxp__Kind kinds[] = {JXP__KIND__KIND_SILENT_STORE, JXP__KIND__KIND_NUMA};

	assert_string_equal(kind_option(kinds[0]), "silent-store");
	assert_string_equal(kind_option(kinds[1]), "numa");
	for (size_t i = 0; i < 2; i++) {
		const char *option = kind_option(kinds[i]);

		assert_int_equal(kind_of_option(option, strlen(option)), kinds[i]);
		assert_int_equal(kind_of_option(option, strlen(option) - 1), JXP__KIND__KIND_NONE);
	}
	assert_int_equal(kind_of_option("numa,objects", 4), JXP__KIND__KIND_NUMA);
	assert_int_equal(kind_of_option("", 0), JXP__KIND__KIND_NONE);
}

TEST(the_list_names_every_option)
{
	const char *first = pair_kinds[0].option, *last = subject_kinds[SUBJECT_KINDS - 1].option;
	char text[KIND_OPTIONS_BYTES], end[32];

	(void)kind_options(text, " or ");
	(void)snprintf(end, sizeof(end), " or %s", last);
	assert_int_equal(strncmp(text, first, strlen(first)), 0);
	assert_string_equal(text + strlen(text) - strlen(end), end);
	for (size_t i = 0; i < PAIR_KINDS; i++)
		assert_non_null(strstr(text, pair_kinds[i].option));
	for (size_t i = 0; i < SUBJECT_KINDS; i++)
		assert_non_null(strstr(text, subject_kinds[i].option));
}
