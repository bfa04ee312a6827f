#include "daemon/profile/loop_profile.h"

#include <errno.h>
#include <stdlib.h>

#include "common/array.h"
#include "daemon/container/hash.h"
#include "common/saturate.h"
#include "proto/limits.h"

void loop_profile_release(struct loop_profile *p)
{
	free(p->rows);
	free(p->contexts);
	free(p->places);
	free(p->inputs);
	hash_index_release(&p->row_index);
	hash_index_release(&p->context_index);
	hash_index_release(&p->place_index);
	hash_index_release(&p->input_index);
	*p = (struct loop_profile){0};
}

int loop_profile_copy(struct loop_profile *to, const struct loop_profile *from)
{
	int r;

	*to = *from;
	to->row_capacity = from->row_count;
	to->context_capacity = from->context_count;
	to->place_capacity = from->place_count;
	to->input_capacity = from->input_count;
	to->row_index = to->context_index = to->place_index = to->input_index =
	    (struct hash_index){0};
	to->contexts = NULL;
	to->places = NULL;
	to->inputs = NULL;
	r = array_copy(&to->rows, from->rows, from->row_count, sizeof(*from->rows));
	if (r == 0)
		r = array_copy(&to->contexts, from->contexts, from->context_count,
			       sizeof(*from->contexts));
	if (r == 0)
		r = array_copy(&to->places, from->places, from->place_count, sizeof(*from->places));
	if (r == 0)
		r = array_copy(&to->inputs, from->inputs, from->input_count, sizeof(*from->inputs));
	return r;
}

/* A table, and how its rows are found. */
struct table {
	void *items; /* address of the array */
	size_t *count, *capacity;
	struct hash_index *index;
	size_t limit, item_size;
	hash_index_match *matches;
};

/* *added is set where the item is new, and then its memory is not set. */
static int find_or_add(const struct table *t, uint32_t hash, const void *key, uint32_t *position,
		       bool *added)
{
	int r;

	*added = false;
	if (hash_index_find(t->index, hash, t->matches, *(void **)t->items, key, position))
		return 0;
	if (*t->count >= t->limit)
		return -ENOSPC;
	r = array_reserve(t->items, t->capacity, *t->count + 1, t->item_size);
	if (r == 0)
		r = hash_index_insert(t->index, hash, (uint32_t)*t->count);
	if (r < 0)
		return r;
	*position = (uint32_t)(*t->count)++;
	*added = true;
	return 0;
}

static int refuse(struct loop_profile *p, int r)
{
	if (r == -ENOSPC)
		p->refused++;
	return r;
}

static bool row_matches(const void *table, uint32_t position, const void *key)
{
	const struct loop_row *rows = table;
	const struct loop_key *a = &rows[position].key, *b = key;

	return a->method == b->method && a->mapped == b->mapped && a->header == b->header &&
	       a->line == b->line && a->recursion == b->recursion;
}

int loop_profile_row(struct loop_profile *p, const struct loop_key *key, uint32_t *position)
{
	const struct table t = {.items = &p->rows,
				.count = &p->row_count,
				.capacity = &p->row_capacity,
				.index = &p->row_index,
				.limit = LIMIT_LOOPS,
				.item_size = sizeof(*p->rows),
				.matches = row_matches};
	uint32_t ids[] = {key->method,
			  key->header ^ (key->mapped ? 1u << 31 : 0) ^
			      (key->recursion ? 1u << 30 : 0),
			  (uint32_t)key->line};
	bool added;
	int r = find_or_add(&t, hash_ids(ids, 3), key, position, &added);

	if (r == 0 && added)
		p->rows[*position] = (struct loop_row){.key = *key, .latch_bci = -1};
	return refuse(p, r);
}

static bool context_matches(const void *table, uint32_t position, const void *key)
{
	const struct loop_context *contexts = table;
	const uint32_t *ids = key;

	return contexts[position].loop == ids[0] && contexts[position].node == ids[1];
}

int loop_profile_context(struct loop_profile *p, uint32_t loop, uint32_t node, uint32_t *position)
{
	const struct table t = {.items = &p->contexts,
				.count = &p->context_count,
				.capacity = &p->context_capacity,
				.index = &p->context_index,
				.limit = LIMIT_LOOP_CONTEXTS,
				.item_size = sizeof(*p->contexts),
				.matches = context_matches};
	uint32_t ids[] = {loop, node};
	bool added;
	int r = find_or_add(&t, hash_ids(ids, 2), ids, position, &added);

	if (r == 0 && added)
		p->contexts[*position] = (struct loop_context){.loop = loop, .node = node};
	return refuse(p, r);
}

static bool place_matches(const void *table, uint32_t position, const void *key)
{
	const struct loop_place *places = table, *a = &places[position], *b = key;

	return a->loop == b->loop && a->method == b->method && a->bci == b->bci &&
	       a->line == b->line && a->result == b->result;
}

int loop_profile_place(struct loop_profile *p, const struct loop_place *like, uint32_t *position)
{
	const struct table t = {.items = &p->places,
				.count = &p->place_count,
				.capacity = &p->place_capacity,
				.index = &p->place_index,
				.limit = LIMIT_LOOP_PLACES,
				.item_size = sizeof(*p->places),
				.matches = place_matches};
	uint32_t ids[] = {like->loop, like->method,
			  (uint32_t)like->bci ^ (uint32_t)like->result << 28};
	bool added;
	int r = find_or_add(&t, hash_ids(ids, 3), like, position, &added);

	if (r == 0 && added)
		p->places[*position] = (struct loop_place){.loop = like->loop,
							   .method = like->method,
							   .bci = like->bci,
							   .line = like->line,
							   .result = like->result};
	return refuse(p, r);
}

static bool input_matches(const void *table, uint32_t position, const void *key)
{
	const struct loop_compared *inputs = table, *a = &inputs[position], *b = key;

	return a->loop == b->loop && a->scalar == b->scalar && a->method == b->method &&
	       a->bci == b->bci && a->line == b->line && a->at == b->at;
}

int loop_profile_input(struct loop_profile *p, const struct loop_compared *like, uint32_t *position)
{
	const struct table t = {.items = &p->inputs,
				.count = &p->input_count,
				.capacity = &p->input_capacity,
				.index = &p->input_index,
				.limit = LIMIT_LOOP_INPUTS,
				.item_size = sizeof(*p->inputs),
				.matches = input_matches};
	uint32_t ids[] = {like->loop, like->method ^ (like->scalar ? 1u << 31 : 0),
			  (uint32_t)like->bci ^ like->at << 16};
	struct loop_row *row = &p->rows[like->loop];
	bool added;
	int r = find_or_add(&t, hash_ids(ids, 3), like, position, &added);

	if (r == 0 && added) {
		p->inputs[*position] = *like;
		p->inputs[*position].same = (struct repeat_sum){0};
		p->inputs[*position].next = row->first_input;
		row->first_input = *position + 1;
	}
	return refuse(p, r);
}

/* Of the load with the most pairs, so many are of code that hardly runs any more, as when it was
 * replaced: nothing to wait for. */
#define PAIRS_MIN_SHARE 20

static uint64_t most_pairs(const struct loop_profile *p, const struct loop_row *row)
{
	uint64_t most = 0;

	for (uint32_t i = row->first_input; i; i = p->inputs[i - 1].next)
		if (!p->inputs[i - 1].scalar && p->inputs[i - 1].same.pairs > most)
			most = p->inputs[i - 1].same.pairs;
	return most;
}

struct repeat_rate loop_profile_instances(const struct loop_profile *p, const struct loop_row *row,
					  double times)
{
	uint64_t least = most_pairs(p, row) / PAIRS_MIN_SHARE;
	struct repeat_inputs in = {0};

	for (uint32_t i = row->first_input; i; i = p->inputs[i - 1].next) {
		const struct loop_compared *input = &p->inputs[i - 1];

		if (input->scalar)
			repeat_inputs_scalar(&in, &input->same);
		else if (input->same.pairs > least)
			repeat_inputs_load(&in, &input->same, times);
	}
	return repeat_inputs_rate(&in, &row->together, times);
}

enum loop_sameness loop_profile_sameness(const struct loop_profile *p, const struct loop_row *row)
{
	uint64_t least = most_pairs(p, row) / PAIRS_MIN_SHARE;
	enum loop_sameness found = LOOP_SAME;

	for (uint32_t i = row->first_input; i; i = p->inputs[i - 1].next) {
		const struct repeat_sum *same = &p->inputs[i - 1].same;
		double pairs = (double)same->pairs;

		if (same->pairs <= least || same->sum >= 0.5 * pairs)
			continue;
		if (wilson_ci95(same->sum / pairs, pairs).high < 0.5)
			return LOOP_SAME_NOT;
		found = LOOP_SAME_NOT_SURE;
	}
	return found;
}

void loop_counts_burst(struct loop_counts *c, double turns, double counted, unsigned counted_places,
		       unsigned all_places)
{
	double events;

	if (counted_places == 0)
		return;
	events = counted * all_places / counted_places;
	c->bursts++;
	c->turns += turns;
	c->events += events;
	c->turns_squares += turns * turns;
	c->events_squares += events * events;
	c->products += turns * events;
	c->seen += turns * counted_places / all_places;
}

void loop_counts_add(struct loop_counts *to, const struct loop_counts *from)
{
	saturate_add(&to->bursts, from->bursts);
	to->turns += from->turns;
	to->events += from->events;
	to->turns_squares += from->turns_squares;
	to->events_squares += from->events_squares;
	to->products += from->products;
	to->seen += from->seen;
}

void loop_lengths_add(struct loop_lengths *to, const struct loop_lengths *from)
{
	saturate_add(&to->read, from->read);
	saturate_add(&to->empty, from->empty);
	saturate_add(&to->left, from->left);
	to->turns += from->turns;
	to->squares += from->squares;
	to->unsure += from->unsure;
}

void loop_row_add(struct loop_row *to, const struct loop_row *from, double weight)
{
	cpu_sum_add(&to->own, &from->own, weight);
	cpu_sum_add(&to->within, &from->within, weight);
	for (size_t i = 0; i < LOOP_TYPES; i++)
		to->type_ns[i] += weight * from->type_ns[i];
	for (size_t i = 0; i < LOOP_DOUBTS; i++)
		to->doubt_ns[i] += weight * from->doubt_ns[i];
	to->waits_ns += weight * from->waits_ns;
	for (size_t i = 0; i < LOOP_EFFECTS; i++)
		to->effect_ns[i] += weight * from->effect_ns[i];
	if (from->latch_bci > to->latch_bci)
		to->latch_bci = from->latch_bci;
	if (from->unroll > to->unroll)
		to->unroll = from->unroll;
	saturate_add(&to->bursts, from->bursts);
	saturate_add(&to->bursts_left, from->bursts_left);
	saturate_add(&to->bursts_least, from->bursts_least);
	loop_counts_add(&to->results, &from->results);
	loop_counts_add(&to->entries, &from->entries);
	loop_lengths_add(&to->lengths, &from->lengths);
	saturate_add(&to->pairs, from->pairs);
	saturate_add(&to->pairs_cut, from->pairs_cut);
	repeat_sum_merge(&to->together, &from->together);
	turn_sums_merge(&to->turns, &from->turns);
}

static size_t index_bytes(const struct hash_index *index)
{
	return index->capacity * sizeof(struct hash_slot);
}

size_t loop_profile_memory_bytes(const struct loop_profile *p)
{
	return p->row_capacity * sizeof(*p->rows) + p->context_capacity * sizeof(*p->contexts) +
	       p->place_capacity * sizeof(*p->places) + p->input_capacity * sizeof(*p->inputs) +
	       index_bytes(&p->row_index) + index_bytes(&p->context_index) +
	       index_bytes(&p->place_index) + index_bytes(&p->input_index);
}
