#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/clickhouse/clickhouse.h"
#include "export/clickhouse/rows.h"
#include "fleet/report/reader.h"
#include "tests/unit/support/sample_window.h"

static const struct export_origin origin = {.host = "east1", .group = "blue", .store = "s1"};

static struct export_batch encoded(void *memory, size_t body_bytes_max,
				   struct window_result *const *windows, size_t count)
{
	const struct export_settings settings = {.database = "jx perf",
						 .body_bytes_max = body_bytes_max};
	struct export_batch batch = {0};
	struct err err = {""};

	if (export_clickhouse.encode(memory, &settings, &origin,
				     (const struct window_result *const *)windows, count,
				     SAMPLE_WINDOW_START_NS, &batch, &err) < 0)
		fail_msg("%s", err.message);
	return batch;
}

/* How many rows a body has: it has to be of whole rows. */
static size_t rows_of(const struct export_request *q, const struct house_table *t)
{
	struct fleet_reader r = {q->body, q->body + q->body_bytes, false};
	size_t rows = 0;

	for (; reader_more(&r); rows++)
		for (size_t i = 0; i < t->count; i++)
			reader_skip(&r, t->columns[i].type, t->columns[i].array);
	assert_false(r.failed);
	return rows;
}

static const struct house_table *table_of(const struct export_request *q)
{
	for (size_t i = 0; i < HOUSE_TABLES; i++) {
		char into[128];

		(void)snprintf(into, sizeof(into), "INSERT%%20INTO%%20%s%%20",
			       house_table(i)->name);
		if (strstr(q->target, into))
			return house_table(i);
	}
	fail_msg("%s", q->target);
	return NULL;
}

static size_t rows_in(const struct export_batch *b, const char *table)
{
	size_t rows = 0;

	for (size_t i = 0; i < b->count; i++)
		if (strcmp(table_of(&b->requests[i])->name, table) == 0)
			rows += rows_of(&b->requests[i], table_of(&b->requests[i]));
	return rows;
}

TEST(every_table_has_whole_rows_and_windows_are_last)
{
	struct window_result *w[] = {sample_window(1, "shop", 20), sample_window(2, "shop", 30)};
	void *memory = export_clickhouse.new_memory();
	struct export_batch b = encoded(memory, 0, w, 2);

	assert_true(b.count >= 8);
	assert_string_equal(table_of(&b.requests[b.count - 1])->name, "windows");
	assert_int_equal(rows_in(&b, "windows"), 2);
	assert_int_equal(rows_in(&b, "pairs"), w[0]->profile.pair_count + w[1]->profile.pair_count);
	assert_int_equal(rows_in(&b, "ticks"), w[0]->cpu.context_count + w[1]->cpu.context_count);
	assert_int_equal(rows_in(&b, "objects"),
			 w[0]->objects.site_count + w[1]->objects.site_count);
	assert_int_equal(rows_in(&b, "fields"),
			 w[0]->objects.classes.field_count + w[1]->objects.classes.field_count);
	assert_non_null(strstr(b.requests[0].target, "database=jx%20perf&"));
	for (size_t i = 0; i < b.count; i++)
		assert_null(strpbrk(b.requests[i].target, " ()'\n"));
	export_batch_release(&b);
	export_clickhouse.free_memory(memory);
	window_result_free(w[0]);
	window_result_free(w[1]);
}

/* Is the text, with its length before it, in the table's rows? */
static bool rows_have(const struct export_batch *b, const char *table, const char *text)
{
	size_t size = strlen(text);

	for (size_t i = 0; i < b->count; i++) {
		const struct export_request *q = &b->requests[i];

		if (strcmp(table_of(q)->name, table) != 0)
			continue;
		for (size_t at = 0; at + 1 + size <= q->body_bytes; at++)
			if (q->body[at] == size && memcmp(q->body + at + 1, text, size) == 0)
				return true;
	}
	return false;
}

TEST(windows_say_where_their_jvm_was_and_what_threads_share)
{
	struct window_result *w[] = {sample_window(1, "shop", 20)};
	void *memory = export_clickhouse.new_memory();
	struct export_batch b = encoded(memory, 0, w, 1);

	assert_int_equal(rows_in(&b, "sharing"), 0);
	assert_false(rows_have(&b, "windows", "pay-0"));
	export_batch_release(&b);
	strcpy(w[0]->container, "c0ffee");
	strcpy(w[0]->namespace, "till");
	strcpy(w[0]->pod, "pay-0");
	for (uint32_t location = 0; location < 2; location++)
		assert_int_equal(sharing_add(&w[0]->objects.sharing_table,
					     &(struct shared_access){.location = location}),
				 0);
	b = encoded(memory, 0, w, 1);
	assert_int_equal(rows_in(&b, "sharing"), 2);
	assert_true(rows_have(&b, "windows", "c0ffee"));
	assert_true(rows_have(&b, "windows", "till"));
	assert_true(rows_have(&b, "windows", "pay-0"));
	assert_string_equal(table_of(&b.requests[b.count - 1])->name, "windows");
	export_batch_release(&b);
	export_clickhouse.free_memory(memory);
	window_result_free(w[0]);
}

TEST(the_same_windows_make_the_same_requests)
{
	struct window_result *w[] = {sample_window(1, "shop", 20)};
	void *memory = export_clickhouse.new_memory();
	struct export_batch a = encoded(memory, 0, w, 1), b = encoded(memory, 0, w, 1);

	assert_int_equal(a.count, b.count);
	for (size_t i = 0; i < a.count; i++) {
		assert_string_equal(a.requests[i].target, b.requests[i].target);
		assert_int_equal(a.requests[i].body_bytes, b.requests[i].body_bytes);
		assert_memory_equal(a.requests[i].body, b.requests[i].body,
				    a.requests[i].body_bytes);
	}
	export_batch_release(&a);
	export_batch_release(&b);
	export_clickhouse.free_memory(memory);
	window_result_free(w[0]);
}

TEST(contexts_go_once_a_day_when_they_were_acknowledged)
{
	struct window_result *w[] = {sample_window(1, "shop", 20), sample_window(2, "shop", 30)};
	void *memory = export_clickhouse.new_memory();
	struct export_batch a = encoded(memory, 0, w, 2), b = encoded(memory, 0, w, 2), c, d;
	size_t contexts = rows_in(&a, "contexts");

	assert_true(contexts > 0 && contexts <= w[0]->profile.cct.node_count);
	assert_int_equal(rows_in(&b, "contexts"), contexts);
	export_clickhouse.acknowledged(memory, &a);
	c = encoded(memory, 0, w, 2);
	assert_int_equal(rows_in(&c, "contexts"), 0);
	w[1]->start_unix_ns += 86400 * NS_PER_S;
	d = encoded(memory, 0, w, 2);
	assert_int_equal(rows_in(&d, "contexts"), contexts);
	export_batch_release(&a);
	export_batch_release(&b);
	export_batch_release(&c);
	export_batch_release(&d);
	export_clickhouse.free_memory(memory);
	window_result_free(w[0]);
	window_result_free(w[1]);
}

TEST(a_large_batch_is_split_between_rows)
{
	struct window_result *w[] = {sample_window(1, "shop", 20), sample_window(2, "shop", 30)};
	void *memory = export_clickhouse.new_memory();
	struct export_batch whole = encoded(memory, 0, w, 2), split;
	size_t largest = 0;
	struct err err = {""};

	for (size_t i = 0; i < whole.count; i++)
		if (whole.requests[i].body_bytes > largest)
			largest = whole.requests[i].body_bytes;
	split = encoded(memory, largest - 1, w, 2);
	assert_true(split.count > whole.count);
	for (size_t i = 0; i < HOUSE_TABLES; i++)
		assert_int_equal(rows_in(&split, house_table(i)->name),
				 rows_in(&whole, house_table(i)->name));
	for (size_t i = 0; i < split.count; i++)
		assert_true(split.requests[i].body_bytes < largest);
	export_batch_release(&split);
	assert_int_equal(export_clickhouse.encode(
			     memory,
			     &(struct export_settings){.database = "d", .body_bytes_max = 64},
			     &origin, (const struct window_result *const *)w, 2, 0, &split, &err),
			 -EMSGSIZE);
	export_batch_release(&split);
	export_batch_release(&whole);
	export_clickhouse.free_memory(memory);
	window_result_free(w[0]);
	window_result_free(w[1]);
}

static enum export_outcome judged(int status, const char *body)
{
	struct err line = {""};
	uint64_t lost = 1;
	enum export_outcome outcome =
	    export_clickhouse.judge(status, body, strlen(body), &line, &lost);

	assert_int_equal(lost, 0);
	assert_int_equal(outcome == EXPORT_SENT || !body[0], line.message[0] == '\0');
	assert_null(strpbrk(line.message, "\n\r\t"));
	return outcome;
}

TEST(exceptions_say_whether_to_try_again)
{
	assert_int_equal(judged(200, ""), EXPORT_SENT);
	assert_int_equal(judged(500, "Code: 252, e.displayText() = DB::Exception: Too many parts"),
			 EXPORT_RETRY);
	assert_int_equal(judged(500, "Code: 252. DB::Exception: Too many partitions for single "
				     "INSERT block (more than 100)"),
			 EXPORT_SMALLER);
	assert_int_equal(judged(500, "Code: 241. DB::Exception: Memory limit\n"), EXPORT_FAILED);
	assert_int_equal(judged(500, "Code: 49. DB::Exception: Logical error"), EXPORT_FAILED);
	assert_int_equal(judged(500, "Code: 243. DB::Exception: Cannot reserve 1.00 MiB"),
			 EXPORT_RETRY);
	assert_int_equal(judged(500, "Code: 1001, std::filesystem: No space left on device"),
			 EXPORT_RETRY);
	assert_int_equal(judged(404, "Code: 60, e.displayText() = no table"), EXPORT_RETRY);
	assert_int_equal(judged(403, "Code: 516, wrong password"), EXPORT_RETRY);
	assert_int_equal(judged(500, "Code: 33, e.displayText() = Cannot read all data"),
			 EXPORT_REFUSED);
	assert_int_equal(judged(400, "Code: 27, cannot parse"), EXPORT_REFUSED);
	assert_int_equal(judged(200, "Code: 33, in the middle"), EXPORT_REFUSED);
	assert_int_equal(judged(413, "<html>\r\n\ttoo large"), EXPORT_SMALLER);
	assert_int_equal(judged(429, ""), EXPORT_RETRY);
	assert_int_equal(judged(502, "<html>\xff\xfe bad gateway"), EXPORT_FAILED);
	assert_int_equal(judged(500, ""), EXPORT_FAILED);
	assert_int_equal(judged(404, "<html>no such page"), EXPORT_RETRY);
	assert_int_equal(judged(501, ""), EXPORT_REFUSED);
	assert_int_equal(judged(302, "moved"), EXPORT_RETRY);
}

TEST(a_context_has_one_hash_whatever_its_number_is)
{
	struct window_result *a = sample_window_empty(1, "shop"),
			     *b = sample_window_empty(2, "shop");
	struct house_hashes of_a, of_b;
	uint32_t main, other, fill[2];

	main = sample_window_node(a, 0, "main", 10);
	fill[0] = sample_window_node(a, main, "fill", 21);
	other = sample_window_node(b, 0, "other", 10);
	main = sample_window_node(b, 0, "main", 10);
	fill[1] = sample_window_node(b, main, "fill", 21);
	assert_int_not_equal(fill[0], fill[1]);
	assert_int_equal(house_hashes_init(&of_a, &a->profile), 0);
	assert_int_equal(house_hashes_init(&of_b, &b->profile), 0);
	assert_memory_equal(of_a.of[fill[0]].bytes, of_b.of[fill[1]].bytes, HOUSE_HASH_BYTES);
	assert_memory_not_equal(of_a.of[fill[0]].bytes, of_b.of[other].bytes, HOUSE_HASH_BYTES);
	house_hashes_release(&of_a);
	house_hashes_release(&of_b);
	window_result_free(a);
	window_result_free(b);
}

TEST(the_memory_of_contexts_is_bounded)
{
	struct house_memory *m = house_memory_new();
	struct house_known known = {.day = 1};

	for (uint32_t i = 1; i <= HOUSE_MEMORY_MAX + 5; i++) {
		memcpy(known.context.bytes, &(uint32_t){i * 2654435761u}, sizeof(i));
		house_memory_add(m, &known);
		assert_true(house_memory_has(m, &known));
	}
	memcpy(known.context.bytes, &(uint32_t){2654435761u}, sizeof(uint32_t));
	assert_false(house_memory_has(m, &known));
	house_memory_free(m);
}
