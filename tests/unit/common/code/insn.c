/* What one instruction accesses and where it goes next. */
#include "tests/unit/support/test.h"
#include <string.h>

#include "common/code/insn.h"

#define IP UINT64_C(0x7f0000001000)

static struct insn decode(const char *bytes, size_t size)
{
	struct insn in;

	assert_true(insn_decode((const uint8_t *)bytes, size, IP, &in));
	assert_int_equal(in.length, size);
	assert_int_equal(insn_length((const uint8_t *)bytes, size), size);
	return in;
}
#define DECODE(bytes) decode(bytes, sizeof(bytes) - 1)

TEST(a_load_reads_its_operand)
{
	gregset_t regs = {[REG_RBX] = 0x1000, [REG_RDI] = 3};
	struct insn in = DECODE("\x48\x63\x54\xbb\x10"); /* movsxd rdx, dword [rbx+rdi*4+0x10] */

	assert_true(in.has_memory && in.memory.loads && !in.memory.stores);
	assert_int_equal(in.memory.size, 4);
	assert_int_equal(insn_effective_address(&in, regs), 0x1000 + 3 * 4 + 0x10);
	assert_true(insn_writes(&in, RDX));
	assert_false(insn_writes(&in, RBX));
}

TEST(a_store_writes_its_operand)
{
	struct insn in = DECODE("\x44\x89\x44\x24\x10"); /* mov [rsp+0x10], r8d */

	assert_true(in.has_memory && in.memory.stores && !in.memory.loads);
	assert_int_equal(in.memory.base, RSP);
	assert_int_equal(in.writes & REGISTER_GENERALS, 0);
}

TEST(a_read_modify_write_does_both)
{
	struct insn in = DECODE("\x01\x43\x08"); /* add [rbx+8], eax */

	assert_true(in.memory.loads && in.memory.stores);
	assert_true(in.writes & REGISTER_FLAGS);
}

TEST(a_rip_relative_operand_is_an_address)
{
	gregset_t regs = {0};
	struct insn in = DECODE("\x48\x8b\x05\x00\x01\x00\x00"); /* mov rax, [rip+0x100] */

	assert_int_equal(insn_effective_address(&in, regs), IP + 7 + 0x100);
}

TEST(a_vector_store_is_as_wide_as_its_register)
{
	struct insn in =
	    DECODE("\xc5\xfe\x7f\x44\x8b\x10"); /* vmovdqu ymmword [rbx+rcx*4+0x10], ymm0 */

	assert_true(in.memory.stores);
	assert_int_equal(in.memory.size, 32);
}

TEST(floating_point_operands_are_known_as_such)
{
	assert_int_equal(DECODE("\xf2\x0f\x10\x03").lanes.element,
			 ELEMENT_FLOAT64); /* movsd xmm0,[rbx] */
	assert_int_equal(DECODE("\xf3\x0f\x58\x03").lanes.element,
			 ELEMENT_FLOAT32); /* addss xmm0,[rbx] */
	assert_int_equal(DECODE("\x8b\x03").lanes.element, ELEMENT_INTEGER);
}

TEST(address_computation_and_nops_access_nothing)
{
	assert_false(DECODE("\x48\x8d\x44\x24\x10").has_memory); /* lea rax, [rsp+0x10] */
	assert_false(DECODE("\x0f\x1f\x44\x00\x00").has_memory); /* nop dword [rax+rax] */
	assert_false(DECODE("\x0f\x18\x0b").has_memory);         /* prefetcht0 [rbx] */
	assert_false(DECODE("\x66\x66\x0f\x1f\x84\x00\x00\x00\x00\x00").has_memory);
}

TEST(thread_local_and_gathered_operands_are_not_evaluated)
{
	struct insn in = DECODE("\x64\x48\x8b\x04\x25\x00\x00\x00\x00"); /* mov rax, fs:[0] */

	assert_false(in.has_memory);
	assert_true(in.unsupported);
	in = DECODE("\xc4\xe2\x6d\x90\x04\x88"); /* vpgatherdd ymm0, [rax+ymm1*4], ymm2 */
	assert_false(in.has_memory);
	assert_true(in.unsupported);
}

TEST(implicit_stack_traffic_is_described_apart)
{
	assert_int_equal(DECODE("\x55").stack_delta, -8); /* push rbp */
	assert_false(DECODE("\x55").has_memory);
	assert_int_equal(DECODE("\x5d").stack_delta, 8); /* pop rbp */
	assert_int_equal(DECODE("\xc3").stack_delta, 8); /* ret */
	assert_int_equal(DECODE("\xe8\x00\x01\x00\x00").stack_delta, -8);
}

TEST(string_instructions_name_rsi_and_rdi)
{
	struct insn in = DECODE("\xf3\x48\xab"); /* rep stosq */

	assert_true(in.repeats && in.string && in.string_writes && !in.string_reads);
	assert_int_equal(in.string_size, 8);
	in = DECODE("\xf3\xa4"); /* rep movsb */
	assert_true(in.string_reads && in.string_writes);
	assert_false(in.has_memory);
}

TEST(branches_know_their_targets)
{
	struct insn in = DECODE("\x7c\xf0"); /* jl -16 */

	assert_int_equal(in.flow, FLOW_CONDITIONAL);
	assert_true(in.target_direct);
	assert_int_equal(in.target, IP + 2 - 16);
	in = DECODE("\xff\xe0"); /* jmp rax */
	assert_int_equal(in.flow, FLOW_JUMP);
	assert_int_equal(in.target_register, RAX);
	in = DECODE("\xff\x50\x10"); /* call [rax+0x10] */
	assert_int_equal(in.flow, FLOW_CALL);
	assert_int_equal(in.target_register, -1);
	assert_true(in.has_memory);
	assert_int_equal(DECODE("\xc3").flow, FLOW_RETURN);
	assert_int_equal(DECODE("\xcc").flow, FLOW_STOP);
	assert_int_equal(DECODE("\x0f\x05").flow, FLOW_STOP);
}

struct condition {
	const char *bytes;
	greg_t flags;
	bool taken;
};

TEST(conditions_follow_the_flags)
{
	static const struct condition conditions[] = {
	    {"\x72\x00", 0x001, true}, {"\x72\x00", 0, false},     /* jb: CF */
	    {"\x73\x00", 0, true},     {"\x76\x00", 0x040, true},  /* jnb; jbe: CF|ZF */
	    {"\x77\x00", 0, true},     {"\x77\x00", 0x001, false}, /* ja */
	    {"\x74\x00", 0x040, true}, {"\x75\x00", 0x040, false}, /* jz, jnz */
	    {"\x7c\x00", 0x080, true}, {"\x7c\x00", 0x880, false}, /* jl: SF!=OF */
	    {"\x7d\x00", 0x880, true}, {"\x7e\x00", 0x040, true},  /* jge; jle */
	    {"\x7f\x00", 0, true},     {"\x7f\x00", 0x800, false}, /* jg */
	    {"\x78\x00", 0x080, true}, {"\x79\x00", 0x080, false}, /* js, jns */
	    {"\x70\x00", 0x800, true}, {"\x71\x00", 0x800, false}, /* jo, jno */
	    {"\x7a\x00", 0x004, true}, {"\x7b\x00", 0x004, false}, /* jp, jnp */
	};

	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
		gregset_t regs = {[REG_EFL] = conditions[i].flags};
		struct insn in = decode(conditions[i].bytes, 2);
		bool known;

		assert_int_equal(insn_branch_taken(&in, regs, &known), conditions[i].taken);
		assert_true(known);
	}
}

TEST(loops_count_rcx)
{
	struct insn in = DECODE("\xe2\xf0"); /* loop */
	gregset_t regs = {[REG_RCX] = 2};
	bool known;

	assert_true(insn_branch_taken(&in, regs, &known) && known);
	regs[REG_RCX] = 1;
	assert_false(insn_branch_taken(&in, regs, &known));
}

TEST(bytes_that_are_no_instruction_are_refused)
{
	struct insn in;

	assert_false(insn_decode((const uint8_t *)"\x06", 1, IP, &in));
	assert_false(insn_decode((const uint8_t *)"\x48\x8b", 2, IP, &in)); /* cut short */
	assert_int_equal(insn_length((const uint8_t *)"\x48\x8b", 2), 0);
}

TEST(a_safepoint_poll_is_a_test_of_memory)
{
	assert_true(DECODE("\x41\x85\x00").tests_memory); /* test [r8], eax */
	assert_false(DECODE("\x85\xc0").tests_memory);    /* test eax, eax */
	assert_false(DECODE("\x39\x03").tests_memory);    /* cmp [rbx], eax */
}

TEST(text_does_not_depend_on_the_address)
{
	char text[128];

	insn_format((const uint8_t *)"\x48\x8b\x05\x00\x01\x00\x00", 7, text, sizeof(text));
	assert_non_null(strstr(text, "rip+0x100"));
	insn_format((const uint8_t *)"\x06", 1, text, sizeof(text));
	assert_string_equal(text, "?");
}

TEST(an_instruction_may_overwrite_what_an_operand_is_made_of)
{
	const struct insn chase = DECODE("\x48\x8b\x00");    /* mov rax, [rax] */
	const struct insn load = DECODE("\x48\x8b\x04\xbb"); /* mov rax, [rbx+rdi*4] */
	const struct insn other = DECODE("\x48\x89\xcf");    /* mov rdi, rcx */

	assert_true(insn_overwrites(&chase, &chase.memory));
	assert_false(insn_overwrites(&load, &load.memory));
	assert_true(insn_overwrites(&other, &load.memory));
	assert_false(insn_overwrites(&other, &chase.memory));
}
