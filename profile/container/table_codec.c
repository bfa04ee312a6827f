#include "profile/container/table_codec.h"

#include <errno.h>
#include <string.h>

#include "common/array.h"
#include "common/utf8.h"

/* No sum of ours is so large, and any sum of such is still a number; squares are below its square.
 */
#define SUM_MAX     0x1p200
#define SQUARES_MAX 0x1p400

/* ---------------------------------------------------------------- packing */

static int append_number(struct buffer *out, uint64_t number)
{
	uint8_t bytes[VARINT_BYTES];

	return buffer_append(out, bytes, varint_pack(bytes, number));
}

static uint64_t load(const struct column *c, const void *at)
{
	int32_t number;

	switch ((enum column_type)c->type) {
	case COLUMN_BOOL:
		return *(const bool *)at;
	case COLUMN_U8:
		return *(const uint8_t *)at;
	case COLUMN_U16:
		return *(const uint16_t *)at;
	case COLUMN_U32:
		return *(const uint32_t *)at;
	case COLUMN_I32:
		number = *(const int32_t *)at;
		return (uint32_t)number << 1 ^ (uint32_t)(number < 0 ? -1 : 0);
	default:
		return *(const uint64_t *)at;
	}
}

static int pack_text(struct buffer *out, const struct column *c, const char *text)
{
	size_t size = strnlen(text, c->size);
	int r = append_number(out, size);

	return r < 0 ? r : buffer_append(out, text, size);
}

/* Rows of one table, of which some may not be kept. */
struct kept_rows {
	const struct table_layout *layout;
	const char *rows;
	size_t count;
};

static bool is_kept(const struct kept_rows *k, size_t i)
{
	return !k->layout->is_kept || k->layout->is_kept(k->rows + i * k->layout->row_size);
}

static int pack_values(struct buffer *out, const struct kept_rows *k, const struct column *c,
		       size_t value)
{
	uint8_t *bytes;
	size_t size = 0;
	int r = 0;

	if (c->type == COLUMN_TEXT) {
		for (size_t i = 0; r == 0 && i < k->count; i++)
			if (is_kept(k, i))
				r = pack_text(
				    out, c, column_at(c, k->rows + i * k->layout->row_size, value));
		return r;
	}
	for (size_t i = 0; i < k->count; i++) {
		const void *at = column_at(c, k->rows + i * k->layout->row_size, value);

		if (!is_kept(k, i))
			continue;
		bytes = buffer_reserve(out, VARINT_BYTES);
		if (!bytes)
			return -errno;
		if (c->type == COLUMN_DOUBLE)
			memcpy(bytes, at, size = sizeof(double));
		else
			size = varint_pack(bytes, load(c, at));
		buffer_commit(out, size);
	}
	return 0;
}

int table_pack(struct buffer *out, unsigned number, const struct table_layout *l, const void *rows,
	       size_t count)
{
	const struct kept_rows kept = {l, rows, count};
	size_t keeps = 0;
	int r;

	for (size_t i = 0; i < count; i++)
		keeps += is_kept(&kept, i);
	if ((r = append_number(out, number)) < 0 || (r = append_number(out, keeps)) < 0 ||
	    (r = append_number(out, l->column_count)) < 0)
		return r;
	for (size_t i = 0; i < l->column_count; i++) {
		const struct column *c = &l->columns[i];

		r = append_number(out, column_values(c));
		for (size_t value = 0; r == 0 && value < column_values(c); value++)
			r = pack_values(out, &kept, c, value);
		if (r < 0)
			return r;
	}
	return 0;
}

int table_pack_strings(struct buffer *out, const struct strings *s)
{
	int r = append_number(out, s->used);

	return r < 0 ? r : buffer_append(out, s->bytes, s->used);
}

/* ---------------------------------------------------------------- unpacking */

static bool take_number(struct table_reader *r, uint64_t *number)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64 && r->at < r->end; shift += 7) {
		uint8_t byte = *r->at++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*number = value;
			return true;
		}
	}
	return false;
}

static size_t bytes_left(const struct table_reader *r)
{
	return (size_t)(r->end - r->at);
}

/* position: of the row that it is in. */
static bool refers(const struct table_reader *r, const struct column *c, uint64_t id,
		   size_t position)
{
	switch ((enum column_role)c->role) {
	case COLUMN_NAME:
	case COLUMN_CLASS:
		return id == 0 ||
		       (id <= UINT32_MAX && r->strings && strings_has(r->strings, (uint32_t)id));
	case COLUMN_ID:
		return id <= r->counts[c->table];
	case COLUMN_OLDER:
		return id <= position;
	case COLUMN_POSITION:
		return id < r->counts[c->table];
	default:
		return c->below == 0 || id < c->below;
	}
}

static bool store(const struct column *c, uint64_t number, void *at)
{
	switch ((enum column_type)c->type) {
	case COLUMN_BOOL:
		*(bool *)at = number;
		return number <= 1;
	case COLUMN_U8:
		*(uint8_t *)at = (uint8_t)number;
		return number <= UINT8_MAX;
	case COLUMN_U16:
		*(uint16_t *)at = (uint16_t)number;
		return number <= UINT16_MAX;
	case COLUMN_U32:
		*(uint32_t *)at = (uint32_t)number;
		return number <= UINT32_MAX;
	case COLUMN_I32:
		*(int32_t *)at = (int32_t)((uint32_t)number >> 1 ^ (number & 1 ? UINT32_MAX : 0));
		return number <= UINT32_MAX;
	default:
		*(uint64_t *)at = number;
		return true;
	}
}

static bool take_double(struct table_reader *r, const struct column *c, double *at)
{
	double max = c->role == COLUMN_SQUARES ? SQUARES_MAX : SUM_MAX;

	if (bytes_left(r) < sizeof(*at))
		return false;
	memcpy(at, r->at, sizeof(*at));
	r->at += sizeof(*at);
	return *at < max && *at >= (c->any_sign ? -max : 0);
}

/* Texts that do not fit are cut. */
static bool take_text(struct table_reader *r, const struct column *c, char *at)
{
	char text[1024];
	uint64_t size;

	if (!take_number(r, &size) || size > bytes_left(r) || size >= sizeof(text))
		return false;
	memcpy(text, r->at, size);
	text[size] = '\0';
	r->at += size;
	(void)utf8_sanitize(at, c->size, text);
	return true;
}

static bool take_value(struct table_reader *r, const struct column *c, void *at, size_t position)
{
	uint64_t number;

	if (c->type == COLUMN_DOUBLE)
		return take_double(r, c, at);
	if (c->type == COLUMN_TEXT)
		return take_text(r, c, at);
	return take_number(r, &number) && store(c, number, at) && refers(r, c, number, position);
}

/* A table's head: how many rows and columns follow. */
static bool take_head(struct table_reader *r, unsigned number, const struct table_layout *l,
		      size_t room, uint64_t *rows, uint64_t *columns)
{
	uint64_t found;

	return take_number(r, &found) && found == number && take_number(r, rows) && *rows <= room &&
	       *rows <= bytes_left(r) && take_number(r, columns) && *columns <= l->column_count;
}

static bool take_columns(struct table_reader *r, const struct table_layout *l, uint64_t columns,
			 char *rows, size_t count)
{
	for (size_t i = 0; i < columns; i++) {
		const struct column *c = &l->columns[i];
		uint64_t values;

		if (!take_number(r, &values) || values > column_values(c))
			return false;
		for (size_t value = 0; value < values; value++)
			for (size_t row = 0; row < count; row++)
				if (!take_value(r, c, column_at(c, rows + row * l->row_size, value),
						row))
					return false;
	}
	for (size_t row = 0; l->is_valid && row < count; row++)
		if (!l->is_valid(rows + row * l->row_size))
			return false;
	return true;
}

int table_unpack_rows(struct table_reader *r, unsigned number, const struct table_layout *l,
		      void *rows, size_t room)
{
	uint64_t count, columns;

	return take_head(r, number, l, room, &count, &columns) &&
		       take_columns(r, l, columns, rows, count)
		   ? (int)count
		   : -EBADMSG;
}

int table_unpack(struct table_reader *r, unsigned number, const struct table_layout *l,
		 struct row_table *t)
{
	uint64_t count, columns;
	int status;

	if (!take_head(r, number, l, l->limit, &count, &columns))
		return -EBADMSG;
	status = array_reserve_within(&t->rows, &t->capacity, count, l->limit, l->row_size);
	if (status < 0)
		return status;
	if (count > 0)
		memset(t->rows, 0, count * l->row_size);
	if (!take_columns(r, l, columns, t->rows, count))
		return -EBADMSG;
	status = row_table_index_again(t, l, count);
	return status == -EEXIST ? -EBADMSG : status;
}

/* Whoever interns texts once, in the order of then, gets the ids of then; else these are not the
 * texts of a profile. */
int table_unpack_strings(struct table_reader *r, struct strings *s)
{
	uint64_t size;
	const char *texts;

	if (!take_number(r, &size) || size > bytes_left(r))
		return -EBADMSG;
	texts = (const char *)r->at;
	r->at += size;
	if (size == 0)
		return 0;
	if (size == 1 || texts[0] != '\0' || texts[size - 1] != '\0')
		return -EBADMSG;
	for (size_t at = 1; at < size; at += strlen(texts + at) + 1) {
		uint32_t id = 0;
		int status = strings_intern(s, texts + at, &id);

		if (status == -ENOMEM)
			return status;
		if (status < 0 || id != at)
			return -EBADMSG;
	}
	return 0;
}
