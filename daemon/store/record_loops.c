#include "daemon/store/record_parts.h"

#include <errno.h>

/* Ticks in compiled code: all, looked at, in loops, mapped. */
#define SUMS 4

/* What no agent can have said, and of which still any sum is a number. */
#define SUM_MAX 0x1p200

/* ---------------------------------------------------------------- packing */

static bool pack_counts(struct arena *a, const struct loop_counts *c, Jxp__StoredLoopCounts **out)
{
	Jxp__StoredLoopCounts *m = record_allocate(a, 1, sizeof(*m));

	if (!m)
		return false;
	jxp__stored_loop_counts__init(m);
	m->bursts = c->bursts;
	m->turns = c->turns;
	m->events = c->events;
	m->turns_squares = c->turns_squares;
	m->events_squares = c->events_squares;
	m->products = c->products;
	m->seen = c->seen;
	*out = m;
	return true;
}

static bool pack_turns(struct arena *a, const struct turn_sums *t, Jxp__StoredTurns **out)
{
	Jxp__StoredTurns *m = record_allocate(a, 1, sizeof(*m));

	if (!m)
		return false;
	jxp__stored_turns__init(m);
	m->traces = t->traces;
	m->tuples = t->tuples;
	m->distinct = t->distinct;
	m->turns = t->turns;
	m->estimated = t->estimated;
	m->low = t->low;
	m->high = t->high;
	*out = m;
	return true;
}

/* What is done again. */
static bool pack_repeats(struct arena *a, const struct loop_row *row, Jxp__StoredLoop *m)
{
	if (!RECORD_COLUMN(a, m, effect_ns, LOOP_EFFECTS))
		return false;
	for (size_t i = 0; i < LOOP_EFFECTS; i++)
		m->effect_ns[i] = row->effect_ns[i];
	m->pairs = row->pairs;
	m->pairs_cut = row->pairs_cut;
	m->scalar_pairs = row->together.pairs;
	m->scalar_sum = row->together.sum;
	m->scalar_squares = row->together.squares;
	return row->turns.tuples == 0 || pack_turns(a, &row->turns, &m->turns);
}

static bool pack_lengths(struct arena *a, const struct loop_lengths *l,
			 Jxp__StoredLoopLengths **out)
{
	Jxp__StoredLoopLengths *m;

	if (l->read == 0 && l->empty == 0 && l->left == 0)
		return true;
	m = record_allocate(a, 1, sizeof(*m));
	if (!m)
		return false;
	jxp__stored_loop_lengths__init(m);
	m->read = l->read;
	m->turns = l->turns;
	m->squares = l->squares;
	m->unsure = l->unsure;
	m->empty = l->empty;
	m->left = l->left;
	*out = m;
	return true;
}

static int pack_row(struct arena *a, const struct loop_row *row, Jxp__StoredLoop *m)
{
	jxp__stored_loop__init(m);
	if (!RECORD_COLUMN(a, m, type_ns, LOOP_TYPES) ||
	    !RECORD_COLUMN(a, m, doubt_ns, LOOP_DOUBTS) ||
	    !pack_counts(a, &row->results, &m->results) ||
	    !pack_counts(a, &row->entries, &m->entries) ||
	    !pack_lengths(a, &row->lengths, &m->lengths) || !pack_repeats(a, row, m))
		return -ENOMEM;
	for (size_t i = 0; i < LOOP_TYPES; i++)
		m->type_ns[i] = row->type_ns[i];
	for (size_t i = 0; i < LOOP_DOUBTS; i++)
		m->doubt_ns[i] = row->doubt_ns[i];
	m->method = row->key.method;
	m->mapped = row->key.mapped;
	m->recursion = row->key.recursion;
	m->header = row->key.header;
	m->line = row->key.line;
	m->latch_bci = row->latch_bci;
	m->own_samples = row->own.samples;
	m->own_ns = row->own.ns;
	m->within_samples = row->within.samples;
	m->within_ns = row->within.ns;
	m->waits_ns = row->waits_ns;
	m->unroll = row->unroll;
	m->bursts = row->bursts;
	m->bursts_left = row->bursts_left;
	m->bursts_least = row->bursts_least;
	return 0;
}

static int pack_rows(struct arena *a, const struct loop_profile *l, Jxp__StoredLoops *m)
{
	Jxp__StoredLoop *rows = record_allocate(a, l->row_count, sizeof(*rows));
	int r = 0;

	if (!rows || !RECORD_COLUMN(a, m, loops, l->row_count))
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < l->row_count; i++) {
		m->loops[i] = &rows[i];
		r = pack_row(a, &l->rows[i], &rows[i]);
	}
	return r;
}

static int pack_contexts(struct arena *a, const struct loop_profile *l, Jxp__StoredLoops *m)
{
	size_t count = l->context_count;

	if (!RECORD_COLUMN(a, m, context_loop, count) ||
	    !RECORD_COLUMN(a, m, context_node, count) ||
	    !RECORD_COLUMN(a, m, context_samples, count) || !RECORD_COLUMN(a, m, context_ns, count))
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		m->context_loop[i] = l->contexts[i].loop;
		m->context_node[i] = l->contexts[i].node;
		m->context_samples[i] = l->contexts[i].sum.samples;
		m->context_ns[i] = l->contexts[i].sum.ns;
	}
	return 0;
}

static int pack_places(struct arena *a, const struct loop_profile *l, Jxp__StoredLoops *m)
{
	size_t count = l->place_count;

	if (!RECORD_COLUMN(a, m, place_loop, count) || !RECORD_COLUMN(a, m, place_method, count) ||
	    !RECORD_COLUMN(a, m, place_bci, count) || !RECORD_COLUMN(a, m, place_line, count) ||
	    !RECORD_COLUMN(a, m, place_result, count) ||
	    !RECORD_COLUMN(a, m, place_counted, count) || !RECORD_COLUMN(a, m, place_bursts, count))
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		m->place_loop[i] = l->places[i].loop;
		m->place_method[i] = l->places[i].method;
		m->place_bci[i] = l->places[i].bci;
		m->place_line[i] = l->places[i].line;
		m->place_result[i] = l->places[i].result;
		m->place_counted[i] = l->places[i].counted;
		m->place_bursts[i] = l->places[i].bursts;
	}
	return 0;
}

static int pack_inputs(struct arena *a, const struct loop_profile *l, Jxp__StoredLoops *m)
{
	size_t count = l->input_count;

	if (!RECORD_COLUMN(a, m, input_loop, count) || !RECORD_COLUMN(a, m, input_scalar, count) ||
	    !RECORD_COLUMN(a, m, input_method, count) || !RECORD_COLUMN(a, m, input_bci, count) ||
	    !RECORD_COLUMN(a, m, input_line, count) || !RECORD_COLUMN(a, m, input_at, count) ||
	    !RECORD_COLUMN(a, m, input_pairs, count) || !RECORD_COLUMN(a, m, input_sum, count) ||
	    !RECORD_COLUMN(a, m, input_squares, count))
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		m->input_loop[i] = l->inputs[i].loop;
		m->input_scalar[i] = l->inputs[i].scalar;
		m->input_method[i] = l->inputs[i].method;
		m->input_bci[i] = l->inputs[i].bci;
		m->input_line[i] = l->inputs[i].line;
		m->input_at[i] = l->inputs[i].at;
		m->input_pairs[i] = l->inputs[i].same.pairs;
		m->input_sum[i] = l->inputs[i].same.sum;
		m->input_squares[i] = l->inputs[i].same.squares;
	}
	return 0;
}

int record_pack_loops(struct arena *a, const struct loop_profile *l, Jxp__StoredLoops *m)
{
	const struct cpu_sum *sums[SUMS] = {&l->compiled, &l->looked_at, &l->in_loops, &l->mapped};
	int r;

	jxp__stored_loops__init(m);
	if (!RECORD_COLUMN(a, m, samples, SUMS) || !RECORD_COLUMN(a, m, ns, SUMS))
		return -ENOMEM;
	for (size_t i = 0; i < SUMS; i++) {
		m->samples[i] = sums[i]->samples;
		m->ns[i] = sums[i]->ns;
	}
	m->refused = l->refused;
	r = pack_rows(a, l, m);
	if (r == 0)
		r = pack_contexts(a, l, m);
	if (r == 0)
		r = pack_places(a, l, m);
	return r < 0 ? r : pack_inputs(a, l, m);
}

/* ---------------------------------------------------------------- unpacking */

static bool is_sum(double value)
{
	return record_is_sum(value) && value < SUM_MAX;
}

/* What is counted is none, or at least one. */
static bool is_count(double value)
{
	return is_sum(value) && (value == 0 || value >= 1);
}

static bool unpack_counts(const Jxp__StoredLoopCounts *m, struct loop_counts *c)
{
	if (!m)
		return true;
	*c = (struct loop_counts){.bursts = m->bursts,
				  .turns = m->turns,
				  .events = m->events,
				  .turns_squares = m->turns_squares,
				  .events_squares = m->events_squares,
				  .products = m->products,
				  .seen = m->seen};
	return is_count(c->turns) && is_count(c->events) && is_sum(c->turns_squares) &&
	       is_sum(c->events_squares) && is_sum(c->products) && is_sum(c->seen);
}

/* Of parts in 0..1. */
static bool unpack_parts(uint64_t pairs, double sum, double squares, struct repeat_sum *out)
{
	*out = (struct repeat_sum){.pairs = pairs, .sum = sum, .squares = squares};
	return is_sum(sum) && is_sum(squares) && sum <= (double)pairs && squares <= sum;
}

static bool unpack_turns(const Jxp__StoredTurns *m, struct turn_sums *t)
{
	if (!m)
		return true;
	*t = (struct turn_sums){.traces = m->traces,
				.tuples = m->tuples,
				.distinct = m->distinct,
				.turns = m->turns,
				.estimated = m->estimated,
				.low = m->low,
				.high = m->high};
	return is_count(t->turns) && is_sum(t->estimated) && is_sum(t->low) && is_sum(t->high) &&
	       t->low <= t->high;
}

/* Windows that were stored before there were any have none. */
static bool unpack_lengths(const Jxp__StoredLoopLengths *m, struct loop_lengths *l)
{
	if (!m)
		return true;
	*l = (struct loop_lengths){.read = m->read,
				   .turns = m->turns,
				   .squares = m->squares,
				   .unsure = m->unsure,
				   .empty = m->empty,
				   .left = m->left};
	return is_sum(l->turns) && is_sum(l->squares) && is_sum(l->unsure);
}

static bool unpack_repeats(const Jxp__StoredLoop *m, struct loop_row *row)
{
	if (m->n_effect_ns > LOOP_EFFECTS)
		return false;
	for (size_t i = 0; i < m->n_effect_ns; i++) {
		row->effect_ns[i] = m->effect_ns[i];
		if (!is_sum(row->effect_ns[i]))
			return false;
	}
	row->pairs = m->pairs;
	row->pairs_cut = m->pairs_cut;
	return unpack_parts(m->scalar_pairs, m->scalar_sum, m->scalar_squares, &row->together) &&
	       unpack_turns(m->turns, &row->turns);
}

static bool unpack_sums(const Jxp__StoredLoop *m, struct loop_row *row)
{
	if (m->n_type_ns > LOOP_TYPES || m->n_doubt_ns > LOOP_DOUBTS)
		return false;
	for (size_t i = 0; i < m->n_type_ns; i++) {
		row->type_ns[i] = m->type_ns[i];
		if (!is_sum(row->type_ns[i]))
			return false;
	}
	for (size_t i = 0; i < m->n_doubt_ns; i++) {
		row->doubt_ns[i] = m->doubt_ns[i];
		if (!is_sum(row->doubt_ns[i]))
			return false;
	}
	row->own = (struct cpu_sum){m->own_samples, m->own_ns};
	row->within = (struct cpu_sum){m->within_samples, m->within_ns};
	row->waits_ns = m->waits_ns;
	return is_sum(row->own.ns) && is_sum(row->within.ns) && is_sum(row->waits_ns);
}

static int unpack_row(const Jxp__StoredLoop *m, const struct profile *p, struct loop_profile *l)
{
	struct loop_key key = {.method = m->method,
			       .mapped = m->mapped,
			       .header = m->header,
			       .line = m->line,
			       .recursion = m->recursion};
	size_t expected = l->row_count;
	struct loop_row *row;
	uint32_t position;
	int r;

	if (!record_has_method(p, m->method))
		return -EBADMSG;
	r = loop_profile_row(l, &key, &position);
	if (r == -ENOMEM)
		return r;
	if (r < 0 || position != expected)
		return -EBADMSG;
	row = &l->rows[position];
	row->latch_bci = m->latch_bci;
	row->unroll = m->unroll;
	row->bursts = m->bursts;
	row->bursts_left = m->bursts_left;
	row->bursts_least = m->bursts_least;
	return unpack_sums(m, row) && unpack_counts(m->results, &row->results) &&
		       unpack_counts(m->entries, &row->entries) &&
		       unpack_lengths(m->lengths, &row->lengths) && unpack_repeats(m, row)
		   ? 0
		   : -EBADMSG;
}

static int unpack_contexts(const Jxp__StoredLoops *m, const struct profile *p,
			   struct loop_profile *l)
{
	size_t count = m->n_context_loop;

	if (m->n_context_node != count || m->n_context_samples != count || m->n_context_ns != count)
		return -EBADMSG;
	for (size_t i = 0; i < count; i++) {
		uint32_t position;
		int r;

		if (m->context_loop[i] >= l->row_count || !record_has_node(p, m->context_node[i]) ||
		    !is_sum(m->context_ns[i]))
			return -EBADMSG;
		r = loop_profile_context(l, m->context_loop[i], m->context_node[i], &position);
		if (r == -ENOMEM)
			return r;
		if (r < 0 || position != i)
			return -EBADMSG;
		l->contexts[i].sum = (struct cpu_sum){m->context_samples[i], m->context_ns[i]};
	}
	return 0;
}

static int unpack_place(const Jxp__StoredLoops *m, size_t i, const struct profile *p,
			struct loop_profile *l)
{
	struct loop_place like = {.loop = m->place_loop[i],
				  .method = m->place_method[i],
				  .bci = m->place_bci[i],
				  .line = m->place_line[i],
				  .result = (enum loop_result)m->place_result[i]};
	uint32_t position;
	int r;

	if (like.loop >= l->row_count || !record_has_method(p, like.method) ||
	    m->place_result[i] >= LOOP_RESULTS)
		return -EBADMSG;
	r = loop_profile_place(l, &like, &position);
	if (r == -ENOMEM)
		return r;
	if (r < 0 || position != i)
		return -EBADMSG;
	l->places[i].counted = m->place_counted[i];
	l->places[i].bursts = m->place_bursts[i];
	return 0;
}

static int unpack_places(const Jxp__StoredLoops *m, const struct profile *p, struct loop_profile *l)
{
	size_t count = m->n_place_loop;
	int r = 0;

	if (m->n_place_method != count || m->n_place_bci != count || m->n_place_line != count ||
	    m->n_place_result != count || m->n_place_counted != count || m->n_place_bursts != count)
		return -EBADMSG;
	for (size_t i = 0; r == 0 && i < count; i++)
		r = unpack_place(m, i, p, l);
	return r;
}

static int unpack_input(const Jxp__StoredLoops *m, size_t i, const struct profile *p,
			struct loop_profile *l)
{
	struct loop_compared like = {.loop = m->input_loop[i],
				     .scalar = m->input_scalar[i],
				     .method = m->input_method[i],
				     .bci = m->input_bci[i],
				     .line = m->input_line[i],
				     .at = m->input_at[i]};
	uint32_t position;
	int r;

	if (like.loop >= l->row_count || !record_has_method(p, like.method))
		return -EBADMSG;
	r = loop_profile_input(l, &like, &position);
	if (r == -ENOMEM)
		return r;
	if (r < 0 || position != i)
		return -EBADMSG;
	return unpack_parts(m->input_pairs[i], m->input_sum[i], m->input_squares[i],
			    &l->inputs[i].same)
		   ? 0
		   : -EBADMSG;
}

static int unpack_inputs(const Jxp__StoredLoops *m, const struct profile *p, struct loop_profile *l)
{
	size_t count = m->n_input_loop;
	int r = 0;

	if (m->n_input_scalar != count || m->n_input_method != count || m->n_input_bci != count ||
	    m->n_input_line != count || m->n_input_at != count || m->n_input_pairs != count ||
	    m->n_input_sum != count || m->n_input_squares != count)
		return -EBADMSG;
	for (size_t i = 0; r == 0 && i < count; i++)
		r = unpack_input(m, i, p, l);
	return r;
}

int record_unpack_loops(const Jxp__StoredLoops *m, const struct profile *p, struct loop_profile *l)
{
	struct cpu_sum *sums[SUMS] = {&l->compiled, &l->looked_at, &l->in_loops, &l->mapped};
	int r = 0;

	if (!m)
		return 0;
	if (m->n_samples != m->n_ns || m->n_samples > SUMS)
		return -EBADMSG;
	for (size_t i = 0; i < m->n_samples; i++) {
		*sums[i] = (struct cpu_sum){m->samples[i], m->ns[i]};
		if (!is_sum(sums[i]->ns))
			return -EBADMSG;
	}
	for (size_t i = 0; r == 0 && i < m->n_loops; i++)
		r = unpack_row(m->loops[i], p, l);
	if (r == 0)
		r = unpack_contexts(m, p, l);
	if (r == 0)
		r = unpack_places(m, p, l);
	if (r == 0)
		r = unpack_inputs(m, p, l);
	l->refused = m->refused;
	return r;
}
