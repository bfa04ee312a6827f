#include "profile/intake/loop_session.h"

#include <errno.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/mix.h"
#include "profile/repeats/repeat_rate.h"

static uint32_t row_of(const struct loop_session *in, const struct planned_loop *plan)
{
	return in->codes[plan->code].analysis.loops[plan->loop].row;
}

/* ---------------------------------------------------------------- what can be */

static bool valid_scalars(const struct planned_loop *plan, size_t count)
{
	return count == 0 || count == plan->order.scalar_count;
}

static bool valid_instances(const struct planned_loop *plan, const struct event_trace *t)
{
	return t->load < plan->order.load_count && t->counts[0] <= LIMIT_TRACE_VALUES &&
	       t->counts[1] <= LIMIT_TRACE_VALUES && valid_scalars(plan, t->scalar_counts[0]) &&
	       valid_scalars(plan, t->scalar_counts[1]);
}

static bool valid_turns(const struct planned_loop *plan, const struct event_trace *t)
{
	if (t->counts[0] || t->counts[1] || t->scalar_counts[0] || t->scalar_counts[1] ||
	    t->turn_values > LIMIT_TRACE_VALUES || t->elapsed_ns > WINDOW_MAX_S * NS_PER_S)
		return false;
	for (size_t i = 0; i < t->turn_values; i++)
		if (t->places[i] >= plan->order.turn_input_count)
			return false;
	return true;
}

/* ---------------------------------------------------------------- instances */

/* 0; with *position LOOP_NO_ROW where there is no room for it; or -ENOMEM. */
static int input_of(struct loop_session *in, const struct loop_compared *like, uint32_t *position)
{
	int r = loop_profile_input(&in->result->loops, like, position);

	in->result->losses[LOSS_LOOPS] = in->result->loops.refused;
	if (r < 0)
		*position = LOOP_NO_ROW;
	return r == -ENOSPC ? 0 : r;
}

static void add_part(struct loop_session *in, uint32_t position, double part)
{
	if (position != LOOP_NO_ROW)
		repeat_sum_add(&in->result->loops.inputs[position].same, part);
}

static bool is_named(const struct loop_input *input)
{
	return input->method && input->bci >= 0;
}

/* Debug information tells of few copies of a load that the compiler made as it unrolled a loop.
 * Where there are no more of a width than turns, and none that it says is another, they are copies
 * of one: NULL where not, or the one that it tells of, if any, and else load. */
static const struct loop_input *copied_load(const struct loop_code *code,
					    const struct code_loop *loop,
					    const struct loop_input *load)
{
	const struct loop_input *inputs = &code->analysis.inputs[loop->first_load], *named = NULL;
	uint32_t alike = 0;

	if (loop->doubts & LOOP_DOUBT_UNROLL || loop->unroll < 2)
		return NULL;
	for (uint32_t i = 0; i < loop->load_count; i++) {
		if (inputs[i].use.bytes != load->use.bytes)
			continue;
		alike++;
		if (!is_named(&inputs[i]))
			continue;
		if (named && (named->method != inputs[i].method || named->bci != inputs[i].bci))
			return NULL;
		named = &inputs[i];
	}
	if (alike > loop->unroll)
		return NULL;
	return named ? named : load;
}

/* part: of the load's values that were there again. */
static int add_load(struct loop_session *in, const struct planned_loop *plan,
		    const struct event_trace *t, double part)
{
	const struct loop_code *code = &in->codes[plan->code];
	const struct code_loop *loop = &code->analysis.loops[plan->loop];
	const struct loop_input *load = &code->analysis.inputs[plan->loads[t->load]];
	const struct loop_input *copied = copied_load(code, loop, load);
	struct loop_compared like = {.loop = row_of(in, plan), .bci = -1, .line = -1};
	uint32_t position, offset = load->use.offset;
	int r;

	if (copied)
		load = copied;
	if (is_named(load)) {
		like.method = code->names[load->method - 1];
		like.bci = load->bci;
		like.line = method_intake_line(in->methods, code->is.announced[load->method - 1],
					       load->bci);
	} else if (!copied) {
		like.at = offset;
	}
	r = input_of(in, &like, &position);
	if (r == 0)
		add_part(in, position, part);
	return r;
}

static int add_scalars(struct loop_session *in, const struct planned_loop *plan,
		       const struct event_trace *t)
{
	struct loop_compared like = {
	    .loop = row_of(in, plan), .scalar = true, .bci = -1, .line = -1};
	size_t count = t->scalar_counts[0], same = 0;

	if (count == 0 || t->scalar_counts[1] == 0)
		return 0;
	for (; like.at < count; like.at++) {
		bool is_same = t->scalars[0][like.at] == t->scalars[1][like.at];
		uint32_t position;
		int r = input_of(in, &like, &position);

		if (r < 0)
			return r;
		same += is_same;
		add_part(in, position, is_same);
	}
	repeat_sum_add(&in->result->loops.rows[like.loop].together, (double)same / (double)count);
	return 0;
}

/* An instance in which the load did not come, and the next one neither, say nothing of it, and as
 * little do values that are the same whichever way round. */
static int add_instances(struct loop_session *in, const struct planned_loop *plan,
			 const struct event_trace *t)
{
	struct loop *row = &in->result->loops.rows[row_of(in, plan)];
	double part;
	int r;

	if (t->counts[0] == 0 && t->counts[1] == 0)
		return 0;
	if (!sequence_repeated_beyond_chance(t->values[0], t->counts[0], t->values[1], t->counts[1],
					     &part))
		return 0;
	row->pairs++;
	row->pairs_cut += t->cut[0] || t->cut[1];
	r = add_load(in, plan, t, part);
	return r < 0 ? r : add_scalars(in, plan, t);
}

/* ---------------------------------------------------------------- turns */

/* NULL without memory, or with all taken. */
static struct loop_turns *turns_of(struct loop_session *in, uint32_t row)
{
	struct loop_turns *t;

	for (size_t i = 0; i < in->turns_count; i++)
		if (in->turns[i].row == row)
			return &in->turns[i];
	t = &in->turns[in->turns_count]; /* As many as plans: there is room. */
	*t = (struct loop_turns){.row = row, .tuples = calloc(1, sizeof(*t->tuples))};
	if (!t->tuples)
		return NULL;
	in->turns_count++;
	return t;
}

/* tuples has LIMIT_TRACE_VALUES. How many turns there are. */
static size_t group(const struct event_trace *t, uint64_t *tuples)
{
	size_t count = 0;

	for (size_t i = 0; i < t->turn_values; i++) {
		if (i == 0 || t->places[i] <= t->places[i - 1])
			tuples[count++] = 0;
		tuples[count - 1] =
		    mix(GOLDEN_RATIO +
			(tuples[count - 1] ^ ((uint64_t)t->places[i] << 32 | t->values[0][i])));
	}
	return count;
}

static int add_turns(struct loop_session *in, const struct planned_loop *plan,
		     const struct event_trace *t)
{
	uint64_t tuples[LIMIT_TRACE_VALUES];
	size_t count = group(t, tuples), first = 0;
	struct loop_turns *turns = turns_of(in, row_of(in, plan));
	double turn_ns = count > 1 ? (double)t->elapsed_ns / (double)(count - 1) : 0;

	if (!turns)
		return -ENOMEM;
	if (plan->order.turn_input_count > 1) {
		first = 1;
		count = count > 2 ? count - 2 : 0;
	}
	if (count > 0 && turn_tuples_add(turns->tuples, tuples + first, count, turn_ns))
		turns->is_new = true;
	return 0;
}

int loop_traces_add(struct loop_session *in, const struct event_trace *t)
{
	bool known =
	    window_result_profiles_loops(in->result) && t->plan > 0 && t->plan <= in->plan_count;
	const struct planned_loop *plan = known ? &in->plans[t->plan - 1] : NULL;

	if (known && t->turn_values > 0 && valid_turns(plan, t))
		return add_turns(in, plan, t);
	if (known && t->turn_values == 0 && valid_instances(plan, t))
		return add_instances(in, plan, t);
	in->result->losses[LOSS_INVALID]++;
	return 0;
}

int loop_traces_settle(struct loop_session *in)
{
	for (size_t i = 0; i < in->turns_count; i++) {
		struct loop_turns *t = &in->turns[i];
		struct loop *row = &in->result->loops.rows[t->row];
		int r = t->is_new ? turn_tuples_count(t->tuples, &t->counts) : 0;

		if (r < 0)
			return r;
		t->is_new = false;
		row->turns = turn_counts_sums(&t->counts, row->own.ns);
	}
	return 0;
}
