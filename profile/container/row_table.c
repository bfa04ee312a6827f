#include "profile/container/row_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/saturate.h"

void row_table_release(struct row_table *t)
{
	free(t->rows);
	hash_index_release(&t->index);
	*t = (struct row_table){0};
}

static void *row_at(const struct row_table *t, const struct table_layout *l, size_t position)
{
	return (char *)t->rows + position * l->row_size;
}

/* ---------------------------------------------------------------- finding and adding */

struct row_place {
	const void *rows;
	size_t row_size, key_size;
};

static bool matches(const void *table, uint32_t position, const void *key)
{
	const struct row_place *p = table;

	return memcmp((const char *)p->rows + position * p->row_size, key, p->key_size) == 0;
}

static bool find(const struct row_table *t, const struct table_layout *l, uint32_t hash,
		 const void *key, uint32_t *position)
{
	const struct row_place place = {t->rows, l->row_size, l->key_words * sizeof(uint32_t)};

	return hash_index_find(&t->index, hash, matches, &place, key, position);
}

bool row_table_find(const struct row_table *t, const struct table_layout *l, const void *key,
		    uint32_t *position)
{
	return find(t, l, hash_ids(key, l->key_words), key, position);
}

int row_table_add(struct row_table *t, const struct table_layout *l, const void *key,
		  uint32_t *position)
{
	uint32_t hash = hash_ids(key, l->key_words);
	int r;

	if (find(t, l, hash, key, position))
		return 0;
	if (t->count >= l->limit)
		return -ENOSPC;
	r = array_reserve(&t->rows, &t->capacity, t->count + 1, l->row_size);
	if (r == 0)
		r = hash_index_insert(&t->index, hash, (uint32_t)t->count);
	if (r < 0)
		return r;
	memset(row_at(t, l, t->count), 0, l->row_size);
	memcpy(row_at(t, l, t->count), key, l->key_words * sizeof(uint32_t));
	*position = (uint32_t)t->count++;
	return 1;
}

int row_table_index_again(struct row_table *t, const struct table_layout *l, size_t count)
{
	int r = 0;

	hash_index_release(&t->index);
	t->count = count;
	for (size_t i = 0; r == 0 && i < count; i++) {
		const void *key = row_at(t, l, i);
		uint32_t hash = hash_ids(key, l->key_words), position;

		if (find(t, l, hash, key, &position))
			return -EEXIST;
		r = hash_index_insert(&t->index, hash, (uint32_t)i);
	}
	return r;
}

/* ---------------------------------------------------------------- whole tables */

int row_table_copy(struct row_table *to, const struct table_layout *l, const struct row_table *from)
{
	int r;

	*to = (struct row_table){0};
	r = array_copy(&to->rows, from->rows, from->count, l->row_size);
	if (r < 0)
		return r;
	to->count = to->capacity = from->count;
	return l->copies_find ? hash_index_copy(&to->index, &from->index) : 0;
}

size_t row_table_memory_bytes(const struct row_table *t, const struct table_layout *l)
{
	return t->capacity * l->row_size + t->index.capacity * sizeof(*t->index.slots);
}

/* ---------------------------------------------------------------- rows as numbers */

static void add_value(const struct column *c, void *to, const void *from, double weight)
{
	if (c->type == COLUMN_DOUBLE)
		*(double *)to += weight * *(const double *)from;
	else
		saturate_add(to, *(const uint64_t *)from);
}

static void take_most(const struct column *c, void *to, const void *from)
{
	switch ((enum column_type)c->type) {
	case COLUMN_I32:
		if (*(const int32_t *)from > *(int32_t *)to)
			*(int32_t *)to = *(const int32_t *)from;
		return;
	case COLUMN_U32:
		if (*(const uint32_t *)from > *(uint32_t *)to)
			*(uint32_t *)to = *(const uint32_t *)from;
		return;
	default:
		if (*(const uint8_t *)from > *(uint8_t *)to)
			*(uint8_t *)to = *(const uint8_t *)from;
	}
}

void table_row_add(const struct table_layout *l, void *to, const void *from, const double *weights)
{
	for (size_t i = 0; i < l->column_count; i++) {
		const struct column *c = &l->columns[i];
		double w = weights ? weights[c->weight] : 1;

		if (c->role < COLUMN_COUNT)
			continue;
		for (size_t v = 0; v < column_values(c); v++) {
			void *at = column_at(c, to, v);
			const void *more = column_at(c, from, v);

			if (c->role == COLUMN_MOST)
				take_most(c, at, more);
			else
				add_value(c, at, more, c->role == COLUMN_SQUARES ? w * w : w);
		}
	}
}

void table_row_scale(const struct table_layout *l, void *row, const double *scales)
{
	for (size_t i = 0; i < l->column_count; i++) {
		const struct column *c = &l->columns[i];
		double s = scales[c->weight];

		if (c->type != COLUMN_DOUBLE ||
		    (c->role != COLUMN_SUM && c->role != COLUMN_SQUARES))
			continue;
		for (size_t v = 0; v < column_values(c); v++)
			*(double *)column_at(c, row, v) *= c->role == COLUMN_SQUARES ? s * s : s;
	}
}
