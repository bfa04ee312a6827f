/* Line tables as the JVM writes them: pairs in one byte, in two numbers, and where they end. */
#include "tests/unit/support/test.h"

#include "attach/agent/method/line_table.h"

/* How a JVM writes one (CompressedLineNumberWriteStream). */
struct written {
	uint8_t bytes[256];
	size_t size;
	uint8_t base;
	int32_t bci, line;
};

static void write_number(struct written *w, int32_t number)
{
	uint32_t value = (uint32_t)number << 1 ^ (number < 0 ? UINT32_MAX : 0);
	uint32_t low = 192u - w->base;

	for (unsigned i = 0; i < 4 && value >= low; i++) {
		value -= low;
		w->bytes[w->size++] = (uint8_t)(192 + value % 64);
		value /= 64;
	}
	w->bytes[w->size++] = (uint8_t)(value + w->base);
}

static void write_pair(struct written *w, int32_t bci, int32_t line)
{
	int32_t bcis = bci - w->bci, lines = line - w->line;

	if (bcis >= 0 && bcis < 32 && lines >= 0 && lines < 8 && bcis + lines > 0 &&
	    !(bcis == 31 && lines == 7)) {
		w->bytes[w->size++] = (uint8_t)(bcis << 3 | lines);
	} else {
		w->bytes[w->size++] = 0xff;
		write_number(w, bcis);
		write_number(w, lines);
	}
	w->bci = bci;
	w->line = line;
}

static const int32_t pairs[][2] = {
    {0, 1},        {0, 1},     {4, 3},     {35, 10},           {66, 17},      {67, 400},
    {80, 401},     {90, 7},    {95, 8},    {95, 8 + 95},       {400, 65535},  {65535, 1},
    {70000, 2000}, {20, 1000}, {21, 1001}, {2000000, 1 << 25}, {2000001, 33},
};
#define PAIRS (sizeof(pairs) / sizeof(pairs[0]))

static struct written written(uint8_t base)
{
	struct written w = {.base = base};

	for (size_t i = 0; i < PAIRS; i++)
		write_pair(&w, pairs[i][0], pairs[i][1]);
	w.bytes[w.size++] = 0;
	return w;
}

TEST(pairs_are_read_as_they_were_written)
{
	for (uint8_t base = 0; base <= 1; base++) {
		struct written w = written(base);
		struct line_table t = line_table_of(w.bytes, sizeof(w.bytes), base);

		for (size_t i = 0; i < PAIRS; i++) {
			assert_true(line_table_next(&t));
			assert_int_equal(t.bci, pairs[i][0]);
			assert_int_equal(t.line, pairs[i][1]);
		}
		assert_false(line_table_next(&t));
		assert_false(line_table_next(&t));
	}
}

TEST(a_scan_ends_where_the_table_does)
{
	for (uint8_t base = 0; base <= 1; base++) {
		struct written w = written(base);
		struct line_scan s = {0};
		size_t i = 0;

		while (!line_scan_byte(&s, w.bytes[i]))
			assert_true(++i < w.size);
		assert_int_equal(i + 1, w.size);
	}
}

/* Wherever it is cut off, what was read is right, and nothing behind it is looked at. */
TEST(a_table_that_is_cut_off_ends_there)
{
	struct written w = written(0);

	for (size_t size = 0; size < w.size; size++) {
		struct line_table t = line_table_of(w.bytes, size, 0);
		size_t count = 0;

		while (line_table_next(&t)) {
			assert_int_equal(t.bci, pairs[count][0]);
			assert_int_equal(t.line, pairs[count][1]);
			count++;
		}
		assert_true(count < PAIRS || size + 1 == w.size);
	}
}
