#include "tests/unit/support/test.h"

#include <errno.h>
#include <string.h>

#include "profile/thread_table.h"
#include "proto/limits.h"

static struct event_transition change(Jxp__Transition__Type type, uint32_t tid, uint32_t reg)
{
	struct event_transition t = {0};

	t.type = type;
	t.tid = tid;
	t.reg = reg;
	t.kind = JXP__KIND__KIND_DEAD_STORE;
	t.address = 0x7000;
	t.length = 8;
	t.time_ns = 99;
	return t;
}

TEST(arming_fills_a_register_and_a_trap_frees_it)
{
	struct event_transition arm = change(JXP__TRANSITION__TYPE__ARMED, 42, 2);
	struct event_transition trap = change(JXP__TRANSITION__TYPE__TRAPPED, 42, 2);
	struct thread_table t = {0};

	assert_int_equal(thread_table_transition(&t, &arm), 0);
	assert_int_equal(t.count, 1);
	assert_int_equal(t.threads[0].tid, 42);
	assert_int_equal(t.threads[0].registers[2].kind, JXP__KIND__KIND_DEAD_STORE);
	assert_int_equal(t.threads[0].registers[2].address, 0x7000);
	assert_int_equal(t.threads[0].registers[2].since_ns, 99);
	assert_int_equal(t.threads[0].registers[1].kind, JXP__KIND__KIND_NONE);
	assert_int_equal(thread_table_transition(&t, &trap), 0);
	assert_int_equal(t.threads[0].registers[2].kind, JXP__KIND__KIND_NONE);
	assert_int_equal(t.threads[0].armed, 1);
	assert_int_equal(t.threads[0].traps, 1);
	thread_table_release(&t);
}

TEST(every_way_to_lose_a_watchpoint_frees_its_register)
{
	static const Jxp__Transition__Type losses[] = {
	    JXP__TRANSITION__TYPE__REPLACED, JXP__TRANSITION__TYPE__EXPIRED_GC,
	    JXP__TRANSITION__TYPE__EXPIRED_WINDOW, JXP__TRANSITION__TYPE__ABANDONED};
	struct event_transition arm = change(JXP__TRANSITION__TYPE__ARMED, 42, 0);
	struct thread_table t = {0};

	for (size_t i = 0; i < 4; i++) {
		struct event_transition loss = change(losses[i], 42, 0);

		assert_int_equal(thread_table_transition(&t, &arm), 0);
		assert_int_equal(thread_table_transition(&t, &loss), 0);
		assert_int_equal(t.threads[0].registers[0].kind, JXP__KIND__KIND_NONE);
	}
	assert_int_equal(t.threads[0].traps, 0);
	thread_table_release(&t);
}

TEST(an_ended_thread_watches_nothing_and_keeps_its_name)
{
	struct event_transition arm = change(JXP__TRANSITION__TYPE__ARMED, 42, 0);
	struct thread_table t = {0};

	assert_int_equal(thread_table_update(&t, 42, "worker", false), 0);
	assert_int_equal(thread_table_transition(&t, &arm), 0);
	assert_int_equal(thread_table_update(&t, 42, "", true), 0);
	assert_true(t.threads[0].ended);
	assert_string_equal(t.threads[0].name, "worker");
	assert_int_equal(t.threads[0].registers[0].kind, JXP__KIND__KIND_NONE);
	thread_table_release(&t);
}

TEST(a_long_name_is_cut)
{
	struct thread_table t = {0};
	char name[500];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(thread_table_update(&t, 1, name, false), 0);
	assert_int_equal(strlen(t.threads[0].name), THREAD_NAME_BYTES - 1);
	thread_table_release(&t);
}

TEST(threads_beyond_the_limit_are_refused)
{
	struct event_tick tick = {0};
	struct thread_table t = {0};

	for (uint32_t tid = 1; tid <= LIMIT_THREADS; tid++)
		assert_int_equal(thread_table_update(&t, tid, "", false), 0);
	assert_int_equal(thread_table_update(&t, LIMIT_THREADS + 1, "", false), -ENOSPC);
	tick.tid = LIMIT_THREADS + 1;
	assert_int_equal(thread_table_tick(&t, &tick), -ENOSPC);
	tick.tid = LIMIT_THREADS;
	assert_int_equal(thread_table_tick(&t, &tick), 0);
	assert_int_equal(t.threads[LIMIT_THREADS - 1].ticks.samples, 1);
	assert_true(row_table_memory_bytes(&t.table, &watched_thread_layout) < 4u << 20);
	assert_int_equal(thread_table_update(&t, 7, "", true), 0);
	thread_table_release(&t);
}
