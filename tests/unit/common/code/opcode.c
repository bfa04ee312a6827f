/* Does taking instructions apart agree with the whole decoder? */
#include "tests/unit/support/test.h"
#include <stdio.h>
#include <stdlib.h>

#include "common/code/insn.h"
#include "common/code/opcode.h"
#include "common/random.h"

#define SAMPLES 2000000u

/* Does the whole decoder say the same of these bytes? *unknown counts what only it knows. */
static bool agrees(const uint8_t *bytes, unsigned *unknown)
{
	struct opcode o;
	struct insn in;
	bool known = opcode_read(bytes, INSN_MAX_BYTES, &o);

	if (!insn_decode(bytes, INSN_MAX_BYTES, 0x10000, &in))
		return true; /* Lengths of what is no instruction do not matter. */
	if (!known) {
		++*unknown;
		return true;
	}
	if (o.length != in.length)
		return false;
	if (o.has_memory && in.flow == FLOW_NEXT && opcode_use(&o) != OPCODE_USE_UNKNOWN &&
	    (unsigned)opcode_use(&o) != (in.loads ? 1u : 0) + (in.stores ? 2u : 0))
		return false;
	switch (opcode_flow(&o)) {
	case OPCODE_NEXT:
		return in.flow == FLOW_NEXT || in.flow == FLOW_STOP;
	case OPCODE_BRANCH:
		return in.flow == FLOW_CONDITIONAL && opcode_target(&o, 0x10000) == in.target;
	case OPCODE_JUMP:
		return in.flow == FLOW_JUMP && opcode_target(&o, 0x10000) == in.target;
	case OPCODE_CALL:
		return in.flow == FLOW_CALL && opcode_target(&o, 0x10000) == in.target;
	case OPCODE_INDIRECT_JUMP:
		return in.flow == FLOW_JUMP && !in.target_direct;
	case OPCODE_INDIRECT_CALL:
		return in.flow == FLOW_CALL && !in.target_direct;
	case OPCODE_RETURN:
		return in.flow == FLOW_RETURN;
	case OPCODE_TRAP:
		return in.flow != FLOW_NEXT && !in.target_direct;
	}
	return false;
}

static void print_bytes(const uint8_t *bytes)
{
	for (unsigned i = 0; i < INSN_MAX_BYTES; i++)
		(void)fprintf(stderr, "%02x ", bytes[i]);
	(void)fprintf(stderr, "\n");
}

TEST(random_bytes_have_the_decoder_s_lengths)
{
	struct random random = {.state = 7};
	unsigned unknown = 0, wrong = 0;

	for (unsigned i = 0; i < SAMPLES; i++) {
		uint8_t bytes[INSN_MAX_BYTES];

		for (unsigned b = 0; b < sizeof(bytes); b++)
			bytes[b] = (uint8_t)random_below(&random, 256);
		if (!agrees(bytes, &unknown) && ++wrong <= 10)
			print_bytes(bytes);
	}
	assert_int_equal(wrong, 0);
	assert_true(unknown < SAMPLES / 50);
}

/* The C library's own code, at every byte of it, so also in the middle of instructions. */
TEST(compiled_code_has_the_decoder_s_lengths)
{
	uint64_t at = (uint64_t)(uintptr_t)&qsort & ~UINT64_C(0xfff);
	unsigned unknown = 0, wrong = 0;

	for (uint64_t i = 0; i < UINT64_C(128) * 1024; i++) {
		const uint8_t *bytes = (const uint8_t *)(uintptr_t)(at + i);

		if (!agrees(bytes, &unknown) && ++wrong <= 10)
			print_bytes(bytes);
	}
	assert_int_equal(wrong, 0);
	assert_true(unknown < 128 * 1024 / 50);
}

TEST(operands_are_taken_apart)
{
	static const uint8_t lea[] = {0x4a, 0x8d, 0x44, 0xe5, 0xf8}; /* lea rax, [rbp+r12*8-8] */
	static const uint8_t rip[] = {0x8b, 0x0d, 0x10, 0, 0, 0};    /* mov ecx, [rip+16] */
	static const uint8_t imm[] = {0x66, 0x81, 0xfb, 0xff, 0xff}; /* cmp bx, -1 */
	struct opcode o;

	assert_true(opcode_read(lea, sizeof(lea), &o));
	assert_true(o.has_memory && o.memory.base == 5 && o.memory.index == 12 &&
		    o.memory.scale == 8);
	assert_int_equal(o.memory.displacement, -8);
	assert_int_equal(opcode_reg(&o), 0);
	assert_true(opcode_read(rip, sizeof(rip), &o));
	assert_true(o.has_memory && o.memory.rip_relative && o.memory.base == -1 &&
		    o.memory.displacement == 16);
	assert_true(opcode_read(imm, sizeof(imm), &o));
	assert_true(!o.has_memory && o.operand16 && o.immediate == -1 && o.length == 5);
	for (unsigned n = 0; n < sizeof(lea); n++)
		assert_true(!opcode_read(lea, n, &o));
}
