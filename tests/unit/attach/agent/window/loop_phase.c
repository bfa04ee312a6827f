/* Plans of loops, checked against the code that they are about, and how often bursts begin. */
#include "tests/unit/support/test.h"
#include <stdatomic.h>

#include "attach/agent/handler/burst.h"
#include "attach/agent/handler/handlers.h"
#include "attach/agent/code/loops.h"
#include "attach/agent/path/plans.h"
#include "attach/agent/window/loop_phase.h"
#include "proto/jxperf.pb-c.h"
#include "tests/unit/support/agent/code.h"

#define HEADER 2u
#define PLACE  8u

static struct orders orders;
static struct loop_phase loops;
static uint64_t start;

/* mov ecx, edi; header: dec ecx; mov [rsi], eax; nop; nop; jnz header; ret */
#define LOOP "\x89\xf9\xff\xc9\x89\x06\x90\x90\x75\xf8\xc3"

static int set_up(void **state)
{
	if (code_setup(state) < 0)
		return -1;
	plans_clear();
	start = CODE(0, LOOP);
	orders = (struct orders){0};
	loops = (struct loop_phase){.wanted = true, .orders = &orders};
	atomic_store(&handlers.burst_ticks, 0);
	atomic_store(&handlers.trace_signals, 0);
	atomic_store(&handlers.trace_ns, 0);
	return 0;
}

static uint64_t number_of_code(void)
{
	struct code_blob blob;

	assert_true(codemap_find(start, &blob));
	return blob.serial;
}

static void send_bytes(const void *plans, size_t size)
{
	Jxp__EngineFrame frame = JXP__ENGINE_FRAME__INIT;
	Jxp__LoopPlans all = JXP__LOOP_PLANS__INIT;

	all.plans = (ProtobufCBinaryData){.data = (uint8_t *)plans, .len = size};
	frame.body_case = JXP__ENGINE_FRAME__BODY_LOOP_PLANS;
	frame.loop_plans = &all;
	orders_note(&orders, &frame);
	loop_phase_plan(&loops);
	assert_false(orders.plans_new);
}

static void send_order(const struct loop_plan *one)
{
	send_bytes(one, sizeof(*one));
}

static void order(uint32_t plan, uint64_t code, uint32_t header, uint32_t place)
{
	const struct loop_plan one = {.plan = plan,
				      .counted = true,
				      .code = code,
				      .header = header,
				      .count = 1,
				      .places = {place}};

	send_order(&one);
}

TEST(a_plan_that_fits_its_code_is_taken_up, set_up)
{
	struct loop_plan found;

	order(3, number_of_code(), HEADER, PLACE);
	assert_int_equal(plans_count(), 1);
	assert_true(plans_read(0, number_of_code(), &found));
	assert_int_equal(found.plan, 3);
	assert_int_equal(found.start, start);
	assert_int_equal(found.header, HEADER);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.places[0], PLACE);
	assert_int_equal(loops.plans_refused, 0);
}

TEST(a_plan_that_does_not_is_refused_and_counted_once, set_up)
{
	uint64_t code = number_of_code();

	order(1, code + 1, HEADER, PLACE); /* other code */
	order(2, code, HEADER + 1, PLACE); /* the middle of an instruction */
	order(3, code, HEADER, PLACE + 1);
	order(4, code, HEADER, 1000); /* beyond its end */
	order(5, code, 0, PLACE);     /* no loop */
	order(6, code, PLACE, PLACE); /* in the loop, not its header */
	assert_int_equal(plans_count(), 0);
	assert_int_equal(loops.plans_refused, 6);
	order(6, code, PLACE, PLACE);
	assert_int_equal(loops.plans_refused, 6);
}

TEST(a_plan_whose_code_went_later_was_not_refused, set_up)
{
	uint64_t code = number_of_code();

	order(1, code, HEADER, PLACE);
	remove_code(start);
	order(1, code, HEADER, PLACE);
	assert_int_equal(plans_count(), 0);
	assert_int_equal(loops.plans_refused, 0);
}

/* A plan of traces alone, each time with something of it as one test wants it. */
static struct loop_plan traced;

/* mov ecx, edi; header: mov eax, [rsi]; dec ecx; nop; jnz header; ret */
#define READER "\x89\xf9\x8b\x06\xff\xc9\x90\x75\xf9\xc3"
#define LOAD   2u
#define NEXT   4u
#define BEHIND 9u

static void trace_order(void)
{
	static uint32_t number;
	uint64_t code;

	start = CODE(64, READER);
	code = number_of_code();
	traced = (struct loop_plan){.plan = ++number,
				    .code = code,
				    .header = HEADER,
				    .load_count = 1,
				    .scalar_count = 1,
				    .turn_input_count = 1};
	for (unsigned i = 0; i < LIMIT_PLAN_LOADS; i++)
		traced.loads[i] = (struct plan_input){.offset = LOAD, .bytes = 4};
	for (unsigned i = 0; i < LIMIT_PLAN_TURN_INPUTS; i++)
		traced.turn_inputs[i] = (struct plan_input){.offset = NEXT, .reg = 15};
	for (unsigned i = 0; i < LIMIT_PLAN_SCALARS; i++)
		traced.scalars[i] =
		    (struct plan_scalar){.reg = 4, .slot = true, .displacement = -8, .bytes = 8};
}

TEST(a_plan_of_traces_is_taken_up_as_it_is, set_up)
{
	struct loop_plan found;

	trace_order();
	traced.load_count = LIMIT_PLAN_LOADS;
	traced.scalar_count = LIMIT_PLAN_SCALARS;
	traced.turn_input_count = LIMIT_PLAN_TURN_INPUTS;
	send_order(&traced);
	assert_int_equal(loops.plans_refused, 0);
	assert_true(plans_read(0, number_of_code(), &found));
	assert_false(found.counted || found.recursion);
	assert_int_equal(found.entry, 0);
	assert_int_equal(found.load_count, LIMIT_PLAN_LOADS);
	assert_int_equal(found.loads[LIMIT_PLAN_LOADS - 1].offset, LOAD);
	assert_int_equal(found.loads[0].bytes, 4);
	assert_int_equal(found.scalar_count, LIMIT_PLAN_SCALARS);
	assert_int_equal(found.scalars[0].displacement, -8);
	assert_int_equal(found.scalars[LIMIT_PLAN_SCALARS - 1].bytes, 8);
	assert_true(found.scalars[0].slot);
	assert_int_equal(found.turn_input_count, LIMIT_PLAN_TURN_INPUTS);
	assert_int_equal(found.turn_inputs[0].reg, 15);
	assert_int_equal(found.turn_inputs[0].bytes, 0);
}

TEST(a_recursion_needs_no_loop, set_up)
{
	trace_order();
	traced.header = 0;
	send_order(&traced);
	assert_int_equal(plans_count(), 0);
	trace_order();
	traced.header = 0;
	traced.recursion = true;
	send_order(&traced);
	assert_int_equal(plans_count(), 1);
	trace_order();
	traced.header = 1;
	traced.recursion = true;
	send_order(&traced);
	assert_int_equal(plans_count(), 0);
}

/* Reads ecx in front of the loop, and behind it. */
static void reading_order(void)
{
	trace_order();
	traced.load_count = traced.turn_input_count = 0;
	traced.begin = (struct plan_counter_place){.at = traced.scalars[0]};
	for (unsigned i = 0; i < LIMIT_PLAN_ENDS; i++)
		traced.ends[i] =
		    (struct plan_counter_place){.offset = BEHIND, .at = traced.scalars[0]};
	traced.end_count = 1;
}

TEST(a_plan_of_readings_is_taken_up_as_it_is, set_up)
{
	struct loop_plan found;

	reading_order();
	send_order(&traced);
	assert_int_equal(loops.plans_refused, 0);
	assert_true(plans_read(0, number_of_code(), &found));
	assert_int_equal(found.end_count, 1);
	assert_int_equal(found.begin.offset, 0);
	assert_int_equal(found.begin.at.displacement, -8);
	assert_int_equal(found.ends[0].offset, BEHIND);
	assert_int_equal(found.ends[0].at.bytes, 8);
}

TEST(a_plan_of_readings_that_does_not_fit_is_refused, set_up)
{
	for (unsigned i = 0; i < 6; i++) {
		reading_order();
		if (i == 0)
			traced.begin.offset = 1; /* No instruction. */
		else if (i == 1)
			traced.ends[0].offset = 1000;
		else if (i == 2)
			traced.ends[0].offset = 0; /* Where it begins. */
		else if (i == 3)
			traced.end_count = 2; /* The same place. */
		else if (i == 4)
			traced.ends[0].at.reg = 16;
		else
			traced.end_count = LIMIT_PLAN_ENDS + 1;
		send_order(&traced);
		assert_int_equal(plans_count(), 0);
	}
}

static void nobody(void)
{
	traced.load_count = traced.turn_input_count = 0;
}

static void no_instruction_at_entry(void)
{
	traced.entry = 1;
}

static void entry_beyond_the_end(void)
{
	traced.entry = 1000;
}

static void load_where_it_is_entered(void)
{
	traced.entry = LOAD;
}

static void no_instruction_at_load(void)
{
	traced.loads[0].offset = LOAD + 1;
}

static void load_of_another_width(void)
{
	traced.loads[0].bytes = 8;
}

static void no_load_there(void)
{
	traced.loads[0].offset = NEXT;
}

static void no_such_register(void)
{
	traced.turn_inputs[0].reg = 16;
}

static void no_instruction_at_turn_input(void)
{
	traced.turn_inputs[0].offset = NEXT + 1;
}

static void no_register_of_scalar(void)
{
	traced.scalars[0].reg = 16;
}

static void scalar_too_wide(void)
{
	traced.scalars[0].bytes = 9;
}

static void scalar_of_nothing(void)
{
	traced.scalars[0].bytes = 0;
}

static void too_many_loads(void)
{
	traced.load_count = LIMIT_PLAN_LOADS + 1;
}

static void too_many_scalars(void)
{
	traced.scalar_count = LIMIT_PLAN_SCALARS + 1;
}

static void too_many_turn_inputs(void)
{
	traced.turn_input_count = LIMIT_PLAN_TURN_INPUTS + 1;
}

TEST(a_plan_of_traces_that_does_not_fit_is_refused, set_up)
{
	static void (*const spoil[])(void) = {
	    nobody,
	    no_instruction_at_entry,
	    entry_beyond_the_end,
	    load_where_it_is_entered,
	    no_instruction_at_load,
	    load_of_another_width,
	    no_load_there,
	    no_such_register,
	    no_instruction_at_turn_input,
	    no_register_of_scalar,
	    scalar_too_wide,
	    scalar_of_nothing,
	    too_many_loads,
	    too_many_scalars,
	    too_many_turn_inputs,
	};

	for (unsigned i = 0; i < sizeof(spoil) / sizeof(spoil[0]); i++) {
		trace_order();
		spoil[i]();
		send_order(&traced);
		assert_int_equal(plans_count(), 0);
		assert_int_equal(loops.plans_refused, i + 1);
	}
}

TEST(plans_beyond_the_limits_are_refused, set_up)
{
	struct loop_plan many[LIMIT_PLANS + 1];

	for (unsigned i = 0; i <= LIMIT_PLANS; i++)
		many[i] = (struct loop_plan){
		    .plan = i + 1, .counted = true, .code = number_of_code(), .header = HEADER};
	send_bytes(many, sizeof(many));
	assert_int_equal(plans_count(), LIMIT_PLANS);
	assert_int_equal(loops.plans_refused, 1);
}

TEST(half_a_plan_is_refused, set_up)
{
	trace_order();
	send_bytes(&traced, sizeof(traced) - 1);
	assert_int_equal(plans_count(), 0);
	assert_int_equal(loops.plans_refused, 1);
}

TEST(so_many_requests_of_code_wait_and_no_more, set_up)
{
	Jxp__EngineFrame frame = JXP__ENGINE_FRAME__INIT;
	Jxp__CodeRequest request = JXP__CODE_REQUEST__INIT;

	frame.body_case = JXP__ENGINE_FRAME__BODY_CODE_REQUEST;
	frame.code_request = &request;
	for (unsigned i = 0; i < LIMIT_CODES_OPEN + 3; i++) {
		request.code = i + 1;
		orders_note(&orders, &frame);
	}
	assert_int_equal(orders.codes_asked, LIMIT_CODES_OPEN);
	assert_int_equal(orders.codes[LIMIT_CODES_OPEN - 1].code, LIMIT_CODES_OPEN);
}

#define MS 1e6

TEST(bursts_spend_what_is_left_at_the_pace_of_the_ticks, set_up)
{
	/* 4 ms are left, a burst takes one, 40 ticks come. */
	assert_int_equal(loop_phase_chance(4 * MS, 20 * MS, MS, 40), BURST_CHANCE_ONE / 10);
	/* No more than so much at a time. */
	assert_int_equal(loop_phase_chance(94 * MS, 4 * MS, MS, 40), BURST_CHANCE_ONE / 10);
	assert_int_equal(loop_phase_chance(0 * MS, 4 * MS, MS, 40), 0);
	assert_int_equal(loop_phase_chance(-3 * MS, 4 * MS, MS, 40), 0);
	assert_int_equal(loop_phase_chance(100 * MS, 50 * MS, MS, 2), BURST_CHANCE_ONE);
	assert_int_equal(loop_phase_chance(1 * MS, 50 * MS, 2 * MS, 0), BURST_CHANCE_ONE / 2);
}

TEST(bursts_have_their_part_of_the_budget, set_up)
{
	uint64_t counters[JXP__COUNTER__COUNTER_MAX] = {[JXP__COUNTER__COUNTER_TICKS] = 100};
	struct ledger ledger = {.budget = 0.01, .cpu_ns = 1000000000};

	handlers.burst_hit_ns = 10000;
	loops.plans_changed = true;
	loop_phase_pace(&loops, &ledger, counters, 10000);
	/* 4 ms for bursts that take up to one, at 100 ticks. */
	assert_in_range(atomic_load(&handlers.burst_chance), BURST_CHANCE_ONE / 25 - 1,
			BURST_CHANCE_ONE / 25);
	counters[JXP__COUNTER__COUNTER_BURST_HITS] = 380;
	counters[JXP__COUNTER__COUNTER_BURSTS] = 10;
	loop_phase_counters(&loops, counters);
	assert_int_equal(counters[JXP__COUNTER__COUNTER_BURST_NS], 3800000);
	loop_phase_pace(&loops, &ledger, counters, 10000); /* and 20 signals */
	assert_int_equal(atomic_load(&handlers.burst_chance), 0);
}

TEST(what_traces_take_is_in_it, set_up)
{
	uint64_t counters[JXP__COUNTER__COUNTER_MAX] = {[JXP__COUNTER__COUNTER_TICKS] = 100};
	struct ledger ledger = {.budget = 0.01, .cpu_ns = 1000};

	handlers.burst_hit_ns = 10000;
	loop_phase_pace(&loops, &ledger, counters, 10000);
	assert_in_range(atomic_load(&handlers.trace_signal_ns), 10001, 20000);
	/* 2 ms are left for what takes a fifth of one, at 100 ticks. */
	atomic_store(&handlers.trace_signals, 100);
	atomic_store(&handlers.trace_ns, 1000000);
	counters[JXP__COUNTER__COUNTER_TRACES] = 10;
	loops.plans_changed = true;
	ledger.cpu_ns = 1000000000;
	counters[JXP__COUNTER__COUNTER_TICKS] = 200;
	loop_phase_pace(&loops, &ledger, counters, 10000);
	assert_int_equal(atomic_load(&handlers.trace_signal_ns), 20000);
	assert_in_range(atomic_load(&handlers.burst_chance), BURST_CHANCE_ONE / 10 - 1,
			BURST_CHANCE_ONE / 10);
	atomic_store(&handlers.trace_signals, 200);
	atomic_store(&handlers.trace_ns, 2000000);
	loop_phase_pace(&loops, &ledger, counters, 10000);
	assert_int_equal(atomic_load(&handlers.burst_chance), 0);
}

TEST(each_window_has_its_own_key, set_up)
{
	uint64_t before[2] = {0};

	atomic_store(&handlers.trace_signals, 5);
	for (unsigned i = 0; i < 3; i++) {
		loop_phase_start(&loops, false, &orders, NULL);
		assert_int_not_equal(handlers.trace_key[0], before[0]);
		assert_int_not_equal(handlers.trace_key[1], before[1]);
		assert_int_not_equal(handlers.trace_key[0], handlers.trace_key[1]);
		before[0] = handlers.trace_key[0];
		before[1] = handlers.trace_key[1];
	}
	assert_int_equal(atomic_load(&handlers.trace_signals), 0);
}

TEST(they_go_to_those_ticks_that_come_in_planned_loops, set_up)
{
	uint64_t counters[JXP__COUNTER__COUNTER_MAX] = {[JXP__COUNTER__COUNTER_TICKS] = 100};
	struct ledger ledger = {.budget = 0.01, .cpu_ns = 1000000000};

	handlers.burst_hit_ns = 10000;
	atomic_store(&handlers.burst_ticks, 20);
	loop_phase_pace(&loops, &ledger, counters, 10000);
	assert_in_range(atomic_load(&handlers.burst_chance), BURST_CHANCE_ONE / 5 - 1,
			BURST_CHANCE_ONE / 5);
	/* Then to none: as many may come again, and in the end an eighth. */
	ledger.cpu_ns *= 2;
	counters[JXP__COUNTER__COUNTER_TICKS] = 200;
	loop_phase_pace(&loops, &ledger, counters, 10000);
	assert_in_range(atomic_load(&handlers.burst_chance), BURST_CHANCE_ONE * 2 / 5 - 1,
			BURST_CHANCE_ONE * 2 / 5);
	ledger.cpu_ns += 500000000;
	counters[JXP__COUNTER__COUNTER_TICKS] = 300;
	loop_phase_pace(&loops, &ledger, counters, 10000);
	assert_in_range(atomic_load(&handlers.burst_chance), BURST_CHANCE_ONE * 8 / 25 - 1,
			BURST_CHANCE_ONE * 8 / 25);
}
