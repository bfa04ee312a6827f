/* Pairs that are foretold: recorded as if both accesses had trapped, but for some that are
 * left to a watchpoint. No register is used. */
#include "tests/unit/support/test.h"
#include <unistd.h>

#include "attach/agent/code/xstate.h"
#include "attach/agent/handler/foretell.h"
#include "attach/agent/handler/handlers.h"
#include "attach/agent/handler/pair.h"
#include "attach/agent/handler/thread.h"
#include "attach/agent/handler/watchpoint.h"
#include "attach/agent/path/foretell_stop.h"
#include "attach/agent/code/loops.h"
#include "tests/unit/support/agent/code.h"
#include "tests/unit/support/agent/one_frame.h"
#include "tests/unit/support/agent/own_thread.h"

#define TRIES 4000u

static uint64_t data[4] __attribute__((aligned(64)));
static uint64_t stack[8];
static struct watchpoint w;
static struct walk walk;
static struct walk_access first;

static int set_up_process(void **state)
{
	(void)state;
	xstate_init();
	return own_process_init() < 0 || loops_init() < 0 ? -1 : 0;
}

static int fresh_thread(void **state)
{
	if (code_setup(state) < 0 || own_thread_init() < 0)
		return -1;
	foretell_stop_clear();
	one_frame_result = STACK_OK;
	memset(data, 0, sizeof(data));
	data[0] = 0x1111;
	uc.uc_mcontext.gregs[REG_RBX] = (greg_t)(uintptr_t)data;
	uc.uc_mcontext.gregs[REG_RSP] = (greg_t)(uintptr_t)&stack[4];
	uc.uc_mcontext.gregs[REG_RDX] = 0x2222;
	return 0;
}

static int drop_thread(void **state)
{
	(void)state;
	thread_recycle(t);
	return 0;
}

/* A tick at ip, of which the walk comes to an access whose bytes are chosen. */
static void tick(uint64_t ip, uint8_t kind)
{
	static struct machine_view view; /* The walk keeps it. */
	struct extent extent;
	uint64_t stop;

	foretell_view(t, (uint64_t)uc.uc_mcontext.gregs[REG_RSP], &view);
	uc.uc_mcontext.gregs[REG_RIP] = (greg_t)ip;
	w = (struct watchpoint){.kind = kind, .weight = 1000};
	walk_begin(&w.scope, sample_access(kind), 0, ip);
	assert_int_equal(walk_on(&walk, &w.scope, &view, ip, uc.uc_mcontext.gregs, &first, &stop),
			 WALK_ACCESS);
	extent = extent_whole(first.address, first.insn.memory.size);
	assert_true(pair_choose_bytes(t, &w, kind, &first.insn, &extent));
}

static bool foretold(uint64_t ip, uint8_t kind)
{
	tick(ip, kind);
	return foretell_pairs(t, &w, 1.0, &walk, &first, &uc);
}

/* Again and again until it is not one of those that are left to a watchpoint. */
static struct record record_of(uint64_t ip, uint8_t kind)
{
	struct record r = {0};

	for (unsigned i = 0; i < TRIES && !foretold(ip, kind); i++)
		assert_true(w.foretold_second != 0);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_FORETOLD), 1);
	assert_true(ring_pop(&t->memory->ring, &r));
	assert_int_equal(r.type, RECORD_TRAPPED);
	assert_int_equal(r.reg, PERF_DEBUG_REGISTERS);
	assert_int_equal(r.kind, kind);
	return r;
}

static bool is_wasteful(const struct record *r)
{
	return r->wasteful_as & 1u << ELEMENT_INTEGER;
}

TEST(a_silent_load_is_recorded_at_once, fresh_thread, drop_thread)
{
	/* mov rax, [rbx]; mov rcx, [rbx]; ret */
	uint64_t ip = CODE(0, "\x48\x8b\x03\x48\x8b\x0b\xc3");
	struct record r = record_of(ip, JXP__KIND__KIND_SILENT_LOAD);

	assert_true(is_wasteful(&r));
	assert_int_equal(r.address, (uintptr_t)data);
	assert_int_equal(r.length, 8);
	assert_int_equal(r.checked_bytes, 8);
	assert_int_equal(r.cpu_ns, 1000);
	assert_int_equal(r.watch_code.length, 3);
	assert_memory_equal(r.watch_code.bytes, "\x48\x8b\x03", 3);
	assert_memory_equal(r.trap_code.bytes, "\x48\x8b\x0b", 3);
	assert_false(r.jvm_access);
}

TEST(a_load_of_what_was_changed_is_no_silent_one, fresh_thread, drop_thread)
{
	/* mov rax, [rbx]; mov [rbx], rdx; mov rcx, [rbx]; ret */
	uint64_t ip = CODE(0, "\x48\x8b\x03\x48\x89\x13\x48\x8b\x0b\xc3");
	struct record r = record_of(ip, JXP__KIND__KIND_SILENT_LOAD);

	assert_false(is_wasteful(&r));
}

TEST(what_a_read_modify_write_loads_counts, fresh_thread, drop_thread)
{
	/* mov rax, [rbx]; add [rbx], rdx; ret */
	uint64_t ip = CODE(0, "\x48\x8b\x03\x48\x01\x13\xc3");
	struct record r = record_of(ip, JXP__KIND__KIND_SILENT_LOAD);

	assert_true(is_wasteful(&r));
}

TEST(a_dead_store_is_recorded_at_once, fresh_thread, drop_thread)
{
	/* mov [rbx], rdx; mov [rbx], rax; ret */
	uint64_t ip = CODE(0, "\x48\x89\x13\x48\x89\x03\xc3");
	struct record r = record_of(ip, JXP__KIND__KIND_DEAD_STORE);

	assert_true(is_wasteful(&r));
}

TEST(both_kinds_of_stores_are_told_at_once, fresh_thread, drop_thread)
{
	/* mov [rbx], rdx; mov rcx, [rbx]; mov [rbx], rdx; ret */
	uint64_t ip = CODE(0, "\x48\x89\x13\x48\x8b\x0b\x48\x89\x13\xc3");
	struct record r = {0};
	uint64_t before;

	do { /* One of both may be left to a watchpoint. */
		while (ring_pop(&t->memory->ring, &r))
			;
		before = counted(JXP__COUNTER__COUNTER_FORETOLD);
		tick(ip, JXP__KIND__KIND_DEAD_STORE);
		w.then = JXP__KIND__KIND_SILENT_STORE;
	} while (!foretell_pairs(t, &w, 1.0, &walk, &first, &uc));
	assert_int_equal(counted(JXP__COUNTER__COUNTER_FORETOLD) - before, 2);
	assert_true(ring_pop(&t->memory->ring, &r));
	assert_int_equal(r.kind, JXP__KIND__KIND_DEAD_STORE);
	assert_false(is_wasteful(&r));
	assert_true(ring_pop(&t->memory->ring, &r));
	assert_int_equal(r.kind, JXP__KIND__KIND_SILENT_STORE);
	assert_true(is_wasteful(&r));
}

TEST(what_is_told_of_one_kind_alone_leaves_the_other, fresh_thread, drop_thread)
{
	/* mov [rbx], rdx; mov rcx, [rbx]; ret */
	uint64_t ip = CODE(0, "\x48\x89\x13\x48\x8b\x0b\xc3");

	while (counted(JXP__COUNTER__COUNTER_FORETOLD) == 0) {
		tick(ip, JXP__KIND__KIND_DEAD_STORE);
		w.then = JXP__KIND__KIND_SILENT_STORE;
		assert_false(foretell_pairs(t, &w, 1.0, &walk, &first, &uc));
	}
	assert_int_equal(w.kind, JXP__KIND__KIND_SILENT_STORE);
	assert_int_equal(w.foretold_second, 0);
}

TEST(a_store_that_is_loaded_is_not_dead, fresh_thread, drop_thread)
{
	/* mov [rbx], rdx; mov rcx, [rbx]; mov [rbx], rax; ret */
	uint64_t ip = CODE(0, "\x48\x89\x13\x48\x8b\x0b\x48\x89\x03\xc3");
	struct record r = record_of(ip, JXP__KIND__KIND_DEAD_STORE);

	assert_false(is_wasteful(&r));
	assert_memory_equal(r.trap_code.bytes, "\x48\x8b\x0b", 3);
}

TEST(a_silent_store_is_recorded_at_once, fresh_thread, drop_thread)
{
	/* mov [rbx], rdx; mov rcx, [rbx]; mov [rbx], rdx; ret */
	uint64_t same = CODE(0, "\x48\x89\x13\x48\x8b\x0b\x48\x89\x13\xc3");
	struct record r = record_of(same, JXP__KIND__KIND_SILENT_STORE);

	assert_true(is_wasteful(&r));
	assert_memory_equal(r.trap_code.bytes, "\x48\x89\x13", 3);
}

TEST(a_store_of_another_value_is_no_silent_one, fresh_thread, drop_thread)
{
	/* mov [rbx], rdx; mov [rbx], rax; ret */
	uint64_t ip = CODE(0, "\x48\x89\x13\x48\x89\x03\xc3");
	struct record r = record_of(ip, JXP__KIND__KIND_SILENT_STORE);

	assert_false(is_wasteful(&r));
}

TEST(a_part_of_the_bytes_stands_for_a_part_of_the_time, fresh_thread, drop_thread)
{
	/* mov [rbx], rdx; mov [rbx], ax; ret */
	uint64_t ip = CODE(0, "\x48\x89\x13\x66\x89\x03\xc3");
	struct record r = record_of(ip, JXP__KIND__KIND_DEAD_STORE);

	assert_int_equal(r.checked_bytes, 2);
	assert_int_equal(r.cpu_ns, 250);
}

TEST(one_of_so_many_is_left_to_a_watchpoint, fresh_thread, drop_thread)
{
	/* mov rax, [rbx]; mov rcx, [rbx]; ret */
	uint64_t ip = CODE(0, "\x48\x8b\x03\x48\x8b\x0b\xc3");
	unsigned left = 0;

	for (unsigned i = 0; i < TRIES; i++) {
		struct record r;

		if (!foretold(ip, JXP__KIND__KIND_SILENT_LOAD)) {
			assert_int_equal(w.foretold_second, ip + 3);
			left++;
			continue;
		}
		assert_int_equal(w.foretold_second, 0);
		assert_true(ring_pop(&t->memory->ring, &r));
	}
	/* Five standard deviations around 125. */
	assert_in_range(left, TRIES / FORETELL_CHECKED - 55, TRIES / FORETELL_CHECKED + 55);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_FORETOLD), TRIES - left);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_ARMED), 0);
}

TEST(what_cannot_be_told_leaves_nothing_behind, fresh_thread, drop_thread)
{
	/* mov [rbx], rdx; call rax */
	uint64_t ip = CODE(0, "\x48\x89\x13\xff\xd0");
	struct record r;

	assert_false(foretold(ip, JXP__KIND__KIND_DEAD_STORE));
	assert_int_equal(w.foretold_second, 0);
	assert_false(ring_pop(&t->memory->ring, &r));
	assert_int_equal(counted(JXP__COUNTER__COUNTER_FORETOLD), 0);
}

TEST(a_pair_without_calling_context_is_lost_and_counted, fresh_thread, drop_thread)
{
	/* mov rax, [rbx]; mov rcx, [rbx]; ret */
	uint64_t ip = CODE(0, "\x48\x8b\x03\x48\x8b\x0b\xc3");
	struct record r;

	one_frame_result = STACK_UNWALKABLE;
	while (!foretold(ip, JXP__KIND__KIND_SILENT_LOAD))
		assert_int_equal(w.foretold_second, ip + 3);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_UNWALKABLE), 1);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_FORETOLD), 0);
	assert_false(ring_pop(&t->memory->ring, &r));
}

TEST(watched_bytes_are_no_memory_at_hand, fresh_thread, drop_thread)
{
	struct machine_view view;

	t->watchpoints[1] =
	    (struct watchpoint){.state = WATCH_ARMED, .address = (uintptr_t)&data[1], .length = 4};
	t->watchpoints[2] = (struct watchpoint){
	    .state = WATCH_PENDING, .address = (uintptr_t)&data[2], .length = 8};
	t->watchpoints[3] = (struct watchpoint){
	    .state = WATCH_SEEKING, .address = (uintptr_t)&data[3], .length = 8};
	foretell_view(t, (uint64_t)uc.uc_mcontext.gregs[REG_RSP], &view);
	assert_int_equal(view.watched_count, 2);
	assert_int_equal(view.watched[0].address, (uintptr_t)&data[1]);
	assert_int_equal(view.watched[0].length, 4);
	assert_int_equal(view.watched[1].address, (uintptr_t)&data[2]);
	memset(t->watchpoints, 0, sizeof(t->watchpoints));
}

int main(void)
{
	return tests_run(set_up_process, NULL);
}
