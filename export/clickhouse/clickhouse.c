#include "export/clickhouse/clickhouse.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/utf8.h"
#include "export/clickhouse/answers.h"
#include "export/clickhouse/rows.h"
#include "profile/window/tables.h"

/* Of a request whose settings name no limit. */
#define BODY_BYTES_MAX ((size_t)64 << 20)

#define DAY_NS (86400 * NS_PER_S)

struct encoder {
	const struct export_settings *settings;
	const struct export_origin *origin;
	const struct house_memory *memory; /* what the destination has */
	struct export_batch *batch;
	size_t capacity;                          /* of its requests */
	struct house_writer tables[HOUSE_TABLES]; /* of each, the request that is being filled */
	struct export_request *committing;        /* those of `windows`, which go last */
	size_t committing_count, committing_capacity;
	struct house_memory *listed; /* contexts that this batch has */
	size_t sent_capacity;
};

/* What the batch remembers until it is acknowledged: one block, as who releases it knows no more.
 */
struct house_sent {
	size_t count;
	struct house_known list[];
};

#define SENT_AT_FIRST 256u

static void encoder_release(struct encoder *e)
{
	for (size_t i = 0; i < HOUSE_TABLES; i++)
		buffer_release(&e->tables[i].buffer);
	for (size_t i = 0; i < e->committing_count; i++) {
		free(e->committing[i].target);
		free(e->committing[i].body);
	}
	free(e->committing);
	house_memory_free(e->listed);
}

/* ---------------------------------------------------------------- requests */

/* What a URL may have as it is. */
static void add_escaped(FILE *out, const char *text)
{
	for (; *text; text++)
		if (isalnum((unsigned char)*text) || strchr("-_.~", *text))
			(void)fputc(*text, out); /* To memory. */
		else
			(void)fprintf(out, "%%%02X", (unsigned char)*text);
}

/* Rows of a Distributed table are on their shards before they are acknowledged: else `windows`
 * could be there before what it commits. NULL without memory. */
static char *target_of(const struct export_settings *settings, const struct house_table *t)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	(void)fputs("/?insert_distributed_sync=1&database=", out);
	add_escaped(out, settings->database);
	(void)fputs("&query=", out);
	add_escaped(out, "INSERT INTO ");
	add_escaped(out, t->name);
	add_escaped(out, " (");
	for (size_t i = 0; i < t->count; i++) {
		add_escaped(out, i > 0 ? "," : "");
		add_escaped(out, t->columns[i].name);
	}
	add_escaped(out, ") FORMAT RowBinary");
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

/* What has been filled of a table becomes a request. */
static int finish(struct encoder *e, size_t number)
{
	struct house_writer *out = &e->tables[number];
	bool commits = number == HOUSE_WINDOWS;
	struct export_request **list = commits ? &e->committing : &e->batch->requests;
	size_t *count = commits ? &e->committing_count : &e->batch->count;
	struct export_request *request;
	int r = array_reserve(list, commits ? &e->committing_capacity : &e->capacity, *count + 1,
			      sizeof(**list));

	if (r < 0)
		return r;
	request = &(*list)[*count];
	*request = (struct export_request){.target = target_of(e->settings, house_table(number)),
					   .content_type = "application/octet-stream",
					   .body = out->buffer.data, /* It starts at 0. */
					   .body_bytes = buffer_length(&out->buffer)};
	if (!request->target) {
		request->body = NULL;
		return -ENOMEM;
	}
	(*count)++;
	*out = (struct house_writer){0};
	buffer_init(&out->buffer, BODY_BYTES_MAX);
	return 0;
}

static size_t limit_of(const struct export_settings *settings)
{
	return settings->body_bytes_max && settings->body_bytes_max < BODY_BYTES_MAX
		   ? settings->body_bytes_max
		   : BODY_BYTES_MAX;
}

/* Takes the row that begins at start away from a request that became too large with it, which is
 * finished without it. */
static int split(struct encoder *e, size_t number, size_t start)
{
	struct buffer *b = &e->tables[number].buffer;
	size_t size = b->end - start;
	uint8_t *row = malloc(size + 1);
	int r;

	if (!row)
		return -ENOMEM;
	memcpy(row, b->data + start, size);
	b->end = start;
	r = finish(e, number);
	if (r == 0)
		r = house_put(&e->tables[number], row, size);
	free(row);
	return r;
}

static int add_row(struct encoder *e, size_t number, const struct house_row *row)
{
	struct house_writer *out = &e->tables[number];
	size_t start = out->buffer.end, limit = limit_of(e->settings);
	int r = house_row_put(out, house_table(number), row);

	if (r < 0)
		return r;
	if (out->buffer.end - start > limit)
		return -EMSGSIZE;
	return out->buffer.end > limit && start > 0 ? split(e, number, start) : 0;
}

/* ---------------------------------------------------------------- a window */

/* Do a kind's totals say anything? Each kind of pairs that was asked for has its own. */
static bool has_totals(const struct house_row *row)
{
	Jxp__Kind kind = (Jxp__Kind)(row->number / HOUSE_PARTS);

	if (row->number % HOUSE_PARTS == 0)
		return row->window->request.kinds[kind] && pair_kind_find(kind);
	return ((const struct totals *)row->row)->count > 0;
}

static int add_table(struct encoder *e, size_t number, struct house_row *row, uint32_t *rows)
{
	uint32_t table = house_table(number)->table;
	const struct window_table *t = &window_tables[table];
	const char *base = t->rows ? window_rows_of(row->window, table)
				   : window_table_of(row->window, table)->rows;
	size_t count = t->rows ? t->rows : window_table_of(row->window, table)->count;
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++) {
		row->row = base + i * t->layout->row_size;
		row->number = (uint32_t)i;
		if (table == TABLE_KINDS && !has_totals(row))
			continue;
		r = add_row(e, number, row);
		(*rows)++;
	}
	row->row = NULL;
	row->number = 0;
	return r;
}

static int sent_add(struct encoder *e, const struct house_known *known)
{
	struct house_sent *sent = e->batch->sent;

	if (sent->count == e->sent_capacity) {
		size_t capacity = 2 * e->sent_capacity;

		sent = realloc(sent, sizeof(*sent) + capacity * sizeof(sent->list[0]));
		if (!sent)
			return -ENOMEM;
		e->batch->sent = sent;
		e->sent_capacity = capacity;
	}
	sent->list[sent->count++] = *known;
	return 0;
}

static int add_context(struct encoder *e, struct house_row *row, uint32_t node)
{
	struct house_known known = {.context = row->hashes->of[node],
				    .day = (uint16_t)(row->window->start_unix_ns / DAY_NS)};
	int r;

	if (house_memory_has(e->memory, &known) || house_memory_has(e->listed, &known))
		return 0;
	r = sent_add(e, &known);
	if (r < 0)
		return r;
	house_memory_add(e->listed, &known);
	row->number = node;
	r = add_row(e, HOUSE_CONTEXTS, row);
	row->number = 0;
	return r;
}

static int add_contexts(struct encoder *e, struct house_row *row)
{
	size_t count = row->window->profile.cct.node_count;
	int r = 0;

	for (uint32_t node = 1; node <= count && r == 0; node++)
		if (row->hashes->used[node])
			r = add_context(e, row, node);
	return r;
}

static int add_window(struct encoder *e, const struct window_result *w)
{
	_cleanup_(house_hashes_release) struct house_hashes hashes = {0};
	uint32_t rows[HOUSE_DATA] = {0};
	struct house_row row = {.origin = e->origin,
				.window = w,
				.hashes = &hashes,
				.rows = rows,
				.weights = merge_weights_of(w)};
	int r = house_hashes_init(&hashes, &w->profile);

	for (size_t i = 0; i < HOUSE_DATA && r == 0; i++)
		r = add_table(e, i, &row, &rows[i]);
	if (r == 0)
		r = add_contexts(e, &row);
	return r < 0 ? r : add_row(e, HOUSE_WINDOWS, &row);
}

/* ---------------------------------------------------------------- a batch */

static int finish_all(struct encoder *e)
{
	struct export_batch *b = e->batch;
	int r = 0;

	for (size_t i = 0; i < HOUSE_TABLES && r == 0; i++)
		if (buffer_length(&e->tables[i].buffer) > 0)
			r = finish(e, i);
	if (r == 0)
		r = array_reserve(&b->requests, &e->capacity, b->count + e->committing_count,
				  sizeof(*b->requests));
	if (r < 0)
		return r;
	for (size_t i = 0; i < e->committing_count; i++)
		b->requests[b->count++] = e->committing[i];
	e->committing_count = 0;
	return 0;
}

static int encode_all(struct encoder *e, const struct window_result *const *windows, size_t count)
{
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++)
		r = add_window(e, windows[i]);
	return r < 0 ? r : finish_all(e);
}

static int encode(void *memory, const struct export_settings *settings,
		  const struct export_origin *origin, const struct window_result *const *windows,
		  size_t count, uint64_t now_unix_ns, struct export_batch *out, struct err *err)
{
	_cleanup_(encoder_release) struct encoder e = {
	    .settings = settings, .origin = origin, .memory = memory, .batch = out};
	int r;

	(void)now_unix_ns; /* Windows of any age are taken. */
	for (size_t i = 0; i < HOUSE_TABLES; i++)
		buffer_init(&e.tables[i].buffer, BODY_BYTES_MAX);
	e.sent_capacity = SENT_AT_FIRST;
	e.listed = house_memory_new();
	out->sent =
	    calloc(1, sizeof(struct house_sent) + e.sent_capacity * sizeof(struct house_known));
	if (!e.listed || !out->sent)
		return err_set(err, ENOMEM, "out of memory for windows to be sent");
	r = encode_all(&e, windows, count);
	if (r == -EMSGSIZE || r == -ENOBUFS)
		return err_set(err, EMSGSIZE, "a row of a window is larger than %zu bytes",
			       limit_of(settings));
	return r < 0 ? err_set(err, ENOMEM, "out of memory for windows to be sent") : 0;
}

static void acknowledged(void *memory, const struct export_batch *batch)
{
	const struct house_sent *sent = batch->sent;

	for (size_t i = 0; sent && i < sent->count; i++)
		house_memory_add(memory, &sent->list[i]);
}

static void *new_memory(void)
{
	return house_memory_new();
}

static void free_memory(void *memory)
{
	house_memory_free(memory);
}

const struct export_format export_clickhouse = {
    .name = "clickhouse",
    .new_memory = new_memory,
    .free_memory = free_memory,
    .encode = encode,
    .acknowledged = acknowledged,
    .judge = house_judge,
};
