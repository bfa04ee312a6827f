/* Bursts with real registers, of a loop of machine code that the test runs itself. */
#include "tests/unit/support/test.h"
#include <string.h>
#include <unistd.h>

#include "attach/agent/code/codemap.h"
#include "attach/agent/handler/burst.h"
#include "attach/agent/handler/handlers.h"
#include "attach/agent/handler/signals.h"
#include "attach/agent/handler/thread.h"
#include "attach/agent/handler/trace.h"
#include "attach/agent/code/loops.h"
#include "attach/agent/path/plans.h"
#include "tests/unit/support/agent/loop_thread.h"
#include "tests/unit/support/agent/blobs.h"

/* Turns: edi of them, with a store in each whose number has its low three bits clear. */
static const uint8_t loop_code[] = {
    0x89, 0xf9,                         /* mov ecx, edi */
    0x66, 0x90,                         /* header: nop */
    0xff, 0xc9,                         /* dec ecx */
    0xf7, 0xc1, 0x07, 0x00, 0x00, 0x00, /* test ecx, 7 */
    0x75, 0x02,                         /* jnz over the next */
    0x89, 0x0e,                         /* place: mov [rsi], ecx */
    0x85, 0xc9,                         /* test ecx, ecx */
    0x75, 0xee,                         /* jnz header */
    0xc3,                               /* ret */
};
#define HEADER 2u
#define PLACE  14u
#define BEHIND 20u
#define EVERY  8u

typedef void loop_function(unsigned turns, unsigned *to);

static uint64_t code;

static int set_up(void **state)
{
	struct code_blob blob;

	if (loop_area_new() < 0)
		return -1;
	memcpy(area, loop_code, sizeof(loop_code));
	if (codemap_init((uintptr_t)area, (uintptr_t)area + AREA_BYTES, NULL) < 0)
		return -1;
	add_compiled((uintptr_t)area, sizeof(loop_code), 1, NULL, 0);
	if (!codemap_find((uintptr_t)area, &blob))
		return -1;
	code = blob.serial;
	if (loop_thread_new(state, 2, 2) < 0)
		return -1;
	atomic_store(&handlers.burst_chance, BURST_CHANCE_ONE);
	handlers.burst_hit_ns = 10000;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	plans_clear();
	return loop_thread_free();
}

static void plan_place(uint32_t place)
{
	struct loop_plan plan = {.code = code,
				 .counted = true,
				 .start = (uintptr_t)area,
				 .plan = 5,
				 .header = HEADER,
				 .count = 1,
				 .places = {place}};

	plans_set(&plan, 1);
}

static void plan_loop(void)
{
	plan_place(PLACE);
}

static void tick_at(uint64_t ip)
{
	uc.uc_mcontext.gregs[REG_RIP] = (greg_t)ip;
	burst_tick(t, &uc);
}

static void run_turns(unsigned turns)
{
	loop_function *loop;
	unsigned to;

	memcpy(&loop, &area, sizeof(loop));
	loop(turns, &to);
}

static struct record recorded(void)
{
	struct record r = {0};

	assert_true(ring_pop(&t->memory->ring, &r));
	assert_int_equal(r.type, RECORD_BURST);
	assert_int_equal(r.burst.plan, 5);
	return r;
}

/* What the place has in so many turns of the first of all. */
static unsigned hits_in(unsigned all, unsigned turns)
{
	unsigned hits = 0;

	for (unsigned ecx = all - 1; ecx + turns >= all; ecx--)
		hits += ecx % EVERY == 0;
	return hits;
}

/* Turns in a burst, of which the first is that of all: until the header has its hits, or the place.
 */
static uint32_t turns_in_burst(unsigned all)
{
	struct burst_periods p = burst_periods(handlers.burst_hit_ns, 1);
	uint32_t turns = 1;

	while (turns < p.header && hits_in(all, turns) < p.others)
		turns++;
	return turns;
}

TEST(a_burst_counts_whole_turns_until_a_signal_ends_it, set_up, tear_down)
{
	uint32_t turns = turns_in_burst(1000);
	struct record r;

	need_registers(state);
	plan_loop();
	/* Also the second time: the events have counted before. */
	for (unsigned i = 0; i < 2; i++) {
		tick_at((uintptr_t)area + PLACE);
		run_turns(1000);
		r = recorded();
		assert_int_equal(r.burst.headers, turns);
		assert_int_equal(r.burst.others, 1);
		assert_int_equal(r.burst.places[0], 0);
		assert_int_equal(r.burst.counts[0], hits_in(1000, turns));
		assert_false(r.burst.left);
	}
	assert_int_equal(counted(JXP__COUNTER__COUNTER_BURSTS), 2);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_BURSTS_LEFT), 0);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_BURST_HITS),
			 2 * (turns - 1 + hits_in(1000, turns)));
	assert_int_equal(counted(JXP__COUNTER__COUNTER_SIGNALS), 2 * BURST_SIGNALS);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_SIGNALS_SEARCHES), 2 * BURST_SIGNALS);
}

TEST(where_nothing_comes_up_the_header_ends_a_burst, set_up, tear_down)
{
	uint32_t turns = burst_periods(handlers.burst_hit_ns, 1).header;
	struct record r;

	need_registers(state);
	plan_place(BEHIND);
	for (unsigned i = 0; i < 2; i++) {
		tick_at((uintptr_t)area + PLACE);
		run_turns(1000);
		r = recorded();
		assert_int_equal(r.burst.headers, turns);
		assert_int_equal(r.burst.counts[0], 0);
		assert_false(r.burst.left);
	}
	assert_int_equal(counted(JXP__COUNTER__COUNTER_BURST_HITS), 2 * turns);
}

TEST(a_loop_that_was_left_is_closed_by_a_later_tick, set_up, tear_down)
{
	struct record r;

	need_registers(state);
	plan_loop();
	tick_at((uintptr_t)area + HEADER);
	run_turns(3);
	tick_at((uintptr_t)area + PLACE);  /* still, or again, inside */
	tick_at((uintptr_t)area + BEHIND); /* outside, and it has counted since the last look */
	assert_false(ring_pop(&t->memory->ring, &r));
	tick_at((uintptr_t)area + BEHIND);
	r = recorded();
	assert_int_equal(r.burst.headers, 3);
	assert_int_equal(r.burst.counts[0], 1);
	assert_true(r.burst.left);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_BURSTS_LEFT), 1);
	run_turns(1000); /* nothing is on any more */
	assert_int_equal(counted(JXP__COUNTER__COUNTER_SIGNALS), 1);
	assert_false(ring_pop(&t->memory->ring, &r));
	/* What came in between is of no burst. */
	tick_at((uintptr_t)area + HEADER);
	run_turns(1000);
	assert_int_equal(recorded().burst.headers, turns_in_burst(1000));
}

TEST(a_header_that_is_not_reached_begins_none, set_up, tear_down)
{
	struct record r;

	need_registers(state);
	plan_loop();
	tick_at((uintptr_t)area + PLACE);
	assert_true(t->burst.active);
	tick_at((uintptr_t)area + BEHIND);
	assert_false(t->burst.active);
	run_turns(1000);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_SIGNALS), 0);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_BURSTS), 0);
	assert_false(ring_pop(&t->memory->ring, &r));
	tick_at((uintptr_t)area + PLACE);
	burst_expire(t); /* likewise at the end */
	assert_false(ring_pop(&t->memory->ring, &r));
}

TEST(what_goes_on_at_the_end_is_closed_with_what_it_has, set_up, tear_down)
{
	struct record r;

	need_registers(state);
	plan_loop();
	tick_at((uintptr_t)area + HEADER);
	run_turns(2);
	for (unsigned i = 0; i < PERF_DEBUG_REGISTERS; i++)
		(void)perf_disable(t->register_fd[i]);
	burst_note_counts(t);
	fd_close_all(t->register_fd, PERF_DEBUG_REGISTERS);
	burst_expire(t);
	r = recorded();
	assert_int_equal(r.burst.headers, 2);
	assert_true(r.burst.left);
	burst_expire(t);
	assert_false(ring_pop(&t->memory->ring, &r));
}

TEST(of_code_that_was_replaced_nothing_is_told, set_up, tear_down)
{
	struct record r;

	need_registers(state);
	plan_loop();
	tick_at((uintptr_t)area + HEADER);
	run_turns(2);
	add_compiled((uintptr_t)area, sizeof(loop_code), 1, NULL, 0);
	tick_at((uintptr_t)area + HEADER);
	assert_false(t->burst.active);
	assert_false(ring_pop(&t->memory->ring, &r));
	assert_int_equal(counted(JXP__COUNTER__COUNTER_BURSTS), 1);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_BURST_HITS), 2); /* a header, a store */
	tick_at((uintptr_t)area + HEADER); /* the plan is of the code that was */
	assert_false(t->burst.active);
}

TEST(ticks_elsewhere_begin_none, set_up, tear_down)
{
	need_registers(state);
	tick_at((uintptr_t)area + HEADER); /* no plan */
	assert_false(t->burst.active);
	plan_loop();
	tick_at((uintptr_t)area); /* before the loop */
	tick_at((uintptr_t)area + BEHIND);
	tick_at((uintptr_t)area + AREA_BYTES - 1);
	assert_false(t->burst.active);
	atomic_store(&handlers.burst_chance, 0);
	tick_at((uintptr_t)area + HEADER);
	assert_false(t->burst.active);
	atomic_store(&handlers.burst_chance, BURST_CHANCE_ONE);
	burst_own(t, 0, 0);
	tick_at((uintptr_t)area + HEADER);
	assert_false(t->burst.active);
}

/* Of so many ticks in the loop, how many began a burst; of the others each began a trace, or none.
 */
static unsigned bursts_of(const struct loop_plan *plan, unsigned ticks, unsigned *traces)
{
	unsigned bursts = 0;

	plans_set(plan, 1);
	*traces = 0;
	for (unsigned i = 0; i < ticks; i++) {
		memset(t->traces_in_vain, 0, sizeof(t->traces_in_vain));
		tick_at((uintptr_t)area + PLACE);
		bursts += t->burst.active;
		*traces += t->trace.active;
		assert_false(t->burst.active && t->trace.active);
		burst_give_up(t);
		trace_give_up(t);
	}
	return bursts;
}

TEST(bursts_and_traces_have_equal_chance, set_up, tear_down)
{
	struct loop_plan plan = {.code = code,
				 .start = (uintptr_t)area,
				 .plan = 5,
				 .header = HEADER,
				 .load_count = 1,
				 .loads = {{.offset = PLACE, .reg = 1}},
				 .counted = true};
	unsigned traces;

	need_registers(state);
	assert_in_range(bursts_of(&plan, 400, &traces), 150, 250);
	assert_in_range(traces, 150, 250);
	plan.counted = false;
	assert_int_equal(bursts_of(&plan, 20, &traces), 0);
	assert_int_equal(traces, 20);
	plan.load_count = 0;
	assert_int_equal(bursts_of(&plan, 20, &traces), 0);
	assert_int_equal(traces, 0);
	plan.counted = true;
	assert_int_equal(bursts_of(&plan, 20, &traces), 20);
}

TEST(what_is_traced_in_vain_is_counted_instead, set_up, tear_down)
{
	struct loop_plan plan = {.code = code,
				 .start = (uintptr_t)area,
				 .plan = 5,
				 .header = HEADER,
				 .load_count = 1,
				 .loads = {{.offset = PLACE, .reg = 1}},
				 .counted = true};
	unsigned bursts = 0;

	need_registers(state);
	plans_set(&plan, 1);
	memset(t->traces_in_vain, TRACE_HALVINGS_MAX, sizeof(t->traces_in_vain));
	for (unsigned i = 0; i < 400; i++) {
		tick_at((uintptr_t)area + PLACE);
		assert_true(t->burst.active || t->trace.active);
		bursts += t->burst.active;
		burst_give_up(t);
		trace_give_up(t);
	}
	assert_in_range(bursts, 370, 400);
}

TEST(a_tick_anywhere_in_its_code_begins_a_trace_of_a_recursion, set_up, tear_down)
{
	struct loop_plan plan = {.code = code,
				 .start = (uintptr_t)area,
				 .plan = 5,
				 .turn_input_count = 1,
				 .turn_inputs = {{.offset = 0, .reg = 1}},
				 .recursion = true};

	need_registers(state);
	plans_set(&plan, 1);
	tick_at((uintptr_t)area + BEHIND);
	assert_true(t->trace.active);
	tick_at((uintptr_t)area + BEHIND);
	assert_true(t->trace.active);
	trace_give_up(t);
	tick_at((uintptr_t)area + AREA_BYTES - 1);
	assert_false(t->trace.active);
}

static void assert_periods(uint64_t hit_ns, unsigned others, uint32_t header, uint32_t each)
{
	struct burst_periods p = burst_periods(hit_ns, others);

	assert_int_equal(p.header, header);
	assert_int_equal(p.others, each);
}

TEST(the_hits_of_a_burst_are_within_its_time)
{
	assert_periods(1000, 1, BURST_PERIOD_MAX, BURST_PERIOD_MAX);
	assert_periods(2500, 3, BURST_PERIOD_MAX, 48);
	assert_periods(10000, 0, 100, BURST_PERIOD_MIN);
	assert_periods(10000, 1, 92, BURST_PERIOD_MIN);
	assert_periods(10000, 2, 84, BURST_PERIOD_MIN);
	assert_periods(1000000, 2, BURST_PERIOD_MIN, BURST_PERIOD_MIN);
	assert_periods(0, 2, BURST_PERIOD_MAX, BURST_PERIOD_MAX);
}
