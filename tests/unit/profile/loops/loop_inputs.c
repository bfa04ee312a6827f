/*
 * What the turns of loops go by, in code that JVMs compiled (tests/unit/profile/loops/codes: the
 * method, the JDK, the collector; the programs beside them and in tests/loops/programs).
 */
#include "tests/unit/support/test.h"

#include "common/code/registers.h"
#include "tests/unit/support/analysed_code.h"

/* An offset, and what is loaded there: bytes; or of what register it is. */
struct expected_input {
	uint32_t offset;
	uint8_t bytes, reg;
};

static const struct code_loop *loop_with_header(const struct analysed *x, uint32_t header)
{
	for (size_t i = 0; i < x->a.loop_count; i++)
		if (x->a.loops[i].header == header)
			return &x->a.loops[i];
	fail_msg("no loop at %#x", header);
	return NULL;
}

/* The list ends with an offset of 0. */
static void assert_inputs(const struct analysed *x, const char *what, uint32_t first,
			  uint32_t count, const struct expected_input *expected)
{
	uint32_t i = 0;

	for (; i < count && (expected[i].bytes || expected[i].reg || expected[i].offset); i++) {
		const struct loop_input *input = &x->a.inputs[first + i];

		if (input->use.offset != expected[i].offset ||
		    input->use.bytes != expected[i].bytes || input->use.reg != expected[i].reg)
			fail_msg("%s %u is at %#x, %u bytes, register %u, not at %#x", what, i,
				 input->use.offset, input->use.bytes, input->use.reg,
				 expected[i].offset);
	}
	if (i < count || expected[i].offset)
		fail_msg("there are %u %s", count, what);
}

static void assert_loop_loads(const char *name, uint32_t header,
			      const struct expected_input *expected)
{
	struct analysed x;
	const struct code_loop *l;

	analyse(&x, name);
	l = loop_with_header(&x, header);
	assert_inputs(&x, "loads", l->first_load, l->load_count, expected);
	release(&x);
}

static void assert_turn_inputs(const char *name, uint32_t header,
			       const struct expected_input *expected)
{
	struct analysed x;
	const struct code_loop *l;

	analyse(&x, name);
	l = loop_with_header(&x, header);
	assert_inputs(&x, "turn inputs", l->first_turn_input, l->turn_input_count, expected);
	release(&x);
}

#define LOADS(name, header, ...) \
	assert_loop_loads(name, header, (const struct expected_input[]){__VA_ARGS__, {0, 0, 0}})
#define TURNS(name, header, ...) \
	assert_turn_inputs(name, header, (const struct expected_input[]){__VA_ARGS__, {0, 0, 0}})
#define NOTHING         \
	{               \
		0, 0, 0 \
	}

/* ---------------------------------------------------------------- loads */

static void assert_elements(const char *name, uint32_t header, uint32_t count)
{
	struct analysed x;
	const struct code_loop *l;

	analyse(&x, name);
	l = loop_with_header(&x, header);
	assert_int_equal(l->load_count, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct loop_input *load = &x.a.inputs[l->first_load + i];

		assert_int_equal(load->use.bytes, 4);
		assert_int_equal(code_analysis_loop_at(&x.a, load->use.offset), l - x.a.loops);
		assert_true(i == 0 || load->use.offset > load[-1].use.offset);
	}
	release(&x);
}

TEST(each_copy_of_the_body_loads_its_element)
{
	assert_elements("scanSame-17-g1", 0x3d, 16);
	assert_elements("scanSame-17-g1", 0x13b, 1);
	assert_elements("scanHalf-25-g1", 0x27e, 16);
	assert_elements("scanGrowing-25-parallel", 0x5c, 16);
	assert_elements("indexOf-17-g1", 0x70, 8);
	assert_elements("nestedSearch-25-g1", 0x100, 8);
}

/* What only counts how many there are is the length of an array, and no input. */
TEST(what_limits_a_loop_is_no_load)
{
	LOADS("scanSame-17-g1", 0x16e, {0x180, 4, 0});
	LOADS("scanHalf-25-g1", 0x93, NOTHING);
}

TEST(a_pointer_along_a_list_is_none)
{
	LOADS("get-17-g1", 0x60, NOTHING);
	LOADS("length-25-parallel", 0x35, NOTHING);
	LOADS("find-25-parallel", 0x33, {0x33, 4, 0});
	LOADS("linked-17-g1", 0x25, {0x2f, 4, 0});
	LOADS("tree-25-g1", 0x24, {0x24, 4, 0});
}

/* ... but where the loop asks which element it is. */
TEST(a_pointer_that_is_compared_is_one)
{
	LOADS("siblings-17-g1", 0x43, {0x43, 4, 0});
	LOADS("siblings-25-parallel", 0x33, {0x33, 4, 0});
}

TEST(where_a_store_goes_to_is_one)
{
	LOADS("histogram-25-g1", 0x33, {0x33, 4, 0}, {0x36, 4, 0});
}

/* Counters, sums and the places of queues that the loop keeps there. */
TEST(what_the_loop_keeps_in_memory_is_none)
{
	LOADS("kept-17-g1", 0x23, {0x2d, 4, 0});
	LOADS("drained-17-parallel", 0x81, {0x81, 4, 0});
	LOADS("drained-25-g1", 0xa9, {0xa9, 4, 0});
	LOADS("queueFirst-17-g1", 0x1a7, {0x1a7, 4, 0});
}

/* What they load, and ask the JVM's thread; what color references have; objects' classes. */
TEST(barriers_are_none)
{
	LOADS("objStore-17-g1", 0xa9, NOTHING);
	LOADS("allocs-17-g1", 0x9b, NOTHING);
	LOADS("allocs-25-g1", 0xbe, NOTHING);
	LOADS("drained-17-z", 0xaf, {0xb6, 4, 0});
	LOADS("drained-25-z", 0xbe, {0xc2, 4, 0});
}

/* What all elements are summed with is in a vector there, and in a general register beside. */
TEST(what_is_alike_in_vectors_cannot_be_compared)
{
	struct analysed x;

	analyse(&x, "fillFrom-17-g1");
	assert_int_equal(loop_with_header(&x, 0x180)->load_count, 0);
	assert_int_equal(loop_with_header(&x, 0xdc)->load_count, 1);
	assert_int_equal(loop_with_header(&x, 0xdc)->scalar_count, 1);
	release(&x);
}

/* Dense: where it ends. */
TEST(debug_information_names_a_load)
{
	struct analysed x;
	const struct code_loop *l;

	analyse(&x, "siblings-17-g1");
	l = loop_with_header(&x, 0x43);
	assert_int_equal(x.a.inputs[l->first_load].method, 3 + 1);
	assert_int_equal(x.a.inputs[l->first_load].bci, 19);
	release(&x);
}

TEST(copies_of_a_load_have_one_name)
{
	struct analysed x;
	const struct code_loop *l;

	analyse(&x, "nestedSearch-25-g1");
	l = loop_with_header(&x, 0x100);
	assert_int_equal(l->load_count, 8);
	for (uint32_t i = 0; i < l->load_count; i++) {
		assert_int_equal(x.a.inputs[l->first_load + i].method, 1 + 1);
		assert_int_equal(x.a.inputs[l->first_load + i].bci, 37);
	}
	release(&x);
}

/* ---------------------------------------------------------------- scalars */

static void assert_scalar(const char *name, uint32_t header, struct plan_scalar expected)
{
	struct analysed x;
	const struct code_loop *l;
	const struct plan_scalar *s;

	analyse(&x, name);
	l = loop_with_header(&x, header);
	if (l->scalar_count != 1)
		fail_msg("%s: %u scalars", name, l->scalar_count);
	s = &x.a.scalars[l->first_scalar];
	assert_int_equal(s->reg, expected.reg);
	assert_int_equal(s->slot, expected.slot);
	assert_int_equal(s->displacement, expected.displacement);
	assert_int_equal(s->bytes, expected.bytes);
	release(&x);
}

TEST(what_all_elements_are_compared_with_is_a_scalar)
{
	assert_scalar("nestedSearch-25-g1", 0x100, (struct plan_scalar){.reg = RDX, .bytes = 4});
	assert_scalar("nestedSearch-25-g1", 0x1a0, (struct plan_scalar){.reg = RDX, .bytes = 4});
	assert_scalar("find-25-parallel", 0x33, (struct plan_scalar){.reg = RDX, .bytes = 4});
}

TEST(what_all_calls_are_handed_is_one)
{
	assert_scalar("called-17-parallel", 0x2c, (struct plan_scalar){.reg = RBP, .bytes = 8});
}

TEST(what_limits_a_loop_is_no_scalar)
{
	static const struct {
		const char *name;
		uint32_t header;
	} loops[] = {{"scanSame-17-g1", 0x3d},
		     {"siblings-17-g1", 0x43},
		     {"linked-17-g1", 0x25},
		     {"histogram-25-g1", 0x33}};

	for (size_t i = 0; i < sizeof(loops) / sizeof(loops[0]); i++) {
		struct analysed x;

		analyse(&x, loops[i].name);
		assert_int_equal(loop_with_header(&x, loops[i].header)->scalar_count, 0);
		release(&x);
	}
}

/* ---------------------------------------------------------------- turns */

TEST(turns_along_a_list_are_told_by_what_they_load)
{
	TURNS("linked-17-g1", 0x25, {0x2f, 4, 0});
	TURNS("linked-25-parallel", 0x35, {0x3c, 4, 0});
	TURNS("linked-25c1-g1", 0x5c, {0x20, 4, 0});
	TURNS("drained-17-parallel", 0x81, {0x81, 4, 0});
	TURNS("queueFirst-17-g1", 0x1a7, {0x1a7, 4, 0});
	TURNS("queueFirst-25-g1", 0x228, {0x1a4, 4, 0});
	TURNS("histogram-25-g1", 0x33, {0x33, 4, 0}, {0x36, 4, 0});
}

/* A load that is handed on is the same. */
TEST(turns_are_told_by_what_calls_are_handed)
{
	TURNS("called-17-parallel", 0x2c, {0x31, 4, 0});
	TURNS("calledWith-25-g1", 0x37, {0x3b, 0, RSI});
	TURNS("calledWith-25-z", 0x34, {0x3b, 0, RSI});
}

TEST(turns_are_told_by_what_calls_give_that_are_handed_nothing)
{
	TURNS("asked-25-parallel", 0x56, {0xd0, 0, RAX});
}

TEST(turns_that_are_counted_are_not_compared)
{
	TURNS("numbered-17-g1", 0x48, NOTHING);
	TURNS("scanSame-17-g1", 0x13b, NOTHING);
	TURNS("keySum-25-parallel", 0x33, NOTHING);
	TURNS("allocs-17-g1", 0x9b, NOTHING);
}

/* Looking up what it is would take as long. */
TEST(turns_that_do_little_are_not_compared)
{
	LOADS("little-25-g1", 0x24, {0x24, 4, 0});
	TURNS("little-25-g1", 0x24, NOTHING);
	TURNS("siblings-17-g1", 0x43, NOTHING);
	TURNS("find-25-parallel", 0x33, NOTHING);
}

TEST(turns_with_loops_in_them_are_not_compared)
{
	TURNS("siblings-17-g1", 0x79, NOTHING);
	TURNS("nestedSearch-25-g1", 0xc0, NOTHING);
}

/* Of tests/loops/programs/Repeats.java: as long as the key says, and by nothing else. */
TEST(a_loop_inside_that_reads_nothing_goes_by_what_the_turn_has_loaded)
{
	TURNS("longQueue-17-g1", 0x1c0, {0x1c0, 4, 0});
}

TEST(waiting_is_not_compared)
{
	TURNS("spin-25-parallel", 0x31, NOTHING);
	TURNS("spinPause-25-parallel", 0x31, NOTHING);
}

/* ---------------------------------------------------------------- effects */

static void assert_effect(const char *name, uint32_t header, enum loop_effect effect)
{
	struct analysed x;
	const struct code_loop *l;

	analyse(&x, name);
	l = loop_with_header(&x, header);
	if (l->effect != effect)
		fail_msg("%s: %d, not %d", name, l->effect, effect);
	release(&x);
}

TEST(sums_and_exits_are_as_much_whatever_the_turns)
{
	assert_effect("scanSame-17-g1", 0x3d, LOOP_EFFECT_CONSTANT);
	assert_effect("nestedSearch-25-g1", 0x100, LOOP_EFFECT_CONSTANT);
	assert_effect("nestedSearch-25-g1", 0xe1, LOOP_EFFECT_CONSTANT);
	assert_effect("siblings-25-parallel", 0x33, LOOP_EFFECT_CONSTANT);
	assert_effect("kept-17-g1", 0x23, LOOP_EFFECT_CONSTANT);
}

TEST(stores_along_an_array_are_more_with_each_turn)
{
	assert_effect("fill-25-g1", 0x54, LOOP_EFFECT_GROWS);
	assert_effect("histogram-25-g1", 0x33, LOOP_EFFECT_GROWS);
	assert_effect("called-17-parallel", 0x2c, LOOP_EFFECT_GROWS);
}

TEST(output_in_each_turn_is_told)
{
	struct analysed x;

	assert_effect("written-25-g1", 0x47, LOOP_EFFECT_IO);
	analyse(&x, "written-25-g1");
	code_analysis_release(&x.a);
	for (size_t i = 0; i < x.image.method_count; i++)
		x.image.methods[i].io = false;
	assert_int_equal(code_analysis_make(&x.a, &x.image), 0);
	assert_int_equal(loop_with_header(&x, 0x47)->effect, LOOP_EFFECT_GROWS);
	release(&x);
}

/* ---------------------------------------------------------------- recursion */

static const struct code_loop *recursion_of(const struct analysed *x)
{
	const struct code_loop *found = NULL;

	for (size_t i = 0; i < x->a.loop_count; i++) {
		const struct code_loop *l = &x->a.loops[i];

		if (!l->recursion)
			continue;
		assert_null(found);
		found = l;
		assert_true(l->mapped);
		assert_int_equal(l->method, x->image.method);
		assert_int_equal(l->header_bci, 0);
		assert_int_equal(l->latch_bci, -1);
		assert_int_equal(l->parent, LOOP_NO_PARENT);
		assert_int_equal(l->site_count + l->entry_count + l->load_count, 0);
		for (size_t p = 0; p < x->a.part_count; p++)
			assert_int_not_equal(x->a.parts[p].loop, i);
	}
	return found;
}

static void assert_recursion(const char *name, uint32_t entry, uint32_t count,
			     const uint8_t *registers)
{
	struct analysed x;
	const struct code_loop *l;

	analyse(&x, name);
	l = recursion_of(&x);
	assert_non_null(l);
	assert_int_equal(l->header, entry);
	assert_int_equal(l->turn_input_count, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct loop_input *input = &x.a.inputs[l->first_turn_input + i];

		assert_int_equal(input->use.offset, entry);
		assert_int_equal(input->use.bytes, 0);
		assert_int_equal(input->use.reg, registers[i]);
	}
	release(&x);
}

TEST(a_method_that_calls_itself_is_a_loop_of_its_calls)
{
	static const uint8_t one[] = {RSI}, two[] = {RSI, RDX};

	assert_recursion("fib-17-g1", 0, 1, one);
	assert_recursion("fib-25-parallel", 0, 1, one);
	assert_recursion("binomial-17-g1", 0, 2, two);
}

/* A number's is told by the number; a tree's depth by what lies in the tree. */
TEST(a_recursion_may_read_more_than_it_is_handed)
{
	static const struct {
		const char *name;
		bool reads;
	} expected[] = {{"fib-17-g1", false}, {"fib-25-parallel", false}, {"depth-25-g1", true}};

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		struct analysed x;

		analyse(&x, expected[i].name);
		assert_int_equal((recursion_of(&x)->doubts & LOOP_DOUBT_READS) != 0,
				 expected[i].reads);
		release(&x);
	}
}

/* Behind the check of what class the receiver has, for calls that think they know it. */
TEST(a_virtual_method_begins_behind_its_check)
{
	static const uint8_t registers[] = {RSI, RDX};

	assert_recursion("depth-17c1-g1", 0x20, 2, registers);
	assert_recursion("depth-25-g1", 0x10, 2, registers);
}

TEST(what_is_in_vectors_tells_no_call_from_another)
{
	assert_recursion("power-25-g1", 0, 0, NULL);
}

/* The handler of exceptions calls the next instruction, to have its address. */
TEST(a_method_that_does_not_call_itself_is_none)
{
	static const char *const names[] = {"little-25-g1", "linked-17-g1", "called-17-parallel"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct analysed x;

		analyse(&x, names[i]);
		assert_null(recursion_of(&x));
		release(&x);
	}
}
