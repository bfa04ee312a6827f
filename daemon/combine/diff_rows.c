#include "daemon/combine/diff_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "daemon/container/hash.h"
#include "common/saturate.h"

void diff_sums_release(struct diff_sums_table *t)
{
	free(t->sums);
	hash_index_release(&t->index);
	*t = (struct diff_sums_table){0};
}

static bool matches(const void *table, uint32_t position, const void *key)
{
	const struct diff_sums_table *t = table;

	return memcmp(&t->sums[position].key, key, sizeof(struct diff_key)) == 0;
}

static bool find(const struct diff_sums_table *t, const struct diff_key *key, uint32_t *position)
{
	return hash_index_find(&t->index, hash_bytes(key, sizeof(*key)), matches, t, key, position);
}

static int find_or_add(struct diff_sums_table *t, const struct diff_key *key,
		       struct diff_sums **out)
{
	uint32_t position;
	int r;

	if (find(t, key, &position)) {
		*out = &t->sums[position];
		return 0;
	}
	r = array_reserve(&t->sums, &t->capacity, t->count + 1, sizeof(*t->sums));
	if (r == 0)
		r = hash_index_insert(&t->index, hash_bytes(key, sizeof(*key)), (uint32_t)t->count);
	if (r < 0)
		return r;
	t->sums[t->count] = (struct diff_sums){.key = *key};
	*out = &t->sums[t->count++];
	return 0;
}

static void add_part(struct share_part *to, const struct share_part *part)
{
	to->sum += part->sum;
	to->squares += part->squares;
	to->products += part->products;
	saturate_add(&to->count, part->count);
	for (unsigned i = 0; i < MERGED_BATCHES; i++)
		to->by_batch[i] += part->by_batch[i];
}

/* ---------------------------------------------------------------- what windows have */

/* A pair or a site of a window: where it belongs, and its part of the kind's whole. */
struct entry {
	unsigned kind;
	unsigned side;
	struct diff_key row;
	uint32_t watch_node; /* of the diff's names */
	uint32_t trap_node;
	struct share_part part;
};

/* 0 or -ENOMEM, which ends it. */
typedef int entry_fn(void *context, const struct entry *e);

static uint32_t leaf_method(const struct diff *d, uint32_t node)
{
	return cct_node_method(&d->names.cct, node);
}

static void set_batches(struct share_part *part, double (*batches)[MERGED_BATCHES], size_t position)
{
	memcpy(part->by_batch, batches[position], sizeof(part->by_batch));
}

static int each_pair(const struct diff *d, unsigned kind, unsigned side,
		     const struct names_map *map, entry_fn *fn, void *context)
{
	const struct window_result *w = d->side[side];
	int r = 0;

	for (size_t i = 0; i < w->profile.pair_count && r == 0; i++) {
		const struct pair *pair = &w->profile.pairs[i];
		double squares = (double)pair->wasteful_squares;
		struct entry e = {.kind = kind,
				  .side = side,
				  .watch_node = map->nodes[pair->watch_node],
				  .trap_node = map->nodes[pair->trap_node],
				  .part = {.sum = (double)pair->wasteful_bytes,
					   .squares = squares,
					   .products = squares, /* y is 0 or x. */
					   .count = pair->wasteful_count}};

		if (pair->kind != d->kinds[kind].pairs->kind || pair->wasteful_bytes == 0)
			continue;
		e.row = (struct diff_key){kind, leaf_method(d, e.watch_node),
					  leaf_method(d, e.trap_node)};
		if (w->merged)
			set_batches(&e.part, w->merged->pairs, i);
		r = fn(context, &e);
	}
	return r;
}

static int each_site(struct diff *d, unsigned kind, unsigned side, const struct names_map *map,
		     entry_fn *fn, void *context)
{
	const struct window_result *w = d->side[side];
	bool estimated = object_profile_is_overestimated(&w->objects);
	int r = 0;

	for (size_t i = 0; i < w->objects.site_count && r == 0; i++) {
		const struct object_site *s = &w->objects.sites[i];
		struct entry e = {.kind = kind,
				  .side = side,
				  .watch_node = map->nodes[s->node],
				  .part = {.sum = s->metric,
					   .squares = s->variance,
					   .products = estimated ? s->variance : s->covariance,
					   .count = s->samples}};
		uint32_t name = 0;

		if (s->samples == 0)
			continue;
		r = names_class(&d->names, &w->profile, s->class_name, &name, d->losses);
		if (r < 0)
			break;
		e.row = (struct diff_key){kind, name, leaf_method(d, e.watch_node)};
		if (w->merged)
			set_batches(&e.part, w->merged->sites, i);
		r = fn(context, &e);
	}
	return r;
}

static int each_entry(struct diff *d, const struct names_map maps[2], entry_fn *fn, void *context)
{
	int r = 0;

	for (unsigned kind = 0; kind < d->kind_count; kind++) {
		if (!d->kinds[kind].compared)
			continue;
		for (unsigned side = 0; side < 2 && r == 0; side++)
			r = (d->kinds[kind].pairs)
				? each_pair(d, kind, side, &maps[side], fn, context)
				: each_site(d, kind, side, &maps[side], fn, context);
	}
	return r;
}

/* ---------------------------------------------------------------- collecting */

static int add_to_row(void *context, const struct entry *e)
{
	struct diff_sums *sums;
	int r = find_or_add(context, &e->row, &sums);

	if (r == 0)
		add_part(&sums->part[e->side], &e->part);
	return r;
}

int diff_collect_rows(struct diff_sums_table *rows, struct diff *d, const struct names_map maps[2])
{
	return each_entry(d, maps, add_to_row, rows);
}

struct context_collector {
	struct diff_sums_table *contexts;
	const struct diff_sums_table *rows;
	const uint32_t *place;
};

static int add_to_context(void *context, const struct entry *e)
{
	struct context_collector *c = context;
	struct diff_key key = {0, e->watch_node, e->trap_node};
	struct diff_sums *sums;
	uint32_t position;
	int r;

	if (!find(c->rows, &e->row, &position) || c->place[position] == DIFF_NO_PLACE)
		return 0;
	key.owner = c->place[position];
	r = find_or_add(c->contexts, &key, &sums);
	if (r == 0)
		add_part(&sums->part[e->side], &e->part);
	return r;
}

int diff_collect_contexts(struct diff_sums_table *contexts, struct diff *d,
			  const struct names_map maps[2], const struct diff_sums_table *rows,
			  const uint32_t *place)
{
	struct context_collector c = {contexts, rows, place};

	return each_entry(d, maps, add_to_context, &c);
}
