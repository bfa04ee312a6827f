/* Calling contexts of stacks that are made up: from where a thread stands, or from where it has
 * left Java code, into the table of contexts. */
#include "tests/unit/support/test.h"
#include <stdlib.h>

#include "attach/agent/stack/stack.h"
#include "tests/unit/support/agent/fake_stack.h"

#define ROOM    16u
#define IN_JAVA 8

/* A JavaThread, as far as its anchor goes. */
static struct {
	int32_t state;
	uint64_t sp, pc, fp;
} java_thread;

static struct context_table *table;
static struct stack_walker walker;
static struct stack_outcome outcome;
static struct call calls[ROOM];
static ucontext_t uc;
static uint64_t a, b;

/* What the JVM has for each thread alone. */
static _Thread_local void *volatile own;

static struct own_word word_of_own(void)
{
	struct own_memory memory = own_memory_of(&walker);

	memory.begin.offset = (uint32_t)((uintptr_t)&own - memory.address);
	return memory.begin;
}

/* a at fake_stack[0..4), called by b at [4..10), called by native code. */
static int set_up(void **state)
{
	if (fake_stack_setup(state) < 0)
		return -1;
	table = calloc(1, sizeof(*table));
	a = fake_inlining(0, 4, 1, &fake_methods[0], &fake_methods[2]);
	b = fake_compiled(4, 6, 2, &fake_methods[1]);
	fake_frame(0, 4, b + 8, 0);
	fake_frame(4, 6, CALL_STUB, fake_at(20));
	fake_entry(20, 30, 0, 0, 0);
	fake_layout.anchor = (struct anchor_layout){
	    .known = true,
	    .own = word_of_own(),
	    .anchor = offsetof(__typeof__(java_thread), sp),
	    .sp = 0,
	    .pc = 8,
	    .fp = 16,
	    .state = offsetof(__typeof__(java_thread), state),
	    .in_java = IN_JAVA,
	};
	java_thread.state = IN_JAVA;
	java_thread.sp = java_thread.pc = java_thread.fp = 0;
	own = &java_thread;
	walker = (struct stack_walker){.layout = fake_layout, .tables = fake_tables};
	uc.uc_mcontext.gregs[REG_RSP] = (greg_t)fake_at(0);
	uc.uc_mcontext.gregs[REG_RBP] = 0;
	return table ? 0 : -1;
}

static int tear_down(void **state)
{
	free(table);
	return fake_stack_teardown(state);
}

static struct stack_place place_at(uint64_t ip)
{
	return (struct stack_place){.uc = &uc,
				    .ip = ip,
				    .stack_low = fake_at(0),
				    .stack_high = fake_at(STACK_WORDS),
				    .max_frames = ROOM,
				    .calls = calls};
}

static enum stack_result capture(uint64_t ip)
{
	const struct stack_place place = place_at(ip);

	return stack_capture(&walker, &place, table, &outcome);
}

static const char *name_of(uint32_t context)
{
	return method_copy_text(
	    method_of_number(walker.tables.methods, context_node(table, context)->method),
	    METHOD_NAME);
}

static uint32_t caller_of(uint32_t context)
{
	return context_parent(context_node(table, context));
}

static void assert_context(const char *const *names, unsigned count)
{
	uint32_t context = outcome.context;

	for (unsigned i = 0; i < count; i++, context = caller_of(context)) {
		assert_int_not_equal(context, 0);
		assert_string_equal(name_of(context), names[i]);
	}
	assert_int_equal(context, 0);
}

#define ASSERT_CONTEXT(...)                                            \
	do {                                                           \
		const char *const names[] = {__VA_ARGS__};             \
		assert_context(names, sizeof(names) / sizeof(*names)); \
	} while (0)

TEST(a_stack_is_a_context_with_the_root_on_top, set_up, tear_down)
{
	uint32_t first;

	assert_int_equal(capture(a + 6), STACK_OK);
	ASSERT_CONTEXT("inlined", "a", "b");
	assert_int_equal(context_node(table, outcome.context)->bci, 9);
	assert_int_equal(outcome.cut, CUT_NOT);
	assert_int_equal(outcome.witnessed, WITNESS_NONE);
	first = outcome.context;
	assert_int_equal(capture(a + 6), STACK_OK);
	assert_int_equal(outcome.context, first);
}

TEST(root_frames_that_have_no_room_are_missing, set_up, tear_down)
{
	struct stack_place place = place_at(a + 6);

	place.max_frames = 2;
	assert_int_equal(stack_capture(&walker, &place, table, &outcome), STACK_TRUNCATED);
	ASSERT_CONTEXT("inlined", "a");
}

TEST(a_walk_that_is_cut_is_no_context_and_says_why, set_up, tear_down)
{
	fake_methods[1].class.users = 0;
	assert_int_equal(capture(a + 6), STACK_UNWALKABLE);
	assert_int_equal(outcome.cut, CUT_METHOD);
	assert_int_equal(outcome.context, 0);
	fake_frame(0, 4, 64, 0);
	assert_int_equal(capture(a + 6), STACK_UNWALKABLE);
	assert_int_equal(outcome.cut, CUT_CODE);
}

TEST(a_stack_that_is_not_the_threads_is_not_read, set_up, tear_down)
{
	struct stack_place place = place_at(a + 6);

	place.stack_low = fake_at(1); /* it stands below */
	assert_int_equal(stack_capture(&walker, &place, table, &outcome), STACK_UNWALKABLE);
	assert_int_equal(outcome.cut, CUT_STACK);
	place = place_at(a + 6);
	place.stack_high = fake_at(0);
	assert_int_equal(stack_capture(&walker, &place, table, &outcome), STACK_UNWALKABLE);
	assert_int_equal(outcome.cut, CUT_STACK);
}

TEST(a_full_table_has_no_context, set_up, tear_down)
{
	for (uint32_t m = 1; m < 2 * CONTEXT_NODES; m++)
		(void)context_intern(table, 0, (struct call){m + METHODS_MAX, 0});
	assert_int_equal(capture(a + 6), STACK_TABLE_FULL);
	assert_int_equal(outcome.context, 0);
}

/* b has called native code, or the JVM, which runs on the stack below. */
TEST(from_outside_of_java_the_anchor_leads_to_it, set_up, tear_down)
{
	java_thread.state = 4;
	java_thread.sp = fake_at(4);
	java_thread.pc = b + 8;
	assert_int_equal(capture(64), STACK_OK);
	ASSERT_CONTEXT("b");
	/* Where it is not noted, the address that the call pushed is. */
	java_thread.pc = 0;
	assert_int_equal(capture(64), STACK_OK);
	ASSERT_CONTEXT("b");
	/* It cannot lie below where the thread stands: then there is nothing to go by. */
	uc.uc_mcontext.gregs[REG_RSP] = (greg_t)fake_at(4);
	assert_int_equal(capture(64), STACK_UNWALKABLE);
	assert_int_equal(outcome.cut, CUT_CODE);
}

TEST(a_thread_without_java_frames_has_no_context, set_up, tear_down)
{
	java_thread.state = 4;
	assert_int_equal(capture(a + 6), STACK_NO_JAVA);
	own = NULL;
	java_thread.state = IN_JAVA;
	assert_int_equal(capture(a + 6), STACK_NO_JAVA);
	assert_int_equal(outcome.context, 0);
	assert_int_equal(outcome.cut, CUT_NOT);
	/* Without anchors there is the stack alone. */
	walker.layout.anchor.known = false;
	assert_int_equal(capture(a + 6), STACK_OK);
	ASSERT_CONTEXT("inlined", "a", "b");
}

static enum stack_witness says;

static enum stack_witness witness(const struct stack_walker *w, const struct stack_place *place,
				  const struct frame_walk *walk)
{
	assert_ptr_equal(w, &walker);
	assert_ptr_equal(place->calls, calls);
	assert_int_equal(walk->count, 3);
	return says;
}

TEST(a_witness_changes_nothing, set_up, tear_down)
{
	walker.witness = witness;
	for (says = WITNESS_NONE; says <= WITNESS_DIFFERS; says++) {
		assert_int_equal(capture(a + 6), STACK_OK);
		assert_int_equal(outcome.witnessed, says);
		ASSERT_CONTEXT("inlined", "a", "b");
	}
	/* Of walks that were cut there is nothing to compare. */
	fake_frame(0, 4, 64, 0);
	assert_int_equal(capture(a + 6), STACK_UNWALKABLE);
	assert_int_equal(outcome.witnessed, WITNESS_NONE);
}
