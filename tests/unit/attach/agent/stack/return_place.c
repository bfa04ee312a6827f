/* Adapters and entries of methods as several JDKs make them, byte for byte, but for what they load
 * and store meanwhile. */
#include "tests/unit/support/test.h"

#include "common/code/registers.h"
#include "attach/agent/stack/return_place.h"

struct expected {
	unsigned offset;
	enum return_at at;
	int sender;
	unsigned pushed;
};

#define CHECK(look, code, ...)                                                                    \
	do {                                                                                      \
		const struct expected all[] = {__VA_ARGS__};                                      \
		uint64_t begin = (uintptr_t)(code);                                               \
		for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)                         \
			check(look(begin, begin + sizeof(code), begin + all[i].offset), &all[i]); \
	} while (0)

static void check(struct return_place p, const struct expected *e)
{
	assert_int_equal(p.at, e->at);
	if (e->at == RETURN_LOST)
		return;
	assert_int_equal(p.sender, e->sender);
	if (e->at == RETURN_IN_RAX)
		assert_int_equal(p.reg, RAX);
	if (e->at == RETURN_BY_FRAME)
		assert_int_equal(p.pushed, e->pushed);
}

TEST(an_adapter_of_jdk_17_keeps_the_address_in_rax_for_a_while)
{
	static const uint8_t code[] = {
	    0x48, 0x8b, 0x04, 0x24,                /*  0 mov rax, [rsp] */
	    0x4c, 0x8b, 0xdc,                      /*  4 mov r11, rsp */
	    0x48, 0x83, 0xe4, 0xf0,                /*  7 and rsp, -16 */
	    0x50,                                  /* 11 push rax */
	    0x49, 0x8b, 0xc3,                      /* 12 mov rax, r11 */
	    0x41, 0xff, 0xe3,                      /* 15 jmp r11 */
	    0x48, 0x81, 0x7b, 0x48, 0,    0, 0, 0, /* 18 cmp [rbx+72], 0 */
	    0x0f, 0x84, 0x2d, 0,    0,    0,       /* 26 je 77 */
	    0x4c, 0x8b, 0xec,                      /* 32 mov r13, rsp */
	    0x48, 0x8b, 0x04, 0x24,                /* 35 mov rax, [rsp] */
	    0x48, 0x83, 0xe4, 0xf0,                /* 39 and rsp, -16 */
	    0x9c,                                  /* 43 pushf */
	    0x48, 0x81, 0xec, 0x80, 0,    0, 0,    /* 44 sub rsp, 128 */
	    0xe8, 0,    0,    0,    0,             /* 51 call */
	    0x48, 0x81, 0xc4, 0x80, 0,    0, 0,    /* 56 add rsp, 128 */
	    0x9d,                                  /* 63 popf */
	    0x49, 0x8b, 0xe5,                      /* 64 mov rsp, r13 */
	    0x58,                                  /* 67 pop rax */
	    0x4c, 0x8b, 0xec,                      /* 68 mov r13, rsp */
	    0x48, 0x83, 0xec, 0x30,                /* 71 sub rsp, 48 */
	    0x48, 0x89, 0x04, 0x24,                /* 75 mov [rsp], rax */
	    0x48, 0x89, 0x74, 0x24, 0x28,          /* 79 mov [rsp+40], rsi */
	    0xff, 0xe1,                            /* 84 jmp rcx */
	};

	CHECK(return_place_in_adapter, code, {0, RETURN_ON_TOP, -1, 0}, {7, RETURN_ON_TOP, -1, 0},
	      {11, RETURN_IN_RAX, R13, 0}, {12, RETURN_ON_TOP, R13, 0}, {15, RETURN_ON_TOP, R13, 0},
	      {18, RETURN_ON_TOP, -1, 0}, {32, RETURN_ON_TOP, -1, 0}, {35, RETURN_LOST, 0, 0},
	      {51, RETURN_LOST, 0, 0}, {64, RETURN_LOST, 0, 0}, {67, RETURN_ON_TOP, -1, 0},
	      {68, RETURN_IN_RAX, -1, 0}, {71, RETURN_IN_RAX, R13, 0}, {75, RETURN_IN_RAX, R13, 0},
	      {79, RETURN_ON_TOP, R13, 0}, {84, RETURN_ON_TOP, R13, 0},
	      {5, RETURN_LOST, 0, 0} /* inside an instruction */);
}

TEST(an_adapter_of_jdk_25_asks_its_collector_before)
{
	static const uint8_t code[] = {
	    0x4c, 0x8b, 0xdc,                   /*  0 mov r11, rsp */
	    0x58,                               /*  3 pop rax */
	    0x48, 0x83, 0xe4, 0xf0,             /*  4 and rsp, -16 */
	    0x50,                               /*  8 push rax */
	    0x41, 0xff, 0xe3,                   /*  9 jmp r11 */
	    0x48, 0x81, 0xec, 0x50, 0x01, 0, 0, /* 12 sub rsp, 336 */
	    0x48, 0x89, 0x04, 0x24,             /* 19 mov [rsp], rax */
	    0x48, 0x83, 0xec, 0x08,             /* 23 sub rsp, 8 */
	    0xe8, 0,    0,    0,    0,          /* 27 call */
	    0x48, 0x83, 0xc4, 0x08,             /* 32 add rsp, 8 */
	    0x48, 0x8b, 0x04, 0x24,             /* 36 mov rax, [rsp] */
	    0x48, 0x81, 0xc4, 0x50, 0x01, 0, 0, /* 40 add rsp, 336 */
	    0x4c, 0x8d, 0x6c, 0x24, 0x08,       /* 47 lea r13, [rsp+8] */
	    0x58,                               /* 52 pop rax */
	    0x48, 0x83, 0xec, 0x20,             /* 53 sub rsp, 32 */
	    0x50,                               /* 57 push rax */
	    0xff, 0xe1,                         /* 58 jmp rcx */
	};

	CHECK(return_place_in_adapter, code, {3, RETURN_ON_TOP, -1, 0}, {4, RETURN_IN_RAX, -1, 0},
	      {8, RETURN_IN_RAX, R13, 0}, {9, RETURN_ON_TOP, R13, 0}, {12, RETURN_ON_TOP, -1, 0},
	      {19, RETURN_LOST, 0, 0}, {36, RETURN_LOST, 0, 0}, {47, RETURN_ON_TOP, -1, 0},
	      {52, RETURN_ON_TOP, R13, 0}, {53, RETURN_IN_RAX, R13, 0}, {57, RETURN_IN_RAX, R13, 0},
	      {58, RETURN_ON_TOP, R13, 0});
}

TEST(an_entry_takes_the_address_off_to_make_room_for_locals)
{
	static const uint8_t code[] = {
	    0x48, 0x3b, 0xe0,          /*  0 cmp rsp, rax */
	    0x0f, 0x87, 0x0a, 0, 0, 0, /*  3 ja 19 */
	    0x58,                      /*  9 pop rax */
	    0x49, 0x8b, 0xe5,          /* 10 mov rsp, r13 */
	    0x50,                      /* 13 push rax */
	    0xe9, 0,    0,    0, 0,    /* 14 jmp */
	    0x58,                      /* 19 pop rax */
	    0x7e, 0x09,                /* 20 jle 31 */
	    0x68, 0,    0,    0, 0,    /* 22 push 0 */
	    0xff, 0xca,                /* 27 dec edx */
	    0x7f, 0xf7,                /* 29 jg 22 */
	    0x50,                      /* 31 push rax */
	    0x55,                      /* 32 push rbp */
	    0x48, 0x8b, 0xec,          /* 33 mov rbp, rsp */
	    0x41, 0x55,                /* 36 push r13 */
	    0x68, 0,    0,    0, 0,    /* 38 push 0 */
	    0x53,                      /* 43 push rbx */
	    0x90,                      /* 44 */
	};

	CHECK(return_place_in_entry, code, {0, RETURN_ON_TOP, R13, 0}, {9, RETURN_ON_TOP, R13, 0},
	      {10, RETURN_IN_RAX, R13, 0}, {14, RETURN_ON_TOP, R13, 0}, {19, RETURN_ON_TOP, R13, 0},
	      {20, RETURN_IN_RAX, R13, 0}, {22, RETURN_IN_RAX, R13, 0}, {31, RETURN_IN_RAX, R13, 0},
	      {32, RETURN_ON_TOP, R13, 0}, {33, RETURN_SECOND, R13, 0},
	      {36, RETURN_BY_FRAME, R13, 0}, {38, RETURN_BY_FRAME, R13, 1},
	      {43, RETURN_BY_FRAME, R13, 2}, {44, RETURN_BY_FRAME, R13, 3},
	      {23, RETURN_LOST, 0, 0});
}

TEST(what_an_entry_calls_without_a_frame_is_not_followed)
{
	static const uint8_t code[] = {
	    0x48, 0x83, 0xec, 0x08,    /* 0 sub rsp, 8 */
	    0xe8, 0,    0,    0,    0, /* 4 call */
	    0x90,                      /* 9 */
	};

	CHECK(return_place_in_entry, code, {0, RETURN_ON_TOP, R13, 0}, {4, RETURN_LOST, 0, 0},
	      {9, RETURN_LOST, 0, 0});
}

static struct return_place at_exit(uint64_t begin, uint64_t end, uint64_t pc)
{
	(void)begin;
	return return_place_at_exit(end, pc);
}

TEST(a_return_has_left_its_frame_where_a_jump_to_the_address_is_next)
{
	static const uint8_t code[] = {
	    0x48, 0x8b, 0x5d, 0xf8,                /*  0 mov rbx, [rbp-8] */
	    0xc9,                                  /*  4 leave */
	    0x41, 0xc6, 0x87, 0xbe, 0x03, 0, 0, 0, /*  5 mov [r15+958], 0 */
	    0x58,                                  /* 13 pop rax */
	    0x48, 0x8b, 0xe3,                      /* 14 mov rsp, rbx */
	    0x49, 0x3b, 0xa7, 0x20, 0x06, 0, 0,    /* 17 cmp rsp, [r15+1568] */
	    0x72, 0x07,                            /* 24 jb 33 */
	    0x49, 0x89, 0xa7, 0x20, 0x06, 0, 0,    /* 26 mov [r15+1568], rsp */
	    0xff, 0xe0,                            /* 33 jmp rax */
	    0x41, 0xff, 0x24, 0xda,                /* 35 jmp [r10+rbx*8] */
	};

	CHECK(at_exit, code, {0, RETURN_LOST, 0, 0}, {4, RETURN_LOST, 0, 0},
	      {5, RETURN_ON_TOP, RBX, 0}, {13, RETURN_ON_TOP, RBX, 0}, {14, RETURN_IN_RAX, RBX, 0},
	      {17, RETURN_IN_RAX, -1, 0}, {33, RETURN_IN_RAX, -1, 0}, {35, RETURN_LOST, 0, 0});
}
