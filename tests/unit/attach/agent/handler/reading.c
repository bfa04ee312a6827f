/* Readings with real registers, of loops of machine code that the test runs itself. */
#include "tests/unit/support/test.h"
#include <string.h>
#include <unistd.h>

#include "attach/agent/code/codemap.h"
#include "attach/agent/handler/burst.h"
#include "attach/agent/handler/handlers.h"
#include "attach/agent/handler/reading.h"
#include "attach/agent/handler/signals.h"
#include "attach/agent/handler/thread.h"
#include "attach/agent/code/loops.h"
#include "tests/unit/support/agent/loop_thread.h"
#include "tests/unit/support/agent/blobs.h"

/* Counts in ecx to edi, each turn of an instance calls it esi
 * deep. */
static const uint8_t count_code[] = {
    0x31, 0xc9,                   /* xor ecx, ecx */
    0x90,                         /* begin: nop */
    0x85, 0xf6,                   /* header: test esi, esi */
    0x74, 0x0b,                   /* jz over the call */
    0x51, 0x56,                   /* push rcx; push rsi */
    0xff, 0xce,                   /* dec esi */
    0xe8, 0xf0, 0xff, 0xff, 0xff, /* call itself */
    0x5e, 0x59,                   /* pop rsi; pop rcx */
    0xff, 0xc1,                   /* inc ecx */
    0x39, 0xf9,                   /* cmp ecx, edi */
    0x75, 0xeb,                   /* jnz header */
    0x89, 0x4c, 0x24, 0xf8,       /* end: mov [rsp - 8], ecx */
    0xc3,                         /* ret */
    0x90,                         /* never: nop */
};
#define BEGIN  2u
#define HEADER 3u
#define END    24u
#define NEVER  29u

typedef void count_function(unsigned count, unsigned deep);

static uint64_t code(void)
{
	struct code_blob blob;

	return codemap_find((uintptr_t)area, &blob) ? blob.serial : 0;
}

static int map_code(void)
{
	memcpy(area, count_code, sizeof(count_code));
	if (codemap_init((uintptr_t)area, (uintptr_t)area + AREA_BYTES, NULL) < 0)
		return -1;
	add_compiled((uintptr_t)area, sizeof(count_code), 1, NULL, 0);
	return 0;
}

static int set_up(void **state)
{
	if (loop_area_new() < 0 || map_code() < 0 || loop_thread_new(state, 0, 4) < 0)
		return -1;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	return loop_thread_free();
}

static struct loop_plan plan_to(uint32_t end)
{
	static const struct plan_scalar ecx = {.reg = 1, .bytes = 4};
	struct loop_plan plan = {.code = code(),
				 .start = (uintptr_t)area,
				 .plan = 5,
				 .header = HEADER,
				 .end_count = 1,
				 .begin = {.offset = BEGIN, .at = ecx}};

	plan.ends[0] = (struct plan_counter_place){.offset = end, .at = ecx};
	return plan;
}

static void begin(const struct loop_plan *plan)
{
	assert_true(reading_fits(t, plan));
	assert_true(reading_begin(t, plan));
	assert_true(t->reading.active);
}

static __attribute__((noinline)) void run(unsigned count, unsigned deep)
{
	count_function *function;

	memcpy(&function, &area, sizeof(function));
	function(count, deep);
}

/* Through one call, so that all have the same stack. */
static void run_all(unsigned times, unsigned count)
{
	for (unsigned i = 0; i < times; i++)
		run(count + i, 0);
}

static void expect(int32_t stepped, bool left)
{
	struct record r = {0};

	assert_true(ring_pop(&t->memory->ring, &r));
	assert_int_equal(r.type, RECORD_READING);
	assert_int_equal(r.reading.plan, 5);
	assert_int_equal(r.reading.end, 0);
	assert_int_equal(r.reading.stepped, stepped);
	assert_int_equal(r.reading.left, left);
}

/* Nothing more was told, and no breakpoint is on any more. */
static void expect_the_end(uint64_t left)
{
	uint64_t signals = counted(JXP__COUNTER__COUNTER_SIGNALS);
	struct record r;

	assert_false(t->reading.active);
	assert_false(ring_pop(&t->memory->ring, &r));
	run(3, 0);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_SIGNALS), signals);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_READINGS_LEFT), left);
}

TEST(an_instance_has_as_many_turns_as_its_counter_goes_on, set_up, tear_down)
{
	struct loop_plan plan = plan_to(END);

	need_registers(state);
	begin(&plan);
	run(4096, 0);
	expect(4096, false);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_SIGNALS), 2);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_READINGS), 1);
	expect_the_end(0);
}

TEST(those_within_it_are_passed_over, set_up, tear_down)
{
	struct loop_plan plan = plan_to(END);

	need_registers(state);
	begin(&plan);
	run(3, 1);
	expect(3, false);
	expect_the_end(0);
}

TEST(one_with_many_within_it_is_given_up, set_up, tear_down)
{
	struct loop_plan plan = plan_to(END);

	need_registers(state);
	begin(&plan);
	run(READING_SIGNALS_MAX, 1);
	expect(0, true);
	expect_the_end(1);
}

TEST(one_that_was_left_another_way_is_not_the_next_one, set_up, tear_down)
{
	struct loop_plan plan = plan_to(NEVER);

	need_registers(state);
	begin(&plan);
	run_all(2, 7);
	assert_true(t->reading.active);
	expect(0, true);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_READINGS), 2);
	reading_give_up(t);
	expect(0, true);
	expect_the_end(2);
}

TEST(a_tick_in_a_caller_ends_it, set_up, tear_down)
{
	struct loop_plan plan = plan_to(NEVER);

	need_registers(state);
	begin(&plan);
	run(7, 0);
	uc.uc_mcontext.gregs[REG_RIP] = 1;
	uc.uc_mcontext.gregs[REG_RSP] = (greg_t)t->reading.stack_pointer;
	reading_tick(t, &uc);
	assert_true(t->reading.active);
	uc.uc_mcontext.gregs[REG_RSP] += 8;
	reading_tick(t, &uc);
	expect(0, true);
	expect_the_end(1);
}

TEST(of_code_that_was_replaced_nothing_is_told, set_up, tear_down)
{
	struct loop_plan plan = plan_to(END);

	need_registers(state);
	begin(&plan);
	remove_code((uintptr_t)area);
	add_compiled((uintptr_t)area, sizeof(count_code), 1, NULL, 0);
	run(5, 0);
	expect_the_end(1);
}

TEST(one_that_had_not_begun_is_not_told, set_up, tear_down)
{
	struct loop_plan plan = plan_to(END);

	need_registers(state);
	begin(&plan);
	for (unsigned i = 0; i < PERF_DEBUG_REGISTERS; i++)
		(void)perf_disable(t->register_fd[i]);
	fd_close_all(t->register_fd, PERF_DEBUG_REGISTERS);
	reading_expire(t);
	expect_the_end(1);
}

TEST(a_register_is_needed_for_each_place, set_up, tear_down)
{
	struct loop_plan plan = plan_to(END);

	plan.end_count = 3;
	assert_true(reading_fits(t, &plan));
	burst_own(t, 0, 3);
	assert_false(reading_fits(t, &plan));
	plan.end_count = 0;
	assert_false(reading_fits(t, &plan));
}

TEST(readings_in_vain_become_seldom, set_up, tear_down)
{
	struct loop_plan plan = plan_to(END);
	unsigned begun = 0;

	need_registers(state);
	for (unsigned i = 0; i < 200; i++) {
		begun += reading_begin(t, &plan);
		reading_give_up(t);
	}
	assert_in_range(begun, READING_HALVINGS_MAX, 60);
	while (!reading_begin(t, &plan))
		assert_false(t->reading.active);
	run(9, 0);
	expect(9, false);
	assert_true(reading_begin(t, &plan)); /* One has come to something. */
}
