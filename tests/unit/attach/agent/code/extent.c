/* Which bytes an access touches; masks come from the frames of real signals. */
#include "tests/unit/support/test.h"
#include <signal.h>
#include <string.h>

#include "attach/agent/code/extent.h"
#include "attach/agent/code/xstate.h"

#define INSN(bytes) insn_of(bytes, sizeof(bytes) - 1)

/* What a masked instruction found, in the handler of a signal that was raised right before it. */
static struct {
	struct insn insn;
	enum extent_result result;
	struct extent extent;
	struct insn overwriting;
	enum extent_result overwriting_result;
} seen;

static struct insn insn_of(const char *bytes, size_t size)
{
	struct insn in;

	assert_true(insn_decode((const uint8_t *)bytes, size, 0x1000, &in));
	assert_int_equal(in.length, size);
	return in;
}

static void on_trap(int signal, siginfo_t *info, void *context)
{
	struct extent ignored;

	(void)signal;
	(void)info;
	seen.result = extent_of_operand(&seen.insn, context, 0x5000, true, &seen.extent);
	if (seen.overwriting.has_memory)
		seen.overwriting_result =
		    extent_of_operand(&seen.overwriting, context, 0x5000, true, &ignored);
}

static int handle_traps(void **state)
{
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};

	(void)state;
	memset(&seen, 0, sizeof(seen));
	xstate_init();
	return sigaction(SIGTRAP, &action, NULL);
}

__attribute__((target("avx"))) static void trap_with_vector_mask(const uint32_t *mask)
{
	__asm__ volatile("vmovdqu (%0), %%ymm5; int3" : : "r"(mask) : "xmm5", "memory");
}

__attribute__((target("avx512bw"))) static void trap_with_opmask(uint64_t mask)
{
	__asm__ volatile("kmovq %0, %%k2; int3" : : "r"(mask) : "k2", "memory");
}

TEST(lanes_whose_highest_bit_is_set_are_active, handle_traps)
{
	static const uint32_t mask[8] = {0, 0x80000000, 0x7fffffff, 0xffffffff,
					 0, 0,          0,          0x80000001};

	if (!__builtin_cpu_supports("avx2"))
		skip();
	seen.insn = INSN("\xc4\xe2\x55\x8e\x07");        /* vpmaskmovd [rdi], ymm5, ymm0 */
	seen.overwriting = INSN("\xc4\xe2\x55\x2d\x2f"); /* vmaskmovpd ymm5, ymm5, [rdi] */
	trap_with_vector_mask(mask);
	assert_int_equal(seen.result, EXTENT_KNOWN);
	assert_int_equal(seen.extent.active, 0xf000f0f0);
	assert_int_equal(seen.extent.width, 12);
	assert_int_equal(seen.extent.address, 0x5000);
	assert_int_equal(seen.overwriting_result, EXTENT_UNKNOWN);
}

TEST(lanes_whose_bit_is_set_in_the_opmask_are_active, handle_traps)
{
	if (!__builtin_cpu_supports("avx512bw"))
		skip();
	seen.insn = INSN("\x62\xe1\x7e\xca\x6f\x0f"); /* vmovdqu32 zmm17{k2}{z}, [rdi] */
	trap_with_opmask(0xffff0005);                 /* 16 lanes */
	assert_int_equal(seen.result, EXTENT_KNOWN);
	assert_int_equal(seen.extent.active, 0xf0f);
	assert_int_equal(seen.extent.width, 8);
	trap_with_opmask(0xffff0000);
	assert_int_equal(seen.result, EXTENT_NOTHING);
}

TEST(a_mask_that_cannot_be_read_is_not_guessed)
{
	struct insn in = INSN("\xc4\xe2\x55\x8e\x07");
	struct extent e;
	ucontext_t uc = {0};

	assert_int_equal(extent_of_operand(&in, &uc, 0x5000, false, &e), EXTENT_UNKNOWN);
}

TEST(gathers_scatters_and_masked_arithmetic_are_accesses_not_evaluated)
{
	struct insn scatter = INSN("\x62\xf2\x7d\x49\xa0\x0c\x97"), /* vpscatterdd */
	    gather = INSN("\xc4\xe2\x75\x90\x04\x97"),              /* vpgatherdd */
	    compress = INSN("\x62\xf2\x7d\x49\x8b\x07"),            /* vpcompressd */
	    add = INSN("\x62\xf1\x74\x49\x58\x07"),                 /* vaddps zmm0{k1} */
	    bytes = INSN("\xc5\xf9\xf7\xc1");                       /* vmaskmovdqu */
	struct extent e;
	ucontext_t uc = {0};

	assert_true(scatter.stores && gather.loads && compress.stores && add.loads && bytes.stores);
	assert_true(search_is_access(&scatter, ACCESS_STORE));
	assert_false(search_is_access(&scatter, ACCESS_LOAD));
	assert_int_equal(extent_of_next(&scatter, &uc, ACCESS_STORE, NULL, &e), EXTENT_UNKNOWN);
	assert_int_equal(extent_of_next(&gather, &uc, ACCESS_LOAD, NULL, &e), EXTENT_UNKNOWN);
	assert_int_equal(extent_of_next(&compress, &uc, ACCESS_STORE, NULL, &e), EXTENT_UNKNOWN);
	assert_int_equal(extent_of_next(&add, &uc, ACCESS_LOAD, NULL, &e), EXTENT_UNKNOWN);
	assert_int_equal(extent_of_next(&bytes, &uc, ACCESS_STORE, NULL, &e), EXTENT_UNKNOWN);
}

TEST(an_element_of_a_repeated_store_is_chosen_at_random)
{
	struct insn in = INSN("\xf3\x48\xab"); /* rep stosq */
	bool chosen[4] = {false};
	struct random random;
	struct extent e;
	ucontext_t uc = {0};

	random_seed(&random, 7);
	uc.uc_mcontext.gregs[REG_RDI] = 0x5000;
	uc.uc_mcontext.gregs[REG_RCX] = 4;
	for (unsigned i = 0; i < 100; i++) {
		assert_int_equal(extent_of_next(&in, &uc, ACCESS_STORE, &random, &e), EXTENT_KNOWN);
		assert_in_range(e.address, 0x5000, 0x5018);
		assert_int_equal(e.size, 8);
		assert_int_equal(e.width, 32);
		chosen[(e.address - 0x5000) / 8] = true;
	}
	assert_true(chosen[0] && chosen[1] && chosen[2] && chosen[3]);
	uc.uc_mcontext.gregs[REG_EFL] = 0x400; /* downwards */
	uc.uc_mcontext.gregs[REG_RCX] = 1000;
	assert_int_equal(extent_of_next(&in, &uc, ACCESS_STORE, &random, &e), EXTENT_KNOWN);
	assert_true(e.address <= 0x5000 && e.address > 0x5000 - 8000);
	assert_int_equal(e.width, 64);
}

TEST(a_repeated_move_loads_from_one_side_and_stores_to_the_other)
{
	struct insn in = INSN("\xf3\xa4"); /* rep movsb */
	struct random random;
	struct extent e;
	ucontext_t uc = {0};

	random_seed(&random, 7);
	uc.uc_mcontext.gregs[REG_RSI] = 0x5000;
	uc.uc_mcontext.gregs[REG_RDI] = 0x9000;
	uc.uc_mcontext.gregs[REG_RCX] = 1;
	assert_int_equal(extent_of_next(&in, &uc, ACCESS_LOAD, &random, &e), EXTENT_KNOWN);
	assert_int_equal(e.address, 0x5000);
	assert_int_equal(extent_of_next(&in, &uc, ACCESS_STORE, &random, &e), EXTENT_KNOWN);
	assert_int_equal(e.address, 0x9000);
	assert_int_equal(e.width, 1);
	uc.uc_mcontext.gregs[REG_RCX] = 0;
	assert_int_equal(extent_of_next(&in, &uc, ACCESS_STORE, &random, &e), EXTENT_NOTHING);
}

TEST(of_a_repeated_comparison_the_first_element_is_taken)
{
	struct insn in = INSN("\xf2\x48\xaf"); /* repne scasq */
	struct random random;
	struct extent e;
	ucontext_t uc = {0};

	random_seed(&random, 7);
	uc.uc_mcontext.gregs[REG_RDI] = 0x9000;
	uc.uc_mcontext.gregs[REG_RCX] = 100;
	for (unsigned i = 0; i < 20; i++) {
		assert_int_equal(extent_of_next(&in, &uc, ACCESS_LOAD, &random, &e), EXTENT_KNOWN);
		assert_int_equal(e.address, 0x9000);
	}
}
