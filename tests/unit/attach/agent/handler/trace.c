/* Traces with real registers, of loops of machine code that the test runs itself. */
#include "tests/unit/support/test.h"
#include <linux/hw_breakpoint.h>
#include <string.h>
#include <unistd.h>

#include "attach/agent/code/codemap.h"
#include "attach/agent/handler/burst.h"
#include "attach/agent/handler/handlers.h"
#include "attach/agent/handler/signals.h"
#include "attach/agent/handler/thread.h"
#include "attach/agent/handler/trace.h"
#include "attach/agent/code/loops.h"
#include "tests/unit/support/agent/loop_thread.h"
#include "tests/unit/support/agent/blobs.h"

/* Adds up esi numbers at rdi. */
static const uint8_t sum_code[] = {
    0x31, 0xc0,       /* xor eax, eax */
    0x31, 0xc9,       /* entry: xor ecx, ecx */
    0x66, 0x90,       /* header: nop */
    0x03, 0x04, 0x8f, /* load: add eax, [rdi + 4 * rcx] */
    0xff, 0xc1,       /* next: inc ecx */
    0x39, 0xf1,       /* cmp ecx, esi */
    0x75, 0xf5,       /* jnz header */
    0x90,             /* behind: nop */
    0xc3,             /* ret */
};
#define ENTRY  2u
#define HEADER 4u
#define LOAD   6u
#define NEXT   9u
#define BEHIND 15u

/* The same, but each turn of an instance calls it edx deep. */
#define NESTED 256u
static const uint8_t nested_code[] = {
    0x31, 0xc9,                   /* entry: xor ecx, ecx */
    0x03, 0x04, 0x8f,             /* header, load: add eax, [rdi + 4 * rcx] */
    0x85, 0xd2,                   /* test edx, edx */
    0x74, 0x0b,                   /* jz over the call */
    0x51, 0x52,                   /* push rcx; push rdx */
    0xff, 0xca,                   /* dec edx */
    0xe8, 0xee, 0xff, 0xff, 0xff, /* call entry */
    0x5a, 0x59,                   /* pop rdx; pop rcx */
    0xff, 0xc1,                   /* inc ecx */
    0x39, 0xf1,                   /* cmp ecx, esi */
    0x75, 0xe8,                   /* jnz header */
    0xc3,                         /* ret */
};
#define NESTED_LOAD 2u

typedef unsigned sum_function(const uint32_t *numbers, unsigned count, unsigned deep);

static uint32_t numbers[64], others[64];

static uint64_t code_at(unsigned offset)
{
	struct code_blob blob;

	return codemap_find((uintptr_t)area + offset, &blob) ? blob.serial : 0;
}

static int map_code(void)
{
	memcpy(area, sum_code, sizeof(sum_code));
	memcpy(area + NESTED, nested_code, sizeof(nested_code));
	if (codemap_init((uintptr_t)area, (uintptr_t)area + AREA_BYTES, NULL) < 0)
		return -1;
	add_compiled((uintptr_t)area, sizeof(sum_code), 1, NULL, 0);
	add_compiled((uintptr_t)area + NESTED, sizeof(nested_code), 2, NULL, 0);
	return 0;
}

static int set_up(void **state)
{
	if (loop_area_new() < 0 || map_code() < 0 || loop_thread_new(state, 0, 4) < 0)
		return -1;
	atomic_store(&handlers.trace_signal_ns, 10000);
	handlers.trace_key[0] = 17;
	for (unsigned i = 0; i < 64; i++) {
		numbers[i] = 1000 + i % 8;
		others[i] = 2000 + i;
	}
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	return loop_thread_free();
}

static struct loop_plan plan_of_sum(void)
{
	return (struct loop_plan){.code = code_at(0),
				  .start = (uintptr_t)area,
				  .plan = 5,
				  .header = HEADER,
				  .entry = ENTRY};
}

/* The load, and how many numbers there are, and where the caller is. */
static struct loop_plan plan_of_instances(void)
{
	struct loop_plan plan = plan_of_sum();

	plan.loads[plan.load_count++] = (struct plan_input){.offset = LOAD, .bytes = 4};
	plan.scalars[plan.scalar_count++] = (struct plan_scalar){.reg = 6, .bytes = 4};
	plan.scalars[plan.scalar_count++] =
	    (struct plan_scalar){.reg = 4, .bytes = 8, .slot = true};
	return plan;
}

/* Whatever came of those before. */
static void begin(const struct loop_plan *plan)
{
	memset(t->traces_in_vain, 0, sizeof(t->traces_in_vain));
	assert_true(trace_fits(t, plan));
	assert_true(trace_begin(t, plan));
	assert_true(t->trace.active);
}

static void begin_instances(void)
{
	struct loop_plan plan = plan_of_instances();

	begin(&plan);
}

/* Not inlined, so that each call of the loop has the same stack. */
static __attribute__((noinline)) void run(unsigned offset, const uint32_t *from, unsigned count,
					  unsigned deep)
{
	uint8_t *at = area + offset;
	sum_function *sum;

	memcpy(&sum, &at, sizeof(sum));
	(void)sum(from, count, deep);
}

/* Through one call, since the place of it is a scalar. */
static void run_all(unsigned times, const uint32_t *const *from, const unsigned *counts)
{
	for (unsigned i = 0; i < times; i++)
		run(0, from[i], counts[i], 0);
}

static void tick_at(uint64_t ip, uint64_t sp)
{
	uc.uc_mcontext.gregs[REG_RIP] = (greg_t)ip;
	uc.uc_mcontext.gregs[REG_RSP] = (greg_t)sp;
	trace_tick(t, &uc);
}

static struct event_trace recorded(void)
{
	struct event_trace told = {0};

	for (unsigned i = 0; i < RECORD_TRACE_PARTS; i++) {
		size_t from = (size_t)i * RECORD_TRACE_BYTES, left = sizeof(told) - from;
		struct record r = {0};

		assert_true(ring_pop(&t->memory->ring, &r));
		assert_int_equal(r.type, RECORD_TRACE);
		assert_int_equal(r.part, i);
		memcpy((uint8_t *)&told + from, r.bytes,
		       left < RECORD_TRACE_BYTES ? left : RECORD_TRACE_BYTES);
	}
	assert_int_equal(told.plan, 5);
	return told;
}

/* Nothing was told, and no breakpoint is on any more. */
static void expect_the_end(Jxp__Counter why, uint64_t count)
{
	uint64_t signals = counted(JXP__COUNTER__COUNTER_SIGNALS);
	struct record r;

	assert_false(t->trace.active);
	run(0, numbers, 40, 0);
	run(NESTED, numbers, 40, 0);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_SIGNALS), signals);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_EVENT_ERRORS), 0);
	assert_int_equal(counted(why), count);
	assert_false(ring_pop(&t->memory->ring, &r));
}

TEST(two_instances_of_the_same_are_alike, set_up, tear_down)
{
	const uint32_t *const from[] = {numbers, numbers, others};
	const unsigned counts[] = {6, 6, 1};
	struct event_trace told;

	need_registers(state);
	begin_instances();
	run_all(3, from, counts);
	told = recorded();
	assert_int_equal(told.load, 0);
	assert_int_equal(told.counts[0], 6);
	assert_int_equal(told.counts[1], 6);
	assert_memory_equal(told.values[0], told.values[1], 6 * sizeof(uint32_t));
	assert_int_not_equal(told.values[0][0], told.values[0][1]);
	assert_int_equal(told.scalar_counts[0], 2);
	assert_int_equal(told.scalar_counts[1], 2);
	assert_memory_equal(told.scalars[0], told.scalars[1], 2 * sizeof(uint32_t));
	assert_int_not_equal(told.scalars[0][0], told.scalars[0][1]);
	assert_false(told.cut[0] || told.cut[1]);
	assert_int_equal(told.turn_values, 0);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_TRACES), 1);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_SIGNALS), 6 + 6 + 3);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_SIGNALS_SEARCHES), 6 + 6 + 3);
	expect_the_end(JXP__COUNTER__COUNTER_TRACES_LEFT, 0);
}

TEST(two_instances_of_others_are_not, set_up, tear_down)
{
	const uint32_t *const from[] = {numbers, others, numbers};
	const unsigned counts[] = {9, 3, 1};
	struct event_trace told;

	need_registers(state);
	begin_instances();
	run_all(3, from, counts);
	told = recorded();
	assert_int_equal(told.counts[0], 9);
	assert_int_equal(told.counts[1], 3);
	for (unsigned i = 0; i < 9; i++)
		for (unsigned j = 0; j < 3; j++)
			assert_int_not_equal(told.values[0][i], told.values[1][j]);
	assert_int_equal(told.values[0][8], told.values[0][0]); /* numbers repeat */
	assert_int_not_equal(told.scalars[0][0], told.scalars[1][0]);
	assert_int_equal(told.scalars[0][1], told.scalars[1][1]);
	expect_the_end(JXP__COUNTER__COUNTER_TRACES_LEFT, 0);
}

TEST(another_key_makes_other_hashes_of_the_same, set_up, tear_down)
{
	const uint32_t *const from[] = {numbers, numbers, numbers};
	const unsigned counts[] = {1, 1, 1};
	struct event_trace one, other;

	need_registers(state);
	begin_instances();
	run_all(3, from, counts);
	one = recorded();
	handlers.trace_key[0]++;
	begin_instances();
	run_all(3, from, counts);
	other = recorded();
	assert_int_not_equal(one.values[0][0], other.values[0][0]);
	assert_int_not_equal(one.scalars[0][0], other.scalars[0][0]);
}

TEST(long_instances_are_cut, set_up, tear_down)
{
	const uint32_t *const from[] = {numbers, numbers};
	const unsigned counts[] = {60, 61};
	struct event_trace told;

	need_registers(state);
	begin_instances();
	run_all(2, from, counts);
	told = recorded();
	assert_int_equal(told.counts[0], LIMIT_TRACE_VALUES);
	assert_int_equal(told.counts[1], LIMIT_TRACE_VALUES);
	assert_true(told.cut[0] && told.cut[1]);
	assert_memory_equal(told.values[0], told.values[1], sizeof(told.values[0]));
	assert_int_equal(counted(JXP__COUNTER__COUNTER_SIGNALS), 2 * (LIMIT_TRACE_VALUES + 2));
	expect_the_end(JXP__COUNTER__COUNTER_TRACES_LEFT, 0);
}

TEST(where_signals_are_dear_there_are_fewer_values, set_up, tear_down)
{
	const uint32_t *const from[] = {numbers, numbers, numbers};
	const unsigned counts[] = {20, 4, 1};
	struct event_trace told;

	need_registers(state);
	atomic_store(&handlers.trace_signal_ns, 200000);
	begin_instances();
	run_all(3, from, counts);
	told = recorded();
	assert_int_equal(told.counts[0], TRACE_VALUES_MIN);
	assert_true(told.cut[0]);
	assert_int_equal(told.counts[1], 4);
	assert_false(told.cut[1]); /* it was entered again */
	expect_the_end(JXP__COUNTER__COUNTER_TRACES_LEFT, 0);
}

TEST(the_second_instance_is_over_when_the_thread_has_left_it, set_up, tear_down)
{
	const uint32_t *const from[] = {numbers, numbers};
	const unsigned counts[] = {5, 2};
	uint64_t sp;

	need_registers(state);
	for (unsigned i = 0; i < 2; i++) {
		struct event_trace told;

		begin_instances();
		run_all(2, from, counts);
		sp = t->trace.stack_pointer;
		tick_at((uintptr_t)area + LOAD, sp);              /* in it */
		tick_at((uintptr_t)area + BEHIND, sp - 64);       /* another activation, deeper */
		tick_at((uintptr_t)&tick_at, sp - 64);            /* what it may have called */
		tick_at((uintptr_t)&tick_at, t->stack_high + 64); /* on another stack */
		assert_true(t->trace.active);
		if (i == 0)
			tick_at((uintptr_t)area + BEHIND, sp);
		else
			tick_at((uintptr_t)&tick_at, sp + 8); /* its frame is gone */
		told = recorded();
		assert_int_equal(told.counts[0], 5);
		assert_int_equal(told.counts[1], 2);
		assert_false(told.cut[1]);
	}
	expect_the_end(JXP__COUNTER__COUNTER_TRACES_LEFT, 0);
}

TEST(one_that_does_not_come_to_its_end_is_dropped, set_up, tear_down)
{
	const uint32_t *const from[] = {numbers, numbers};
	const unsigned counts[] = {5, 2};

	need_registers(state);
	begin_instances();
	run_all(2, from, counts);
	t->trace.since_ns -= TRACE_AGE_MAX_NS;
	tick_at((uintptr_t)area + LOAD, t->trace.stack_pointer);
	expect_the_end(JXP__COUNTER__COUNTER_TRACES_LEFT, 1);
	/* Nor is the loop waited for for ever. */
	begin_instances();
	tick_at((uintptr_t)area + LOAD, 0);
	assert_true(t->trace.active);
	t->trace.since_ns -= TRACE_WAIT_MAX_NS;
	tick_at((uintptr_t)area + LOAD, 0);
	expect_the_end(JXP__COUNTER__COUNTER_TRACES_LEFT, 2);
}

TEST(one_that_has_all_its_values_needs_no_end, set_up, tear_down)
{
	const uint32_t *const from[] = {numbers, numbers};
	const unsigned counts[] = {5, LIMIT_TRACE_VALUES};
	struct event_trace told;

	need_registers(state);
	begin_instances();
	run_all(2, from, counts);
	assert_true(t->trace.active);
	trace_give_up(t);
	told = recorded();
	assert_int_equal(told.counts[1], LIMIT_TRACE_VALUES);
	assert_true(told.cut[1]); /* as far as is known */
	expect_the_end(JXP__COUNTER__COUNTER_TRACES_LEFT, 0);
}

TEST(an_instance_that_calls_itself_is_one, set_up, tear_down)
{
	struct loop_plan plan = plan_of_sum();
	struct event_trace told;

	need_registers(state);
	plan.code = code_at(NESTED);
	plan.start = (uintptr_t)area + NESTED;
	plan.entry = 0;
	plan.header = NESTED_LOAD;
	plan.loads[plan.load_count++] = (struct plan_input){.offset = NESTED_LOAD, .bytes = 4};
	begin(&plan);
	run(NESTED, numbers, 5, 1);
	run(NESTED, others, 4, 1);
	run(NESTED, others, 1, 0);
	told = recorded();
	assert_int_equal(told.counts[0], 5);
	assert_int_equal(told.counts[1], 4);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_SIGNALS), 5 * 7 + 4 * 6 + 3);
	/* Where too much is deeper, it is given up. */
	begin(&plan);
	run(NESTED, numbers, 20, 1);
	expect_the_end(JXP__COUNTER__COUNTER_TRACES_LEFT, 1);
}

static struct loop_plan plan_of_turns(void)
{
	struct loop_plan plan = plan_of_sum();

	plan.turn_inputs[plan.turn_input_count++] = (struct plan_input){.offset = LOAD, .bytes = 4};
	plan.turn_inputs[plan.turn_input_count++] = (struct plan_input){.offset = NEXT, .reg = 6};
	plan.turn_inputs[plan.turn_input_count++] = (struct plan_input){.offset = HEADER, .reg = 7};
	return plan;
}

TEST(turns_are_told_one_behind_the_other, set_up, tear_down)
{
	struct loop_plan plan = plan_of_turns();
	struct event_trace told;

	need_registers(state);
	begin(&plan);
	run(0, numbers, 60, 0);
	told = recorded();
	assert_int_equal(told.turn_values, LIMIT_TRACE_VALUES);
	assert_int_equal(told.counts[0] + told.counts[1], 0);
	for (unsigned i = 0; i < LIMIT_TRACE_VALUES; i++) {
		assert_int_equal(told.places[i], (i + 2) % 3); /* from the header on */
		if (i >= 3)
			assert_int_equal(told.values[0][i] == told.values[0][i - 3], i % 3 != 1);
		if (i >= 24)
			assert_int_equal(told.values[0][i], told.values[0][i - 24]);
	}
	assert_in_range(told.elapsed_ns, 1, 1000000000);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_SIGNALS), LIMIT_TRACE_VALUES);
	expect_the_end(JXP__COUNTER__COUNTER_TRACES_LEFT, 0);
}

TEST(two_values_of_one_instruction_have_one_breakpoint, set_up, tear_down)
{
	struct loop_plan plan = plan_of_turns();
	struct event_trace told;

	need_registers(state);
	plan.turn_inputs[2].offset = NEXT;
	assert_true(trace_fits(t, &plan));
	burst_own(t, 0, 2);
	assert_true(trace_fits(t, &plan));
	begin(&plan);
	run(0, others, 60, 0);
	told = recorded();
	for (unsigned i = 0; i < LIMIT_TRACE_VALUES; i++)
		assert_int_equal(told.places[i], i % 3);
	assert_int_equal(told.values[0][1], told.values[0][4]);
	expect_the_end(JXP__COUNTER__COUNTER_TRACES_LEFT, 0);
}

TEST(turns_that_were_left_are_told_as_they_are, set_up, tear_down)
{
	struct loop_plan plan = plan_of_turns();

	need_registers(state);
	for (unsigned i = 0; i < 3; i++) {
		begin(&plan);
		run(0, numbers, 3, 0);
		assert_true(t->trace.active);
		if (i == 0)
			tick_at((uintptr_t)area + BEHIND, t->trace.stack_pointer);
		else if (i == 1)
			trace_give_up(t);
		else
			t->trace.since_ns -= TRACE_AGE_MAX_NS,
			    tick_at((uintptr_t)area + LOAD, t->trace.stack_pointer);
		assert_int_equal(recorded().turn_values, 9);
	}
	expect_the_end(JXP__COUNTER__COUNTER_TRACES_LEFT, 0);
	/* Not even the header was come to. */
	begin(&plan);
	t->trace.since_ns -= TRACE_WAIT_MAX_NS;
	tick_at((uintptr_t)&tick_at, 0);
	expect_the_end(JXP__COUNTER__COUNTER_TRACES_LEFT, 1);
}

TEST(the_turns_of_a_recursion_are_its_calls, set_up, tear_down)
{
	struct loop_plan plan = plan_of_sum();
	struct event_trace told;

	need_registers(state);
	plan.code = code_at(NESTED);
	plan.start = (uintptr_t)area + NESTED;
	plan.header = 0;
	plan.recursion = true;
	plan.turn_inputs[plan.turn_input_count++] = (struct plan_input){.offset = 0, .reg = 2};
	begin(&plan);
	run(NESTED, numbers, 1, 5);
	run(NESTED, numbers, 1, 5);
	trace_give_up(t);
	told = recorded();
	assert_int_equal(told.turn_values, 12);
	for (unsigned i = 0; i < 6; i++) {
		assert_int_equal(told.values[0][i], told.values[0][i + 6]);
		if (i > 0)
			assert_int_not_equal(told.values[0][i], told.values[0][i - 1]);
	}
	expect_the_end(JXP__COUNTER__COUNTER_TRACES_LEFT, 0);
}

TEST(values_of_two_epochs_are_not_compared, set_up, tear_down)
{
	const uint32_t *const from[] = {numbers, numbers, numbers};
	const unsigned counts[] = {5, 5, 5};
	struct loop_plan plan = plan_of_turns();

	need_registers(state);
	handlers_gc_started();
	handlers_gc_finished();
	begin_instances(); /* What was before the first value is of no concern. */
	run_all(3, from, counts);
	(void)recorded();
	begin_instances();
	run_all(1, from, counts);
	handlers_gc_started();
	handlers_gc_finished();
	run_all(1, from, counts);
	expect_the_end(JXP__COUNTER__COUNTER_TRACES_MOVED, 1);
	begin(&plan);
	run_all(1, from, counts);
	handlers_gc_started();
	handlers_gc_finished();
	t->epoch = atomic_load(&handlers.epoch); /* as each signal does */
	tick_at((uintptr_t)area + LOAD, 0);
	expect_the_end(JXP__COUNTER__COUNTER_TRACES_MOVED, 2);
}

TEST(of_code_that_was_replaced_nothing_is_told, set_up, tear_down)
{
	const uint32_t *const from[] = {numbers};
	const unsigned counts[] = {5};

	need_registers(state);
	for (unsigned i = 0; i < 3; i++) {
		struct loop_plan plan = i == 2 ? plan_of_turns() : plan_of_instances();

		begin(&plan);
		run_all(1, from, counts);
		add_compiled((uintptr_t)area, sizeof(sum_code), 1, NULL, 0);
		if (i == 0)
			tick_at((uintptr_t)area + LOAD, 0);
		else if (i == 1)
			run_all(1, from, counts);
		else
			trace_give_up(t);
		expect_the_end(JXP__COUNTER__COUNTER_TRACES_LEFT, i + 1);
	}
}

TEST(what_cannot_be_read_ends_a_trace, set_up, tear_down)
{
	struct loop_plan plan = plan_of_instances();

	need_registers(state);
	plan.loads[0].bytes = 8; /* not what is there */
	begin(&plan);
	run(0, numbers, 5, 0);
	expect_the_end(JXP__COUNTER__COUNTER_TRACES_LEFT, 1);
	plan = plan_of_instances();
	plan.scalars[1].displacement = -64; /* below the stack pointer */
	begin(&plan);
	run(0, numbers, 5, 0);
	expect_the_end(JXP__COUNTER__COUNTER_TRACES_LEFT, 2);
	plan.scalars[1].reg = 7; /* not in the stack at all */
	plan.scalars[1].displacement = 0;
	begin(&plan);
	run(0, numbers, 5, 0);
	expect_the_end(JXP__COUNTER__COUNTER_TRACES_LEFT, 3);
}

/* A real watchpoint on a number that is about to be loaded; known: the thread knows of it, as of
 * one whose access it waits for. */
static void watch_third_number(bool known)
{
	struct perf_event_attr attr;

	perf_attr_breakpoint(&attr, HW_BREAKPOINT_RW, (uintptr_t)&numbers[2], 4,
			     thread_sig_data(t, THREAD_ROLE_REGISTER + 3));
	attr.disabled = 0;
	assert_int_equal(perf_modify(t->register_fd[3], &attr), 0);
	t->watchpoints[3] = (struct watchpoint){.state = known ? WATCH_PENDING : WATCH_FREE,
						.address = (uintptr_t)&numbers[2],
						.length = 4};
}

TEST(what_is_watched_is_read_through_the_kernel, set_up, tear_down)
{
	const uint32_t *const from[] = {numbers, numbers, numbers};
	const unsigned counts[] = {5, 5, 1};
	struct event_trace told;

	need_registers(state);
	handlers.regions = (struct region_map){0};
	assert_true(region_add_heap(&handlers.regions, (uintptr_t)numbers,
				    (uintptr_t)numbers + sizeof(numbers)));
	burst_own(t, 0, 2);
	begin_instances();
	watch_third_number(true);
	run_all(3, from, counts);
	told = recorded();
	assert_memory_equal(told.values[0], told.values[1], 5 * sizeof(uint32_t));
	assert_int_equal(counted(JXP__COUNTER__COUNTER_UNDECODED), 1); /* by the program's load */
	assert_int_equal(counted(JXP__COUNTER__COUNTER_ASYNC), 0);
	/* Else it is read as it is, and the watchpoint is hit in the handler. */
	begin_instances();
	watch_third_number(false);
	run_all(3, from, counts);
	assert_int_equal(recorded().values[0][2], told.values[0][2]);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_ASYNC), 1);
	handlers.regions = (struct region_map){0};
}

static void close_registers(void)
{
	for (unsigned i = 0; i < PERF_DEBUG_REGISTERS; i++)
		(void)perf_disable(t->register_fd[i]);
	fd_close_all(t->register_fd, PERF_DEBUG_REGISTERS);
}

TEST(the_end_of_the_window_ends_it, set_up, tear_down)
{
	const uint32_t *const from[] = {numbers, numbers};
	const unsigned counts[] = {5, 5};

	need_registers(state);
	begin_instances();
	run_all(2, from, counts);
	close_registers();
	trace_expire(t);
	expect_the_end(JXP__COUNTER__COUNTER_TRACES_LEFT, 1);
	trace_expire(t);
	expect_the_end(JXP__COUNTER__COUNTER_TRACES_LEFT, 1);
}

TEST(turns_at_the_end_of_the_window_are_told, set_up, tear_down)
{
	struct loop_plan plan = plan_of_turns();

	need_registers(state);
	begin(&plan);
	run(0, numbers, 2, 0);
	close_registers();
	trace_expire(t);
	assert_int_equal(recorded().turn_values, 6);
	expect_the_end(JXP__COUNTER__COUNTER_TRACES_LEFT, 0);
}

TEST(a_plan_needs_its_registers, set_up, tear_down)
{
	struct loop_plan instances = plan_of_instances(), turns = plan_of_turns();

	burst_own(t, 2, 2);
	assert_true(trace_fits(t, &instances));
	assert_false(trace_fits(t, &turns));
	turns.turn_input_count = 2;
	assert_true(trace_fits(t, &turns));
	instances.recursion = true;
	assert_false(trace_fits(t, &instances));
	burst_own(t, 3, 1);
	instances.recursion = false;
	assert_false(trace_fits(t, &instances));
	assert_false(trace_fits(t, &turns));
	turns.turn_input_count = 0;
	assert_false(trace_fits(t, &turns));
}

TEST(what_is_wanted_is_drawn_with_equal_chance, set_up, tear_down)
{
	struct loop_plan plan = plan_of_turns();
	unsigned turns = 0, second = 0;

	need_registers(state);
	plan.loads[0] = (struct plan_input){.offset = LOAD, .bytes = 4};
	plan.loads[1] = (struct plan_input){.offset = NEXT, .reg = 0};
	plan.load_count = 2;
	for (unsigned i = 0; i < 400; i++) {
		begin(&plan);
		turns += t->trace.turns;
		second += !t->trace.turns && t->trace.told.load == 1;
		trace_give_up(t);
	}
	assert_in_range(turns, 150, 250);
	assert_in_range(second, 60, 140);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_TRACES), 400);
}

TEST(traces_in_vain_become_seldom, set_up, tear_down)
{
	const uint32_t *const from[] = {numbers, numbers, numbers};
	const unsigned counts[] = {1, 1, 1};
	struct loop_plan plan = plan_of_instances(), turns = plan_of_turns();
	unsigned begun = 0;

	need_registers(state);
	for (unsigned i = 0; i < 3200; i++)
		if (trace_begin(t, &plan)) {
			begun++;
			trace_give_up(t);
		}
	assert_in_range(begun, 60, 180);     /* one in 32, and a few before that */
	assert_true(trace_begin(t, &turns)); /* of another sort */
	trace_give_up(t);
	while (!trace_begin(t, &plan))
		assert_false(t->trace.active);
	run_all(3, from, counts);
	(void)recorded();
	assert_true(trace_begin(t, &plan)); /* One has come to something. */
}

TEST(the_signals_of_a_trace_are_within_its_time)
{
	assert_int_equal(trace_signals_max(0), TRACE_SIGNALS_MAX);
	assert_int_equal(trace_signals_max(20000), 50);
	assert_int_equal(trace_signals_max(1000000), TRACE_SIGNALS_MIN);
	assert_int_equal(trace_values_max(TRACE_SIGNALS_MAX), LIMIT_TRACE_VALUES);
	assert_int_equal(trace_values_max(50), 22);
	assert_int_equal(trace_values_max(TRACE_SIGNALS_MIN), TRACE_VALUES_MIN);
}
