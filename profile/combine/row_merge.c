#include "profile/combine/row_merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/saturate.h"

/* ---------------------------------------------------------------- finding a row's place */

static int find_row_of_loop(struct window_result *to, const void *key, uint32_t *position)
{
	return loop_profile_row(&to->loops, key, position);
}

static int find_context_of_loop(struct window_result *to, const void *key, uint32_t *position)
{
	const struct loop_context *like = key;

	return loop_profile_context(&to->loops, like->loop, like->node, position);
}

static int find_place_of_loop(struct window_result *to, const void *key, uint32_t *position)
{
	return loop_profile_place(&to->loops, key, position);
}

static int find_input_of_loop(struct window_result *to, const void *key, uint32_t *position)
{
	return loop_profile_input(&to->loops, key, position);
}

static int find_stratum(struct window_result *to, const void *key, uint32_t *position)
{
	const struct stratum *like = key;

	return strata_find(&to->objects.strata, like->class_name, like->size_class,
			   like->weight_class, position);
}

static int find_class_field(struct window_result *to, const void *key, uint32_t *position)
{
	const struct class_field *like = key;

	return class_profile_field(&to->objects.classes, like->class_name, like->location,
				   position);
}

/* What of a table is another table's business, too. */
static const struct {
	/* Instead of row_table_add: counts what is refused, and -ENOSPC then is no more than that.
	 */
	int (*find)(struct window_result *to, const void *key, uint32_t *position);
	/* Where a row for which there is no room is counted, with its observations; 0: in find. */
	size_t refused;
	bool refused_rows; /* or as one */
	bool apart;        /* it is not added up by itself, or by nobody */
	bool needs_node;   /* a context that there was no room for is not called from nowhere */
} ways[PROFILE_TABLES] = {
#define REFUSED(member) .refused = offsetof(struct window_result, member)
    [TABLE_METHODS] = {.apart = true}, /* profile/combine/names.h */
    [TABLE_NODES] = {.apart = true},
    [TABLE_LOCATIONS] = {.apart = true},
    [TABLE_PAIRS] = {REFUSED(losses[LOSS_PAIRS])},
    [TABLE_CPU_CONTEXTS] = {REFUSED(cpu.refused), .needs_node = true},
    [TABLE_THREADS] = {.apart = true},
    [TABLE_SITES] = {REFUSED(losses[LOSS_SITES])},
    [TABLE_SITE_ACCESSES] = {REFUSED(losses[LOSS_SITE_ACCESSES])},
    [TABLE_STRATA] = {.find = find_stratum},
    [TABLE_STRATUM_SITES] = {REFUSED(objects.strata.refused)},
    [TABLE_CLASS_FIELDS] = {.find = find_class_field},
    [TABLE_CLASS_ACCESSES] = {REFUSED(objects.classes.refused)},
    [TABLE_NUMA_SITES] = {REFUSED(numa.sites_dropped), .refused_rows = true},
    [TABLE_LOOPS] = {.find = find_row_of_loop},
    [TABLE_LOOP_CONTEXTS] = {.find = find_context_of_loop, .needs_node = true},
    [TABLE_LOOP_PLACES] = {.find = find_place_of_loop},
    [TABLE_LOOP_INPUTS] = {.find = find_input_of_loop},
    [TABLE_EFFECTS] = {.apart = true},
    [TABLE_EFFECT_FIRST] = {.apart = true},
    [TABLE_EFFECT_LAST] = {.apart = true},
    [TABLE_EFFECT_HEAPS] = {.apart = true},
    [TABLE_SHARING] = {REFUSED(losses[LOSS_SITE_ACCESSES])},
};

bool row_merge_needs_node(size_t table)
{
	return ways[table].needs_node;
}

static int map_name(struct row_merge *m, const struct column *c, uint32_t *id)
{
	struct profile *to = &m->to->profile;
	const struct profile *from = &m->from->profile;

	return c->role == COLUMN_CLASS ? names_class(to, from, *id, id, m->to->losses)
				       : names_text(to, from, *id, id, m->to->losses);
}

static uint32_t map_id(const struct row_merge *m, const struct column *c, uint32_t id)
{
	switch (c->table) {
	case TABLE_METHODS:
		return m->map->methods[id];
	case TABLE_NODES:
		return m->map->nodes[id];
	default:
		return m->map->locations[id];
	}
}

/* Makes of a key of from, in *key, that of to. 1; 0 where to has no room for what it is of;
 * -ENOMEM.
 */
static int map_key(struct row_merge *m, size_t number, void *key)
{
	const struct table_layout *l = window_tables[number].layout;

	for (size_t i = 0; i < l->column_count; i++) {
		const struct column *c = &l->columns[i];
		uint32_t *id = column_at(c, key, 0), was;
		int r = 0;

		if (c->offset >= l->key_words * sizeof(uint32_t) || c->role == COLUMN_VALUE)
			continue;
		was = *id;
		if (c->role == COLUMN_POSITION)
			*id = m->positions[c->table][was];
		else if (c->role == COLUMN_ID)
			*id = map_id(m, c, was);
		else
			r = map_name(m, c, id);
		if (r < 0)
			return r;
		if (c->role == COLUMN_POSITION && *id == ROW_MERGE_NONE)
			return 0;
		if (c->table == TABLE_NODES && ways[number].needs_node && was && !*id)
			return 0;
	}
	return 1;
}

/* The observations of the first column that counts some. */
static uint64_t observations_of(const struct table_layout *l, const void *row)
{
	uint64_t sum = 0;
	size_t i = 0;

	while (i < l->column_count && l->columns[i].role != COLUMN_COUNT)
		i++;
	for (size_t v = 0; i < l->column_count && v < column_values(&l->columns[i]); v++)
		saturate_add(&sum, *(const uint64_t *)column_at(&l->columns[i], row, v));
	return sum;
}

void row_merge_cut(struct window_result *w, size_t table, uint64_t observations)
{
	uint64_t *refused = (uint64_t *)((char *)w + ways[table].refused);

	if (ways[table].refused)
		saturate_add(refused, observations);
}

static void refuse(struct window_result *to, size_t number, const void *row)
{
	row_merge_cut(
	    to, number,
	    ways[number].refused_rows ? 1 : observations_of(window_tables[number].layout, row));
}

/* row: what is refused is counted by it. */
static int find_key(struct window_result *to, size_t number, const void *key, const void *row,
		    uint32_t *position)
{
	const struct table_layout *l = window_tables[number].layout;
	int r = ways[number].find ? ways[number].find(to, key, position)
				  : row_table_add(window_table_of(to, number), l, key, position);

	if (r == -ENOSPC)
		refuse(to, number, row);
	return r > 0 ? 0 : r;
}

int row_merge_find(struct window_result *w, size_t table, const void *key, uint32_t *position)
{
	return find_key(w, table, key, key, position);
}

static int find(struct row_merge *m, size_t number, const void *row, uint32_t *position)
{
	uint32_t key[HASH_IDS_MAX] = {0};
	const struct table_layout *l = window_tables[number].layout;
	int r;

	*position = ROW_MERGE_NONE;
	memcpy(key, row, l->key_words * sizeof(key[0]));
	r = map_key(m, number, key);
	if (r <= 0)
		return r;
	r = find_key(m->to, number, key, row, position);
	if (r == -ENOSPC)
		*position = ROW_MERGE_NONE;
	return r == -ENOMEM ? r : 0;
}

/* ---------------------------------------------------------------- adding */

static int add_table(struct row_merge *m, size_t number)
{
	const struct table_layout *l = window_tables[number].layout;
	const struct row_table *from = window_table_of(m->from, number);
	struct row_table *to = window_table_of(m->to, number);
	uint32_t *positions = calloc(from->count + 1, sizeof(*positions));

	m->positions[number] = positions;
	if (!positions)
		return -ENOMEM;
	for (size_t i = 0; i < from->count; i++) {
		const char *row = (const char *)from->rows + i * l->row_size;
		int r = find(m, number, row, &positions[i]);

		if (r < 0)
			return r;
		if (positions[i] != ROW_MERGE_NONE)
			table_row_add(l, (char *)to->rows + positions[i] * l->row_size, row,
				      m->weights);
	}
	return 0;
}

/* Ticks whose context there was no room for. */
static void add_lost(struct row_merge *m)
{
	const struct cpu_profile *from = &m->from->cpu;

	for (size_t i = 0; i < from->context_count; i++) {
		struct cpu_sum sum = cpu_context_sum(&from->contexts[i]);

		if (!m->map->nodes[from->contexts[i].node])
			cpu_sum_add(&m->to->cpu.lost, &sum, m->weights[WEIGHT_CPU]);
	}
}

int row_merge_add(struct row_merge *m)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < PROFILE_TABLES; i++) {
		const struct table_layout *l = window_tables[i].layout;

		if (ways[i].apart)
			continue;
		if (window_tables[i].rows == 0)
			r = add_table(m, i);
		for (size_t row = 0; row < window_tables[i].rows; row++)
			table_row_add(l, (char *)window_rows_of(m->to, i) + row * l->row_size,
				      (char *)window_rows_of(m->from, i) + row * l->row_size,
				      m->weights);
	}
	add_lost(m);
	return r;
}

void row_merge_release(struct row_merge *m)
{
	for (size_t i = 0; i < PROFILE_TABLES; i++)
		free(m->positions[i]);
	*m = (struct row_merge){0};
}

void row_merge_scale(struct window_result *w, const double *scales)
{
	for (size_t i = 0; i < PROFILE_TABLES; i++) {
		const struct window_table *t = &window_tables[i];
		const struct row_table *table = window_table_of(w, i);
		char *rows = t->rows ? window_rows_of(w, i) : table->rows;
		size_t count = t->rows ? t->rows : table->count;

		for (size_t row = 0; row < count; row++)
			table_row_scale(t->layout, rows + row * t->layout->row_size, scales);
	}
}
