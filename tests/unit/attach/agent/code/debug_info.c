/* Which debug information describes an instruction. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "attach/agent/code/debug_info.h"
#include "tests/unit/support/agent/code.h"

static int setup(void **state)
{
	debug_info_clear();
	return code_setup(state);
}

static uint64_t place(const char *bytes, size_t size, const uint32_t *records, uint32_t count)
{
	memcpy(code_area, bytes, size);
	codemap_add_compiled((uintptr_t)code_area, (uint32_t)size, 1, records, count);
	return (uintptr_t)code_area;
}

/* Two nested loops; the outer one's poll comes first by address, the inner one's is nearer by
 * execution: 0: nop (record: outer poll) 1: mov eax, [rbx] 3: nop (record: inner poll) 4: jnz 1 6:
 * jnz 0 8: mov ecx, [rsi] 10: ret */
static const char loops[] = "\x90\x8b\x03\x90\x75\xfb\x75\xf8\x8b\x0e\xc3";
static const uint32_t polls[] = {3, 0};

static void the_next_record_in_execution_order_is_used(void **state)
{
	uint64_t start = place(loops, sizeof(loops) - 1, polls, 2);

	(void)state;
	for (int again = 0; again < 2; again++) { /* the second time from the cache */
		assert_int_equal(debug_info_ip(start + 1), start + 3 - 1);
		/* At the inner branch: round the inner loop, not out of it. */
		assert_int_equal(debug_info_ip(start + 4), start + 3 - 1);
		assert_int_equal(debug_info_ip(start + 6), start + 0 - 1);
	}
}

static void a_way_that_meets_no_record_changes_nothing(void **state)
{
	uint64_t start = place(loops, sizeof(loops) - 1, polls, 2);

	(void)state;
	assert_int_equal(debug_info_ip(start + 8), start + 8);
}

static void a_loop_without_a_record_is_left(void **state)
{
	/* 0: mov eax, [rbx]; 2: jnz 0; 4: nop (record) */
	static const char counted[] = "\x8b\x03\x75\xfc\x90";
	static const uint32_t record[] = {4};
	uint64_t start = place(counted, sizeof(counted) - 1, record, 1);

	(void)state;
	assert_int_equal(debug_info_ip(start), start + 3);
}

static void the_record_of_a_call_is_its_return_address(void **state)
{
	/* 0: mov eax, [rbx]; 2: call; 7: nop (record) */
	static const char calling[] = "\x8b\x03\xe8\x00\x10\x00\x00\x90";
	static const uint32_t record[] = {7};
	uint64_t start = place(calling, sizeof(calling) - 1, record, 1);

	(void)state;
	assert_int_equal(debug_info_ip(start), start + 6);
}

static void the_frame_must_stay_the_same(void **state)
{
	/* 0: mov [rsp-0x1000], eax; 7: push rbp; 8: nop (record): a prologue */
	static const char prologue[] = "\x89\x84\x24\x00\xf0\xff\xff\x55\x90";
	static const uint32_t record[] = {8};
	uint64_t start = place(prologue, sizeof(prologue) - 1, record, 1);

	(void)state;
	assert_int_equal(debug_info_ip(start), start);
}

static void code_that_is_not_known_is_left_alone(void **state)
{
	(void)state;
	assert_int_equal(debug_info_ip(0x1234), 0x1234);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(the_next_record_in_execution_order_is_used, setup),
	    cmocka_unit_test_setup(a_way_that_meets_no_record_changes_nothing, setup),
	    cmocka_unit_test_setup(a_loop_without_a_record_is_left, setup),
	    cmocka_unit_test_setup(the_record_of_a_call_is_its_return_address, setup),
	    cmocka_unit_test_setup(the_frame_must_stay_the_same, setup),
	    cmocka_unit_test_setup(code_that_is_not_known_is_left_alone, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
