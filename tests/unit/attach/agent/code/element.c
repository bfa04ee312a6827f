/* What plain vector moves move. */
#include "tests/unit/support/test.h"

#include "attach/agent/code/element.h"
#include "attach/agent/code/search.h"
#include "tests/unit/support/agent/code.h"

static int setup(void **state)
{
	element_clear();
	return code_setup(state);
}

/* The element of the access at an offset of the method. */
static enum insn_element element_at(uint64_t start, unsigned offset)
{
	enum insn_element first;
	struct insn in;

	assert_true(search_fetch(start + offset, &in));
	assert_true(in.has_memory);
	first = element_of_access(&in);
	assert_int_equal(first, element_of_access(&in)); /* remembered */
	return first;
}

TEST(a_load_is_what_it_is_used_as, setup)
{
	/* vmovdqu ymm3, [rsi+16]; vaddps ymm2, ymm1, ymm3 */
	uint64_t floats = CODE(0, "\xc5\xfe\x6f\x5e\x10\xc5\xf4\x58\xd3");
	/* vmovdqu ymm3, [rsi+16]; vpaddd ymm3, ymm1, ymm3; vcvtdq2ps ymm3, ymm3 */
	uint64_t ints = CODE(64, "\xc5\xfe\x6f\x5e\x10\xc5\xf5\xfe\xdb\xc5\xfc\x5b\xdb");
	/* vmovq xmm1, [rsi+16]; vaddps xmm2, xmm2, xmm1 */
	uint64_t pair = CODE(128, "\xc5\xfa\x7e\x4e\x10\xc5\xe8\x58\xd1");

	assert_int_equal(element_at(floats, 0), ELEMENT_FLOAT32);
	assert_int_equal(element_at(ints, 0), ELEMENT_INTEGER);
	assert_int_equal(element_at(pair, 0), ELEMENT_FLOAT32);
}

TEST(copies_and_shuffles_are_looked_through, setup)
{
	/* vmovdqu xmm3, [rsi+16]; vmovdqa xmm4, xmm3; vpshufd xmm5, xmm4, 0; vmulpd xmm6, xmm5,
	 * xmm5 */
	uint64_t start = CODE(0, "\xc5\xfa\x6f\x5e\x10\xc5\xf9\x6f\xe3\xc5\xf9\x70\xec\x00\xc5\xd1"
				 "\x59\xf5");

	assert_int_equal(element_at(start, 0), ELEMENT_FLOAT64);
}

TEST(a_copy_of_memory_is_exact, setup)
{
	/* vmovdqu ymm3, [rsi+16]; vmovdqu [rdi+16], ymm3; vmovdqu ymm3, [rsi+48]; vaddps ymm2,
	 * ymm1, ymm3 */
	uint64_t start = CODE(0, "\xc5\xfe\x6f\x5e\x10\xc5\xfe\x7f\x5f\x10\xc5\xfe\x6f\x5e\x30\xc5"
				 "\xf4\x58\xd3");

	assert_int_equal(element_at(start, 0), ELEMENT_INTEGER);
	assert_int_equal(element_at(start, 5), ELEMENT_INTEGER);
	assert_int_equal(element_at(start, 10), ELEMENT_FLOAT32);
}

TEST(a_store_is_what_was_computed, setup)
{
	/* vmulpd ymm3, ymm2, ymm1; add rax, 8; vmovdqu [rdi+rax*8+16], ymm3 */
	uint64_t doubles = CODE(0, "\xc5\xed\x59\xd9\x48\x83\xc0\x08\xc5\xfe\x7f\x5c\xc7\x10");
	/* vmovdqu ymm3, [rsi+16]; vcvtdq2ps ymm4, ymm3; vmovdqu [rdi+16], ymm4 */
	uint64_t converted = CODE(64, "\xc5\xfe\x6f\x5e\x10\xc5\xfc\x5b\xe3\xc5\xfe\x7f\x67\x10");
	/* vmulps ymm1, ymm1, ymm1; vpxor ymm1, ymm1, ymm1; vmovdqu [rdi+16], ymm1 */
	uint64_t zero = CODE(128, "\xc5\xf4\x59\xc9\xc5\xf5\xef\xc9\xc5\xfe\x7f\x4f\x10");

	assert_int_equal(element_at(doubles, 8), ELEMENT_FLOAT64);
	assert_int_equal(element_at(converted, 0), ELEMENT_INTEGER);
	assert_int_equal(element_at(converted, 9), ELEMENT_FLOAT32);
	assert_int_equal(element_at(zero, 8), ELEMENT_INTEGER);
}

TEST(fills_are_what_was_broadcast, setup)
{
	/* vbroadcastss zmm0, xmm0; vmovdqu32 [rdi+16], zmm0; then vpbroadcastd */
	uint64_t floats =
	    CODE(0, "\x62\xf2\x7d\x48\x18\xc0\x62\xf1\x7e\x48\x7f\x87\x10\x00\x00\x00");
	uint64_t ints =
	    CODE(64, "\x62\xf2\x7d\x48\x58\xc0\x62\xf1\x7e\x48\x7f\x87\x10\x00\x00\x00");

	assert_int_equal(element_at(floats, 6), ELEMENT_FLOAT32);
	assert_int_equal(element_at(ints, 6), ELEMENT_INTEGER);
}

TEST(what_a_call_may_have_changed_is_not_known, setup)
{
	/* vmulps ymm1, ymm1, ymm1; call; vmovdqu [rdi+16], ymm1 */
	uint64_t start = CODE(0, "\xc5\xf4\x59\xc9\xe8\x00\x00\x00\x00\xc5\xfe\x7f\x4f\x10");

	assert_int_equal(element_at(start, 9), ELEMENT_INTEGER);
}

TEST(a_loop_that_is_jumped_into_goes_on_from_the_jump, setup)
{
	/* jmp 2f; 1: vmovdqu [rdi+16], ymm1; cmp rbx, rax; jl 1b; ret; 2: vbroadcastss ymm1, xmm1;
	 * vmovdqu [rdi+48], ymm1; jmp 1b */
	uint64_t start = CODE(0, "\xeb\x0b\xc5\xfe\x7f\x4f\x10\x48\x39\xc3\x7c\xf6\xc3\xc4\xe2\x7d"
				 "\x18\xc9\xc5\xfe\x7f\x4f\x30\xeb\xe9");

	assert_int_equal(element_at(start, 2), ELEMENT_FLOAT32);
}

TEST(the_names_of_moves_prove_nothing, setup)
{
	/* movups xmm3, [rsi+16]; paddd xmm2, xmm3 */
	uint64_t ints = CODE(0, "\x0f\x10\x5e\x10\x66\x0f\xfe\xd3");
	/* movss xmm0, [rsi]; movsd [rsi], xmm0: of single elements they do */
	uint64_t one = CODE(64, "\xf3\x0f\x10\x06\xf2\x0f\x11\x06");

	assert_int_equal(element_at(ints, 0), ELEMENT_INTEGER);
	assert_int_equal(element_at(one, 0), ELEMENT_FLOAT32);
	assert_int_equal(element_at(one, 4), ELEMENT_FLOAT64);
}

TEST(other_code_at_the_same_place_is_looked_at_anew, setup)
{
	uint64_t start = CODE(0, "\xc5\xfe\x6f\x5e\x10\xc5\xf4\x58\xd3"); /* vaddps */

	assert_int_equal(element_at(start, 0), ELEMENT_FLOAT32);
	remove_code(start);
	assert_int_equal(CODE(0, "\xc5\xfe\x6f\x5e\x10\xc5\xf5\xfe\xdb"), start); /* vpaddd */
	assert_int_equal(element_at(start, 0), ELEMENT_INTEGER);
}
