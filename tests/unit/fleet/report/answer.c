#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
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
		struct fleet_extent extent;
		struct buffer b = {bytes, 0, 1 + (size_t)(599 * draw(&seed)), sizeof(bytes),
				   sizeof(bytes)};
		size_t table = (size_t)(HOUSE_DATA * draw(&seed));
		int outcomes[3] = {0};

		/* Mostly zeros: short texts and plausible numbers. */
		for (size_t n = 0; n < sizeof(bytes); n++)
			bytes[n] = draw(&seed) < 0.8 ? 0 : (uint8_t)(256 * draw(&seed));
		assert_int_equal(merge_begin(&m, first), 0);
		outcomes[0] = fleet_contexts_collect(&contexts, table, &b, &extent);
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
	query = fleet_first_query(&(struct fleet_question){.namespace = "shop", .pod = "pay'0"});
	assert_non_null(strstr(query, " AND namespace = 'shop' AND pod = 'pay\\'0'"));
	free(query);
}

/* A row of the table of the one context, with a count of each number; its texts are empty. */
static void row_of_unknown_context(size_t table, struct buffer *b)
{
	static const uint8_t context[HOUSE_HASH_BYTES] = {1, 2, 3}, one = 1;
	const struct house_table *t = house_table(table);
	const uint64_t whole = 5, rows = 1;
	const double number = 5;

	buffer_init(b, 1 << 16);
	for (size_t i = 0; i < t->count; i++) {
		const struct house_column *c = &t->columns[i];
		bool is_count = c->sum == HOUSE_COUNT, is_weighted = c->sum == HOUSE_WEIGHTED;
		uint64_t nothing = 0;

		if (c->sum == HOUSE_FACT)
			continue;
		if (c->array)
			assert_int_equal(buffer_append(b, &one, 1), 0);
		if (c->type == HOUSE_HASH)
			assert_int_equal(buffer_append(b, context, sizeof(context)), 0);
		else if (is_count)
			assert_int_equal(buffer_append(b, &whole, sizeof(whole)), 0);
		else if (is_weighted)
			assert_int_equal(buffer_append(b, &number, sizeof(number)), 0);
		else
			assert_int_equal(
			    buffer_append(b, &nothing,
					  c->type == HOUSE_TEXT ? 1 : reader_type_size(c->type)),
			    0);
	}
	assert_int_equal(buffer_append(b, &rows, sizeof(rows)), 0);
}

/* A server with one window, of which two tables have a row; and what it was given for an answer. */
struct holder {
	size_t limits[2], sizes[2], tables;
};

static void put_zeros(struct buffer *b, size_t size)
{
	static const uint8_t zeros[4096];

	assert_int_equal(buffer_append(b, zeros, size), 0);
}

/* Of a sampler, on one node. */
static void put_window(struct buffer *b)
{
	const struct house_table *t = house_table(HOUSE_WINDOWS);
	const uint64_t one = 1;

	for (size_t i = 0; i < t->count; i++) {
		const struct house_column *c = &t->columns[i];

		if (!house_is_first(c))
			continue;
		if (strcmp(c->name, "findings_sampler") == 0 ||
		    strcmp(c->name, "findings_numa_node_count") == 0)
			assert_int_equal(buffer_append(b, &one, reader_type_size(c->type)), 0);
		else
			put_zeros(b, c->array || c->type == HOUSE_TEXT ? 1
								       : reader_type_size(c->type));
	}
}

/* Nothing but how many rows tables have. */
static void put_sums(struct buffer *b)
{
	for (size_t i = 0; i < FLEET_SUMS; i++) {
		const uint8_t count = HOUSE_DATA;

		if (i != FLEET_TABLE_ROWS) {
			put_zeros(b,
				  fleet_sums[i].array ? 1 : reader_type_size(fleet_sums[i].type));
			continue;
		}
		assert_int_equal(buffer_append(b, &count, 1), 0);
		for (size_t t = 0; t < HOUSE_DATA; t++) {
			uint64_t rows = t == house_table_of(TABLE_CPU_CONTEXTS) ||
					t == house_table_of(TABLE_LOOP_CONTEXTS);

			assert_int_equal(buffer_append(b, &rows, sizeof(rows)), 0);
		}
	}
	put_zeros(b, 4096); /* Columns of windows. */
}

static void put_table(struct holder *h, const char *query, struct buffer *answer)
{
	_cleanup_(buffer_release) struct buffer b;
	char from[64];
	size_t table = house_table_of(TABLE_CPU_CONTEXTS);

	(void)snprintf(from, sizeof(from), "FROM %s ", house_table(table)->name);
	row_of_unknown_context(strstr(query, from) ? table : house_table_of(TABLE_LOOP_CONTEXTS),
			       &b);
	assert_int_equal(buffer_append(answer, buffer_head(&b), buffer_length(&b)), 0);
	assert_true(h->tables < 2);
	h->limits[h->tables] = answer->limit;
	h->sizes[h->tables++] = buffer_length(answer);
}

static int answer_whole(void *context, const char *query, struct buffer *answer, struct err *err)
{
	(void)err;
	if (strstr(query, "LIMIT 1 FORMAT"))
		put_window(answer);
	else if (strstr(query, fleet_sums[FLEET_TABLE_ROWS].expression))
		put_sums(answer);
	else if (strstr(query, "JOIN"))
		put_table(context, query, answer);
	return 0;
}

TEST(answers_that_are_held_have_one_limit)
{
	struct holder h = {.tables = 0};
	const struct fleet_server server = {answer_whole, &h, 1 << 20};
	struct window_result *w = NULL;
	struct err err = {""};

	if (fleet_report_ask(&server, &(struct fleet_question){0}, &w, &err) < 0)
		fail_msg("%s", err.message);
	assert_int_equal(h.tables, 2);
	assert_int_equal(h.limits[0], 1 << 20);
	assert_int_equal(h.limits[1], (1 << 20) - h.sizes[0]);
	window_result_free(w);
}

TEST(rows_of_a_context_that_is_not_known_are_lost_where_they_need_one)
{
	static const uint32_t tables[] = {TABLE_CPU_CONTEXTS, TABLE_LOOP_CONTEXTS};

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		size_t table = house_table_of(tables[i]);
		struct window_result *first = sample_window_empty(1, "shop");
		_cleanup_(fleet_contexts_release) struct fleet_contexts contexts = {0};
		_cleanup_(merge_release) struct merge m = {0};
		_cleanup_(buffer_release) struct buffer b;
		struct fleet_extent extent;

		row_of_unknown_context(table, &b);
		assert_int_equal(merge_begin(&m, first), 0);
		assert_int_equal(fleet_contexts_collect(&contexts, table, &b, &extent), 0);
		assert_int_equal(extent.rows, 1);
		assert_int_equal(extent.observations, 5);
		assert_int_equal(fleet_contexts_sort(&contexts), 0);
		assert_int_equal(fleet_answer_table(table, &b, &contexts, &m), 0);
		assert_int_equal(window_table_of(m.result, tables[i])->count, 0);
		assert_int_equal(m.result->losses[LOSS_NODES], 1);
		assert_int_equal(m.result->cpu.lost.samples,
				 tables[i] == TABLE_CPU_CONTEXTS ? 5 : 0);
		window_result_free(first);
	}
}
