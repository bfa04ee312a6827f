/* Ticks in compiled code, before and after it is known who made them. */
#include "tests/unit/support/test.h"

#include <errno.h>

#include "profile/intake/tick_intake.h"
#include "proto/limits.h"
#include "tests/unit/support/sample_image.h"
#include "tests/unit/support/sample_intake.h"

struct fixture {
	struct sample_intake in;
	struct attribution_intake makers;
	struct sample_image image;
	struct tick_intake ticks;
};

static int apply(void *arg, const struct attribution_held *held)
{
	(void)arg;
	(void)held;
	return 0;
}

static int set_up(void **state)
{
	static struct fixture f;
	struct window_request request = {.kinds = {false, true}, .budget = 1.0};

	f = (struct fixture){0};
	sample_intake_begin(&f.in, &request);
	sample_intake_apply(&f.in);
	attribution_intake_init(&f.makers, f.in.window, &f.in.intake.methods, apply, &f);
	tick_intake_init(&f.ticks, f.in.window, &f.makers);
	sample_image_init(&f.image);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	tick_intake_release(&f->ticks);
	attribution_intake_release(&f->makers);
	sample_intake_end(&f->in);
	return 0;
}

/* Its image comes, and is analysed. */
static void know_code(struct fixture *f)
{
	const struct attribution_options options = {0};
	struct attribution attribution;
	struct code_image image;
	uint32_t code;
	int r;

	assert_int_equal(attribution_intake_offer(&f->makers, &f->image.image), 0);
	assert_true(attribution_intake_take_image(&f->makers, &image, &code));
	r = attribution_make(&attribution, &image, &options);
	assert_int_equal(attribution_intake_analysed(&f->makers, code, r, &attribution), 0);
	code_image_release(&image);
}

/* A tick in Main.fill, as the JVM has it; called: in a stub that it calls. */
static void add_tick_as(struct fixture *f, uint64_t code, uint32_t offset, bool called)
{
	const struct event_tick tick = {
	    .code = code, .offset = offset, .cpu_ns = 10, .called = called};

	assert_true(tick_intake_add(&f->ticks, &tick, FILL, called ? TICK_CALLED : TICK_IN_CODE) >=
		    0);
}

static void cpu_tick(struct fixture *f)
{
	assert_int_equal(
	    cpu_profile_add(&f->in.window->cpu, JXP__CPU_SAMPLE__STATE__COMPILED, FILL, false, 10),
	    0);
}

static void add_tick(struct fixture *f, uint32_t offset)
{
	cpu_tick(f);
	add_tick_as(f, CODE, offset, false);
}

static void finish(struct fixture *f)
{
	assert_int_equal(attribution_intake_finish(&f->makers), 0);
	assert_int_equal(tick_intake_finish(&f->ticks), 0);
}

static uint64_t ticks_of(const struct fixture *f, uint32_t node)
{
	const struct cpu_profile *c = &f->in.window->cpu;

	for (size_t i = 0; i < c->context_count; i++)
		if (c->contexts[i].node == node)
			return cpu_context_sum(&c->contexts[i]).samples;
	return 0;
}

static void assert_attributed(const struct fixture *f, enum certainty certainty, uint64_t count)
{
	assert_int_equal(f->in.window->ticks_attributed[certainty], count);
}

static const struct cct_node *node_of(const struct fixture *f, uint32_t id)
{
	return cct_node(&f->in.window->profile.cct, id);
}

/* The right node of ticks at READS. */
static uint32_t right_node(const struct fixture *f)
{
	return tick_intake_node(&f->ticks, CODE, READS, FILL);
}

TEST(ticks_are_those_of_the_method_once_its_code_is_known, set_up, tear_down)
{
	struct fixture *f = *state;
	uint64_t codes[CODES_OPEN_MAX];
	uint32_t right;

	add_tick(f, READS);
	add_tick(f, READS);
	assert_int_equal(ticks_of(f, FILL), 2);
	assert_int_equal(attribution_intake_ask(&f->makers, codes), 0); /* They ask for none. */
	know_code(f);
	assert_int_equal(right_node(f), FILL);
	assert_int_equal(tick_intake_settle(&f->ticks), 0);
	right = right_node(f);
	assert_int_equal(node_of(f, right)->method, SUM);
	assert_int_equal(node_of(f, node_of(f, right)->parent)->bci, 1);
	/* One that comes later, and one behind the access. */
	add_tick(f, READS);
	add_tick(f, POLLS);
	finish(f);
	assert_int_equal(ticks_of(f, right), 4);
	assert_int_equal(f->in.window->cpu.context_count, 1);
	assert_attributed(f, CERTAINTY_INFERRED, 4);
	assert_attributed(f, CERTAINTY_UNKNOWN, 0);
	/* How sure accesses are has nothing to do with it. */
	assert_int_equal(node_of(f, right)->certainty, CERTAINTY_NONE);
	for (int i = 0; i < CERTAINTY_VALUES; i++)
		assert_int_equal(f->in.window->attributed[i], 0);
}

TEST(places_are_told_once, set_up, tear_down)
{
	struct fixture *f = *state;

	add_tick(f, READS);
	know_code(f);
	for (int i = 0; i < 3; i++)
		assert_int_equal(tick_intake_settle(&f->ticks), 0);
	finish(f);
	assert_int_equal(ticks_of(f, right_node(f)), 1);
	assert_attributed(f, CERTAINTY_INFERRED, 1);
}

/* The window may have had the code for the first time in its last batch. */
TEST(at_the_end_places_of_known_code_are_told, set_up, tear_down)
{
	struct fixture *f = *state;

	add_tick(f, READS);
	know_code(f);
	finish(f);
	assert_int_not_equal(right_node(f), FILL);
	assert_int_equal(ticks_of(f, right_node(f)), 1);
	assert_attributed(f, CERTAINTY_INFERRED, 1);
}

/* Main.fill loads Main.rows itself: by its shape it is as good as Main.sum's load of Main.total,
 * and nearer. */
static void make_loads_alike(struct fixture *f)
{
	f->image.bytecodes[4] = 0xb4;
}

static void sample_total(struct fixture *f)
{
	struct attribution_held load = {
	    .queries = {{.code = CODE, .offset = READS, .node = FILL, .loads = true}}};

	assert_true(agent_ids_get(&f->in.intake.locations, 1, &load.queries[0].location));
	assert_int_equal(attribution_intake_add(&f->makers, &load), 0);
}

TEST(of_loads_that_look_alike_sampled_accesses_tell, set_up, tear_down)
{
	struct fixture *f = *state;
	uint32_t by_shape;

	make_loads_alike(f);
	know_code(f);
	for (int i = 0; i < 3; i++)
		add_tick(f, POLLS);
	by_shape = tick_intake_node(&f->ticks, CODE, POLLS, FILL);
	assert_int_equal(node_of(f, by_shape)->method, FILL);
	assert_int_equal(node_of(f, by_shape)->bci, 4);
	assert_int_equal(ticks_of(f, by_shape), 3);
	sample_total(f);
	finish(f);
	assert_int_equal(ticks_of(f, by_shape), 0);
	assert_int_equal(node_of(f, tick_intake_node(&f->ticks, CODE, POLLS, FILL))->method, SUM);
	assert_int_equal(ticks_of(f, tick_intake_node(&f->ticks, CODE, POLLS, FILL)), 3);
	assert_attributed(f, CERTAINTY_CHECKED, 3);
	assert_attributed(f, CERTAINTY_INFERRED, 0);
}

/* None of this instruction was. */
TEST(without_accesses_the_shape_tells, set_up, tear_down)
{
	struct fixture *f = *state;

	make_loads_alike(f);
	know_code(f);
	add_tick(f, POLLS);
	finish(f);
	assert_int_equal(node_of(f, right_node(f))->method, FILL);
	assert_attributed(f, CERTAINTY_INFERRED, 1);
}

/* The field's load, told by its image; at another place no access is known. */
TEST(ticks_in_stubs_are_those_of_the_method_that_accesses_memory_there, set_up, tear_down)
{
	struct fixture *f = *state;

	add_tick_as(f, CODE, READS, true);
	add_tick_as(f, CODE, POLLS, true);
	cpu_tick(f);
	cpu_tick(f);
	know_code(f);
	sample_total(f);
	assert_int_equal(tick_intake_settle(&f->ticks), 0);
	assert_int_equal(ticks_of(f, FILL), 2);
	finish(f);
	assert_int_equal(ticks_of(f, FILL), 1);
	assert_int_equal(f->in.window->cpu.context_count, 2);
	assert_attributed(f, CERTAINTY_UNKNOWN, 1);
}

TEST(ticks_whose_code_never_comes_stay, set_up, tear_down)
{
	struct fixture *f = *state;

	add_tick(f, READS);
	add_tick(f, POLLS);
	assert_int_equal(tick_intake_settle(&f->ticks), 0);
	finish(f);
	assert_int_equal(ticks_of(f, FILL), 2);
	assert_int_equal(right_node(f), FILL);
	assert_attributed(f, CERTAINTY_UNKNOWN, 2);
}

TEST(ticks_that_ask_for_more_than_any_program_stay, set_up, tear_down)
{
	struct fixture *f = *state;

	know_code(f);
	f->makers.tick_work = ATTRIBUTION_TICK_WORK_MAX + 1;
	add_tick(f, READS);
	assert_int_equal(ticks_of(f, FILL), 1);
	assert_attributed(f, CERTAINTY_UNKNOWN, 1);
	/* Accesses have work of their own. */
	assert_int_equal(f->makers.work, 0);
}

TEST(what_no_place_is_left_for_stays_and_is_counted, set_up, tear_down)
{
	struct fixture *f = *state;

	for (uint32_t i = 0; i < LIMIT_LOOP_TICKS; i++)
		add_tick_as(f, CODE + 1, i, false);
	assert_attributed(f, CERTAINTY_UNKNOWN, 0);
	add_tick(f, READS);
	assert_attributed(f, CERTAINTY_UNKNOWN, 1);
	assert_int_equal(right_node(f), FILL);
	/* Known places go on. */
	add_tick_as(f, CODE + 1, 0, false);
	assert_attributed(f, CERTAINTY_UNKNOWN, 1);
	assert_true(tick_intake_memory_bytes(&f->ticks) >=
		    LIMIT_LOOP_TICKS * sizeof(struct tick_place));
	finish(f);
	assert_attributed(f, CERTAINTY_UNKNOWN, LIMIT_LOOP_TICKS + 2);
}
