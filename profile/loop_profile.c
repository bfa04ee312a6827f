#include "profile/loop_profile.h"

#include <errno.h>

#include "profile/tables.h"
#include "proto/limits.h"

/* Members of a row: no expressions. NOLINTBEGIN(bugprone-macro-parentheses) */
#define CPU_COLUMNS(row, sum)                           \
	COLUMN(row, sum.samples, .role = COLUMN_COUNT), \
	    COLUMN(row, sum.ns, .role = COLUMN_SUM, .weight = WEIGHT_LOOPS)

/* What is counted of turns is added up as it is. */
#define COUNTS_COLUMNS(counts)                                              \
	COLUMN(struct loop, counts.bursts, .role = COLUMN_COUNT),           \
	    COLUMN(struct loop, counts.turns, .role = COLUMN_SUM),          \
	    COLUMN(struct loop, counts.events, .role = COLUMN_SUM),         \
	    COLUMN(struct loop, counts.turns_squares, .role = COLUMN_SUM),  \
	    COLUMN(struct loop, counts.events_squares, .role = COLUMN_SUM), \
	    COLUMN(struct loop, counts.products, .role = COLUMN_SUM),       \
	    COLUMN(struct loop, counts.seen, .role = COLUMN_SUM)
/* NOLINTEND(bugprone-macro-parentheses) */

static const struct column row_columns[] = {
    COLUMN(struct loop, key.method, .role = COLUMN_ID, .table = TABLE_METHODS),
    COLUMN(struct loop, key.header),
    COLUMN(struct loop, key.line),
    COLUMN(struct loop, key.mapped),
    COLUMN(struct loop, key.recursion),
    COLUMN(struct loop, latch_bci, .role = COLUMN_MOST),
    CPU_COLUMNS(struct loop, own),
    CPU_COLUMNS(struct loop, within),
    COLUMNS(struct loop, type_ns, type_ns[0], .role = COLUMN_SUM, .weight = WEIGHT_LOOPS),
    COLUMNS(struct loop, doubt_ns, doubt_ns[0], .role = COLUMN_SUM, .weight = WEIGHT_LOOPS),
    COLUMN(struct loop, waits_ns, .role = COLUMN_SUM, .weight = WEIGHT_LOOPS),
    COLUMNS(struct loop, effect_ns, effect_ns[0], .role = COLUMN_SUM, .weight = WEIGHT_LOOPS),
    COLUMN(struct loop, unroll, .role = COLUMN_MOST),
    COLUMN(struct loop, bursts, .role = COLUMN_COUNT),
    COLUMN(struct loop, bursts_left, .role = COLUMN_COUNT),
    COLUMN(struct loop, bursts_least, .role = COLUMN_COUNT),
    COUNTS_COLUMNS(results),
    COUNTS_COLUMNS(entries),
    COLUMN(struct loop, lengths.read, .role = COLUMN_COUNT),
    COLUMN(struct loop, lengths.turns, .role = COLUMN_SUM),
    COLUMN(struct loop, lengths.squares, .role = COLUMN_SUM),
    COLUMN(struct loop, lengths.unsure, .role = COLUMN_SUM),
    COLUMN(struct loop, lengths.empty, .role = COLUMN_COUNT),
    COLUMN(struct loop, lengths.left, .role = COLUMN_COUNT),
    COLUMN(struct loop, pairs, .role = COLUMN_COUNT),
    COLUMN(struct loop, pairs_cut, .role = COLUMN_COUNT),
    COLUMN(struct loop, together.pairs, .role = COLUMN_COUNT),
    COLUMN(struct loop, together.sum, .role = COLUMN_SUM),
    COLUMN(struct loop, together.squares, .role = COLUMN_SUM),
    COLUMN(struct loop, turns.traces, .role = COLUMN_COUNT),
    COLUMN(struct loop, turns.tuples, .role = COLUMN_COUNT),
    COLUMN(struct loop, turns.distinct, .role = COLUMN_COUNT),
    COLUMN(struct loop, turns.turns, .role = COLUMN_SUM),
    COLUMN(struct loop, turns.estimated, .role = COLUMN_SUM),
    COLUMN(struct loop, turns.low, .role = COLUMN_SUM),
    COLUMN(struct loop, turns.high, .role = COLUMN_SUM),
};

/* What is counted is none, or at least one. */
static bool is_count(double value)
{
	return value == 0 || value >= 1;
}

/* Parts are in 0..1. */
static bool parts_are_valid(const struct repeat_sum *parts)
{
	return parts->sum <= (double)parts->pairs && parts->squares <= parts->sum;
}

static bool row_is_valid(const void *at)
{
	const struct loop *row = at;

	return is_count(row->results.turns) && is_count(row->results.events) &&
	       is_count(row->entries.turns) && is_count(row->entries.events) &&
	       is_count(row->turns.turns) && row->turns.low <= row->turns.high &&
	       parts_are_valid(&row->together);
}

const struct table_layout loop_row_layout = {
    TABLE_COLUMNS(row_columns),
    .row_size = sizeof(struct loop),
    .key_words = sizeof(struct loop_key) / sizeof(uint32_t),
    .limit = LIMIT_LOOPS,
    .is_valid = row_is_valid,
};

static const struct column context_columns[] = {
    COLUMN(struct loop_context, loop, .role = COLUMN_POSITION, .table = TABLE_LOOPS),
    COLUMN(struct loop_context, node, .role = COLUMN_ID, .table = TABLE_NODES),
    CPU_COLUMNS(struct loop_context, sum),
};

const struct table_layout loop_context_layout = {
    TABLE_COLUMNS(context_columns),
    .row_size = sizeof(struct loop_context),
    .key_words = 2,
    .limit = LIMIT_LOOP_CONTEXTS,
};

static const struct column place_columns[] = {
    COLUMN(struct loop_place, loop, .role = COLUMN_POSITION, .table = TABLE_LOOPS),
    COLUMN(struct loop_place, method, .role = COLUMN_ID, .table = TABLE_METHODS),
    COLUMN(struct loop_place, bci),
    COLUMN(struct loop_place, line),
    COLUMN(struct loop_place, result, .below = LOOP_RESULTS),
    COLUMN(struct loop_place, counted, .role = COLUMN_COUNT),
    COLUMN(struct loop_place, bursts, .role = COLUMN_COUNT),
};

const struct table_layout loop_place_layout = {
    TABLE_COLUMNS(place_columns),
    .row_size = sizeof(struct loop_place),
    .key_words = 5,
    .limit = LIMIT_LOOP_PLACES,
};

static const struct column input_columns[] = {
    COLUMN(struct loop_compared, loop, .role = COLUMN_POSITION, .table = TABLE_LOOPS),
    COLUMN(struct loop_compared, method, .role = COLUMN_ID, .table = TABLE_METHODS),
    COLUMN(struct loop_compared, bci),
    COLUMN(struct loop_compared, line),
    COLUMN(struct loop_compared, at),
    COLUMN(struct loop_compared, scalar),
    COLUMN(struct loop_compared, same.pairs, .role = COLUMN_COUNT),
    COLUMN(struct loop_compared, same.sum, .role = COLUMN_SUM),
    COLUMN(struct loop_compared, same.squares, .role = COLUMN_SUM),
};

static bool input_is_valid(const void *row)
{
	const struct loop_compared *input = row;

	return parts_are_valid(&input->same);
}

const struct table_layout loop_input_layout = {
    TABLE_COLUMNS(input_columns),
    .row_size = sizeof(struct loop_compared),
    .key_words = 6,
    .limit = LIMIT_LOOP_INPUTS,
    .is_valid = input_is_valid,
};

static const struct column sums_columns[] = {
    CPU_COLUMNS(struct loop_profile, compiled), CPU_COLUMNS(struct loop_profile, looked_at),
    CPU_COLUMNS(struct loop_profile, in_loops), CPU_COLUMNS(struct loop_profile, mapped),
    COLUMN(struct loop_profile, refused),
};

const struct table_layout loop_sums_layout = {
    TABLE_COLUMNS(sums_columns),
    .row_size = sizeof(struct loop_profile),
    .limit = 1,
};

void loop_profile_release(struct loop_profile *p)
{
	row_table_release(&p->row_table);
	row_table_release(&p->context_table);
	row_table_release(&p->place_table);
	row_table_release(&p->input_table);
	*p = (struct loop_profile){0};
}

/* As row_table_add; what is refused is counted. */
static int find_or_add(struct loop_profile *p, struct row_table *t, const struct table_layout *l,
		       const void *key, uint32_t *position)
{
	int r = row_table_add(t, l, key, position);

	if (r == -ENOSPC)
		p->refused++;
	return r;
}

int loop_profile_row(struct loop_profile *p, const struct loop_key *key, uint32_t *position)
{
	int r = find_or_add(p, &p->row_table, &loop_row_layout, key, position);

	if (r > 0)
		p->rows[*position].latch_bci = -1;
	return r < 0 ? r : 0;
}

int loop_profile_context(struct loop_profile *p, uint32_t loop, uint32_t node, uint32_t *position)
{
	const uint32_t key[2] = {loop, node};
	int r = find_or_add(p, &p->context_table, &loop_context_layout, key, position);

	return r < 0 ? r : 0;
}

int loop_profile_place(struct loop_profile *p, const struct loop_place *like, uint32_t *position)
{
	int r = find_or_add(p, &p->place_table, &loop_place_layout, like, position);

	return r < 0 ? r : 0;
}

static void link_input(struct loop_profile *p, uint32_t position)
{
	struct loop *row = &p->rows[p->inputs[position].loop];

	p->inputs[position].next = row->first_input;
	row->first_input = position + 1;
}

int loop_profile_input(struct loop_profile *p, const struct loop_compared *like, uint32_t *position)
{
	int r = find_or_add(p, &p->input_table, &loop_input_layout, like, position);

	if (r > 0)
		link_input(p, *position);
	return r < 0 ? r : 0;
}

void loop_profile_link(struct loop_profile *p)
{
	for (uint32_t i = 0; i < p->input_count; i++)
		link_input(p, i);
}

/* Where so many fewer are of a load than of the one with the most pairs, it is of code that hardly
 * runs any more, as when it was replaced: nothing to wait for. */
#define PAIRS_MIN_SHARE 20

static uint64_t most_pairs(const struct loop_profile *p, const struct loop *row)
{
	uint64_t most = 0;

	for (uint32_t i = row->first_input; i; i = p->inputs[i - 1].next)
		if (!p->inputs[i - 1].scalar && p->inputs[i - 1].same.pairs > most)
			most = p->inputs[i - 1].same.pairs;
	return most;
}

struct repeat_rate loop_profile_instances(const struct loop_profile *p, const struct loop *row,
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

enum loop_sameness loop_profile_sameness(const struct loop_profile *p, const struct loop *row)
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
