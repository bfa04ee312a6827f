/* Stubs as C1 and C2 of several JDKs make them, byte for byte, but for what they load and store. */
#include "tests/unit/support/test.h"

#include "attach/agent/stack/stub_depth.h"

/* to_fp -1: the caller's rbp is in the register. */
struct expected {
	unsigned offset;
	int to_return;
	int to_fp;
};

#define CHECK(code, ...)                                                  \
	do {                                                              \
		const struct expected all[] = {__VA_ARGS__};              \
		for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) \
			check(code, sizeof(code), &all[i]);               \
	} while (0)

static void check(const uint8_t *code, size_t size, const struct expected *e)
{
	uint64_t begin = (uintptr_t)code;
	struct stub_depth d;

	assert_true(stub_depth_at(begin, begin + size, begin + e->offset, &d));
	assert_int_equal(d.to_return, e->to_return);
	assert_int_equal(d.fp_saved, e->to_fp >= 0);
	if (e->to_fp >= 0)
		assert_int_equal(d.to_fp, e->to_fp);
}

TEST(a_stub_of_c2_has_a_small_frame)
{
	static const uint8_t code[] = {
	    0x89, 0x84, 0x24, 0,    0xc0, 0xfe, 0xff, /*  0 mov [rsp-81920], eax */
	    0x55,                                     /*  7 push rbp */
	    0x48, 0x83, 0xec, 0x10,                   /*  8 sub rsp, 16 */
	    0xe8, 0,    0,    0,    0,                /* 12 call */
	    0x48, 0x83, 0xc4, 0x10,                   /* 17 add rsp, 16 */
	    0x5d,                                     /* 21 pop rbp */
	    0x75, 0x01,                               /* 22 jne 25 */
	    0xc3,                                     /* 24 ret */
	    0xe9, 0,    0,    0,    0,                /* 25 jmp */
	};

	CHECK(code, {0, 0, -1}, {7, 0, -1}, {8, 8, 0}, {12, 24, 16}, {17, 24, 16}, {21, 8, 0},
	      {22, 0, -1}, {24, 0, -1}, {25, 0, -1});
}

TEST(a_stub_that_saves_rbp_by_a_store)
{
	static const uint8_t code[] = {
	    0x48, 0x83, 0xec, 0x18,       /*  0 sub rsp, 24 */
	    0x48, 0x89, 0x6c, 0x24, 0x10, /*  4 mov [rsp+16], rbp */
	    0x49, 0xc1, 0xea, 0x2a,       /*  9 shr r10, 42 */
	    0x90,                         /* 13 */
	};

	CHECK(code, {4, 24, -1}, {9, 24, 16}, {13, 24, 16});
}

TEST(a_stub_of_c1_pushes_and_returns_on_two_ways)
{
	static const uint8_t code[] = {
	    0x57,                   /*  0 push rdi */
	    0x51,                   /*  1 push rcx */
	    0x48, 0x3b, 0xc1,       /*  2 cmp rax, rcx */
	    0x75, 0x03,             /*  5 jne 10 */
	    0x59,                   /*  7 pop rcx */
	    0x5f,                   /*  8 pop rdi */
	    0xc3,                   /*  9 ret */
	    0x59,                   /* 10 pop rcx */
	    0x5f,                   /* 11 pop rdi */
	    0x55,                   /* 12 push rbp */
	    0x48, 0x8b, 0xec,       /* 13 mov rbp, rsp */
	    0x48, 0x83, 0xec, 0x20, /* 16 sub rsp, 32 */
	    0xc9,                   /* 20 leave */
	    0xc3,                   /* 21 ret */
	};

	CHECK(code, {1, 8, -1}, {5, 16, -1}, {8, 8, -1}, {9, 0, -1}, {10, 16, -1}, {12, 0, -1},
	      {13, 8, 0}, {16, 8, 0}, {20, 40, 32}, {21, 0, -1});
}

TEST(what_is_not_understood_tells_nothing)
{
	static const uint8_t code[] = {
	    0x48, 0x83, 0xe4, 0xf0, /* 0 and rsp, -16 */
	    0x90,                   /* 4 */
	};
	uint64_t begin = (uintptr_t)code;
	struct stub_depth d;

	assert_false(stub_depth_at(begin, begin + sizeof(code), begin + 4, &d));
	assert_false(stub_depth_at(begin, begin + sizeof(code), begin + 1, &d));
	assert_false(stub_depth_at(begin, begin + sizeof(code), begin - 1, &d));
}
