#include "tests/unit/support/test.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

#include "common/cleanup.h"
#include "report/report.h"
#include "daemon/store/record.h"
#include "profile/container/table_codec.h"
#include "profile/window/tables.h"
#include "tests/unit/support/long_up.h"
#include "tests/unit/support/sample_window.h"
#include "tests/unit/support/whole_report.h"

#define ENOUGH (1u << 20)

static char *report_of(const struct window_result *w, Jxp__Format format)
{
	struct err err;
	char *text = NULL;
	size_t size;

	assert_int_equal(report_new(w, format, 0, ENOUGH, &text, &size, &err), 0);
	return text;
}

static struct window_result *there_and_back(const struct window_result *w)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	struct window_result *back = NULL;
	size_t size = 0;
	struct err err;

	assert_int_equal(record_encode(w, &bytes, &size), 0);
	assert_int_equal(record_decode(bytes, size, w->number, &back, &err), 0);
	return back;
}

static void assert_same_reports(const struct window_result *w)
{
	static const Jxp__Format formats[] = {JXP__FORMAT__FORMAT_TEXT, JXP__FORMAT__FORMAT_JSON,
					      JXP__FORMAT__FORMAT_COLLAPSED};
	struct window_result *back = there_and_back(w);

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		_cleanup_free_ char *before = report_of(w, formats[i]);
		_cleanup_free_ char *after = report_of(back, formats[i]);

		assert_string_equal(before, after);
	}
	window_result_free(back);
}

/* Takes the window, which was spoilt. */
static void assert_no_record(struct window_result *w)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	struct window_result *back = NULL;
	size_t size = 0;
	struct err err;

	assert_int_equal(record_encode(w, &bytes, &size), 0);
	assert_int_equal(record_decode(bytes, size, 7, &back, &err), -EBADMSG);
	assert_null(back);
	window_result_free(w);
}

TEST(a_window_makes_the_same_reports_after_it_was_kept)
{
	struct window_result *w = sample_window(7, "shop", 45);

	assert_same_reports(w);
	w->objects.concurrent_gc = true;
	assert_same_reports(w);
	sample_window_loops(w, 1);
	assert_same_reports(w);
	window_result_free(w);
}

TEST(an_empty_window_makes_the_same_reports_after_it_was_kept)
{
	struct window_result *w = sample_window_empty(1, "");

	assert_same_reports(w);
	window_result_free(w);
}

TEST(where_its_jvm_was_is_kept_of_a_window)
{
	struct window_result *w = sample_window_empty(1, "shop"), *back;

	strcpy(w->container, "c0ffee");
	strcpy(w->namespace, "shop");
	strcpy(w->pod, "pay-0");
	back = there_and_back(w);
	assert_string_equal(back->container, "c0ffee");
	assert_string_equal(back->namespace, "shop");
	assert_string_equal(back->pod, "pay-0");
	window_result_free(back);
	window_result_free(w);
}

/* By threads: the second takes over from the first. */
static void share(struct window_result *w)
{
	const struct shared_access accesses[] = {
	    {.thread = 1, .allocator = 1, .thread_before = 1, .metric = 10},
	    {.thread = 2, .allocator = 1, .thread_before = 1, .store = true, .metric = 30}};

	for (size_t i = 0; i < 2; i++)
		assert_int_equal(sharing_add(&w->objects.sharing_table, &accesses[i]), 0);
}

TEST(what_threads_share_is_kept_of_a_window)
{
	struct window_result *w = sample_window(7, "shop", 45), *back;

	share(w);
	assert_same_reports(w);
	back = there_and_back(w);
	assert_int_equal(back->objects.sharing_count, 1);
	assert_memory_equal(&back->objects.sharing[0], &w->objects.sharing[0],
			    sizeof(w->objects.sharing[0]));
	window_result_free(back);
	w->objects.sharing[0].by_others = w->objects.sharing[0].samples + 1;
	assert_no_record(w);
}

/* The record of one without threads ends with an empty last table: its number, no rows, and
 * columns of no values. */
TEST(a_record_of_before_has_no_table_of_what_threads_share)
{
	static uint8_t plain[ENOUGH], packed[ENOUGH];
	struct window_result *w = sample_window(7, "shop", 45), *back = NULL;
	_cleanup_free_ uint8_t *bytes = NULL;
	const struct table_layout *l = &site_sharing_layout;
	struct buffer table;
	struct err err;
	size_t size = 0;

	buffer_init(&table, ENOUGH);
	assert_int_equal(table_pack(&table, TABLE_SHARING, l, NULL, 0), 0);
	assert_int_equal(record_encode(w, &bytes, &size), 0);
	size = ZSTD_decompress(plain, sizeof(plain), bytes, size);
	assert_false(ZSTD_isError(size));
	size -= buffer_length(&table);
	assert_memory_equal(plain + size, buffer_head(&table), buffer_length(&table));
	size = ZSTD_compress(packed, sizeof(packed), plain, size, 1);
	assert_false(ZSTD_isError(size));
	assert_int_equal(record_decode(packed, size, 7, &back, &err), 0);
	assert_int_equal(back->objects.sharing_count, 0);
	assert_int_equal(back->objects.site_count, w->objects.site_count);
	window_result_free(back);
	buffer_release(&table);
	window_result_free(w);
}

TEST(a_window_that_runs_is_kept_as_it_is)
{
	struct window_result *w = sample_window(8, "shop", 45);
	struct window_result *snapshot, *back;

	w->state = WINDOW_RUNNING;
	w->finished = false;
	w->end_ns = w->end_unix_ns = 0;
	snapshot = window_result_snapshot(w);
	back = there_and_back(snapshot);
	assert_int_equal(back->state, WINDOW_RUNNING);
	assert_int_equal(window_result_elapsed_ns(back), window_result_elapsed_ns(snapshot));
	window_result_free(back);
	window_result_free(snapshot);
	window_result_free(w);
}

TEST(bits_that_flip_are_noticed)
{
	struct window_result *w = sample_window(7, "shop", 45);
	_cleanup_free_ uint8_t *bytes = NULL;
	_cleanup_free_ char *before = report_of(w, JXP__FORMAT__FORMAT_JSON);
	size_t size = 0, harmless = 0;

	assert_int_equal(record_encode(w, &bytes, &size), 0);
	for (size_t bit = 0; bit < size * 8; bit += 7) {
		struct window_result *back = NULL;
		struct err err;
		int r;

		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		r = record_decode(bytes, size, 7, &back, &err);
		if (r == 0) { /* A bit that says nothing, or a window that says the same. */
			_cleanup_free_ char *after = report_of(back, JXP__FORMAT__FORMAT_JSON);

			assert_string_equal(before, after);
			window_result_free(back);
			harmless++;
		} else {
			assert_true(r == -EBADMSG || r == -ENOMEM);
			assert_null(back);
		}
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	assert_in_range(harmless, 0, size * 8 / 7 / 50); /* One in fifty, of the frame's own. */
	window_result_free(w);
}

TEST(part_of_a_record_is_none)
{
	struct window_result *w = sample_window(7, "shop", 45), *back = NULL;
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t size = 0;
	struct err err;

	assert_int_equal(record_encode(w, &bytes, &size), 0);
	for (size_t part = 0; part < size; part++)
		assert_int_equal(record_decode(bytes, part, 7, &back, &err), -EBADMSG);
	window_result_free(w);
}

static struct window_result *sample(void)
{
	struct window_result *w = sample_window(7, "shop", 45);

	sample_window_loops(w, 1);
	return w;
}

TEST(references_to_what_is_not_there_are_no_record)
{
	struct window_result *w = sample();

	w->cpu.contexts[0].node = (uint32_t)w->profile.cct.node_count + 1;
	assert_no_record(w);
	w = sample();
	w->profile.cct.nodes[0].parent = 1; /* No older node. */
	assert_no_record(w);
	w = sample();
	w->profile.pairs[0].watch_instruction = (uint32_t)w->profile.strings.used;
	assert_no_record(w);
	w = sample();
	w->loops.contexts[0].loop = (uint32_t)w->loops.row_count;
	assert_no_record(w);
	w = sample();
	w->objects.accesses[0].site = (uint32_t)w->objects.site_count;
	assert_no_record(w);
}

TEST(rows_with_one_key_are_no_record)
{
	struct window_result *w = sample();

	w->cpu.contexts[0].node = w->cpu.contexts[1].node;
	assert_no_record(w);
	w = sample();
	w->loops.rows[1].key = w->loops.rows[0].key;
	assert_no_record(w);
	w = sample();
	w->threads.threads[1].tid = w->threads.threads[0].tid;
	assert_no_record(w);
}

TEST(sums_that_cannot_be_are_no_record)
{
	struct window_result *w = sample();

	w->cpu.states[0].ns = -1;
	assert_no_record(w);
	w = sample();
	w->cpu.beside.gc_ns = NAN;
	assert_no_record(w);
	w = sample();
	w->cpu.beside.gc_ns = 1e300;
	assert_no_record(w);
	w = sample();
	w->cpu.contexts[0].node = 0;
	assert_no_record(w);
	w = sample();
	w->threads.threads[0].kernel.ns = -1;
	assert_no_record(w);
	w = sample();
	w->profile.pairs[0].wasteful_bytes = w->profile.pairs[0].checked_bytes + 1;
	assert_no_record(w);
	w = sample();
	w->loops.rows[1].results.turns = 1e-300;
	assert_no_record(w);
	w = sample();
	w->loops.inputs[0].same.sum =
	    (double)w->loops.inputs[0].same.pairs + 1; /* More than all. */
	assert_no_record(w);
	w = sample();
	w->loops.rows[6].turns.low = w->loops.rows[6].turns.high + 1;
	assert_no_record(w);
}

TEST(lengths_of_instances_are_stored)
{
	static const struct loop_lengths lengths = {20, 81920, 335544320, 3.5, 2, 1};
	struct window_result *w = sample(), *back;

	w->loops.rows[2].lengths = lengths;
	back = there_and_back(w);
	assert_memory_equal(&back->loops.rows[2].lengths, &lengths, sizeof(lengths));
	assert_int_equal(back->loops.rows[1].lengths.read, 0);
	window_result_free(back);
	w->loops.rows[2].lengths.squares = NAN;
	assert_no_record(w);
}

TEST(threads_without_ticks_are_not_kept)
{
	struct window_result *w = sample(), *back;
	size_t count = w->threads.count;

	assert_int_equal(thread_table_update(&w->threads, 99, "idle", false), 0);
	back = there_and_back(w);
	assert_int_equal(back->threads.count, count);
	window_result_free(back);
	window_result_free(w);
}

/* ---------------------------------------------------------------- inputs of the fuzzer */

#define INPUTS "tests/fuzz/corpus/fuzz_record/"

static struct window_result *window_of_ticks(void)
{
	struct window_result *w = sample_window_empty(1, "shop");
	uint32_t main = sample_window_node(w, 0, "main", 10);

	sample_window_cpu(w, main, sample_window_node(w, main, "fill", 21),
			  sample_window_node(w, main, "sum", 31));
	return w;
}

/* As it is before it is compressed: the fuzzer does that. */
static void write_input(const char *path, const struct window_result *w)
{
	static uint8_t plain[ENOUGH];
	_cleanup_free_ uint8_t *bytes = NULL;
	FILE *file = fopen(path, "we");
	size_t size = 0;

	assert_non_null(file);
	assert_int_equal(record_encode(w, &bytes, &size), 0);
	size = ZSTD_decompress(plain, sizeof(plain), bytes, size);
	assert_false(ZSTD_isError(size));
	assert_int_equal(fwrite(plain, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static void assert_input_is_a_window(const char *path)
{
	static uint8_t plain[ENOUGH], packed[ENOUGH];
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	struct window_result *w = NULL;
	struct err err = {""};
	size_t size;

	assert_non_null(file);
	size = fread(plain, 1, sizeof(plain), file);
	size = ZSTD_compress(packed, sizeof(packed), plain, size, 1);
	assert_false(ZSTD_isError(size));
	if (record_decode(packed, size, 1, &w, &err) < 0)
		fail_msg("%s: %s: UPDATE_GOLDEN=1 writes it anew", path, err.message);
	window_result_free(w);
}

/* Else it changes bits of what nobody reads any further. A table with a column more makes windows
 * of before none. */
TEST(what_the_fuzzer_begins_with_are_windows)
{
	struct window_result *windows[] = {sample_window_empty(1, "shop"), window_of_ticks(),
					   sample_window(1, "shop", 45),
					   sample_window(1, "shop", 45)};
	static const char *const paths[] = {INPUTS "empty", INPUTS "cpu", INPUTS "window",
					    INPUTS "window-loops"};

	sample_window_loops(windows[3], 1);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		if (getenv("UPDATE_GOLDEN"))
			write_input(paths[i], windows[i]);
		assert_input_is_a_window(paths[i]);
		window_result_free(windows[i]);
	}
}
