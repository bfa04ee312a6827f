/* Loops that call what takes the CPU time: Main.main calls Main.fill, where all ticks come. */
#include "tests/unit/support/test.h"

#include <stdlib.h>

#include "profile/intake/loop_session.h"
#include "tests/unit/support/sample_intake.h"

#define CODE UINT64_C(0x7000000001)
#define MAIN 1u /* method, and node */
#define FILL 2u

struct fixture {
	struct sample_intake in;
	Jxp__CodeImage image, *image_pointer;
	struct code_method method;
	uint8_t bytes[256];
};

static int set_up(void **state)
{
	static struct fixture f;
	struct window_request request = {.kinds[JXP__KIND__KIND_CPU] = true,
					 .kinds[JXP__KIND__KIND_LOOPS] = true};

	f = (struct fixture){0};
	sample_intake_begin(&f.in, &request);
	jxp__code_image__init(&f.image);
	f.image_pointer = &f.image;
	f.image.code = CODE + 7;
	f.image.method = f.method.name = MAIN;
	f.image.methods = (ProtobufCBinaryData){sizeof(f.method), (uint8_t *)&f.method};
	f.image.bytes = (ProtobufCBinaryData){sizeof(f.bytes), f.bytes};
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	sample_intake_end(&f->in);
	return 0;
}

static void tick(struct fixture *f, uint32_t node, unsigned count)
{
	sample_intake_ticks(&f->in, node, CODE, 0, count);
}

static void send_image(struct fixture *f)
{
	sample_intake_image(&f->in, &f->image_pointer);
}

/* How many methods are asked for now. */
static int asked(struct fixture *f, uint32_t *first)
{
	uint32_t methods[CODES_OPEN_MAX] = {0};
	bool looked;
	int count = loop_callers_ask(&f->in.intake.loops, methods, &looked);

	*first = methods[0];
	return count;
}

/* Main.main has the code that was asked for, with a loop around its call. */
static void known(struct fixture *f, enum loop_type type, int32_t latch_bci)
{
	struct code_analysis analysis = {.loops = calloc(1, sizeof(struct code_loop)),
					 .parts = calloc(1, sizeof(struct loop_part)),
					 .loop_count = 1,
					 .part_count = 1};
	struct code_image image;
	uint32_t method, code;

	sample_intake_apply(&f->in);
	tick(f, FILL, 100);
	assert_int_equal(asked(f, &method), 1);
	assert_int_equal(method, MAIN);
	send_image(f);
	assert_true(loop_session_take_image(&f->in.intake.loops, &image, &code));
	code_image_release(&image);
	analysis.loops[0] = (struct code_loop){.header = 0x40,
					       .parent = LOOP_NO_PARENT,
					       .mapped = true,
					       .header_bci = 2,
					       .latch_bci = latch_bci,
					       .type = type,
					       .doubts = LOOP_DOUBT_SITES,
					       .effect = LOOP_EFFECT_IO,
					       .unroll = 1};
	analysis.parts[0] = (struct loop_part){0x40, 0x80, 0};
	assert_int_equal(loop_session_analysed(&f->in.intake.loops, code, 0, &analysis), 0);
	assert_int_equal(f->in.intake.loops.requests.open, 0);
	assert_int_equal(loop_callers_rows(&f->in.intake.loops), 0);
}

TEST(compiled_callers_are_asked_for_once, set_up, tear_down)
{
	struct fixture *f = *state;
	uint32_t method;

	sample_intake_apply(&f->in);
	tick(f, FILL, 40);
	assert_int_equal(asked(f, &method), 0); /* Too few. */
	tick(f, FILL, 40);
	assert_int_equal(asked(f, &method), 1);
	assert_int_equal(method, MAIN);
	assert_int_equal(f->in.intake.loops.requests.open, 1);
	tick(f, FILL, 100);
	assert_int_equal(asked(f, &method), 0);
}

TEST(interpreted_callers_are_not_asked_for, set_up, tear_down)
{
	struct fixture *f = *state;
	uint32_t method;

	f->in.sample.nodes[0].tier = JXP__TIER__TIER_INTERPRETED;
	sample_intake_apply(&f->in);
	tick(f, FILL, 100);
	assert_int_equal(asked(f, &method), 0);
}

TEST(a_method_with_time_of_its_own_calls_nothing, set_up, tear_down)
{
	struct fixture *f = *state;
	uint32_t method;

	sample_intake_apply(&f->in);
	tick(f, MAIN, 200);
	tick(f, FILL, 2);
	assert_int_equal(asked(f, &method), 0);
}

TEST(it_is_looked_at_again_when_there_are_more_ticks, set_up, tear_down)
{
	struct fixture *f = *state;
	uint32_t methods[CODES_OPEN_MAX];
	bool looked;

	sample_intake_apply(&f->in);
	tick(f, FILL, 100);
	assert_int_equal(loop_callers_ask(&f->in.intake.loops, methods, &looked), 1);
	assert_true(looked);
	tick(f, FILL, 20);
	assert_int_equal(loop_callers_ask(&f->in.intake.loops, methods, &looked), 0);
	assert_false(looked);
	tick(f, FILL, 10);
	assert_int_equal(loop_callers_ask(&f->in.intake.loops, methods, &looked), 0);
	assert_true(looked);
}

TEST(a_method_without_code_is_answered_and_no_loss, set_up, tear_down)
{
	struct fixture *f = *state;
	struct code_image image;
	uint32_t method, code;

	sample_intake_apply(&f->in);
	tick(f, FILL, 100);
	assert_int_equal(asked(f, &method), 1);
	f->image.code = 0;
	f->image.error = (char *)"it is not compiled";
	send_image(f);
	assert_false(loop_session_take_image(&f->in.intake.loops, &image, &code));
	assert_int_equal(f->in.intake.loops.requests.open, 0);
	assert_int_equal(f->in.window->losses[LOSS_INVALID], 0);
	send_image(f);
	assert_int_equal(f->in.window->losses[LOSS_INVALID], 1);
}

TEST(code_that_is_known_by_its_number_is_not_taken_twice, set_up, tear_down)
{
	struct fixture *f = *state;
	uint64_t codes[CODES_OPEN_MAX];
	struct code_image image;
	uint32_t method, code;

	sample_intake_apply(&f->in);
	tick(f, FILL, 100);
	assert_int_equal(loop_hunt_codes(&f->in.intake.loops, codes), 1);
	assert_int_equal(asked(f, &method), 1);
	f->image.code = CODE;
	send_image(f);
	send_image(f);
	assert_true(loop_session_take_image(&f->in.intake.loops, &image, &code));
	code_image_release(&image);
	assert_false(loop_session_take_image(&f->in.intake.loops, &image, &code));
	assert_int_equal(f->in.intake.loops.requests.open, 1);
	assert_int_equal(f->in.window->losses[LOSS_INVALID], 0);
}

TEST(a_loop_that_calls_what_takes_the_time_has_a_row_with_its_type, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct loop_profile *p = &f->in.window->loops;

	known(f, LOOP_SOME, 12);
	assert_int_equal(p->row_count, 1);
	assert_int_equal(p->rows[0].key.method, MAIN);
	assert_int_equal(p->rows[0].key.header, 2);
	assert_int_equal(p->rows[0].latch_bci, 12);
	assert_int_equal(p->rows[0].own.samples, 0);
	assert_float_equal(p->rows[0].type_ns[LOOP_SOME], 100 * 5e6, 1);
	assert_true(p->rows[0].doubt_ns[2] > 0);
	assert_float_equal(p->rows[0].effect_ns[LOOP_EFFECT_IO], 100 * 5e6, 1);
	tick(f, FILL, 100);
	assert_int_equal(loop_callers_rows(&f->in.intake.loops), 0);
	assert_float_equal(p->rows[0].type_ns[LOOP_SOME], 200 * 5e6, 1);
}

TEST(a_loop_beside_the_call_has_none, set_up, tear_down)
{
	struct fixture *f = *state;

	known(f, LOOP_SOME, 3);
	assert_int_equal(f->in.window->loops.row_count, 0);
}
