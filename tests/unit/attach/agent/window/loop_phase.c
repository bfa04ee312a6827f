/* Plans of loops, checked against the code that they are about, and how often bursts begin. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdatomic.h>

#include "attach/agent/handler/burst.h"
#include "attach/agent/handler/handlers.h"
#include "attach/agent/path/loops.h"
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
	if (code_setup(state) < 0 || loops_init() < 0)
		return -1;
	loops_clear();
	plans_clear();
	start = CODE(0, LOOP);
	orders = (struct orders){0};
	loops = (struct loop_phase){.wanted = true, .orders = &orders};
	atomic_store(&handlers.burst_ticks, 0);
	return 0;
}

static uint64_t number_of_code(void)
{
	struct code_blob blob;

	assert_true(codemap_find(start, &blob));
	return blob.serial;
}

static void order(uint32_t plan, uint64_t code, uint32_t header, uint32_t place)
{
	Jxp__EngineFrame frame = JXP__ENGINE_FRAME__INIT;
	Jxp__LoopPlans plans = JXP__LOOP_PLANS__INIT;
	Jxp__LoopPlan one = JXP__LOOP_PLAN__INIT, *list = &one;

	one.plan = plan;
	one.code = code;
	one.header = header;
	one.places = &place;
	one.n_places = 1;
	plans.plans = &list;
	plans.n_plans = 1;
	frame.body_case = JXP__ENGINE_FRAME__BODY_LOOP_PLANS;
	frame.loop_plans = &plans;
	orders_note(&orders, &frame);
	loop_phase_plan(&loops);
	assert_false(orders.plans_new);
}

static void a_plan_that_fits_its_code_is_taken_up(void **state)
{
	struct loop_plan found;

	(void)state;
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

static void a_plan_that_does_not_is_refused_and_counted_once(void **state)
{
	uint64_t code = number_of_code();

	(void)state;
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

static void a_plan_whose_code_went_later_was_not_refused(void **state)
{
	uint64_t code = number_of_code();

	(void)state;
	order(1, code, HEADER, PLACE);
	codemap_remove(start);
	order(1, code, HEADER, PLACE);
	assert_int_equal(plans_count(), 0);
	assert_int_equal(loops.plans_refused, 0);
}

static void plans_beyond_the_limits_are_refused(void **state)
{
	Jxp__EngineFrame frame = JXP__ENGINE_FRAME__INIT;
	Jxp__LoopPlans plans = JXP__LOOP_PLANS__INIT;
	Jxp__LoopPlan many[LIMIT_PLANS + 1], *list[LIMIT_PLANS + 1];

	(void)state;
	for (unsigned i = 0; i <= LIMIT_PLANS; i++) {
		jxp__loop_plan__init(&many[i]);
		many[i].plan = i + 1;
		many[i].code = number_of_code();
		many[i].header = HEADER;
		list[i] = &many[i];
	}
	plans.plans = list;
	plans.n_plans = LIMIT_PLANS + 1;
	frame.body_case = JXP__ENGINE_FRAME__BODY_LOOP_PLANS;
	frame.loop_plans = &plans;
	orders_note(&orders, &frame);
	loop_phase_plan(&loops);
	assert_int_equal(plans_count(), LIMIT_PLANS);
	assert_int_equal(loops.plans_refused, 1);
}

static void code_is_asked_for_so_often_and_no_more(void **state)
{
	Jxp__EngineFrame frame = JXP__ENGINE_FRAME__INIT;
	Jxp__CodeRequest request = JXP__CODE_REQUEST__INIT;

	(void)state;
	frame.body_case = JXP__ENGINE_FRAME__BODY_CODE_REQUEST;
	frame.code_request = &request;
	for (unsigned i = 0; i < LIMIT_CODES + 3; i++) {
		request.code = i + 1;
		orders_note(&orders, &frame);
	}
	assert_int_equal(orders.codes_asked, LIMIT_CODES);
	assert_int_equal(orders.codes[LIMIT_CODES - 1].code, LIMIT_CODES);
}

#define MS 1e6

static void bursts_spend_what_is_left_at_the_pace_of_the_ticks(void **state)
{
	(void)state;
	/* 4 ms are left, a burst takes one, 40 ticks come. */
	assert_int_equal(loop_phase_chance(10 * MS, 6 * MS, 20 * MS, MS, 40),
			 BURST_CHANCE_ONE / 10);
	/* No more than so much at a time. */
	assert_int_equal(loop_phase_chance(100 * MS, 6 * MS, 4 * MS, MS, 40),
			 BURST_CHANCE_ONE / 10);
	assert_int_equal(loop_phase_chance(6 * MS, 6 * MS, 4 * MS, MS, 40), 0);
	assert_int_equal(loop_phase_chance(6 * MS, 9 * MS, 4 * MS, MS, 40), 0);
	assert_int_equal(loop_phase_chance(100 * MS, 0, 50 * MS, MS, 2), BURST_CHANCE_ONE);
	assert_int_equal(loop_phase_chance(2 * MS, 1 * MS, 50 * MS, 2 * MS, 0),
			 BURST_CHANCE_ONE / 2);
}

static void bursts_have_their_part_of_the_budget(void **state)
{
	uint64_t counters[JXP__COUNTER__COUNTER_MAX] = {[JXP__COUNTER__COUNTER_TICKS] = 100};
	struct window_cost cost = {.cpu_ns = 1000000000};

	(void)state;
	handlers.burst_hit_ns = 10000;
	loops.plans_changed = true;
	loop_phase_pace(&loops, 0.01, &cost, counters, 10000);
	/* 4 ms for bursts that take up to one, at 100 ticks. */
	assert_in_range(atomic_load(&handlers.burst_chance), BURST_CHANCE_ONE / 25 - 1,
			BURST_CHANCE_ONE / 25);
	counters[JXP__COUNTER__COUNTER_BURST_HITS] = 380;
	counters[JXP__COUNTER__COUNTER_BURSTS] = 10;
	loop_phase_counters(&loops, counters);
	assert_int_equal(counters[JXP__COUNTER__COUNTER_BURST_NS], 3800000);
	loop_phase_pace(&loops, 0.01, &cost, counters, 10000); /* and 20 signals */
	assert_int_equal(atomic_load(&handlers.burst_chance), 0);
}

static void they_go_to_those_ticks_that_come_in_planned_loops(void **state)
{
	uint64_t counters[JXP__COUNTER__COUNTER_MAX] = {[JXP__COUNTER__COUNTER_TICKS] = 100};
	struct window_cost cost = {.cpu_ns = 1000000000};

	(void)state;
	handlers.burst_hit_ns = 10000;
	atomic_store(&handlers.burst_ticks, 20);
	loop_phase_pace(&loops, 0.01, &cost, counters, 10000);
	assert_in_range(atomic_load(&handlers.burst_chance), BURST_CHANCE_ONE / 5 - 1,
			BURST_CHANCE_ONE / 5);
	/* Then to none: as many may come again, and in the end an eighth. */
	cost.cpu_ns *= 2;
	counters[JXP__COUNTER__COUNTER_TICKS] = 200;
	loop_phase_pace(&loops, 0.01, &cost, counters, 10000);
	assert_in_range(atomic_load(&handlers.burst_chance), BURST_CHANCE_ONE * 2 / 5 - 1,
			BURST_CHANCE_ONE * 2 / 5);
	cost.cpu_ns += 500000000;
	counters[JXP__COUNTER__COUNTER_TICKS] = 300;
	loop_phase_pace(&loops, 0.01, &cost, counters, 10000);
	assert_in_range(atomic_load(&handlers.burst_chance), BURST_CHANCE_ONE * 8 / 25 - 1,
			BURST_CHANCE_ONE * 8 / 25);
}

#define TEST(f) cmocka_unit_test_setup(f, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(a_plan_that_fits_its_code_is_taken_up),
	    TEST(a_plan_that_does_not_is_refused_and_counted_once),
	    TEST(a_plan_whose_code_went_later_was_not_refused),
	    TEST(plans_beyond_the_limits_are_refused),
	    TEST(code_is_asked_for_so_often_and_no_more),
	    TEST(bursts_spend_what_is_left_at_the_pace_of_the_ticks),
	    TEST(bursts_have_their_part_of_the_budget),
	    TEST(they_go_to_those_ticks_that_come_in_planned_loops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
