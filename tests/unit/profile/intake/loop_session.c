#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/intake/loop_session.h"
#include "proto/limits.h"
#include "tests/unit/support/sample_intake.h"

#define CODE   UINT64_C(0x7000000001)
#define FILL   2u /* method, and node */
#define HEADER 0x40u

#define SENT(array) ((ProtobufCBinaryData){sizeof(array), (uint8_t *)(array)})

/* Texts, and where they begin. */
#define TEXTS "\0Main\0count\0rows\0I\0Base\0([B)V"
enum {
	TEXT_MAIN = 1,
	TEXT_COUNT = 6,
	TEXT_ROWS = 12,
	TEXT_INT = 17,
	TEXT_BASE = 19,
	TEXT_FILL = 24
};

/* The code of Main.fill, with a record and bytecodes of two methods. */
struct sample_image {
	Jxp__CodeImage image;
	Jxp__CodeImage *pointer;
	struct code_method methods[2];
	struct code_frame frames[2];
	struct code_record records[3];
	struct code_call calls[2];
	struct code_reference references[3];
	struct code_member members[2];
	struct code_null_check null_checks[2];
	uint32_t targets[1];
	uint8_t bytes[256], code[16];
	char texts[sizeof(TEXTS)];
};

struct fixture {
	struct sample_intake in;
	struct sample_image image;
};

/* Main.fill reads a field of its own class at 1 and one of another at 5, and calls itself at 9. */
static void sample_image_init(struct sample_image *s)
{
	*s = (struct sample_image){
	    .methods = {{.name = FILL,
			 .bytecode_bytes = sizeof(s->code),
			 .reference_count = 3,
			 .descriptor = TEXT_FILL,
			 .is_static = true},
			{.name = FILL - 1}},
	    .frames = {{.method = 0, .bci = 4}, {.method = 1, .bci = 4}},
	    .records = {{0, 0, 2}, {10, 0, 2}, {20, 0, 2}},
	    .calls = {{0, CODE_TARGET_JAVA, 1}, {10, CODE_TARGET_JAVA, 1}},
	    .references = {{.bci = 1, .member = 0},
			   {.bci = 5, .member = 1},
			   {.bci = 9, .member = 0, .target_count = 1}},
	    .members = {{.class_name = TEXT_MAIN, .name = TEXT_COUNT, .descriptor = TEXT_INT},
			{.class_name = TEXT_MAIN,
			 .name = TEXT_ROWS,
			 .descriptor = TEXT_INT,
			 .declared_in = TEXT_BASE}},
	    .null_checks = {{0, 200}, {16, 200}},
	    .texts = TEXTS};
	jxp__code_image__init(&s->image);
	s->pointer = &s->image;
	s->image.code = CODE;
	s->image.method = FILL;
	s->image.bytes = SENT(s->bytes);
	s->image.methods = SENT(s->methods);
	s->image.frames = SENT(s->frames);
	s->image.records = SENT(s->records);
	s->image.calls = SENT(s->calls);
	s->image.references = SENT(s->references);
	s->image.members = SENT(s->members);
	s->image.null_checks = SENT(s->null_checks);
	s->image.targets = SENT(s->targets);
	s->image.bytecodes = SENT(s->code);
	s->image.texts = SENT(s->texts);
}

static int set_up(void **state)
{
	static struct fixture f;
	struct window_request request = {.kinds[JXP__KIND__KIND_CPU] = true,
					 .kinds[JXP__KIND__KIND_LOOPS] = true};

	f = (struct fixture){0};
	sample_intake_begin(&f.in, &request);
	sample_image_init(&f.image);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	sample_intake_end(&f->in);
	return 0;
}

static void tick(struct fixture *f, uint64_t code, uint32_t offset, unsigned count)
{
	sample_intake_ticks(&f->in, FILL, code, offset, count);
}

static void send_image(struct fixture *f)
{
	sample_intake_image(&f->in, &f->image.pointer);
}

/* Asks for what is hot, and has it sent; its position. */
static uint32_t ask_and_take(struct fixture *f, struct code_image *image)
{
	uint64_t codes[CODES_OPEN_MAX];
	uint32_t code = 99;

	assert_int_equal(loop_hunt_codes(&f->in.intake.loops, codes), 1);
	assert_int_equal(codes[0], CODE);
	send_image(f);
	assert_true(loop_session_take_image(&f->in.intake.loops, image, &code));
	return code;
}

/* A loop of Main.fill in [0x40, 0x80), in a copy of itself in [0x20, 0xa0), with sites of results
 * and one entry. */
static void analyse(struct code_analysis *a, enum loop_type type, uint32_t sites)
{
	*a = (struct code_analysis){.loops = calloc(2, sizeof(*a->loops)),
				    .parts = calloc(3, sizeof(*a->parts)),
				    .sites = calloc(sites + 1, sizeof(*a->sites)),
				    .entries = calloc(1, sizeof(*a->entries)),
				    .loop_count = 2,
				    .part_count = 3,
				    .site_count = sites,
				    .entry_count = 1};
	a->loops[0] = (struct code_loop){.header = HEADER,
					 .parent = 1,
					 .mapped = true,
					 .method = 0,
					 .header_bci = 4,
					 .latch_bci = 12,
					 .type = type,
					 .unroll = 8,
					 .site_count = sites,
					 .entry_count = 1};
	a->loops[1] = a->loops[0];
	a->loops[1].header = 0x20;
	a->loops[1].parent = LOOP_NO_PARENT;
	a->loops[1].unroll = 1;
	a->loops[1].site_count = 0;
	a->parts[0] = (struct loop_part){0x20, 0x40, 1};
	a->parts[1] = (struct loop_part){0x40, 0x80, 0};
	a->parts[2] = (struct loop_part){0x80, 0xa0, 1};
	for (uint32_t i = 0; i < sites; i++)
		a->sites[i] = (struct loop_site){0x44 + i, LOOP_RESULT_EXIT, 1, 8};
	a->entries[0] = 0x10;
}

static uint32_t known(struct fixture *f, enum loop_type type, uint32_t sites)
{
	struct code_analysis analysis;
	struct code_image image;
	uint32_t code;

	sample_intake_apply(&f->in);
	tick(f, CODE, 0x50, 100);
	code = ask_and_take(f, &image);
	code_image_release(&image);
	analyse(&analysis, type, sites);
	assert_int_equal(loop_session_analysed(&f->in.intake.loops, code, 0, &analysis), 0);
	return code;
}

static void burst(struct fixture *f, uint32_t plan, uint32_t headers, uint8_t place, uint32_t count)
{
	struct event_burst *b =
	    sample_event(&f->in.sample.events, &f->in.sample.batch, EVENT_BURST);

	b->plan = plan;
	b->headers = headers;
	b->places[0] = place;
	b->counts[0] = count;
	b->others = 1;
	sample_intake_apply(&f->in);
}

static uint64_t lost(const struct fixture *f, enum loss loss)
{
	return f->in.window->losses[loss];
}

/* ---------------------------------------------------------------- code */

TEST(code_is_asked_for_when_it_has_a_share_of_the_ticks, set_up, tear_down)
{
	struct fixture *f = *state;
	uint64_t codes[CODES_OPEN_MAX];

	sample_intake_apply(&f->in);
	tick(f, CODE, 0x50, LOOP_HUNT_SAMPLES - 1);
	assert_int_equal(loop_hunt_codes(&f->in.intake.loops, codes), 0);
	tick(f, CODE, 0x54, 1);
	tick(f, CODE + 1, 0, 3);
	assert_int_equal(loop_hunt_codes(&f->in.intake.loops, codes), 1);
	assert_int_equal(codes[0], CODE);
	assert_int_equal(loop_hunt_codes(&f->in.intake.loops, codes), 0);
}

TEST(only_a_few_codes_are_open_at_a_time, set_up, tear_down)
{
	struct fixture *f = *state;
	uint64_t codes[CODES_OPEN_MAX];

	sample_intake_apply(&f->in);
	for (uint64_t i = 0; i < CODES_OPEN_MAX + 1; i++)
		tick(f, CODE + i, 0, 30);
	assert_int_equal(loop_hunt_codes(&f->in.intake.loops, codes), CODES_OPEN_MAX);
	f->image.image.error = (char *)"it was unloaded";
	send_image(f);
	assert_int_equal(loop_hunt_codes(&f->in.intake.loops, codes), 1);
	assert_int_equal(codes[0], CODE + CODES_OPEN_MAX);
}

TEST(an_image_comes_with_the_windows_methods, set_up, tear_down)
{
	struct fixture *f = *state;
	struct code_image image;

	sample_intake_apply(&f->in);
	tick(f, CODE, 0x50, 30);
	(void)ask_and_take(f, &image);
	assert_int_equal(image.size, 256);
	assert_int_equal(image.method_count, 2);
	assert_int_equal(image.methods[image.method].name, FILL);
	assert_int_equal(image.methods[0].bytecode_bytes, 16);
	assert_int_equal(image.record_count, 3);
	assert_int_equal(image.records[2].frame_count, 2);
	assert_int_equal(image.frames[1].method, 1);
	assert_int_equal(image.call_count, 2);
	assert_int_equal(image.calls[1].method, 1);
	assert_int_equal(lost(f, LOSS_CODE), 0);
	code_image_release(&image);
}

TEST(what_cannot_be_in_an_image_is_dropped, set_up, tear_down)
{
	struct fixture *f = *state;
	struct code_image image;

	sample_intake_apply(&f->in);
	tick(f, CODE, 0x50, 30);
	f->image.records[1].offset = 0;   /* Not behind the one before. */
	f->image.records[2].offset = 256; /* Not in the code. */
	f->image.calls[0].method = 3;     /* There are two; still a call. */
	f->image.calls[1].offset = 1000;
	f->image.frames[0].bci = 16; /* Of 0 to 15. */
	(void)ask_and_take(f, &image);
	assert_int_equal(image.record_count, 1);
	assert_int_equal(image.frames[0].bci, -1);
	assert_int_equal(image.call_count, 1);
	assert_int_equal(image.calls[0].method, 0);
	assert_int_equal(lost(f, LOSS_CODE), 4);
	code_image_release(&image);
}

TEST(bytecodes_come_with_what_they_name, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct code_reference *reference;
	const struct code_member *member;
	struct code_image image;

	sample_intake_apply(&f->in);
	tick(f, CODE, 0x50, 30);
	(void)ask_and_take(f, &image);
	assert_int_equal(image.reference_count, 3);
	reference = code_image_reference(&image, 0, 5);
	assert_non_null(reference);
	member = &image.members[reference->member];
	assert_string_equal(code_image_text(&image, member->class_name), "Main");
	assert_string_equal(code_image_text(&image, member->name), "rows");
	assert_string_equal(code_image_text(&image, member->descriptor), "I");
	assert_string_equal(code_image_text(&image, member->declared_in), "Base");
	assert_string_equal(code_image_text(&image, image.members[0].declared_in), "");
	reference = code_image_reference(&image, 0, 9);
	assert_int_equal(reference->target_count, 1);
	assert_int_equal(image.targets[reference->first_target], 0);
	assert_null(code_image_reference(&image, 0, 4));
	assert_null(code_image_reference(&image, 1, 5)); /* The other one has no bytecodes. */
	assert_string_equal(code_image_text(&image, image.methods[0].descriptor), "([B)V");
	assert_true(image.methods[0].is_static);
	assert_int_equal(image.null_check_count, 2);
	assert_int_equal(code_image_null_check(&image, 16)->continuation, 200);
	assert_null(code_image_null_check(&image, 8));
	assert_int_equal(lost(f, LOSS_CODE), 0);
	code_image_release(&image);
}

TEST(what_bytecodes_cannot_name_is_dropped, set_up, tear_down)
{
	struct fixture *f = *state;
	struct code_image image;

	sample_intake_apply(&f->in);
	tick(f, CODE, 0x50, 30);
	f->image.references[0].bci = 16;   /* Of 0 to 15. */
	f->image.references[1].member = 2; /* Of 0 and 1. */
	f->image.targets[0] = 2;           /* Of 0 and 1; still a reference. */
	f->image.null_checks[0].offset = 256;
	f->image.null_checks[1].continuation = 256;
	(void)ask_and_take(f, &image);
	assert_int_equal(image.reference_count, 1);
	assert_int_equal(image.references[0].bci, 9);
	assert_int_equal(image.references[0].target_count, 0);
	assert_int_equal(image.null_check_count, 0);
	assert_int_equal(lost(f, LOSS_CODE), 5);
	code_image_release(&image);
}

TEST(what_has_no_end_or_begins_nowhere_is_no_text, set_up, tear_down)
{
	struct fixture *f = *state;
	struct code_image image;

	sample_intake_apply(&f->in);
	tick(f, CODE, 0x50, 30);
	f->image.texts[0] = f->image.texts[sizeof(TEXTS) - 1] = 'x';
	f->image.members[0].name = sizeof(TEXTS);
	f->image.members[1].name = sizeof(TEXTS) - 1;
	f->image.references[2].bci = 5; /* Not behind the one before. */
	(void)ask_and_take(f, &image);
	assert_string_equal(code_image_text(&image, 0), "");
	assert_string_equal(code_image_text(&image, image.members[0].name), "");
	assert_string_equal(code_image_text(&image, image.members[1].name), "");
	assert_string_equal(code_image_text(&image, image.members[1].declared_in), "Base");
	assert_int_equal(image.reference_count, 2);
	assert_int_equal(lost(f, LOSS_CODE), 2);
	code_image_release(&image);
}

/* Whose arrays are not whole, or lead beyond each other. */
TEST(what_leads_out_of_an_image_is_dropped, set_up, tear_down)
{
	struct fixture *f = *state;
	struct code_image image;

	sample_intake_apply(&f->in);
	tick(f, CODE, 0x50, 30);
	f->image.image.null_checks.len--;
	f->image.methods[0].reference_count = 4;
	f->image.methods[1].name = 77;    /* Never announced: its records go, too. */
	f->image.methods[1].bytecode = 1; /* With those behind the end. */
	f->image.methods[1].bytecode_bytes = sizeof(f->image.code);
	f->image.records[0].frame_count = 1;
	f->image.records[1].first_frame = 1;
	(void)ask_and_take(f, &image);
	assert_int_equal(image.null_check_count, 1);
	assert_int_equal(image.reference_count, 0);
	assert_int_equal(image.methods[1].bytecode_bytes, 0);
	assert_int_equal(image.record_count, 1);
	assert_int_equal(lost(f, LOSS_CODE), 6);
	code_image_release(&image);
}

TEST(code_that_nobody_asked_for_is_not_taken, set_up, tear_down)
{
	struct fixture *f = *state;
	struct code_image image;
	uint32_t code;

	sample_intake_apply(&f->in);
	tick(f, CODE, 0x50, 30);
	send_image(f);
	assert_false(loop_session_take_image(&f->in.intake.loops, &image, &code));
	assert_int_equal(lost(f, LOSS_INVALID), 1);
}

TEST(an_image_without_its_method_is_none, set_up, tear_down)
{
	struct fixture *f = *state;
	uint64_t codes[CODES_OPEN_MAX];
	struct code_image image;
	uint32_t code;

	sample_intake_apply(&f->in);
	tick(f, CODE, 0x50, 30);
	assert_int_equal(loop_hunt_codes(&f->in.intake.loops, codes), 1);
	f->image.image.method = 77;
	send_image(f);
	assert_false(loop_session_take_image(&f->in.intake.loops, &image, &code));
	assert_int_equal(lost(f, LOSS_CODE), 1);
	assert_int_equal(f->in.intake.loops.requests.open, 0);
}

/* ---------------------------------------------------------------- ticks */

TEST(ticks_go_to_their_loop_once_it_is_known, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct loop_profile *p = &f->in.window->loops;
	const struct loop *row;

	(void)known(f, LOOP_LAST, 2);
	tick(f, CODE, 0x44, 10); /* In the loop, */
	tick(f, CODE, 0x24, 5);  /* in the copy around it, */
	tick(f, CODE, 0x10, 7);  /* and in none. */
	assert_int_equal(p->row_count, 1);
	row = &p->rows[0];
	assert_int_equal(row->key.method, FILL);
	assert_int_equal(row->key.header, 4);
	assert_int_equal(row->key.line, 21);
	assert_int_equal(row->latch_bci, 12);
	assert_int_equal(row->own.samples, 115);
	assert_int_equal(row->within.samples, 115);
	assert_float_equal(row->type_ns[LOOP_LAST], 115 * 5e6, 1);
	assert_int_equal(p->compiled.samples, 122);
	assert_int_equal(p->looked_at.samples, 122);
	assert_int_equal(p->in_loops.samples, 115);
	assert_int_equal(p->mapped.samples, 115);
	assert_int_equal(p->context_count, 1);
	assert_int_equal(p->contexts[0].node, 1); /* Main.main, which calls Main.fill. */
	assert_int_equal(p->contexts[0].sum.samples, 115);
}

TEST(loops_that_are_not_mapped_are_told_by_their_offset, set_up, tear_down)
{
	struct fixture *f = *state;
	struct code_analysis analysis;
	struct code_image image;
	uint32_t code;

	sample_intake_apply(&f->in);
	tick(f, CODE, 0x50, 100);
	code = ask_and_take(f, &image);
	code_image_release(&image);
	analyse(&analysis, LOOP_LAST, 1);
	analysis.loops[0].mapped = false;
	assert_int_equal(loop_session_analysed(&f->in.intake.loops, code, 0, &analysis), 0);
	assert_int_equal(f->in.window->loops.row_count, 2);
	assert_false(f->in.window->loops.rows[0].key.mapped);
	assert_int_equal(f->in.window->loops.rows[0].key.header, HEADER);
	assert_int_equal(f->in.window->loops.rows[0].own.samples, 100);
	assert_int_equal(f->in.window->loops.rows[1].own.samples, 0);
	assert_int_equal(f->in.window->loops.rows[1].within.samples, 100);
}

TEST(code_that_cannot_be_told_keeps_its_ticks_in_the_sums, set_up, tear_down)
{
	struct fixture *f = *state;
	struct code_analysis none = {0};
	struct code_image image;
	uint32_t code;

	sample_intake_apply(&f->in);
	tick(f, CODE, 0x50, 30);
	code = ask_and_take(f, &image);
	code_image_release(&image);
	assert_int_equal(loop_session_analysed(&f->in.intake.loops, code, -E2BIG, &none), 0);
	tick(f, CODE, 0x50, 30);
	assert_int_equal(f->in.window->loops.compiled.samples, 60);
	assert_int_equal(f->in.window->loops.looked_at.samples, 0);
	assert_int_equal(lost(f, LOSS_CODE), 1);
}

TEST(windows_without_loops_take_no_code, set_up, tear_down)
{
	struct fixture *f = *state;

	f->in.window->request.kinds[JXP__KIND__KIND_LOOPS] = false;
	sample_intake_apply(&f->in);
	tick(f, CODE, 0x50, 30);
	send_image(f);
	assert_int_equal(f->in.intake.loops.code_count, 0);
	assert_int_equal(cpu_profile_all(&f->in.window->cpu).samples, 30);
	assert_int_equal(lost(f, LOSS_INVALID), 1);
}

/* ---------------------------------------------------------------- plans and bursts */

TEST(a_hot_loop_gets_one_plan, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct planned_loop *plan = &f->in.intake.loops.plans[0];
	bool more = false;

	(void)known(f, LOOP_LAST, 2);
	assert_int_equal(loop_hunt_plans(&f->in.intake.loops, &more), 0);
	assert_true(more);
	assert_int_equal(f->in.intake.loops.plan_count, 1);
	assert_int_equal(plan->sites, 2);
	assert_int_equal(plan->entries, 1);
	assert_int_equal(plan->order.places[0], 0x44);
	assert_int_equal(plan->order.places[2], 0x10);
	assert_int_equal(loop_hunt_plans(&f->in.intake.loops, &more), 0);
	assert_false(more);
}

TEST(what_needs_no_counting_is_not_counted, set_up, tear_down)
{
	struct fixture *f = *state;
	bool more = true;

	(void)known(f, LOOP_EVERY, 2);
	assert_int_equal(loop_hunt_plans(&f->in.intake.loops, &more), 0);
	assert_false(more);
	assert_int_equal(f->in.window->loops.place_count, 1); /* Where its results are is told. */
	assert_int_equal(f->in.window->loops.places[0].line, 21);
}

/* As where the JVM has mined strips. */
TEST(what_lies_around_itself_is_not_counted, set_up, tear_down)
{
	struct fixture *f = *state;
	struct loop_session *loops = &f->in.intake.loops;
	bool changed;

	(void)known(f, LOOP_LAST, 1);
	tick(f, CODE, 0x24, 100);
	loops->codes[0].analysis.loops[0].doubts = LOOP_DOUBT_UNROLL;
	loops->codes[0].analysis.loops[1].doubts = LOOP_DOUBT_UNROLL;
	assert_int_equal(loop_hunt_plans(loops, &changed), 0);
	assert_int_equal(loops->plan_count, 1);
	assert_int_equal(loops->plans[0].loop, 0);
}

TEST(places_are_drawn_where_there_are_too_many, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct planned_loop *plan = &f->in.intake.loops.plans[0];
	bool more;

	(void)known(f, LOOP_LAST, 50);
	assert_int_equal(loop_hunt_plans(&f->in.intake.loops, &more), 0);
	assert_int_equal(plan->sites, LIMIT_PLAN_PLACES - 1);
	assert_int_equal(plan->entries, 1);
	assert_int_equal(plan->all_sites, 50);
	for (uint32_t i = 1; i < plan->sites; i++)
		assert_true(plan->order.places[i] > plan->order.places[i - 1]);
}

TEST(a_burst_stands_for_the_places_that_were_not_counted, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct loop *row;
	bool more;

	(void)known(f, LOOP_LAST, 2);
	assert_int_equal(loop_hunt_plans(&f->in.intake.loops, &more), 0);
	burst(f, 1, 256, 1, 3); /* One of two sites, */
	burst(f, 1, 256, 2, 4); /* and the entry. */
	row = &f->in.window->loops.rows[0];
	assert_int_equal(row->bursts, 2);
	assert_int_equal(row->results.bursts, 1);
	assert_float_equal(row->results.turns, 256 * 8, 1e-9);
	assert_float_equal(row->results.events, 6, 1e-9);
	assert_float_equal(row->results.seen, 128 * 8, 1e-9);
	assert_float_equal(row->entries.events, 4, 1e-9);
	assert_float_equal(row->entries.turns, 256 * 8, 1e-9);
	assert_int_equal(f->in.window->loops.places[0].counted, 3);
}

TEST(a_walk_has_its_result_where_it_ends, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct loop *row;
	bool more;

	(void)known(f, LOOP_LAST, 0);
	assert_int_equal(loop_hunt_plans(&f->in.intake.loops, &more), 0);
	assert_int_equal(f->in.intake.loops.plans[0].sites, 0);
	burst(f, 1, 256, 0, 4); /* The entry. */
	row = &f->in.window->loops.rows[0];
	assert_float_equal(row->results.events, 4, 1e-9);
	assert_float_equal(row->results.turns, 256 * 8, 1e-9);
	assert_float_equal(row->entries.events, 4, 1e-9);
}

/* The first turns and the last ones are another copy's. */
TEST(instances_are_counted_in_the_copy_with_most_of_the_time, set_up, tear_down)
{
	struct fixture *f = *state;
	struct loop_session *loops = &f->in.intake.loops;
	const struct loop *row;
	bool changed;

	(void)known(f, LOOP_LAST, 1);
	loops->codes[0].analysis.loops[0].parent = LOOP_NO_PARENT;
	tick(f, CODE, 0x24, 50);
	assert_int_equal(loop_hunt_plans(loops, &changed), 0);
	assert_int_equal(loops->plan_count, 2);
	burst(f, 1, 256, 1, 2);
	burst(f, 2, 100, 0, 50);
	row = &f->in.window->loops.rows[0];
	assert_int_equal(row->bursts, 2);
	assert_float_equal(row->entries.events, 2, 1e-9);
	assert_float_equal(row->entries.turns, 256 * 8, 1e-9);
}

/* Of two loops; the first one's bursts have come with results often. */
TEST(what_is_known_waits_for_what_is_not, set_up, tear_down)
{
	struct fixture *f = *state;
	struct loop_session *loops = &f->in.intake.loops;
	bool changed;

	(void)known(f, LOOP_SOME, 1);
	assert_int_equal(loop_hunt_plans(loops, &changed), 0);
	for (int i = 0; i < 100; i++)
		burst(f, 1, 256, 0, 64);
	assert_int_equal(loop_hunt_plans(loops, &changed), 0);
	assert_false(changed); /* There is no other one. */
	assert_true(loops->plans[0].order.counted);
	tick(f, CODE, 0x24, 100);
	loops->codes[0].analysis.loops[1].site_count = 1;
	loops->codes[0].analysis.loops[1].row = LOOP_NO_ROW;
	loops->codes[0].analysis.loops[1].mapped = false;
	assert_int_equal(loop_hunt_plans(loops, &changed), 0);
	assert_true(changed);
	assert_false(loops->plans[0].order.counted);
	assert_true(loops->plans[1].order.counted);
}

/* Its ticks come in the loop inside it, which bursts are for while more is to be known of that. */
TEST(a_loop_around_a_hot_one_waits_for_it, set_up, tear_down)
{
	struct fixture *f = *state;
	struct loop_session *loops = &f->in.intake.loops;
	bool changed;

	(void)known(f, LOOP_SOME, 1);
	loops->codes[0].analysis.loops[1].site_count = 1;
	loops->codes[0].analysis.loops[1].mapped = false;
	loops->codes[0].analysis.loops[1].row = LOOP_NO_ROW;
	tick(f, CODE, 0x50, 100);
	assert_int_equal(loops->codes[0].analysis.loops[1].samples, 0);
	assert_int_equal(loop_hunt_plans(loops, &changed), 0);
	assert_int_equal(loops->plan_count, 2);
	assert_false(loops->plans[0].around);
	assert_true(loops->plans[0].order.counted);
	assert_true(loops->plans[1].around);
	assert_false(loops->plans[1].order.counted);
	for (int i = 0; i < 100; i++)
		burst(f, 1, 256, 0, 64);
	assert_int_equal(loop_hunt_plans(loops, &changed), 0);
	assert_false(loops->plans[0].order.counted);
	assert_true(loops->plans[1].order.counted);
}

TEST(bursts_of_no_plan_are_not_believed, set_up, tear_down)
{
	struct fixture *f = *state;
	bool more;

	(void)known(f, LOOP_LAST, 2);
	burst(f, 1, 256, 0, 0);
	assert_int_equal(loop_hunt_plans(&f->in.intake.loops, &more), 0);
	burst(f, 2, 256, 0, 0);
	burst(f, 1, 256, 3, 0);
	assert_int_equal(lost(f, LOSS_INVALID), 3);
	assert_int_equal(f->in.window->loops.rows[0].bursts, 0);
}

/* A counter that goes down by 2 in each turn, and two ways out: behind all that is counted, and out
 * of some of four turns. */
static void read_loop(struct fixture *f)
{
	uint32_t position = known(f, LOOP_EVERY, 0);
	struct loop_code *code = &f->in.intake.loops.codes[position];
	struct loop_reading *r = calloc(1, sizeof(*r));
	bool more;

	assert_non_null(r);
	*r = (struct loop_reading){.begin = {.offset = 0x10}, .step = -2, .end_count = 2};
	r->ends[1].low = 1;
	r->ends[1].high = 4;
	code->analysis.readings = r;
	code->analysis.reading_count = 1;
	code->analysis.loops[0].reading = 1;
	assert_int_equal(loop_hunt_plans(&f->in.intake.loops, &more), 0);
	assert_true(more);
}

static void reading(struct fixture *f, uint8_t end, int32_t stepped, bool left)
{
	struct event_reading *m =
	    sample_event(&f->in.sample.events, &f->in.sample.batch, EVENT_READING);

	m->plan = 1;
	m->end = end;
	m->stepped = stepped;
	m->left = left;
	sample_intake_apply(&f->in);
}

TEST(readings_are_turns_of_instances, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct loop_lengths *lengths;

	read_loop(f);
	assert_int_equal(f->in.intake.loops.plan_count, 1);
	assert_true(f->in.intake.loops.plans[0].read);
	assert_false(f->in.intake.loops.plans[0].order.counted);
	reading(f, 0, -200, false);
	reading(f, 1, -200, false); /* 101 to 104. */
	reading(f, 0, 0, false);
	reading(f, 1, 0, false); /* 1 to 4. */
	reading(f, 0, 0, true);
	lengths = &f->in.window->loops.rows[0].lengths;
	assert_int_equal(lengths->read, 3);
	assert_float_equal(lengths->turns, 100 + 102.5 + 2.5, 1e-9);
	assert_float_equal(lengths->squares, 100 * 100 + 102.5 * 102.5 + 2.5 * 2.5, 1e-6);
	assert_float_equal(lengths->unsure, 3, 1e-9);
	assert_int_equal(lengths->empty, 1);
	assert_int_equal(lengths->left, 1);
	assert_int_equal(lost(f, LOSS_INVALID), 0);
}

TEST(readings_that_cannot_be_are_not_believed, set_up, tear_down)
{
	struct fixture *f = *state;

	read_loop(f);
	reading(f, 2, -200, false); /* No such end. */
	reading(f, 0, -201, false); /* Half a turn. */
	reading(f, 0, 200, false);  /* The wrong way. */
	reading(f, 0, INT32_MIN, false);
	f->in.intake.loops.codes[0].analysis.loops[0].reading = 0;
	reading(f, 0, -200, false);
	assert_int_equal(lost(f, LOSS_INVALID), 4);
	assert_int_equal(f->in.window->loops.rows[0].lengths.read, 1);
}

TEST(a_counter_is_read_so_often_and_no_more, set_up, tear_down)
{
	struct fixture *f = *state;
	bool changed;

	read_loop(f);
	for (unsigned i = 0; i < 64; i++) {
		assert_int_equal(loop_hunt_plans(&f->in.intake.loops, &changed), 0);
		assert_false(changed);
		reading(f, 0, -200, i % 2);
	}
	assert_int_equal(loop_hunt_plans(&f->in.intake.loops, &changed), 0);
	assert_true(changed);
	assert_false(f->in.intake.loops.plans[0].read);
}
