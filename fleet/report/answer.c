#include "fleet/report/answer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/cleanup.h"
#include "common/saturate.h"
#include "export/clickhouse/facts.h"
#include "fleet/report/question.h"
#include "profile/combine/row_merge.h"
#include "profile/window/tables.h"

/* As in a record of the store (profile/container/table_codec.c). */
#define SUM_MAX 0x1p200

/* Numbers of observations, of which there may be many rows; and, of all windows together, of their
 * nanoseconds, 146 years. */
#define COUNT_MAX (UINT64_C(1) << 58)
#define TIME_MAX  (UINT64_C(1) << 62)

/* The type of a column in an answer, where sums are wider than what they are of. */
static unsigned answered_type(const struct house_column *c)
{
	switch ((enum house_sum)c->sum) {
	case HOUSE_COUNT:
		return HOUSE_U64;
	case HOUSE_WEIGHTED:
	case HOUSE_SQUARES:
		return HOUSE_F64;
	default:
		return c->type;
	}
}

/* ---------------------------------------------------------------- contexts */

void fleet_contexts_release(struct fleet_contexts *c)
{
	free(c->hashes);
	free(c->nodes);
	*c = (struct fleet_contexts){0};
}

static int collect(struct fleet_contexts *c, struct fleet_reader *r)
{
	int e = array_reserve(&c->hashes, &c->capacity, c->count + 1, sizeof(*c->hashes));

	if (e == 0)
		reader_bytes(r, c->hashes[c->count++].bytes, HOUSE_HASH_BYTES);
	return e;
}

static void add_counts(struct fleet_reader *r, const struct house_column *c, uint64_t *sum)
{
	uint64_t count = c->array ? reader_length(r) : 1;

	for (uint64_t i = 0; i < count && !r->failed; i++)
		saturate_add(sum, reader_u64(r));
}

int fleet_contexts_collect(struct fleet_contexts *c, size_t number, const struct buffer *answer,
			   struct fleet_extent *extent)
{
	const struct house_table *t = house_table(number);
	const struct house_column *counts = fleet_observations(number);
	struct fleet_reader r = reader_of(answer);

	*extent = (struct fleet_extent){0};
	while (reader_more(&r)) {
		for (size_t i = 0; i < t->count; i++) {
			const struct house_column *column = &t->columns[i];

			if (column->sum == HOUSE_FACT)
				continue;
			if (column == counts)
				add_counts(&r, column, &extent->observations);
			else if (column->type != HOUSE_HASH)
				reader_skip(&r, answered_type(column), column->array);
			else if (collect(c, &r) < 0)
				return -ENOMEM;
		}
		saturate_add(&extent->rows, reader_u64(&r));
	}
	return r.failed ? -EBADMSG : 0;
}

static int by_bytes(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct house_hash));
}

int fleet_contexts_sort(struct fleet_contexts *c)
{
	static const struct house_hash none;
	size_t kept = 0;

	if (c->count > 0)
		qsort(c->hashes, c->count, sizeof(*c->hashes), by_bytes);
	for (size_t i = 0; i < c->count; i++)
		if (by_bytes(&c->hashes[i], kept > 0 ? &c->hashes[kept - 1] : &none) != 0)
			c->hashes[kept++] = c->hashes[i];
	c->count = kept;
	c->nodes = calloc(kept + 1, sizeof(*c->nodes));
	return c->nodes ? 0 : -ENOMEM;
}

static uint32_t *node_of(const struct fleet_contexts *c, const struct house_hash *hash)
{
	const struct house_hash *found =
	    c->count > 0 ? bsearch(hash, c->hashes, c->count, sizeof(*c->hashes), by_bytes) : NULL;

	return found ? &c->nodes[found - c->hashes] : NULL;
}

/* The columns of a context, by frame. */
struct frames {
	struct cct_node nodes[MAX_FRAMES_LIMIT];
	struct cct_method methods[MAX_FRAMES_LIMIT];
	size_t count;
};

/* A column of texts; all columns are as long as the first. */
static int read_texts(struct fleet_reader *r, struct frames *f, struct window_result *w,
		      size_t offset)
{
	char text[FLEET_TEXT_BYTES];
	size_t count = reader_length(r);
	int e = 0;

	if (offset == 0)
		f->count = count;
	if (count > MAX_FRAMES_LIMIT || count != f->count)
		r->failed = true;
	for (size_t i = 0; i < count && !r->failed && e == 0; i++) {
		reader_text(r, text);
		e = names_intern(&w->profile, text, (uint32_t *)((char *)&f->methods[i] + offset),
				 w->losses);
	}
	return e;
}

static void read_numbers(struct fleet_reader *r, struct frames *f, size_t offset, bool bytes)
{
	size_t count = reader_length(r);

	if (count != f->count)
		r->failed = true;
	for (size_t i = 0; i < count && !r->failed; i++) {
		uint32_t value = bytes ? reader_u8(r) : reader_u32(r);

		memcpy((char *)&f->nodes[i] + offset, &value, sizeof(value));
	}
}

static int read_frames(struct fleet_reader *r, struct frames *f, struct window_result *w)
{
	int e = read_texts(r, f, w, offsetof(struct cct_method, class_name));

	if (e == 0)
		e = read_texts(r, f, w, offsetof(struct cct_method, name));
	if (e == 0)
		e = read_texts(r, f, w, offsetof(struct cct_method, file));
	read_numbers(r, f, offsetof(struct cct_node, bci), false);
	read_numbers(r, f, offsetof(struct cct_node, line), false);
	read_numbers(r, f, offsetof(struct cct_node, tier), true);
	for (size_t i = 0; i < f->count && !r->failed; i++)
		r->failed = f->nodes[i].tier > JXP__TIER__TIER_NATIVE;
	return e < 0 ? e : (r->failed ? -EBADMSG : 0);
}

static int add_method(struct window_result *w, const struct cct_method *method, uint32_t *id)
{
	static const struct cct_method unnamed;

	*id = 0;
	return memcmp(method, &unnamed, sizeof(unnamed)) == 0
		   ? 0
		   : names_add_method(&w->profile, method, id, w->losses);
}

/* Without room for a frame there is no context. */
static int add_frames(struct window_result *w, const struct frames *f, uint32_t *id)
{
	int e = 0;

	*id = 0;
	for (size_t i = 0; i < f->count && e == 0 && (i == 0 || *id); i++) {
		struct cct_node node = {.parent = *id,
					.bci = f->nodes[i].bci,
					.line = f->nodes[i].line,
					.tier = f->nodes[i].tier};

		e = add_method(w, &f->methods[i], &node.method);
		if (e == 0)
			e = names_add_node(&w->profile, &node, id, w->losses);
	}
	return e;
}

int fleet_contexts_add(struct fleet_contexts *c, const struct buffer *answer,
		       struct window_result *w)
{
	struct fleet_reader r = reader_of(answer);
	_cleanup_free_ struct frames *frames = calloc(1, sizeof(*frames));
	int e = frames ? 0 : -ENOMEM;

	while (reader_more(&r) && e == 0) {
		struct house_hash hash;
		uint32_t *node;

		reader_bytes(&r, hash.bytes, sizeof(hash.bytes));
		e = read_frames(&r, frames, w);
		node = node_of(c, &hash);
		if (e == 0 && node)
			e = add_frames(w, frames, node);
	}
	return e == 0 && r.failed ? -EBADMSG : e;
}

/* ---------------------------------------------------------------- values */

/* One value of a column of a window's row; false where it cannot be one. */
static bool store_value(const struct column *c, void *at, uint64_t whole, double number,
			uint64_t most)
{
	if (c->role == COLUMN_VALUE && c->below && whole >= c->below)
		return false;
	if (c->role == COLUMN_COUNT && whole > most)
		return false;
	switch ((enum column_type)c->type) {
	case COLUMN_BOOL:
		*(bool *)at = whole;
		return whole <= 1;
	case COLUMN_DOUBLE:
		*(double *)at = number;
		return (c->any_sign || number >= 0) &&
		       (c->role == COLUMN_SQUARES || fabs(number) <= SUM_MAX);
	case COLUMN_TEXT:
		return false;
	default:
		memcpy(at, &whole, c->size); /* Little endian. */
		return true;
	}
}

static void read_value(struct fleet_reader *r, unsigned type, const struct column *c, void *at,
		       uint64_t most)
{
	uint64_t whole = 0;
	double number = 0;

	if (type == HOUSE_F64)
		number = reader_f64(r);
	else
		reader_bytes(r, &whole, reader_type_size(type));
	if (at && !r->failed && !store_value(c, at, whole, number, most))
		r->failed = true;
}

/* A column whose values are in row; an array may be shorter, of an older daemon, or longer. */
static void read_values(struct fleet_reader *r, const struct house_column *c, void *row,
			uint64_t most)
{
	uint64_t count = c->array ? reader_length(r) : 1;
	size_t values = column_values(c->column);
	unsigned type = answered_type(c);
	char text[FLEET_TEXT_BYTES];

	if (c->type == HOUSE_TEXT) {
		reader_text(r, text);
		text[c->column->size - 1 < sizeof(text) ? c->column->size - 1 : sizeof(text) - 1] =
		    '\0';
		memcpy(column_at(c->column, row, 0), text, strlen(text) + 1);
		return;
	}
	for (uint64_t i = 0; i < count && !r->failed; i++)
		read_value(r, type, c->column, i < values ? column_at(c->column, row, i) : NULL,
			   most);
}

int fleet_answer_first(const struct buffer *answer, struct window_result *w)
{
	const struct house_table *t = house_table(HOUSE_WINDOWS);
	struct fleet_reader r = reader_of(answer);

	if (!reader_more(&r))
		return -ENODATA;
	for (size_t i = 0; i < t->count; i++) {
		struct house_column as_it_is = t->columns[i];

		as_it_is.sum = HOUSE_FACT;
		if (house_is_first(&as_it_is))
			read_values(&r, &as_it_is, w, TIME_MAX);
	}
	return r.failed || r.at != r.end || !window_tables[TABLE_WINDOW].layout->is_valid(w)
		   ? -EBADMSG
		   : 0;
}

int fleet_answer_windows(struct fleet_reader *r, struct window_result *w)
{
	const struct house_table *t = house_table(HOUSE_WINDOWS);

	for (size_t i = 0; i < t->count && !r->failed; i++)
		if (t->columns[i].sum != HOUSE_FACT)
			read_values(r, &t->columns[i], window_rows_of(w, t->columns[i].table),
				    TIME_MAX);
	return r->failed ? -EBADMSG : 0;
}

/* ---------------------------------------------------------------- rows */

/* A row that is being read. */
struct answered_row {
	struct fleet_reader *r;
	const struct fleet_contexts *contexts;
	struct merge *m;
	void *row;                /* of the table; all of its key is the merge's own */
	void *referred;           /* likewise, of the table that a position is of, */
	const struct column *via; /* this one; NULL: it is not read now */
	size_t size;              /* of either, in bytes: as large as any table's is */
	struct cct_method method;
	struct location location;
	struct pair_sums observed;
	unsigned observed_count;
	double extra[2]; /* what a site has beside its row */
	unsigned extra_count;
	uint32_t total; /* of TABLE_KINDS, its position */
	bool unplaced;  /* there is no room for what it refers to */
};

static void *target_of(struct answered_row *row, const struct house_column *c)
{
	return c->via ? row->referred : row->row;
}

static uint32_t *id_of(struct answered_row *row, const struct house_column *c)
{
	return column_at(c->column, target_of(row, c), 0);
}

static int read_name(struct answered_row *row, uint32_t *id)
{
	struct window_result *w = row->m->result;
	char text[FLEET_TEXT_BYTES];

	reader_text(row->r, text);
	return names_intern(&w->profile, text, id, w->losses);
}

static void read_context(struct answered_row *row, const struct house_column *c)
{
	static const struct house_hash none;
	struct house_hash hash;
	const uint32_t *node;

	reader_bytes(row->r, hash.bytes, sizeof(hash.bytes));
	node = node_of(row->contexts, &hash);
	*id_of(row, c) = node ? *node : 0;
	if (by_bytes(&hash, &none) == 0 || (node && *node))
		return;
	saturate_add(&row->m->result->losses[LOSS_NODES], 1);
	row->unplaced |= row_merge_needs_node(c->table);
}

static void read_certainty(struct answered_row *row, const struct house_column *c)
{
	uint8_t certainty = reader_u8(row->r);
	uint32_t node = *id_of(row, c);

	if (certainty >= CERTAINTY_VALUES)
		row->r->failed = true;
	else if (node && certainty)
		cct_mark(&row->m->result->profile.cct, node, certainty);
}

static int add_location(struct answered_row *row, uint32_t *id)
{
	struct window_result *w = row->m->result;
	static const struct location none;

	*id = 0;
	return memcmp(&row->location, &none, sizeof(none)) == 0
		   ? 0
		   : names_add_location(&w->profile, &row->location, id, w->losses);
}

static int read_place(struct answered_row *row, const struct house_column *c)
{
	struct location *l = &row->location;

	switch ((enum house_part)c->part) {
	case HOUSE_PLACE_KIND:
		*l = (struct location){.kind = reader_u32(row->r)};
		row->r->failed |= l->kind > JXP__LOCATION__KIND__STACK;
		return 0;
	case HOUSE_PLACE_CLASS:
		return read_name(row, &l->class_name);
	case HOUSE_PLACE_FIELD:
		return read_name(row, &l->field);
	case HOUSE_PLACE_OWNER:
		return read_name(row, &l->declared_in);
	case HOUSE_PLACE_TYPE:
		return read_name(row, &l->type);
	case HOUSE_PLACE_OFFSET:
		l->offset = reader_u32(row->r);
		return 0;
	case HOUSE_PLACE_BYTES:
		l->bytes = reader_u32(row->r);
		return 0;
	default:
		l->object_bytes = reader_u32(row->r);
		return add_location(row, id_of(row, c));
	}
}

static void read_kind(struct answered_row *row, const struct house_column *c)
{
	char name[FLEET_TEXT_BYTES];
	uint16_t kind;

	reader_text(row->r, name);
	kind = (uint16_t)pair_kind_named(name);
	memcpy(column_at(c->column, row->row, 0), &kind, sizeof(kind));
	row->r->failed |= kind == JXP__KIND__KIND_NONE;
}

static int read_method(struct answered_row *row, const struct house_column *c)
{
	int e;

	if (c->part == HOUSE_METHOD_CLASS)
		return read_name(row, &row->method.class_name);
	if (c->part == HOUSE_METHOD_NAME)
		return read_name(row, &row->method.name);
	e = read_name(row, &row->method.file);
	return e < 0 ? e : add_method(row->m->result, &row->method, id_of(row, c));
}

static void read_observed(struct answered_row *row)
{
	double value = reader_f64(row->r);
	double *const sums[] = {&row->observed.checked, &row->observed.wasteful,
				&row->observed.squares};

	row->r->failed |= value < 0;
	if (row->observed_count < sizeof(sums) / sizeof(sums[0]))
		*sums[row->observed_count++] = value;
}

/* What is no column of the window's row: a total's kind and part, a site's extras. */
static void read_extra(struct answered_row *row, const struct house_column *c)
{
	char name[FLEET_TEXT_BYTES];

	if (c->type == HOUSE_TEXT) {
		reader_text(row->r, name);
		row->total = (uint32_t)pair_kind_named(name) * HOUSE_PARTS;
	} else if (c->type == HOUSE_U8) {
		uint8_t part = reader_u8(row->r);

		row->r->failed |= part >= HOUSE_PARTS;
		row->total += part;
	} else if (row->extra_count < 2) {
		row->extra[row->extra_count++] = reader_f64(row->r);
	}
}

static int read_column(struct answered_row *row, const struct house_column *c)
{
	if (c->put) {
		read_extra(row, c);
		return 0;
	}
	switch ((enum house_part)c->part) {
	case HOUSE_VALUE:
		if (c->weight == HOUSE_WEIGHT_OBSERVATION)
			read_observed(row);
		else
			read_values(row->r, c, target_of(row, c), COUNT_MAX);
		return 0;
	case HOUSE_STRING:
	case HOUSE_CLASS:
		return read_name(row, id_of(row, c));
	case HOUSE_KIND:
		read_kind(row, c);
		return 0;
	case HOUSE_METHOD_CLASS:
	case HOUSE_METHOD_NAME:
	case HOUSE_METHOD_FILE:
		return read_method(row, c);
	case HOUSE_CONTEXT:
		read_context(row, c);
		return 0;
	case HOUSE_NODE_CERTAINTY:
		read_certainty(row, c);
		return 0;
	default:
		return read_place(row, c);
	}
}

/* The key of what a position is of has been read. */
static int finish_referred(struct answered_row *row)
{
	uint32_t position;
	int e;

	if (!row->via)
		return 0;
	e = row->unplaced
		? -ENOSPC
		: row_merge_find(row->m->result, row->via->table, row->referred, &position);
	if (e == -ENOSPC) {
		row->unplaced = true;
		position = 0;
	} else if (e < 0) {
		return e;
	}
	memcpy(column_at(row->via, row->row, 0), &position, sizeof(position));
	row->via = NULL;
	return 0;
}

/* ---------------------------------------------------------------- a row into the merge */

static void add_sums(struct pair_sums *to, const struct pair_sums *from)
{
	to->checked += from->checked;
	to->wasteful += from->wasteful;
	to->squares += from->squares;
}

static int add_pair(struct answered_row *row, uint32_t position)
{
	int e = pair_merge_reserve(&row->m->pairs, row->m->result->profile.pair_count);

	if (e == 0)
		add_sums(&row->m->pairs.pairs[position], &row->observed);
	return e;
}

static int add_site(struct answered_row *row, uint32_t position)
{
	struct merge *m = row->m;
	int e = object_merge_reserve(&m->objects, m->facts, m->result->objects.site_count);

	if (e < 0)
		return e;
	m->objects.sites[position].count += row->extra[0];
	m->objects.sites[position].bytes += row->extra[1];
	return 0;
}

/* struct kind_sums consists of struct pair_sums as struct kind_totals does of struct totals. */
static void add_total(struct answered_row *row)
{
	struct totals *totals = (struct totals *)row->m->result->profile.kinds;
	struct pair_sums *sums = (struct pair_sums *)row->m->pairs.kinds;

	_Static_assert(sizeof(struct kind_sums) == HOUSE_PARTS * sizeof(struct pair_sums) &&
			   sizeof(struct kind_totals) == HOUSE_PARTS * sizeof(struct totals),
		       "parts of kinds");
	table_row_add(&totals_layout, &totals[row->total], row->row, NULL);
	add_sums(&sums[row->total], &row->observed);
}

/* Ticks whose context is not known. */
static void add_lost(struct window_result *w, const struct cpu_context *context)
{
	struct cpu_sum sum = cpu_context_sum(context);

	cpu_sum_add(&w->cpu.lost, &sum, 1);
}

static int add_row(struct answered_row *row, uint32_t table)
{
	const struct window_table *t = &window_tables[table];
	struct window_result *w = row->m->result;
	uint32_t position;
	int e;

	if (table == TABLE_KINDS) {
		add_total(row);
		return 0;
	}
	if (table == TABLE_CPU_CONTEXTS && !((struct cpu_context *)row->row)->node) {
		add_lost(w, row->row);
		return 0;
	}
	if (row->unplaced)
		return 0;
	e = row_merge_find(w, table, row->row, &position);
	if (e == -ENOSPC)
		return 0; /* It is counted. */
	if (e < 0)
		return e;
	table_row_add(t->layout,
		      (char *)window_table_of(w, table)->rows + position * t->layout->row_size,
		      row->row, NULL);
	if (table == TABLE_PAIRS)
		return add_pair(row, position);
	return table == TABLE_SITES ? add_site(row, position) : 0;
}

static size_t largest_row(void)
{
	size_t most = 0;

	for (size_t i = 0; i < HOUSE_DATA; i++)
		if (window_tables[house_table(i)->table].layout->row_size > most)
			most = window_tables[house_table(i)->table].layout->row_size;
	return most;
}

static int read_row(struct answered_row *row, const struct house_table *t)
{
	int e = 0;

	for (size_t i = 0; i < t->count && e == 0; i++) {
		const struct house_column *c = &t->columns[i];

		if (c->sum == HOUSE_FACT)
			continue;
		if (c->via != row->via) {
			e = finish_referred(row);
			memset(row->referred, 0, row->size);
			row->via = c->via;
		}
		if (e == 0)
			e = read_column(row, c);
	}
	if (e == 0)
		e = finish_referred(row);
	(void)reader_u64(row->r); /* How many rows it was. */
	return e;
}

int fleet_answer_table(size_t number, const struct buffer *answer,
		       const struct fleet_contexts *contexts, struct merge *m)
{
	const struct house_table *t = house_table(number);
	struct fleet_reader r = reader_of(answer);
	size_t size = largest_row();
	_cleanup_free_ void *row = calloc(1, size), *referred = calloc(1, size);
	int e = row && referred ? 0 : -ENOMEM;

	while (reader_more(&r) && e == 0) {
		struct answered_row one = {.r = &r,
					   .contexts = contexts,
					   .m = m,
					   .row = row,
					   .referred = referred,
					   .size = size};

		memset(row, 0, size);
		memset(referred, 0, size);
		e = read_row(&one, t);
		if (e == 0 && !r.failed)
			e = add_row(&one, t->table);
	}
	return e == 0 && r.failed ? -EBADMSG : e;
}
