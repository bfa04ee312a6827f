/* A debug register's life: every way out of it, and what its pairs weigh. What is armed here are
 * real registers of the test's thread; traps are made up, and nothing touches what is watched. */
#include "tests/unit/support/test.h"
#include <linux/hw_breakpoint.h>
#include <sys/uio.h>
#include <unistd.h>

#include "attach/agent/code/xstate.h"
#include "attach/agent/handler/handlers.h"
#include "attach/agent/handler/sampler.h"
#include "attach/agent/handler/thread.h"
#include "attach/agent/handler/watchpoint.h"
#include "common/fd.h"
#include "tests/unit/support/agent/code.h"
#include "tests/unit/support/agent/one_frame.h"
#include "tests/unit/support/agent/own_thread.h"
#include "tests/unit/support/agent/registers.h"

static uint64_t data[16] __attribute__((aligned(64)));
static uint64_t load, store, swap, add; /* instruction pointers */

static int set_up_process(void **state)
{
	(void)state;
	xstate_init();
	return own_process_init();
}

static int fresh_thread(void **state)
{
	if (code_setup(state) < 0 || own_thread_init() < 0)
		return -1;
	load = CODE(0, "\x48\x8b\x07\x90");           /* mov rax, [rdi] */
	store = CODE(64, "\x48\x89\x07\x90");         /* mov [rdi], rax */
	swap = CODE(128, "\xf0\x48\x0f\xb1\x0f\x90"); /* lock cmpxchg [rdi], rcx */
	add = CODE(192, "\x48\x83\x07\x01\x90");      /* add qword [rdi], 1 */
	one_frame_result = STACK_OK;
	memset(data, 0, sizeof(data));
	reservoir_init(&t->reservoir, PERF_DEBUG_REGISTERS);
	*state = registers_open(t, HW_BREAKPOINT_RW, &data[15]) ? t : NULL;
	return 0;
}

static int drop_thread(void **state)
{
	(void)state;
	registers_close(t);
	return 0;
}

/* Arms the next free register as if a hardware sampler had sampled the access of these bytes. */
static unsigned arm_next(uint8_t kind, const void *address, uint32_t size)
{
	struct sample s = {.extent = extent_whole((uintptr_t)address, size),
			   .executed = true,
			   .insn = {.ip = store}};
	int reg = sampler_take_register(t);

	assert_true(reg >= 0);
	watchpoint_arm(t, (unsigned)reg, kind, &s, &uc);
	return (unsigned)reg;
}

static void arm(uint8_t kind, const void *address, uint32_t size)
{
	assert_int_equal(arm_next(kind, address, size), 0);
	assert_int_equal(t->watchpoints[0].state, WATCH_ARMED);
}

/* Register 0 traps behind the instruction of so many bytes at ip, which accessed address. */
static void trap_behind(uint64_t ip, int bytes, const void *address)
{
	uc.uc_mcontext.gregs[REG_RIP] = (greg_t)ip + bytes;
	uc.uc_mcontext.gregs[REG_RDI] = (greg_t)(uintptr_t)address;
	watchpoint_trapped(t, 0, &uc);
}

static void failed_swap(const void *address)
{
	uc.uc_mcontext.gregs[REG_EFL] = 0;
	trap_behind(swap, 5, address);
}

/* A signal frame's XSAVE area: all components that the test needs lie in its first 4 KiB. */
struct xsave_frame {
	uint8_t bytes[4096];
};

/* ymm5 in the frame of the next trap. */
static void set_mask(struct xsave_frame *frame, const uint32_t mask[8])
{
	const uint32_t avx = 576; /* of the upper halves, wherever there is AVX */
	/* The kernel's part at byte 464: magic, sizes, components; the header at 512. */
	const uint32_t software[] = {FP_XSTATE_MAGIC1, 0, 7, 0, sizeof(*frame)};
	const uint64_t in_use = 7;

	memset(frame, 0, sizeof(*frame));
	memcpy(frame->bytes + 464, software, sizeof(software));
	memcpy(frame->bytes + 512, &in_use, sizeof(in_use));
	memcpy(frame->bytes + 160 + 5 * 16, mask, 16);
	memcpy(frame->bytes + avx + 5 * 16, mask + 4, 16);
	uc.uc_mcontext.fpregs = (void *)frame->bytes;
}

/* What register 0 was closed with: of each counter and in the ring, exactly once. */
static void assert_closed_with(enum record_type type)
{
	struct record r = {0};

	assert_int_equal(t->watchpoints[0].state, WATCH_FREE);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_ARMED), 1);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_TRAPS) +
			     counted(JXP__COUNTER__COUNTER_REPLACED) +
			     counted(JXP__COUNTER__COUNTER_EXPIRED_GC) +
			     counted(JXP__COUNTER__COUNTER_EXPIRED_WINDOW) +
			     counted(JXP__COUNTER__COUNTER_ABANDONED),
			 1);
	assert_true(ring_pop(&t->memory->ring, &r));
	assert_int_equal(r.type, RECORD_ARMED);
	assert_true(ring_pop(&t->memory->ring, &r));
	assert_int_equal(r.type, type);
	assert_false(ring_pop(&t->memory->ring, &r));
}

TEST(a_pair_closes_its_register, fresh_thread, drop_thread)
{
	need_registers(state);
	arm(JXP__KIND__KIND_DEAD_STORE, data, 8);
	trap_behind(store, 3, data);
	assert_closed_with(RECORD_TRAPPED);
}

TEST(a_trap_that_nothing_explains_closes_its_register, fresh_thread, drop_thread)
{
	need_registers(state);
	arm(JXP__KIND__KIND_DEAD_STORE, data, 8);
	trap_behind(store, 3, &data[8]);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_UNDECODED), 1);
	assert_closed_with(RECORD_ABANDONED);
}

TEST(a_second_access_without_context_closes_its_register, fresh_thread, drop_thread)
{
	need_registers(state);
	arm(JXP__KIND__KIND_DEAD_STORE, data, 8);
	one_frame_result = STACK_UNWALKABLE;
	trap_behind(store, 3, data);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_UNWALKABLE), 1);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_CUT_NATIVE), 1);          /* why */
	assert_int_equal(counted(JXP__COUNTER__COUNTER_CONTEXTS_RECOGNISED), 1); /* the first */
	assert_closed_with(RECORD_ABANDONED);
}

TEST(too_many_ignored_stores_close_a_register, fresh_thread, drop_thread)
{
	need_registers(state);
	arm(JXP__KIND__KIND_SILENT_LOAD, data, 8);
	for (unsigned i = 0; i < WATCHPOINT_MAX_IGNORED; i++)
		trap_behind(store, 3, data);
	assert_closed_with(RECORD_ABANDONED);
}

TEST(a_collection_closes_all_registers, fresh_thread, drop_thread)
{
	need_registers(state);
	arm(JXP__KIND__KIND_DEAD_STORE, data, 8);
	watchpoint_drop_all(t, RECORD_EXPIRED_GC);
	watchpoint_drop_all(t, RECORD_EXPIRED_GC);
	assert_closed_with(RECORD_EXPIRED_GC);
}

TEST(an_impatient_thread_gives_up_what_waits, fresh_thread, drop_thread)
{
	need_registers(state);
	arm(JXP__KIND__KIND_DEAD_STORE, data, 8);
	assert_true(watchpoint_is_undecided(t));
	t->patience.patient = false;
	watchpoint_look(t);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_RELEASED), 1);
	assert_closed_with(RECORD_REPLACED);
}

TEST(what_a_patient_thread_waits_for_stands_for_what_was_given_up, fresh_thread, drop_thread)
{
	need_registers(state);
	arm(JXP__KIND__KIND_DEAD_STORE, data, 8);
	t->patience.chance = 0.25;
	watchpoint_look(t);
	watchpoint_look(t); /* Once is enough. */
	assert_false(watchpoint_is_undecided(t));
	assert_true(watchpoint_in_use(t));
	assert_float_equal(reservoir_weight(&t->reservoir, 0), 4, 1e-9);
	trap_behind(store, 3, data);
	assert_closed_with(RECORD_TRAPPED);
}

TEST(the_end_of_the_window_closes_all_registers, fresh_thread, drop_thread)
{
	need_registers(state);
	arm(JXP__KIND__KIND_DEAD_STORE, data, 8);
	fd_close_all(t->register_fd, PERF_DEBUG_REGISTERS);
	watchpoint_expire(t, RECORD_EXPIRED_WINDOW);
	watchpoint_expire(t, RECORD_EXPIRED_WINDOW);
	assert_closed_with(RECORD_EXPIRED_WINDOW);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_EVENT_ERRORS), 0);
}

TEST(a_replaced_sample_closes_its_register, fresh_thread, drop_thread)
{
	need_registers(state);
	reservoir_init(&t->reservoir, 1);
	arm(JXP__KIND__KIND_DEAD_STORE, data, 8);
	while (sampler_take_register(t) < 0)
		;
	assert_closed_with(RECORD_REPLACED);
}

/* Without a trap: registers watch what this thread does, not what the kernel writes for it. */
static void set_data(uint64_t value)
{
	struct iovec from = {&value, sizeof(value)}, to = {data, sizeof(value)};

	assert_int_equal(process_vm_writev(getpid(), &from, 1, &to, 1, 0), sizeof(value));
}

enum outcome { IGNORED, WASTEFUL, USEFUL };

/* What became of the watchpoint; register 0 is free then. */
static enum outcome outcome(void)
{
	struct record r = {0};

	if (t->watchpoints[0].state == WATCH_ARMED) {
		watchpoint_drop(t, 0, RECORD_ABANDONED);
		while (ring_pop(&t->memory->ring, &r))
			;
		return IGNORED;
	}
	assert_true(ring_pop(&t->memory->ring, &r) && ring_pop(&t->memory->ring, &r));
	assert_int_equal(r.type, RECORD_TRAPPED);
	return r.wasteful_as >> r.element & 1 ? WASTEFUL : USEFUL;
}

TEST(second_accesses_are_judged_as_the_kinds_row_says, fresh_thread, drop_thread)
{
	const struct {
		Jxp__Kind kind;
		enum outcome outcome;
		uint64_t ip;
		int bytes;
		bool changed; /* the value that the access leaves is another than the first one's */
	} cases[] = {
	    {JXP__KIND__KIND_DEAD_STORE, WASTEFUL, store, 3, true},
	    {JXP__KIND__KIND_DEAD_STORE, USEFUL, load, 3, false},
	    {JXP__KIND__KIND_DEAD_STORE, USEFUL, add, 4, true},
	    {JXP__KIND__KIND_SILENT_STORE, WASTEFUL, store, 3, false},
	    {JXP__KIND__KIND_SILENT_STORE, USEFUL, store, 3, true},
	    {JXP__KIND__KIND_SILENT_STORE, IGNORED, load, 3, false},
	    {JXP__KIND__KIND_SILENT_STORE, USEFUL, add, 4, true},
	    {JXP__KIND__KIND_SILENT_LOAD, WASTEFUL, load, 3, false},
	    {JXP__KIND__KIND_SILENT_LOAD, USEFUL, load, 3, true},
	    {JXP__KIND__KIND_SILENT_LOAD, IGNORED, store, 3, false},
	    /* It loaded what was there before. */
	    {JXP__KIND__KIND_SILENT_LOAD, WASTEFUL, add, 4, true},
	};

	need_registers(state);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		enum outcome found;

		set_data(1);
		arm((uint8_t)cases[i].kind, data, 8);
		set_data(cases[i].changed ? 2 : 1);
		trap_behind(cases[i].ip, cases[i].bytes, data);
		found = outcome();
		if (found != cases[i].outcome)
			fail_msg("case %zu: %d", i, found);
	}
}

/* The next transition in the ring. */
static void assert_next(enum record_type type, Jxp__Kind kind, bool wasteful)
{
	struct record r = {0};

	assert_true(ring_pop(&t->memory->ring, &r));
	assert_int_equal(r.type, type);
	assert_int_equal(r.kind, kind);
	if (type == RECORD_TRAPPED)
		assert_int_equal(r.wasteful_as >> r.element & 1, wasteful);
}

TEST(a_store_completes_the_pairs_of_both_kinds, fresh_thread, drop_thread)
{
	need_registers(state);
	set_data(1);
	arm(JXP__KIND__KIND_DEAD_STORE, data, 8);
	t->watchpoints[0].then = JXP__KIND__KIND_SILENT_STORE;
	set_data(2);
	trap_behind(store, 3, data);
	assert_int_equal(t->watchpoints[0].state, WATCH_FREE);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_ARMED), 2);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_TRAPS), 2);
	assert_next(RECORD_ARMED, JXP__KIND__KIND_DEAD_STORE, false);
	assert_next(RECORD_TRAPPED, JXP__KIND__KIND_DEAD_STORE, true);
	assert_next(RECORD_ARMED, JXP__KIND__KIND_SILENT_STORE, false);
	assert_next(RECORD_TRAPPED, JXP__KIND__KIND_SILENT_STORE, false);
}

TEST(behind_a_load_the_register_waits_for_the_next_store, fresh_thread, drop_thread)
{
	need_registers(state);
	set_data(1);
	arm(JXP__KIND__KIND_DEAD_STORE, data, 8);
	t->watchpoints[0].then = JXP__KIND__KIND_SILENT_STORE;
	trap_behind(load, 3, data);
	assert_int_equal(t->watchpoints[0].state, WATCH_ARMED);
	assert_int_equal(t->watchpoints[0].kind, JXP__KIND__KIND_SILENT_STORE);
	trap_behind(store, 3, data);
	assert_int_equal(t->watchpoints[0].state, WATCH_FREE);
	assert_next(RECORD_ARMED, JXP__KIND__KIND_DEAD_STORE, false);
	assert_next(RECORD_TRAPPED, JXP__KIND__KIND_DEAD_STORE, false);
	assert_next(RECORD_ARMED, JXP__KIND__KIND_SILENT_STORE, false);
	assert_next(RECORD_TRAPPED, JXP__KIND__KIND_SILENT_STORE, true);
}

/* The kernel delivers the signal of one. */
TEST(one_instruction_traps_all_that_watch_what_it_touches, fresh_thread, drop_thread)
{
	uint64_t wide = CODE(256, "\xc5\xfe\x7f\x07\x90"); /* vmovdqu [rdi], ymm0 */
	unsigned beside;

	need_registers(state);
	arm(JXP__KIND__KIND_DEAD_STORE, data, 8);
	beside = arm_next(JXP__KIND__KIND_SILENT_STORE, &data[2], 8);
	(void)arm_next(JXP__KIND__KIND_DEAD_STORE, &data[4], 8); /* Behind it. */
	trap_behind(wide, 4, data);
	assert_int_equal(t->watchpoints[0].state, WATCH_FREE);
	assert_int_equal(t->watchpoints[beside].state, WATCH_FREE);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_TRAPS), 2);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_ABANDONED), 0);
	watchpoint_drop_all(t, RECORD_EXPIRED_GC);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_EXPIRED_GC), 1);
}

TEST(what_loads_is_no_trap_where_stores_are_watched, fresh_thread, drop_thread)
{
	uint64_t wide = CODE(256, "\xc5\xfe\x6f\x07\x90"); /* vmovdqu ymm0, [rdi] */
	unsigned beside;

	need_registers(state);
	arm(JXP__KIND__KIND_DEAD_STORE, data, 8);
	beside = arm_next(JXP__KIND__KIND_SILENT_STORE, &data[2], 8);
	trap_behind(wide, 4, data);
	assert_int_equal(t->watchpoints[0].state, WATCH_FREE);
	assert_int_equal(t->watchpoints[beside].state, WATCH_ARMED);
	watchpoint_drop_all(t, RECORD_EXPIRED_GC);
}

/* Of three samples of the same bytes one is watched, any of them as often, and it weighs three. */
TEST(of_what_watches_the_same_bytes_one_stands_for_all, fresh_thread, drop_thread)
{
	enum { TIMES = 3000, SAMPLES = 3 };
	unsigned kept[SAMPLES] = {0};

	need_registers(state);
	for (unsigned n = 0; n < TIMES; n++) {
		unsigned armed = 0;

		for (unsigned i = 0; i < SAMPLES; i++) {
			unsigned reg = arm_next(JXP__KIND__KIND_DEAD_STORE, data, 8);

			t->watchpoints[reg].weight = i; /* Which it is. */
		}
		for (unsigned reg = 0; reg < PERF_DEBUG_REGISTERS; reg++) {
			if (t->watchpoints[reg].state != WATCH_ARMED)
				continue;
			assert_float_equal(reservoir_weight(&t->reservoir, reg), SAMPLES, 1e-9);
			kept[t->watchpoints[reg].weight]++;
			armed++;
		}
		assert_int_equal(armed, 1);
		watchpoint_drop_all(t, RECORD_EXPIRED_GC);
	}
	for (unsigned i = 0; i < SAMPLES; i++)
		assert_in_range(kept[i], TIMES / SAMPLES - 130, TIMES / SAMPLES + 130);
}

TEST(two_searches_share_a_breakpoint, fresh_thread, drop_thread)
{
	unsigned first, second;

	need_registers(state);
	first = (unsigned)sampler_take_register(t);
	second = (unsigned)sampler_take_register(t);
	assert_true(watchpoint_seek(t, first, store));
	assert_true(watchpoint_seek(t, second, load));
	assert_int_equal(watchpoint_riders(t, first), 0);
	assert_true(watchpoint_seek(t, second, store));
	assert_int_equal(watchpoint_riders(t, first), 1u << second);
	/* One goes on, the other one needs a breakpoint of its own. */
	assert_true(watchpoint_seek(t, first, load));
	assert_true(watchpoint_seek(t, second, store));
	assert_false(t->watchpoints[second].rides);
	assert_int_equal(watchpoint_riders(t, first), 0);
	watchpoint_drop_all(t, RECORD_ABANDONED);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_EVENT_ERRORS), 0);
}

TEST(a_failed_swap_is_no_store, fresh_thread, drop_thread)
{
	need_registers(state);
	arm(JXP__KIND__KIND_SILENT_STORE, data, 8);
	failed_swap(data);
	assert_int_equal(t->watchpoints[0].state, WATCH_ARMED);
	uc.uc_mcontext.gregs[REG_EFL] = INSN_FLAG_ZERO;
	trap_behind(swap, 5, data);
	assert_closed_with(RECORD_TRAPPED);
}

TEST(a_failed_swap_loads, fresh_thread, drop_thread)
{
	need_registers(state);
	arm(JXP__KIND__KIND_SILENT_LOAD, data, 8);
	failed_swap(data);
	assert_closed_with(RECORD_TRAPPED);
}

TEST(a_sampled_swap_that_fails_is_not_armed, fresh_thread, drop_thread)
{
	struct sample s = {.extent = extent_whole((uintptr_t)data, 8)};

	need_registers(state);
	assert_true(search_fetch(swap, &s.insn));
	watchpoint_arm(t, 0, JXP__KIND__KIND_SILENT_STORE, &s, &uc);
	assert_int_equal(t->watchpoints[0].state, WATCH_PENDING);
	failed_swap(data);
	assert_int_equal(t->watchpoints[0].state, WATCH_FREE);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_NOT_STORED), 1);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_ARMED), 0);
}

/* What a masked store leaves out is not accessed, even where the processor says so. */
TEST(a_masked_store_beside_the_watched_bytes_ends_nothing, fresh_thread, drop_thread)
{
	static struct xsave_frame frame;
	uint64_t masked = CODE(256, "\xc4\xe2\x55\x8e\x07\x90"); /* vpmaskmovd [rdi], ymm5, ymm0 */

	need_registers(state);
	if (!__builtin_cpu_supports("avx2"))
		skip();
	arm(JXP__KIND__KIND_DEAD_STORE, data, 8);
	set_mask(&frame, (const uint32_t[8]){0, 0, 0x80000000});
	trap_behind(masked, 5, data);
	assert_int_equal(t->watchpoints[0].state, WATCH_ARMED);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_IGNORED_STORES), 1);
	set_mask(&frame, (const uint32_t[8]){0, 0x80000000});
	trap_behind(masked, 5, data);
	assert_int_equal(t->watchpoints[0].state, WATCH_FREE);
	assert_closed_with(RECORD_TRAPPED);
}

TEST(a_part_stands_for_its_whole_access, fresh_thread, drop_thread)
{
	struct record r = {0};

	need_registers(state);
	arm(JXP__KIND__KIND_DEAD_STORE, data, 32);
	trap_behind(store, 3, (void *)(uintptr_t)t->watchpoints[0].address);
	assert_true(ring_pop(&t->memory->ring, &r) && ring_pop(&t->memory->ring, &r));
	assert_int_equal(r.type, RECORD_TRAPPED);
	assert_int_equal(r.length, 8);
	assert_int_equal(r.checked_bytes, 32);
}

TEST(a_pair_is_where_both_accesses_meet, fresh_thread, drop_thread)
{
	struct record r = {0};

	need_registers(state);
	arm(JXP__KIND__KIND_DEAD_STORE, data, 8);
	t->watchpoints[0].place = (struct place){.kind = PLACE_OBJECT, .klass = 1, .offset = 72};
	trap_behind(store, 3, (uint8_t *)data + 2);
	assert_true(ring_pop(&t->memory->ring, &r) && ring_pop(&t->memory->ring, &r));
	assert_int_equal(r.type, RECORD_TRAPPED);
	assert_int_equal(r.place.offset, 74);
}

TEST(weights_are_right_on_average)
{
	struct random random;
	unsigned sum = 0;

	random_seed(&random, 1);
	assert_int_equal(sample_weight(4, 8, 32, &random), 16);
	assert_int_equal(sample_weight(1, 1, 1, &random), 1);
	for (unsigned i = 0; i < 10000; i++)
		sum += sample_weight(1, 4, 10, &random); /* 2.5 */
	assert_in_range(sum, 24700, 25300);
}

TEST(the_watched_part_is_aligned_inside_the_access_and_holds_the_byte)
{
	for (uint64_t address = 0x1000; address < 0x1010; address++) {
		for (uint32_t size = 1; size <= 64; size++) {
			for (uint32_t offset = 0; offset < size; offset++) {
				uint64_t start;
				struct extent e = extent_whole(address, size);
				unsigned length = sample_part(&e, offset, &start);

				assert_true(length == 1 || length == 2 || length == 4 ||
					    length == 8);
				assert_int_equal(start % length, 0);
				assert_true(start >= address && start + length <= address + size);
				assert_true(start <= address + offset &&
					    address + offset < start + length);
			}
		}
	}
}

TEST(an_aligned_access_of_up_to_eight_bytes_is_watched_whole)
{
	struct extent whole = extent_whole(0x1008, 8), half = extent_whole(0x1004, 4),
		      quarter = extent_whole(0x1002, 2);
	uint64_t start;

	assert_int_equal(sample_part(&whole, 5, &start), 8);
	assert_int_equal(start, 0x1008);
	assert_int_equal(sample_part(&half, 3, &start), 4);
	assert_int_equal(sample_part(&quarter, 0, &start), 2);
}

TEST(bytes_that_are_masked_out_are_not_watched)
{
	struct extent e = extent_whole(0x1000, 32);
	uint64_t start;

	e.active = 0xfff0; /* 4 to 15 */
	assert_int_equal(sample_part(&e, 5, &start), 4);
	assert_int_equal(start, 0x1004);
	assert_int_equal(sample_part(&e, 9, &start), 8);
	assert_int_equal(start, 0x1008);
}

int main(void)
{
	return tests_run(set_up_process, NULL);
}
