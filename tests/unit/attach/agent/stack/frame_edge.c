/* Entries and exits as C1 and C2 of several JDKs make them, byte for byte. */
#include "tests/unit/support/test.h"

#include "attach/agent/stack/frame_edge.h"

/* What is expected at an offset: words up to and with the return address; 0: the frame stands, or
 * nobody can tell. */
struct expected {
	unsigned offset;
	enum frame_edge edge;
	unsigned words;
};

#define CHECK(code, complete, ...)                                        \
	do {                                                              \
		const struct expected all[] = {__VA_ARGS__};              \
		for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) \
			check(code, sizeof(code), complete, &all[i]);     \
	} while (0)

static void check(const uint8_t *code, size_t size, uint32_t complete, const struct expected *e)
{
	uint64_t begin = (uintptr_t)code;
	uint16_t words = 0;

	assert_int_equal(frame_edge_at(begin, begin + size, complete, begin + e->offset, &words),
			 e->edge);
	if (e->edge != FRAME_STANDS)
		assert_int_equal(words, e->words);
}

TEST(an_entry_of_jdk_17_has_a_class_check_and_a_bang)
{
	static const uint8_t code[] = {
	    0x44, 0x8b, 0x56, 0x08,                            /*  0 mov r10d, [rsi+8] */
	    0x49, 0xbb, 0,    0,    0,    0,    0x08, 0, 0, 0, /*  4 mov r11, imm */
	    0x4d, 0x03, 0xd3,                                  /* 14 add r10, r11 */
	    0x49, 0x3b, 0xc2,                                  /* 17 cmp rax, r10 */
	    0x0f, 0x85, 0,    0,    0,    0,                   /* 20 jne */
	    0x66, 0x66, 0x90,                                  /* 26 nop */
	    0x89, 0x84, 0x24, 0,    0xc0, 0xfe, 0xff,          /* 29 mov [rsp-0x14000], eax */
	    0x55,                                              /* 36 push rbp */
	    0x48, 0x83, 0xec, 0x30,                            /* 37 sub rsp, 48 */
	    0x90,                                              /* 41 */
	};

	CHECK(code, 41, {0, FRAME_ENTERED, 1}, {4, FRAME_ENTERED, 1}, {20, FRAME_ENTERED, 1},
	      {29, FRAME_ENTERED, 1}, {36, FRAME_ENTERED, 1}, {37, FRAME_ENTERED, 2},
	      {41, FRAME_STANDS, 0}, {38, FRAME_STANDS, 0} /* inside an instruction */);
}

TEST(a_small_frame_is_taken_at_once)
{
	static const uint8_t code[] = {
	    0x48, 0x83, 0xec, 0x18,       /* 0 sub rsp, 24 */
	    0x48, 0x89, 0x6c, 0x24, 0x10, /* 4 mov [rsp+16], rbp */
	    0x90,                         /* 9 */
	};

	/* Between the two the caller's rbp is not where it is looked for. */
	CHECK(code, 9, {0, FRAME_ENTERED, 1}, {4, FRAME_STANDS, 0}, {9, FRAME_STANDS, 0});
	CHECK(code, 10, {9, FRAME_ENTERED, 4});
}

TEST(an_exit_of_jdk_17_polls_behind_the_frame)
{
	static const uint8_t code[] = {
	    0x48, 0x83, 0xc4, 0x30,             /*  0 add rsp, 48 */
	    0x5d,                               /*  4 pop rbp */
	    0x49, 0x3b, 0xa7, 0x40, 0x03, 0, 0, /*  5 cmp rsp, [r15+0x340] */
	    0x0f, 0x87, 0x10, 0,    0,    0,    /* 12 ja */
	    0xc3,                               /* 18 ret */
	    0x90,
	};

	CHECK(code, 0, {0, FRAME_STANDS, 0}, {4, FRAME_LEFT, 2}, {5, FRAME_LEFT, 1},
	      {12, FRAME_LEFT, 1}, {18, FRAME_LEFT, 1}, {19, FRAME_STANDS, 0});
}

TEST(an_exit_of_jdk_11_reads_the_page_to_poll)
{
	static const uint8_t code[] = {
	    0x5d,                                     /*  0 pop rbp */
	    0x4d, 0x8b, 0x97, 0x08, 0x01, 0x00, 0x00, /*  1 mov r10, [r15+0x108] */
	    0x41, 0x85, 0x02,                         /*  8 test [r10], eax */
	    0xc3,                                     /* 11 ret */
	};

	CHECK(code, 0, {0, FRAME_LEFT, 2}, {1, FRAME_LEFT, 1}, {8, FRAME_LEFT, 1},
	      {11, FRAME_LEFT, 1});
}

TEST(other_code_is_no_edge)
{
	static const uint8_t call[] = {0xe8, 0, 0, 0, 0, 0xc3};        /* call, ret */
	static const uint8_t moved[] = {0x48, 0x8d, 0x65, 0xf8, 0xc3}; /* lea rsp, [rbp-8] */
	static const uint8_t endless[] = {0x90, 0x90, 0x90};
	static const uint8_t nothing[] = {0x06, 0x06};

	CHECK(call, 0, {0, FRAME_STANDS, 0});
	CHECK(call, 5, {5, FRAME_LEFT, 1}, {0, FRAME_ENTERED, 1});
	CHECK(moved, 5, {4, FRAME_STANDS, 0});
	CHECK(moved, 0, {0, FRAME_STANDS, 0});
	CHECK(endless, 0, {0, FRAME_STANDS, 0});
	CHECK(nothing, 2, {1, FRAME_STANDS, 0});
	CHECK(nothing, 0, {0, FRAME_STANDS, 0}, {2, FRAME_STANDS, 0});
}
