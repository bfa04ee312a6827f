#include "tests/unit/support/test.h"

#include <stdlib.h>
#include <string.h>

#include "profile/intake/loop_session.h"
#include "proto/limits.h"
#include "tests/unit/support/sample_intake.h"

#define CODE UINT64_C(0x7000000001)
#define MAIN 1u /* method, and node */
#define FILL 2u

#define INPUTS_MAX (LIMIT_PLAN_LOADS + 4)

struct fixture {
	struct sample_intake in;
	struct loop_session *loops;
	struct code_analysis analysis; /* until it is taken */
	struct event_trace trace;
};

/* A loop of Main.fill in [0x40, 0x80), entered at 0x10; nothing is known of what it goes by. */
static void begin_analysis(struct fixture *f)
{
	struct code_analysis *a = &f->analysis;

	*a = (struct code_analysis){.loops = calloc(1, sizeof(*a->loops)),
				    .parts = calloc(1, sizeof(*a->parts)),
				    .sites = calloc(1, sizeof(*a->sites)),
				    .entries = calloc(2, sizeof(*a->entries)),
				    .inputs = calloc(INPUTS_MAX, sizeof(*a->inputs)),
				    .scalars = calloc(8, sizeof(*a->scalars)),
				    .loop_count = 1,
				    .part_count = 1,
				    .site_count = 1,
				    .entry_count = 2,
				    .input_count = INPUTS_MAX,
				    .scalar_count = 8};
	a->loops[0] = (struct code_loop){.header = 0x40,
					 .parent = LOOP_NO_PARENT,
					 .mapped = true,
					 .header_bci = 4,
					 .latch_bci = 12,
					 .type = LOOP_EVERY,
					 .unroll = 1,
					 .site_count = 1,
					 .entry_count = 1,
					 .effect = LOOP_EFFECT_GROWS};
	a->parts[0] = (struct loop_part){0x40, 0x80, 0};
	a->entries[0] = 0x10;
	for (uint32_t i = 0; i < INPUTS_MAX; i++)
		a->inputs[i] = (struct loop_input){
		    .use = {.offset = 0x50 + i, .bytes = 4}, .method = 1, .bci = 4 + (int32_t)i};
}

static int set_up(void **state)
{
	static struct fixture f;
	struct window_request request = {.kinds[JXP__KIND__KIND_CPU] = true,
					 .kinds[JXP__KIND__KIND_LOOPS] = true};

	f = (struct fixture){0};
	sample_intake_begin(&f.in, &request);
	f.loops = &f.in.intake.loops;
	sample_intake_apply(&f.in);
	begin_analysis(&f);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	code_analysis_release(&f->analysis);
	sample_intake_end(&f->in);
	return 0;
}

static void ticks(struct fixture *f, uint32_t offset, unsigned count)
{
	sample_intake_ticks(&f->in, FILL, CODE, offset, count);
}

static bool plan(struct fixture *f)
{
	bool changed;

	assert_int_equal(loop_hunt_plans(f->loops, &changed), 0);
	return changed;
}

/* The window asks for the code and has its analysis. */
static void analysed(struct fixture *f, uint32_t offset)
{
	uint64_t codes[CODES_OPEN_MAX];
	struct loop_code *code;

	ticks(f, offset, 100);
	assert_int_equal(loop_hunt_codes(f->loops, codes), 1);
	code = &f->loops->codes[0];
	code->is.announced = calloc(1, sizeof(*code->is.announced));
	code->names = calloc(1, sizeof(*code->names));
	assert_true(method_intake_find(f->loops->methods, FILL, &code->is.announced[0]));
	code->names[0] = method_intake_name(f->loops->methods, code->is.announced[0]);
	assert_int_equal(loop_session_analysed(f->loops, 0, 0, &f->analysis), 0);
	(void)plan(f);
}

/* An empty one of plan 1. */
static struct event_trace *trace(struct fixture *f)
{
	f->trace = (struct event_trace){.head = event_head_of(EVENT_TRACE), .plan = 1};
	return &f->trace;
}

static void apply(struct fixture *f)
{
	struct event_trace *sent =
	    sample_event(&f->in.sample.events, &f->in.sample.batch, EVENT_TRACE);

	*sent = f->trace;
	sample_intake_apply(&f->in);
}

/* Of values 100, 101, ... and of others that begin at 100 + later. */
static struct event_trace *instances(struct fixture *f, uint8_t count, uint8_t second,
				     uint32_t later)
{
	struct event_trace *t = trace(f);

	for (uint32_t i = 0; i < LIMIT_TRACE_VALUES; i++) {
		t->values[0][i] = 100 + i;
		t->values[1][i] = 100 + i + later;
	}
	t->counts[0] = count;
	t->counts[1] = second;
	return t;
}

static struct event_trace *turns(struct fixture *f, uint8_t count, const uint8_t *places,
				 const uint32_t *values)
{
	struct event_trace *t = trace(f);

	for (size_t i = 0; i < count && i < LIMIT_TRACE_VALUES; i++) {
		t->places[i] = places[i];
		t->values[0][i] = values[i];
	}
	t->turn_values = count;
	t->elapsed_ns = 1000;
	return t;
}

static const struct loop *row(const struct fixture *f)
{
	return &f->in.window->loops.rows[0];
}

static uint64_t invalid(const struct fixture *f)
{
	return f->in.window->losses[LOSS_INVALID];
}

/* ---------------------------------------------------------------- plans */

TEST(a_loop_with_loads_has_its_instances_compared, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct planned_loop *p = &f->loops->plans[0];

	f->analysis.loops[0].first_load = 1;
	f->analysis.loops[0].load_count = 3;
	f->analysis.loops[0].scalar_count = 6;
	analysed(f, 0x50);
	assert_int_equal(f->loops->plan_count, 1);
	assert_true(p->compared);
	assert_false(p->countable || p->order.counted || p->turns_compared);
	assert_int_equal(p->sites + p->entries, 0);
	assert_int_equal(p->order.entry, 0x10);
	assert_int_equal(p->order.load_count, 3);
	assert_int_equal(p->loads[0], 1);
	assert_int_equal(p->loads[2], 3);
	assert_int_equal(p->order.scalar_count, LIMIT_PLAN_SCALARS);
	assert_float_equal(row(f)->effect_ns[LOOP_EFFECT_GROWS], 100 * 5e6, 1);
	assert_false(plan(f));
}

TEST(loads_are_drawn_where_there_are_too_many, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct planned_loop *p = &f->loops->plans[0];

	f->analysis.loops[0].load_count = INPUTS_MAX;
	analysed(f, 0x50);
	assert_int_equal(p->order.load_count, LIMIT_PLAN_LOADS);
	for (uint32_t i = 1; i < p->order.load_count; i++)
		assert_true(p->loads[i] > p->loads[i - 1] && p->loads[i] < INPUTS_MAX);
}

/* What a plan could ask for is sent only while more of it is to be known. */
TEST(the_agent_is_asked_for_what_is_compared_now, set_up, tear_down)
{
	struct fixture *f = *state;
	struct loop_plan orders[LIMIT_PLANS];

	f->analysis.loops[0].load_count = 2;
	f->analysis.loops[0].scalar_count = 1;
	f->analysis.loops[0].first_turn_input = 3;
	f->analysis.loops[0].turn_input_count = 1;
	analysed(f, 0x50);
	f->loops->plans[0].turns_compared = false;
	assert_int_equal(loop_hunt_orders(f->loops, orders), 1);
	assert_int_equal(orders[0].plan, 1);
	assert_int_equal(orders[0].code, CODE);
	assert_int_equal(orders[0].header, 0x40);
	assert_int_equal(orders[0].load_count, 2);
	assert_int_equal(orders[0].loads[1].offset, 0x51);
	assert_int_equal(orders[0].scalar_count, 1);
	assert_int_equal(orders[0].turn_input_count, 0);
	f->loops->plans[0].turns_compared = true;
	f->loops->plans[0].compared = false;
	assert_int_equal(loop_hunt_orders(f->loops, orders), 1);
	assert_int_equal(orders[0].load_count + orders[0].scalar_count, 0);
	assert_int_equal(orders[0].turn_input_count, 1);
	assert_int_equal(orders[0].turn_inputs[0].offset, 0x53);
	f->loops->plans[0].turns_compared = false;
	assert_int_equal(loop_hunt_orders(f->loops, orders), 0);
}

/* What is told first is known first. */
TEST(a_loop_that_is_counted_is_compared_afterwards, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct planned_loop *p = &f->loops->plans[0];
	struct loop *r;

	f->analysis.loops[0].type = LOOP_LAST;
	f->analysis.loops[0].load_count = 1;
	f->analysis.loops[0].turn_input_count = 2;
	analysed(f, 0x50);
	assert_int_equal(f->loops->plan_count, 1);
	assert_int_equal(p->sites, 1);
	assert_int_equal(p->entries, 1);
	assert_true(p->order.counted);
	assert_false(p->compared || p->turns_compared);
	r = &f->in.window->loops.rows[0];
	r->bursts = 59;
	assert_false(plan(f));
	r->bursts = 60;
	assert_true(plan(f));
	assert_true(p->order.counted && p->compared && p->turns_compared);
	r->bursts = 1;
	assert_true(plan(f));
	assert_false(p->compared);
	for (int i = 0; i < 40; i++) /* Many results: that is known. */
		loop_counts_burst(&r->results, 256, 20, 1, 1);
	assert_true(plan(f));
	assert_true(p->compared && p->turns_compared);
	assert_false(p->order.counted); /* Until what is compared is known, too. */
}

TEST(instances_are_not_compared_without_one_entry, set_up, tear_down)
{
	struct fixture *f = *state;

	f->analysis.loops[0].load_count = 1;
	f->analysis.loops[0].entry_count = 2;
	analysed(f, 0x50);
	assert_int_equal(f->loops->plan_count, 0);
}

TEST(instances_are_not_compared_where_not_all_entries_are_known, set_up, tear_down)
{
	struct fixture *f = *state;

	f->analysis.loops[0].load_count = 1;
	f->analysis.loops[0].doubts = LOOP_DOUBT_ENTRY;
	analysed(f, 0x50);
	assert_int_equal(f->loops->plan_count, 0);
}

TEST(loops_that_wait_are_left_out, set_up, tear_down)
{
	struct fixture *f = *state;

	f->analysis.loops[0].load_count = 1;
	f->analysis.loops[0].turn_input_count = 1;
	f->analysis.loops[0].waits = true;
	analysed(f, 0x50);
	assert_int_equal(f->loops->plan_count, 0);
}

TEST(what_is_known_is_compared_no_more, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct planned_loop *p = &f->loops->plans[0];

	f->analysis.loops[0].load_count = 1;
	f->analysis.loops[0].turn_input_count = 1;
	analysed(f, 0x50);
	for (int i = 0; i < 59; i++) {
		(void)instances(f, 4, 4, 0);
		apply(f);
	}
	assert_false(plan(f));
	(void)instances(f, 4, 4, 0);
	apply(f);
	assert_true(plan(f));
	assert_false(p->compared);
	assert_true(p->turns_compared);
}

TEST(what_stays_unclear_is_compared_some_longer, set_up, tear_down)
{
	struct fixture *f = *state;

	f->analysis.loops[0].load_count = 1;
	analysed(f, 0x50);
	for (int i = 0; i < 120; i++) {
		assert_true(f->loops->plans[0].compared);
		(void)instances(f, 4, 4, i % 2 ? 0 : 50);
		apply(f);
		(void)plan(f);
	}
	assert_false(f->loops->plans[0].compared);
	assert_float_equal(loop_profile_instances(&f->in.window->loops, row(f), 1).rate, 0.5, 1e-9);
}

/* ---------------------------------------------------------------- instances */

TEST(each_load_and_each_scalar_counts_once, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct loop_profile *p = &f->in.window->loops;
	struct event_trace *t;

	f->analysis.loops[0].load_count = 3;
	f->analysis.loops[0].scalar_count = 2;
	f->analysis.inputs[1].bci = f->analysis.inputs[0].bci; /* A copy of the first. */
	analysed(f, 0x50);
	for (uint8_t load = 0; load < 3; load++) {
		t = instances(f, 4, 4, load == 2); /* 1, 1, and half of it. */
		t->load = load;
		t->scalar_counts[0] = t->scalar_counts[1] = 2;
		t->scalars[1][1] = 77; /* The second one differs. */
		t->cut[1] = load == 1;
		apply(f);
	}
	assert_int_equal(row(f)->pairs, 3);
	assert_int_equal(row(f)->pairs_cut, 1);
	assert_int_equal(p->input_count, 4);
	assert_int_equal(p->inputs[0].same.pairs, 2);
	assert_int_equal(p->inputs[0].line, 21);
	assert_int_equal(p->inputs[0].method, FILL);
	assert_true(p->inputs[1].scalar);
	assert_float_equal(p->inputs[3].same.sum, 0.5, 1e-12);
	assert_float_equal(loop_profile_instances(p, row(f), 1).rate, (1 + 0.5 + 1 + 0) / 4, 1e-12);
	assert_int_equal(invalid(f), 0);
}

/* As many as the compiler has unrolled turns, one of them told by debug information. */
TEST(copies_that_are_not_told_are_one_load, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct loop_profile *p = &f->in.window->loops;

	f->analysis.loops[0].load_count = 5;
	f->analysis.loops[0].unroll = 4;
	for (int i = 0; i < 4; i++)
		f->analysis.inputs[i].method = i == 2;
	f->analysis.inputs[4].use.bytes = 8; /* Another one, */
	f->analysis.inputs[4].method = 0;
	analysed(f, 0x50);
	for (uint32_t load = 0; load < 5; load++) {
		instances(f, 4, 4, 0)->load = load;
		apply(f);
	}
	assert_int_equal(p->input_count, 2);
	assert_int_equal(p->inputs[0].same.pairs, 4);
	assert_int_equal(p->inputs[0].bci, f->loops->codes[0].analysis.inputs[2].bci);
	assert_int_equal(p->inputs[1].bci, -1);
	/* Were they of fewer turns, nobody knows which is which. */
	f->loops->codes[0].analysis.loops[0].unroll = 3;
	for (uint32_t load = 0; load < 5; load++) {
		instances(f, 4, 4, 0)->load = load;
		apply(f);
	}
	assert_int_equal(p->input_count, 5);
}

/* An instance in which the load did not come. */
TEST(what_is_in_one_instance_alone_is_not_there_again, set_up, tear_down)
{
	struct fixture *f = *state;
	struct event_trace *t;

	f->analysis.loops[0].load_count = 1;
	f->analysis.loops[0].scalar_count = 1;
	analysed(f, 0x50);
	t = instances(f, 4, 0, 0);
	t->scalar_counts[0] = 1;
	apply(f);
	assert_int_equal(row(f)->pairs, 1);
	assert_int_equal(row(f)->together.pairs, 0);
	assert_float_equal(loop_profile_instances(&f->in.window->loops, row(f), 1).rate, 0, 0);
	(void)instances(f, 0, 0, 0); /* Of nothing at all nothing is known. */
	apply(f);
	assert_int_equal(row(f)->pairs, 1);
	assert_int_equal(invalid(f), 0);
}

/* ---------------------------------------------------------------- turns */

TEST(turns_are_told_by_their_order, set_up, tear_down)
{
	static const uint8_t places[] = {1, 0, 1, 0, 1, 1, 0};
	static const uint32_t values[] = {5, 8, 9, 8, 9, 9, 8};
	struct fixture *f = *state;

	f->analysis.loops[0].turn_input_count = 2;
	analysed(f, 0x50);
	(void)turns(f, 7, places, values);
	apply(f);
	/* (5) (8 9) (8 9) (9) (8), without the first and the last. */
	assert_int_equal(row(f)->turns.traces, 1);
	assert_int_equal(row(f)->turns.tuples, 3);
	assert_int_equal(row(f)->turns.distinct, 2);
	/* 100 ticks of 5 ms, and 1,000 ns for four turns. */
	assert_float_equal(row(f)->turns.turns, 0.5e9 / 250, 1e-3);
}

TEST(traces_of_turns_have_an_end, set_up, tear_down)
{
	static const uint8_t places[LIMIT_TRACE_VALUES] = {0};
	struct fixture *f = *state;
	uint32_t values[LIMIT_TRACE_VALUES];

	f->analysis.loops[0].turn_input_count = 1;
	analysed(f, 0x50);
	for (uint32_t i = 0; i < 2 * TURN_TRACES_MAX; i++) {
		for (uint32_t j = 0; j < LIMIT_TRACE_VALUES; j++)
			values[j] = i * LIMIT_TRACE_VALUES + j;
		(void)turns(f, LIMIT_TRACE_VALUES, places, values);
		apply(f);
	}
	assert_int_equal(row(f)->turns.traces, TURN_TRACES_MAX);
	assert_int_equal(row(f)->turns.distinct, TURN_TUPLES_MAX);
	(void)plan(f);
	assert_false(f->loops->plans[0].turns_compared);
	assert_int_equal(invalid(f), 0);
}

TEST(more_time_is_more_turns, set_up, tear_down)
{
	static const uint8_t places[] = {0, 0};
	static const uint32_t values[] = {1, 1};
	struct fixture *f = *state;

	f->analysis.loops[0].turn_input_count = 1;
	analysed(f, 0x50);
	(void)turns(f, 2, places, values);
	apply(f);
	assert_float_equal(row(f)->turns.turns, 0.5e6, 1e-3);
	ticks(f, 0x50, 100);
	assert_int_equal(intake_finish(&f->in.intake), 0);
	assert_float_equal(row(f)->turns.turns, 1e6, 1e-3);
}

/* ---------------------------------------------------------------- recursions */

TEST(a_method_that_calls_itself_has_all_ticks_of_its_code, set_up, tear_down)
{
	static const uint8_t places[] = {0, 0, 0};
	static const uint32_t values[] = {1, 2, 1};
	struct fixture *f = *state;
	const struct loop_profile *p = &f->in.window->loops;
	struct code_loop *loops = calloc(2, sizeof(*loops));

	loops[0] = f->analysis.loops[0];
	loops[1] = (struct code_loop){.parent = LOOP_NO_PARENT,
				      .mapped = true,
				      .header_bci = 4, /* As the loop's. */
				      .recursion = true,
				      .turn_input_count = 1};
	free(f->analysis.loops);
	f->analysis.loops = loops;
	f->analysis.loop_count = 2;
	analysed(f, 0x20);  /* In no loop, */
	ticks(f, 0x50, 10); /* and in the one. */
	(void)plan(f);
	assert_int_equal(p->row_count, 2);
	assert_true(p->rows[0].key.recursion);
	assert_int_equal(p->rows[0].own.samples, 100);
	assert_int_equal(p->rows[0].within.samples, 110);
	assert_int_equal(p->rows[1].own.samples, 10);
	assert_int_equal(p->in_loops.samples, 10);
	assert_int_equal(p->contexts[0].loop, 0);
	assert_int_equal(p->contexts[0].node, MAIN);
	assert_int_equal(f->loops->plan_count, 1);
	assert_int_equal(f->loops->plans[0].loop, 1);
	(void)turns(f, 3, places, values);
	apply(f);
	assert_int_equal(p->rows[0].turns.distinct, 2);
}

/* ---------------------------------------------------------------- hostile */

static void assert_not_taken(struct fixture *f)
{
	uint64_t before = invalid(f);

	apply(f);
	assert_int_equal(invalid(f), before + 1);
	assert_int_equal(row(f)->pairs, 0);
	assert_int_equal(f->loops->turns_count, 0);
}

TEST(what_no_agent_says_of_instances_is_dropped, set_up, tear_down)
{
	struct fixture *f = *state;

	f->analysis.loops[0].load_count = 2;
	f->analysis.loops[0].scalar_count = 2;
	analysed(f, 0x50);
	instances(f, 4, 4, 0)->plan = 0;
	assert_not_taken(f);
	instances(f, 4, 4, 0)->plan = 2;
	assert_not_taken(f);
	instances(f, 4, 4, 0)->load = 2;
	assert_not_taken(f);
	(void)instances(f, LIMIT_TRACE_VALUES + 1, 4, 0);
	assert_not_taken(f);
	(void)instances(f, 4, LIMIT_TRACE_VALUES + 1, 0);
	assert_not_taken(f);
	(void)instances(f, 4, 4, 0);
	f->trace.scalar_counts[0] = 3; /* Of two. */
	assert_not_taken(f);
	(void)instances(f, 4, 4, 0);
	f->trace.turn_values = 1; /* Of turns as well. */
	assert_not_taken(f);
}

TEST(what_no_agent_says_of_turns_is_dropped, set_up, tear_down)
{
	static const uint8_t places[LIMIT_TRACE_VALUES] = {0}, wrong[] = {0, 2};
	static const uint32_t values[LIMIT_TRACE_VALUES] = {0};
	struct fixture *f = *state;

	f->analysis.loops[0].turn_input_count = 2;
	analysed(f, 0x50);
	(void)turns(f, LIMIT_TRACE_VALUES + 1, places, values);
	assert_not_taken(f);
	(void)turns(f, 2, wrong, values);
	assert_not_taken(f);
	turns(f, 3, places, values)->elapsed_ns = UINT64_MAX;
	assert_not_taken(f);
	(void)trace(f); /* Of instances, which are not compared. */
	assert_not_taken(f);
}

TEST(windows_without_loops_take_no_traces, set_up, tear_down)
{
	struct fixture *f = *state;

	f->in.window->request.kinds[JXP__KIND__KIND_LOOPS] = false;
	(void)instances(f, 4, 4, 0);
	apply(f);
	assert_int_equal(invalid(f), 1);
}
