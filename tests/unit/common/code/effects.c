/* What instructions do to registers. */
#include "tests/unit/support/test.h"

#include "common/code/effects.h"

static struct effects decode(const char *bytes, size_t size)
{
	struct effects e;

	assert_true(effects_decode((const uint8_t *)bytes, size, &e));
	assert_int_equal(e.code.length, size);
	return e;
}

#define DECODE(bytes) decode(bytes, sizeof(bytes) - 1)
#define SET_RAX       REGISTER_GENERAL(RAX)
#define SET_RCX       REGISTER_GENERAL(RCX)
#define SET_RDX       REGISTER_GENERAL(RDX)

TEST(a_move_is_a_copy)
{
	struct effects e = DECODE("\x48\x89\xc8"); /* mov rax, rcx */

	assert_int_equal(e.kind, EFFECT_COPY);
	assert_int_equal(e.reads, SET_RCX);
	assert_int_equal(e.writes, SET_RAX);
	e = DECODE("\x0f\x28\xca"); /* movaps xmm1, xmm2 */
	assert_int_equal(e.kind, EFFECT_COPY);
	assert_int_equal(e.reads, REGISTER_VECTOR(2));
	assert_int_equal(e.writes, REGISTER_VECTOR(1));
	e = DECODE("\xb8\x05\x00\x00\x00"); /* mov eax, 5 */
	assert_int_equal(e.kind, EFFECT_CONSTANT);
	assert_int_equal(e.reads, 0);
}

TEST(adding_a_constant_is_a_step)
{
	struct effects e = DECODE("\x83\xe8\x08"); /* sub eax, 8 */

	assert_int_equal(e.kind, EFFECT_STEP);
	assert_int_equal(e.immediate, -8);
	assert_int_equal(e.reads, SET_RAX);
	assert_int_equal(e.writes, SET_RAX | REGISTER_FLAGS);
	e = DECODE("\x8d\x41\x10"); /* lea eax, [rcx + 16] */
	assert_int_equal(e.kind, EFFECT_STEP);
	assert_int_equal(e.immediate, 16);
	assert_int_equal(e.reads, SET_RCX);
	assert_int_equal(e.writes, SET_RAX);
	assert_false(e.code.memory.loads || e.code.memory.stores);
	e = DECODE("\xff\xc1"); /* inc ecx */
	assert_int_equal(e.kind, EFFECT_STEP);
	assert_int_equal(e.immediate, 1);
	e = DECODE("\x01\xc8"); /* add eax, ecx */
	assert_int_equal(e.kind, EFFECT_DERIVE);
	assert_int_equal(e.reads, SET_RAX | SET_RCX);
}

TEST(a_register_with_itself_is_zero_or_compared_with_it)
{
	struct effects e = DECODE("\x31\xc0"); /* xor eax, eax */

	assert_int_equal(e.kind, EFFECT_CONSTANT);
	assert_int_equal(e.reads, 0);
	e = DECODE("\x85\xc0"); /* test eax, eax */
	assert_int_equal(e.kind, EFFECT_COMPARE);
	assert_true(e.tests_null);
	assert_int_equal(e.writes, REGISTER_FLAGS);
	e = DECODE("\x39\xc8"); /* cmp eax, ecx */
	assert_int_equal(e.kind, EFFECT_COMPARE);
	assert_false(e.tests_null);
}

TEST(parts_of_registers_keep_the_rest)
{
	struct effects e = DECODE("\x88\xc8"); /* mov al, cl */

	assert_int_equal(e.reads, SET_RAX | SET_RCX);
	e = DECODE("\x0f\x44\xc1"); /* cmove eax, ecx */
	assert_int_equal(e.kind, EFFECT_SELECT);
	assert_int_equal(e.reads & (SET_RAX | SET_RCX), SET_RAX | SET_RCX);
	assert_true(e.reads & REGISTER_FLAGS);
}

TEST(memory_is_named_loaded_and_stored)
{
	struct effects e = DECODE("\x89\x44\x8a\x10"); /* mov [rdx + rcx * 4 + 16], eax */

	assert_true(e.code.memory.stores && !e.code.memory.loads);
	assert_int_equal(e.code.memory.base, 2);
	assert_int_equal(e.code.memory.index, 1);
	assert_int_equal(e.code.memory.scale, 4);
	assert_int_equal(e.code.memory.displacement, 16);
	assert_int_equal(e.code.memory.size, 4);
	assert_int_equal(e.reads, SET_RAX | SET_RCX | SET_RDX);
	assert_int_equal(e.writes, 0);
	e = DECODE("\xff\x02"); /* inc dword [rdx] */
	assert_true(e.code.memory.stores && e.code.memory.loads);
	e = DECODE("\x0f\x18\x0a"); /* prefetcht0 [rdx] */
	assert_false(e.code.memory.stores || e.code.memory.loads);
	e = DECODE("\xf3\x48\xab"); /* rep stosq */
	assert_true(e.code.memory.stores && e.code.memory.strange);
	e = DECODE("\x50"); /* push rax */
	assert_false(e.code.memory.stores);
	assert_true(e.writes & REGISTER_GENERAL(RSP));
}

TEST(what_spins_says_so)
{
	struct effects e = DECODE("\xf3\x90");

	assert_int_equal(e.kind, EFFECT_PAUSE);
}

TEST(what_is_cut_off_is_none)
{
	struct effects e;

	assert_false(effects_decode((const uint8_t *)"\x48\x89", 2, &e));
	assert_false(effects_decode((const uint8_t *)"", 0, &e));
}
