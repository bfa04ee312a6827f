/* Which debug information describes an instruction. */
#include "tests/unit/support/test.h"

#include "attach/agent/path/debug_info.h"
#include "tests/unit/support/agent/code.h"

static int setup(void **state)
{
	debug_info_clear();
	return code_setup(state);
}

/* 0: nop (record); 1: mov eax, [rbx]; 3: nop (record); 4: jnz 1; 6: test [r10], eax (record: a
 * poll); 9: ret */
TEST(of_records_at_safepoints_the_next_by_address_is_used, setup)
{
	static const char counted[] = "\x90\x8b\x03\x90\x75\xfb\x41\x85\x02\xc3";
	static const uint32_t records[] = {0, 3, 6};
	uint64_t start = (uintptr_t)code_area;

	memcpy(code_area, counted, sizeof(counted) - 1);
	add_compiled(start, sizeof(counted) - 1, 1, records, 3);
	for (int again = 0; again < 2; again++) { /* the second time from the cache */
		assert_int_equal(debug_info_ip(start), start + 3 - 1);
		assert_int_equal(debug_info_ip(start + 1), start + 3 - 1);
		assert_int_equal(debug_info_ip(start + 3), start + 6 - 1);
		assert_int_equal(debug_info_ip(start + 4), start + 6 - 1);
		assert_int_equal(debug_info_ip(start + 6), start + 6 - 1);
		assert_int_equal(debug_info_ip(start + 9), start + 9); /* no record is behind it */
	}
}

/* 0: call; 5: mov eax, [rbx] (record: the call) 7: mov ecx, [rsi] (record) 9: mov eax, [rbx] 11:
 * mov ecx, [rsi] (record) 13: test [r10], eax (record: a poll) 16: jnz 7 18: ret */
static const char everywhere[] =
    "\xe8\x00\x10\x00\x00\x8b\x03\x8b\x0e\x8b\x03\x8b\x0e\x41\x85\x02\x75\xf5\xc3";
static const uint32_t runs[] = {13, 7, 5, 11};

TEST(of_dense_records_the_next_by_address_is_used, setup)
{
	uint64_t start = (uintptr_t)code_area;

	memcpy(code_area, everywhere, sizeof(everywhere) - 1);
	add_dense(start, sizeof(everywhere) - 1, 1, runs, 4);
	for (int again = 0; again < 2; again++) {
		assert_int_equal(debug_info_ip(start), start);
		assert_int_equal(debug_info_ip(start + 5), start + 5); /* behind the call */
		assert_int_equal(debug_info_ip(start + 7), start + 7 - 1);
		assert_int_equal(debug_info_ip(start + 9), start + 9);
		assert_int_equal(debug_info_ip(start + 11), start + 11 - 1);
		assert_int_equal(debug_info_ip(start + 13), start + 13 - 1);
		assert_int_equal(debug_info_ip(start + 16), start + 16);
	}
}

/* Two loops: 0: mov eax, [rbx] (record) 2: mov ecx, [rsi] (record) 4: nop 5: jnz 2 7: mov eax,
 * [rbx] 9: mov ecx, [rsi] (record) 11: jz 13 13: nop 14: nop (record) 15: jmp 9 17: nop (record) */
TEST(the_end_of_a_dense_loop_belongs_to_it, setup)
{
	static const char two[] =
	    "\x8b\x03\x8b\x0e\x90\x75\xfb\x8b\x03\x8b\x0e\x74\x00\x90\x90\xeb\xf8\x90";
	static const uint32_t records[] = {0, 2, 9, 14, 17};
	uint64_t start = (uintptr_t)code_area;

	memcpy(code_area, two, sizeof(two) - 1);
	add_dense(start, sizeof(two) - 1, 1, records, 5);
	for (int again = 0; again < 2; again++) {
		assert_int_equal(debug_info_ip(start + 4), start + 2 - 1);
		assert_int_equal(debug_info_ip(start + 5), start + 2 - 1);
		assert_int_equal(debug_info_ip(start + 7), start + 7);   /* of the next run */
		assert_int_equal(debug_info_ip(start + 11), start + 11); /* a branch ahead */
		assert_int_equal(debug_info_ip(start + 13), start + 13);
		assert_int_equal(debug_info_ip(start + 15), start + 14 - 1);
	}
}

TEST(the_first_record_is_left_alone, setup)
{
	/* 0: push rbp; 1: mov eax, [rbx] (record); 3: mov ecx, [rsi] (record) */
	static const char body[] = "\x55\x8b\x03\x8b\x0e\xc3";
	static const uint32_t records[] = {1, 3};
	uint64_t start = (uintptr_t)code_area;

	memcpy(code_area, body, sizeof(body) - 1);
	add_dense(start, sizeof(body) - 1, 1, records, 2);
	assert_int_equal(debug_info_ip(start + 1), start + 1);
	assert_int_equal(debug_info_ip(start + 3), start + 3 - 1);
}

static bool is_dense(const uint32_t *records, uint32_t count)
{
	return debug_info_is_dense((const uint8_t *)everywhere, sizeof(everywhere) - 1, records,
				   count);
}

TEST(records_at_safepoints_are_sparse, setup)
{
	static const char indirect[] = "\x41\xff\xd2\x85\x05\x00\x00\x00\x00"; /* call r10; poll */
	static const uint32_t safepoints[] = {5, 13};
	static const uint32_t both[] = {3};

	assert_false(is_dense(safepoints, 2));
	assert_false(is_dense(NULL, 0));
	assert_false(debug_info_is_dense((const uint8_t *)indirect, 9, both, 1));
}

TEST(records_elsewhere_are_dense, setup)
{
	static const uint32_t one[] = {5, 13, 5, 13, 5, 13, 5, 9, 13};
	static const uint32_t ends[] = {0, 19};

	assert_true(is_dense(runs, 4));
	assert_true(is_dense(ends, 2)); /* nothing beyond the code is read */
	/* One among many is a safepoint that was not recognised. */
	assert_false(is_dense(one, 9));
	assert_true(is_dense(one + 5, 4));
}

TEST(code_that_is_not_known_is_left_alone, setup)
{
	assert_int_equal(debug_info_ip(0x1234), 0x1234);
}
