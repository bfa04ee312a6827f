#include "export/clickhouse/rows.h"

#include <string.h>

#include "profile/window/tables.h"
#include "report/content/names.h"

static int put_number(struct house_writer *out, const struct column *c, const void *value)
{
	switch ((enum column_type)c->type) {
	case COLUMN_DOUBLE:
		return house_put_f64(out, *(const double *)value);
	case COLUMN_TEXT:
		return house_put_text(out, value);
	case COLUMN_BOOL:
		return house_put_u8(out, *(const bool *)value);
	default:
		return house_put(out, value, c->size);
	}
}

/* Zeros at an array's end say nothing: a matrix of NUMA nodes is mostly these. */
static size_t said_values(const struct column *c, const void *row)
{
	static const uint64_t zero;
	size_t values = column_values(c);

	while (values > 0 && memcmp(column_at(c, row, values - 1), &zero, c->size) == 0)
		values--;
	return values;
}

static int put_values(struct house_writer *out, const struct house_column *c, const void *row)
{
	size_t values = c->array ? said_values(c->column, row) : 1;
	int r = c->array ? house_put_length(out, values) : 0;

	for (size_t i = 0; i < values && r == 0; i++)
		r = put_number(out, c->column, column_at(c->column, row, i));
	return r;
}

static int put_method(struct house_writer *out, const struct house_column *c,
		      const struct profile *p, uint32_t id)
{
	struct method_names names = method_names(p, id);

	switch ((enum house_part)c->part) {
	case HOUSE_METHOD_CLASS:
	case HOUSE_NODE_CLASS:
		return house_put_class(out, names.class_name);
	case HOUSE_METHOD_FILE:
		return house_put_text(out, names.file);
	default:
		return house_put_text(out, names.name);
	}
}

static int put_node(struct house_writer *out, const struct house_column *c,
		    const struct house_row *row, uint32_t id)
{
	const struct profile *p = &row->window->profile;
	const struct cct_node *node = cct_node(&p->cct, id);

	switch ((enum house_part)c->part) {
	case HOUSE_CONTEXT:
		row->hashes->used[id] = true;
		return house_put(out, row->hashes->of[id].bytes, HOUSE_HASH_BYTES);
	case HOUSE_NODE_LINE:
		return house_put_u32(out, node ? (uint32_t)node->line : UINT32_MAX);
	case HOUSE_NODE_CERTAINTY:
		return house_put_u8(out, node ? node->certainty : 0);
	default:
		return put_method(out, c, p, node ? node->method : 0);
	}
}

static int put_place(struct house_writer *out, const struct house_column *c,
		     const struct profile *p, uint32_t id)
{
	struct location l = locations_get(&p->locations, id);

	switch ((enum house_part)c->part) {
	case HOUSE_PLACE_KIND:
		return house_put_u32(out, l.kind);
	case HOUSE_PLACE_CLASS:
		return house_put_class(out, strings_get(&p->strings, l.class_name));
	case HOUSE_PLACE_FIELD:
		return house_put_text(out, strings_get(&p->strings, l.field));
	case HOUSE_PLACE_OWNER:
		return house_put_class(out, strings_get(&p->strings, l.declared_in));
	case HOUSE_PLACE_TYPE:
		return house_put_class(out, strings_get(&p->strings, l.type));
	case HOUSE_PLACE_OFFSET:
		return house_put_u32(out, l.offset);
	case HOUSE_PLACE_BYTES:
		return house_put_u32(out, l.bytes);
	default:
		return house_put_u32(out, l.object_bytes);
	}
}

/* row is the one that the column is of. */
static int put_part(struct house_writer *out, const struct house_column *c,
		    const struct house_row *whole, const void *row)
{
	const struct profile *p = &whole->window->profile;
	const uint32_t *id = column_at(c->column, row, 0);

	switch ((enum house_part)c->part) {
	case HOUSE_VALUE:
		return put_values(out, c, row);
	case HOUSE_KIND:
		return house_put_kind(out,
				      (Jxp__Kind)(*(const uint16_t *)column_at(c->column, row, 0)));
	case HOUSE_STRING:
		return house_put_text(out, strings_get(&p->strings, *id));
	case HOUSE_CLASS:
		return house_put_class(out, strings_get(&p->strings, *id));
	case HOUSE_METHOD_CLASS:
	case HOUSE_METHOD_NAME:
	case HOUSE_METHOD_FILE:
		return put_method(out, c, p, *id);
	case HOUSE_CONTEXT:
	case HOUSE_NODE_CLASS:
	case HOUSE_NODE_METHOD:
	case HOUSE_NODE_LINE:
	case HOUSE_NODE_CERTAINTY:
		return put_node(out, c, whole, *id);
	default:
		return put_place(out, c, p, *id);
	}
}

/* The row that a column of it, or of one that it refers to, lies in. */
static const void *row_of(const struct house_column *c, const struct house_row *row)
{
	const struct window_table *t = &window_tables[c->table];
	uint32_t position;

	if (!c->via)
		return row->row ? row->row : window_rows_of(row->window, c->table);
	position = *(const uint32_t *)column_at(c->via, row->row, 0);
	return (const char *)window_table_of(row->window, c->table)->rows +
	       position * t->layout->row_size;
}

int house_row_put(struct house_writer *out, const struct house_table *t,
		  const struct house_row *row)
{
	int r = 0;

	for (size_t i = 0; i < t->count && r == 0; i++) {
		const struct house_column *c = &t->columns[i];

		r = c->put ? c->put(out, row) : put_part(out, c, row, row_of(c, row));
	}
	return r;
}
