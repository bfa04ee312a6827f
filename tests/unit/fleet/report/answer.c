#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/report/answer.h"
#include "fleet/report/fleet_report.h"
#include "tests/unit/support/random_program.h"

/* Answers every question with the same bytes, to a limit. */
struct liar {
	uint8_t bytes[512];
	size_t size;
	unsigned asked;
};

static int lie(void *context, const char *query, struct buffer *answer, struct err *err)
{
	struct liar *l = context;

	(void)err;
	assert_non_null(strstr(query, "FORMAT RowBinary"));
	l->asked++;
	return buffer_append(answer, l->bytes, l->size);
}

TEST(garbage_is_one_line)
{
	uint64_t seed = 4711;

	for (int i = 0; i < 2000; i++) {
		struct liar liar = {.size = 1 + (size_t)(511 * draw(&seed))};
		const struct fleet_server server = {lie, &liar, 1 << 20};
		struct window_result *w = NULL;
		struct err err = {""};

		for (size_t b = 0; b < liar.size; b++)
			liar.bytes[b] = (uint8_t)(256 * draw(&seed));
		assert_true(fleet_report_ask(&server, &(struct fleet_question){0}, &w, &err) < 0);
		assert_null(w);
		assert_int_equal(err.message[strcspn(err.message, "\n")], '\0');
		assert_true(strlen(err.message) > 0);
	}
}

/* What is short may be an answer without rows that are whole. */
#define RUNS 3000u

TEST(tables_of_garbage_are_refused)
{
	uint64_t seed = 42;
	unsigned refused = 0;

	for (unsigned i = 0; i < RUNS; i++) {
		struct merge m = {0};
		struct window_result *first = sample_window_empty(1, "shop");
		struct fleet_contexts contexts = {0};
		uint8_t bytes[600];
		uint64_t rows;
		struct buffer b = {bytes, 0, 1 + (size_t)(599 * draw(&seed)), sizeof(bytes),
				   sizeof(bytes)};
		size_t table = (size_t)(HOUSE_DATA * draw(&seed));
		int outcomes[3] = {0};

		/* Mostly zeros: short texts and plausible numbers. */
		for (size_t n = 0; n < sizeof(bytes); n++)
			bytes[n] = draw(&seed) < 0.8 ? 0 : (uint8_t)(256 * draw(&seed));
		assert_int_equal(merge_begin(&m, first), 0);
		outcomes[0] = fleet_contexts_collect(&contexts, table, &b, &rows);
		assert_int_equal(fleet_contexts_sort(&contexts), 0);
		outcomes[1] = fleet_answer_table(table, &b, &contexts, &m);
		fleet_contexts_release(&contexts);
		assert_int_equal(fleet_contexts_sort(&contexts), 0);
		outcomes[2] = fleet_contexts_add(&contexts, &b, m.result);
		for (size_t o = 0; o < 3; o++) {
			assert_true(outcomes[o] == 0 || outcomes[o] == -EBADMSG ||
				    outcomes[o] == -ENOMEM);
			refused += outcomes[o] == -EBADMSG;
		}
		fleet_contexts_release(&contexts);
		merge_release(&m);
		window_result_free(first);
	}
	assert_in_range(refused, 99 * 3 * RUNS / 100, 3 * RUNS);
}

TEST(a_server_without_windows_has_none)
{
	struct liar liar = {.size = 0};
	const struct fleet_server server = {lie, &liar, 1 << 20};
	struct window_result *w = NULL;
	struct err err = {""};

	assert_int_equal(
	    fleet_report_ask(&server, &(struct fleet_question){.app = "shop"}, &w, &err), -ENODATA);
	assert_non_null(strstr(err.message, "'shop'"));
	assert_int_equal(liar.asked, 1);
}

TEST(what_is_asked_for_stays_a_text)
{
	char *query =
	    fleet_first_query(&(struct fleet_question){.app = "a' OR 1=1 --\\", .jdk = "17"});

	assert_non_null(strstr(query, "app = 'a\\' OR 1=1 --\\\\'"));
	assert_non_null(strstr(query, "jdk = '17' OR substring(jdk, 1, 3)"));
	free(query);
}
