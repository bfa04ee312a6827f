#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "profile/container/row_table.h"
#include "profile/container/table_codec.h"

enum { WEIGHT_A, WEIGHT_B };

/* One column of each type and role. */
struct thing {
	uint32_t first;
	int32_t second; /* so far it is the key */
	uint64_t count;
	double sums[3];
	double squares;
	uint32_t most;
	uint16_t level; /* below 4 */
	bool flag;
	char name[8];
	uint32_t other; /* of table 1, from 1 */
	uint32_t place; /* likewise, from 0 */
	uint32_t text;
	double change;
};

static const struct column columns[] = {
    COLUMN(struct thing, first),
    COLUMN(struct thing, second),
    COLUMN(struct thing, count, .role = COLUMN_COUNT),
    COLUMNS(struct thing, sums, sums[0], .role = COLUMN_SUM, .weight = WEIGHT_B),
    COLUMN(struct thing, squares, .role = COLUMN_SQUARES, .weight = WEIGHT_B),
    COLUMN(struct thing, most, .role = COLUMN_MOST),
    COLUMN(struct thing, level, .below = 4),
    COLUMN(struct thing, flag),
    COLUMN(struct thing, name),
    COLUMN(struct thing, other, .role = COLUMN_ID, .table = 1),
    COLUMN(struct thing, place, .role = COLUMN_POSITION, .table = 1),
    COLUMN(struct thing, text, .role = COLUMN_NAME),
    COLUMN(struct thing, change, .any_sign = true),
};

#define LIMIT 1000

static const struct table_layout layout = {TABLE_COLUMNS(columns), .row_size = sizeof(struct thing),
					   .key_words = 2, .limit = LIMIT};

struct things {
	TABLE_OF(struct thing, list, count, table);
};

static struct thing *add(struct things *t, uint32_t first, int32_t second)
{
	const struct thing key = {.first = first, .second = second};
	uint32_t position;

	assert_true(row_table_add(&t->table, &layout, &key, &position) >= 0);
	return &t->list[position];
}

TEST(a_row_is_found_by_its_key)
{
	struct things t = {0};
	struct thing *row = add(&t, 1, -1);
	uint32_t position;

	row->count = 5;
	assert_int_equal(add(&t, 1, -1)->count, 5);
	assert_int_equal(add(&t, 1, 2)->count, 0);
	assert_int_equal(t.count, 2);
	assert_true(row_table_find(&t.table, &layout, &t.list[1], &position));
	assert_int_equal(position, 1);
	assert_false(row_table_find(&t.table, &layout, &(struct thing){.first = 9}, &position));
	row_table_release(&t.table);
	assert_int_equal(t.count, 0);
}

TEST(there_are_no_more_rows_than_the_limit)
{
	struct things t = {0};
	uint32_t position;

	for (uint32_t i = 0; i < LIMIT; i++)
		(void)add(&t, i, 0);
	assert_int_equal(
	    row_table_add(&t.table, &layout, &(struct thing){.first = LIMIT}, &position), -ENOSPC);
	assert_int_equal(row_table_add(&t.table, &layout, &(struct thing){.first = 3}, &position),
			 0);
	assert_in_range(row_table_memory_bytes(&t.table, &layout), LIMIT * sizeof(struct thing),
			LIMIT * (2 * sizeof(struct thing) + 4 * sizeof(struct hash_slot)));
	row_table_release(&t.table);
}

TEST(what_is_left_of_rows_is_found_again)
{
	struct things t = {0};
	uint32_t position;

	for (uint32_t i = 0; i < 10; i++)
		(void)add(&t, i, 0);
	t.list[0] = t.list[9];
	assert_int_equal(row_table_index_again(&t.table, &layout, 5), 0);
	assert_true(row_table_find(&t.table, &layout, &(struct thing){.first = 9}, &position));
	assert_int_equal(position, 0);
	assert_false(row_table_find(&t.table, &layout, &(struct thing){.first = 7}, &position));
	t.list[1] = t.list[0];
	assert_int_equal(row_table_index_again(&t.table, &layout, 5), -EEXIST);
	row_table_release(&t.table);
}

TEST(a_copy_has_the_rows_of_its_moment)
{
	struct things t = {0}, copy;

	add(&t, 1, 1)->count = 7;
	assert_int_equal(row_table_copy(&copy.table, &layout, &t.table), 0);
	add(&t, 1, 1)->count = 8;
	(void)add(&t, 2, 2);
	assert_int_equal(copy.count, 1);
	assert_int_equal(copy.list[0].count, 7);
	row_table_release(&copy.table);
	row_table_release(&t.table);
}

TEST(rows_add_up_by_the_roles_of_their_columns)
{
	static const double weights[] = {[WEIGHT_A] = 1, [WEIGHT_B] = 3};
	struct thing to = {.first = 1, .count = UINT64_MAX - 1, .sums = {1, 2, 3}, .most = 5};
	const struct thing more = {.first = 2,
				   .count = 4,
				   .sums = {1, 1, 1},
				   .squares = 2,
				   .most = 9,
				   .level = 3,
				   .change = 1};

	table_row_add(&layout, &to, &more, weights);
	assert_int_equal(to.first, 1);
	assert_int_equal(to.count, UINT64_MAX);
	assert_float_equal(to.sums[2], 6, 0);
	assert_float_equal(to.squares, 18, 0);
	assert_int_equal(to.most, 9);
	assert_int_equal(to.level, 0);
	table_row_add(&layout, &to, &more, NULL);
	assert_float_equal(to.squares, 20, 0);
	table_row_scale(&layout, &to, weights);
	assert_float_equal(to.sums[2], 21, 0);
	assert_float_equal(to.squares, 180, 0);
	assert_float_equal(to.change, 0, 0);
}

/* ---------------------------------------------------------------- as bytes */

#define OTHERS 3

struct reading {
	struct strings strings;
	struct things things;
};

static struct thing *sample(struct reading *r)
{
	struct thing *row;

	(void)add(&r->things, 4, 5);
	assert_int_equal(strings_intern(&r->strings, "text", &add(&r->things, 4, 5)->text), 0);
	row = add(&r->things, UINT32_MAX, INT32_MIN);
	*row = (struct thing){.first = UINT32_MAX,
			      .second = INT32_MIN,
			      .count = UINT64_MAX,
			      .sums = {1, 0.1, 1e30},
			      .squares = 5,
			      .most = 300,
			      .level = 3,
			      .flag = true,
			      .name = "name",
			      .other = OTHERS,
			      .place = OTHERS - 1,
			      .change = -7};
	return row;
}

static int there_and_back(const struct reading *from, struct reading *to, size_t cut)
{
	static const size_t counts[] = {0, OTHERS};
	_cleanup_(buffer_release) struct buffer b;
	struct table_reader reader = {.strings = &from->strings, .counts = counts};
	int r;

	buffer_init(&b, 1 << 20);
	assert_int_equal(table_pack(&b, 0, &layout, from->things.list, from->things.count), 0);
	reader.at = buffer_head(&b);
	reader.end = reader.at + buffer_length(&b) - (cut < buffer_length(&b) ? cut : 0);
	*to = (struct reading){0};
	r = table_unpack(&reader, 0, &layout, &to->things.table);
	if (r == 0)
		assert_ptr_equal(reader.at, reader.end);
	return r;
}

static void release(struct reading *r)
{
	strings_release(&r->strings);
	row_table_release(&r->things.table);
}

TEST(every_column_comes_back)
{
	struct reading from = {0}, to;
	uint32_t position;

	(void)sample(&from);
	assert_int_equal(there_and_back(&from, &to, 0), 0);
	assert_int_equal(to.things.count, 2);
	assert_memory_equal(to.things.list, from.things.list, 2 * sizeof(struct thing));
	assert_true(row_table_find(&to.things.table, &layout, &from.things.list[1], &position));
	release(&to);
	for (size_t cut = 1; cut < 40; cut++) {
		assert_int_equal(there_and_back(&from, &to, cut), -EBADMSG);
		release(&to);
	}
	release(&from);
}

TEST(texts_come_back_with_their_ids)
{
	_cleanup_(buffer_release) struct buffer b;
	struct strings from = {0}, to = {0};
	struct table_reader reader = {0};
	uint32_t a, z;

	buffer_init(&b, 1 << 20);
	assert_int_equal(strings_intern(&from, "a", &a), 0);
	assert_int_equal(strings_intern(&from, "zz", &z), 0);
	assert_int_equal(table_pack_strings(&b, &from), 0);
	reader.at = buffer_head(&b);
	reader.end = reader.at + buffer_length(&b);
	assert_int_equal(table_unpack_strings(&reader, &to), 0);
	assert_string_equal(strings_get(&to, z), "zz");
	assert_true(strings_has(&to, a));
	assert_false(strings_has(&to, z + 1));
	strings_release(&from);
	strings_release(&to);
}

static void assert_refused(struct reading *from)
{
	struct reading to;

	assert_int_equal(there_and_back(from, &to, 0), -EBADMSG);
	release(&to);
	release(from);
	*from = (struct reading){0};
}

TEST(values_out_of_their_range_are_refused)
{
	struct reading from = {0};

	sample(&from)->level = 4;
	assert_refused(&from);
	sample(&from)->sums[1] = -1;
	assert_refused(&from);
	sample(&from)->sums[1] = (double)__builtin_inff();
	assert_refused(&from);
	sample(&from)->change = (double)__builtin_nanf("");
	assert_refused(&from);
	sample(&from)->other = OTHERS + 1;
	assert_refused(&from);
	sample(&from)->place = OTHERS;
	assert_refused(&from);
	sample(&from)->text = 2; /* In the middle of one. */
	assert_refused(&from);
	*sample(&from) = (struct thing){.first = 4, .second = 5}; /* As the first one. */
	assert_refused(&from);
}

/* A layout of before, and one of later. */
TEST(columns_that_were_not_kept_are_0)
{
	struct table_layout before = layout;
	_cleanup_(buffer_release) struct buffer b;
	struct reading from = {0};
	struct things back = {0};
	struct table_reader reader = {.counts = (const size_t[]){0, OTHERS}};

	before.column_count = 3;
	(void)sample(&from);
	buffer_init(&b, 1 << 20);
	assert_int_equal(table_pack(&b, 0, &before, from.things.list, 2), 0);
	reader.at = buffer_head(&b);
	reader.end = reader.at + buffer_length(&b);
	assert_int_equal(table_unpack(&reader, 0, &layout, &back.table), 0);
	assert_int_equal(back.list[1].count, UINT64_MAX);
	assert_int_equal(back.list[1].most, 0);
	row_table_release(&back.table);
	buffer_clear(&b);
	assert_int_equal(table_pack(&b, 0, &layout, from.things.list, 2), 0);
	reader.at = buffer_head(&b);
	reader.end = reader.at + buffer_length(&b);
	assert_int_equal(table_unpack(&reader, 0, &before, &back.table), -EBADMSG);
	row_table_release(&back.table);
	release(&from);
}
