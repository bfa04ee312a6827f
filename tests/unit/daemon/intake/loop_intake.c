#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/intake/loop_hunt.h"
#include "proto/limits.h"
#include "tests/unit/support/sample_intake.h"

#define CODE   UINT64_C(0x7000000001)
#define FILL   2u /* method, and node */
#define HEADER 0x40u

/* The code of Main.fill, with a record and bytecodes of two methods. */
struct sample_image {
	Jxp__CodeImage image;
	Jxp__CodeImage *pointer;
	Jxp__CodeImage__Frame frames[2], *frame_list[2];
	Jxp__CodeImage__Record records[3], *record_list[3];
	Jxp__CodeImage__Call calls[2], *call_list[2];
	Jxp__CodeImage__Bytecodes bytecodes, *bytecode_list[1];
	Jxp__CodeImage__Reference references[3], *reference_list[3];
	Jxp__CodeImage__Member members[2], *member_list[2];
	Jxp__CodeImage__NullCheck null_checks[2], *null_check_list[2];
	uint32_t targets[2];
	uint8_t bytes[256], code[16];
};

struct fixture {
	struct sample_intake in;
	struct sample_image image;
};

/* Reads a field of its own class at 1 and one of another at 5, and calls itself at 9. */
static void sample_image_names(struct sample_image *s)
{
	s->targets[0] = s->targets[1] = FILL;
	for (uint32_t i = 0; i < 3; i++) {
		jxp__code_image__reference__init(&s->references[i]);
		s->references[i].bci = (int32_t)(4 * i + 1);
		s->references[i].member = i % 2;
		s->reference_list[i] = &s->references[i];
	}
	s->references[2].targets = s->targets;
	s->references[2].n_targets = 1;
	for (uint32_t i = 0; i < 2; i++) {
		jxp__code_image__member__init(&s->members[i]);
		s->members[i].class_name = (char *)"Main";
		s->members[i].name = (char *)(i ? "rows" : "count");
		s->members[i].descriptor = (char *)"I";
		s->member_list[i] = &s->members[i];
		jxp__code_image__null_check__init(&s->null_checks[i]);
		s->null_checks[i].offset = 16 * i;
		s->null_checks[i].continuation = 200;
		s->null_check_list[i] = &s->null_checks[i];
	}
	s->members[1].declared_in = (char *)"Base";
	s->bytecodes.references = s->reference_list;
	s->bytecodes.n_references = 3;
	s->image.members = s->member_list;
	s->image.null_checks = s->null_check_list;
	s->image.n_members = s->image.n_null_checks = 2;
}

static void sample_image_init(struct sample_image *s)
{
	*s = (struct sample_image){0};
	jxp__code_image__init(&s->image);
	s->pointer = &s->image;
	for (int i = 0; i < 2; i++) {
		jxp__code_image__frame__init(&s->frames[i]);
		s->frames[i].method = FILL - (uint32_t)i;
		s->frames[i].bci = 4;
		s->frame_list[i] = &s->frames[i];
	}
	for (uint32_t i = 0; i < 3; i++) {
		jxp__code_image__record__init(&s->records[i]);
		s->records[i].offset = 10 * i;
		s->records[i].frames = s->frame_list;
		s->records[i].n_frames = 2;
		s->record_list[i] = &s->records[i];
	}
	for (uint32_t i = 0; i < 2; i++) {
		jxp__code_image__call__init(&s->calls[i]);
		s->calls[i].offset = 10 * i;
		s->calls[i].target = JXP__CODE_IMAGE__CALL__TARGET__JAVA;
		s->calls[i].method = FILL;
		s->call_list[i] = &s->calls[i];
	}
	jxp__code_image__bytecodes__init(&s->bytecodes);
	s->bytecodes.method = FILL;
	s->bytecodes.code = (ProtobufCBinaryData){sizeof(s->code), s->code};
	s->bytecodes.descriptor = (char *)"([B)V";
	s->bytecodes.is_static = true;
	s->bytecode_list[0] = &s->bytecodes;
	s->image.code = CODE;
	s->image.bytes = (ProtobufCBinaryData){sizeof(s->bytes), s->bytes};
	s->image.method = FILL;
	s->image.records = s->record_list;
	s->image.n_records = 3;
	s->image.calls = s->call_list;
	s->image.n_calls = 2;
	s->image.bytecodes = s->bytecode_list;
	s->image.n_bytecodes = 1;
	sample_image_names(s);
}

static int set_up(void **state)
{
	static struct fixture f;
	struct window_request request = {.cpu = true, .loops = true};

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
	uint64_t codes[LOOP_CODES_OPEN_MAX];
	uint32_t code = 99;

	assert_int_equal(loop_hunt_codes(&f->in.intake.loops, codes), 1);
	assert_int_equal(codes[0], CODE);
	send_image(f);
	assert_true(loop_intake_take_image(&f->in.intake.loops, image, &code));
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
	assert_int_equal(loop_intake_analysed(&f->in.intake.loops, code, 0, &analysis), 0);
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

static void code_is_asked_for_when_it_has_a_share_of_the_ticks(void **state)
{
	struct fixture *f = *state;
	uint64_t codes[LOOP_CODES_OPEN_MAX];

	sample_intake_apply(&f->in);
	tick(f, CODE, 0x50, LOOP_HUNT_SAMPLES - 1);
	assert_int_equal(loop_hunt_codes(&f->in.intake.loops, codes), 0);
	tick(f, CODE, 0x54, 1);
	tick(f, CODE + 1, 0, 3);
	assert_int_equal(loop_hunt_codes(&f->in.intake.loops, codes), 1);
	assert_int_equal(codes[0], CODE);
	assert_int_equal(loop_hunt_codes(&f->in.intake.loops, codes), 0);
}

static void only_a_few_codes_are_open_at_a_time(void **state)
{
	struct fixture *f = *state;
	uint64_t codes[LOOP_CODES_OPEN_MAX];

	sample_intake_apply(&f->in);
	for (uint64_t i = 0; i < LOOP_CODES_OPEN_MAX + 1; i++)
		tick(f, CODE + i, 0, 30);
	assert_int_equal(loop_hunt_codes(&f->in.intake.loops, codes), LOOP_CODES_OPEN_MAX);
	f->image.image.error = (char *)"it was unloaded";
	send_image(f);
	assert_int_equal(loop_hunt_codes(&f->in.intake.loops, codes), 1);
	assert_int_equal(codes[0], CODE + LOOP_CODES_OPEN_MAX);
}

static void an_image_comes_with_the_windows_methods(void **state)
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
	assert_int_equal(image.records[2].first_frame, 4);
	assert_int_equal(image.frames[5].method, 1);
	assert_int_equal(image.call_count, 2);
	assert_int_equal(image.calls[1].method, 1);
	assert_int_equal(lost(f, LOSS_CODE), 0);
	code_image_release(&image);
}

static void what_cannot_be_in_an_image_is_dropped(void **state)
{
	struct fixture *f = *state;
	struct code_image image;

	sample_intake_apply(&f->in);
	tick(f, CODE, 0x50, 30);
	f->image.records[1].offset = 0;   /* Not behind the one before. */
	f->image.records[2].offset = 256; /* Not in the code. */
	f->image.calls[0].method = 77;    /* Never announced; still a call. */
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

static void bytecodes_come_with_what_they_name(void **state)
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

static void what_bytecodes_cannot_name_is_dropped(void **state)
{
	struct fixture *f = *state;
	struct code_image image;

	sample_intake_apply(&f->in);
	tick(f, CODE, 0x50, 30);
	f->image.references[0].bci = 16;   /* Of 0 to 15. */
	f->image.references[1].member = 2; /* Of 0 and 1. */
	f->image.targets[0] = 77;          /* Never announced; still a reference. */
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

static void names_that_are_too_long_leave_the_others(void **state)
{
	struct fixture *f = *state;
	char *text = malloc(LIMIT_CODE_TEXT + 1);
	struct code_image image;

	assert_non_null(text);
	memset(text, 'a', LIMIT_CODE_TEXT);
	text[LIMIT_CODE_TEXT] = '\0';
	sample_intake_apply(&f->in);
	tick(f, CODE, 0x50, 30);
	f->image.members[0].name = text;
	f->image.references[2].bci = 5; /* Not behind the one before. */
	(void)ask_and_take(f, &image);
	assert_string_equal(code_image_text(&image, image.members[0].name), "");
	assert_string_equal(code_image_text(&image, image.members[1].name), "rows");
	assert_int_equal(image.reference_count, 2);
	assert_int_equal(lost(f, LOSS_CODE), 2);
	code_image_release(&image);
	free(text);
}

static void code_that_nobody_asked_for_is_not_taken(void **state)
{
	struct fixture *f = *state;
	struct code_image image;
	uint32_t code;

	sample_intake_apply(&f->in);
	tick(f, CODE, 0x50, 30);
	send_image(f);
	assert_false(loop_intake_take_image(&f->in.intake.loops, &image, &code));
	assert_int_equal(lost(f, LOSS_INVALID), 1);
}

static void an_image_without_its_method_is_none(void **state)
{
	struct fixture *f = *state;
	uint64_t codes[LOOP_CODES_OPEN_MAX];
	struct code_image image;
	uint32_t code;

	sample_intake_apply(&f->in);
	tick(f, CODE, 0x50, 30);
	assert_int_equal(loop_hunt_codes(&f->in.intake.loops, codes), 1);
	f->image.image.method = 77;
	send_image(f);
	assert_false(loop_intake_take_image(&f->in.intake.loops, &image, &code));
	assert_int_equal(lost(f, LOSS_CODE), 1);
	assert_int_equal(f->in.intake.loops.open, 0);
}

/* ---------------------------------------------------------------- ticks */

static void ticks_go_to_their_loop_once_it_is_known(void **state)
{
	struct fixture *f = *state;
	const struct loop_profile *p = &f->in.window->loops;
	const struct loop_row *row;

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

static void loops_that_are_not_mapped_are_told_by_their_offset(void **state)
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
	assert_int_equal(loop_intake_analysed(&f->in.intake.loops, code, 0, &analysis), 0);
	assert_int_equal(f->in.window->loops.row_count, 2);
	assert_false(f->in.window->loops.rows[0].key.mapped);
	assert_int_equal(f->in.window->loops.rows[0].key.header, HEADER);
	assert_int_equal(f->in.window->loops.rows[0].own.samples, 100);
	assert_int_equal(f->in.window->loops.rows[1].own.samples, 0);
	assert_int_equal(f->in.window->loops.rows[1].within.samples, 100);
}

static void code_that_cannot_be_told_keeps_its_ticks_in_the_sums(void **state)
{
	struct fixture *f = *state;
	struct code_analysis none = {0};
	struct code_image image;
	uint32_t code;

	sample_intake_apply(&f->in);
	tick(f, CODE, 0x50, 30);
	code = ask_and_take(f, &image);
	code_image_release(&image);
	assert_int_equal(loop_intake_analysed(&f->in.intake.loops, code, -E2BIG, &none), 0);
	tick(f, CODE, 0x50, 30);
	assert_int_equal(f->in.window->loops.compiled.samples, 60);
	assert_int_equal(f->in.window->loops.looked_at.samples, 0);
	assert_int_equal(lost(f, LOSS_CODE), 1);
}

static void windows_without_loops_take_no_code(void **state)
{
	struct fixture *f = *state;

	f->in.window->request.loops = false;
	sample_intake_apply(&f->in);
	tick(f, CODE, 0x50, 30);
	send_image(f);
	assert_int_equal(f->in.intake.loops.code_count, 0);
	assert_int_equal(cpu_profile_all(&f->in.window->cpu).samples, 30);
	assert_int_equal(lost(f, LOSS_INVALID), 1);
}

/* ---------------------------------------------------------------- plans and bursts */

static void a_hot_loop_gets_one_plan(void **state)
{
	struct fixture *f = *state;
	const struct loop_plan *plan = &f->in.intake.loops.plans[0];
	bool more = false;

	(void)known(f, LOOP_LAST, 2);
	assert_int_equal(loop_hunt_plans(&f->in.intake.loops, &more), 0);
	assert_true(more);
	assert_int_equal(f->in.intake.loops.plan_count, 1);
	assert_int_equal(plan->sites, 2);
	assert_int_equal(plan->entries, 1);
	assert_int_equal(plan->offsets[0], 0x44);
	assert_int_equal(plan->offsets[2], 0x10);
	assert_int_equal(loop_hunt_plans(&f->in.intake.loops, &more), 0);
	assert_false(more);
}

static void what_needs_no_counting_is_not_counted(void **state)
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
static void what_lies_around_itself_is_not_counted(void **state)
{
	struct fixture *f = *state;
	struct loop_intake *loops = &f->in.intake.loops;
	bool changed;

	(void)known(f, LOOP_LAST, 1);
	tick(f, CODE, 0x24, 100);
	loops->codes[0].analysis.loops[0].doubts = LOOP_DOUBT_UNROLL;
	loops->codes[0].analysis.loops[1].doubts = LOOP_DOUBT_UNROLL;
	assert_int_equal(loop_hunt_plans(loops, &changed), 0);
	assert_int_equal(loops->plan_count, 1);
	assert_int_equal(loops->plans[0].loop, 0);
}

static void places_are_drawn_where_there_are_too_many(void **state)
{
	struct fixture *f = *state;
	const struct loop_plan *plan = &f->in.intake.loops.plans[0];
	bool more;

	(void)known(f, LOOP_LAST, 50);
	assert_int_equal(loop_hunt_plans(&f->in.intake.loops, &more), 0);
	assert_int_equal(plan->sites, LIMIT_PLAN_PLACES - 1);
	assert_int_equal(plan->entries, 1);
	assert_int_equal(plan->all_sites, 50);
	for (uint32_t i = 1; i < plan->sites; i++)
		assert_true(plan->offsets[i] > plan->offsets[i - 1]);
}

static void a_burst_stands_for_the_places_that_were_not_counted(void **state)
{
	struct fixture *f = *state;
	const struct loop_row *row;
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

static void a_walk_has_its_result_where_it_ends(void **state)
{
	struct fixture *f = *state;
	const struct loop_row *row;
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
static void instances_are_counted_in_the_copy_with_most_of_the_time(void **state)
{
	struct fixture *f = *state;
	struct loop_intake *loops = &f->in.intake.loops;
	const struct loop_row *row;
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
static void what_is_known_waits_for_what_is_not(void **state)
{
	struct fixture *f = *state;
	struct loop_intake *loops = &f->in.intake.loops;
	bool changed;

	(void)known(f, LOOP_SOME, 1);
	assert_int_equal(loop_hunt_plans(loops, &changed), 0);
	for (int i = 0; i < 100; i++)
		burst(f, 1, 256, 0, 64);
	assert_int_equal(loop_hunt_plans(loops, &changed), 0);
	assert_false(changed); /* There is no other one. */
	assert_true(loops->plans[0].counted);
	tick(f, CODE, 0x24, 100);
	loops->codes[0].analysis.loops[1].site_count = 1;
	loops->codes[0].loops[1].row = LOOP_NO_ROW;
	loops->codes[0].analysis.loops[1].mapped = false;
	assert_int_equal(loop_hunt_plans(loops, &changed), 0);
	assert_true(changed);
	assert_false(loops->plans[0].counted);
	assert_true(loops->plans[1].counted);
}

/* Its ticks come in the loop inside it, which bursts are for while more is to be known of that. */
static void a_loop_around_a_hot_one_waits_for_it(void **state)
{
	struct fixture *f = *state;
	struct loop_intake *loops = &f->in.intake.loops;
	bool changed;

	(void)known(f, LOOP_SOME, 1);
	loops->codes[0].analysis.loops[1].site_count = 1;
	loops->codes[0].analysis.loops[1].mapped = false;
	loops->codes[0].loops[1].row = LOOP_NO_ROW;
	tick(f, CODE, 0x50, 100);
	assert_int_equal(loops->codes[0].loops[1].samples, 0);
	assert_int_equal(loop_hunt_plans(loops, &changed), 0);
	assert_int_equal(loops->plan_count, 2);
	assert_false(loops->plans[0].around);
	assert_true(loops->plans[0].counted);
	assert_true(loops->plans[1].around);
	assert_false(loops->plans[1].counted);
	for (int i = 0; i < 100; i++)
		burst(f, 1, 256, 0, 64);
	assert_int_equal(loop_hunt_plans(loops, &changed), 0);
	assert_false(loops->plans[0].counted);
	assert_true(loops->plans[1].counted);
}

static void bursts_of_no_plan_are_not_believed(void **state)
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
	*r = (struct loop_reading){.begin = 0x10, .step = -2, .end_count = 2};
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

static void readings_are_turns_of_instances(void **state)
{
	struct fixture *f = *state;
	const struct loop_lengths *lengths;

	read_loop(f);
	assert_int_equal(f->in.intake.loops.plan_count, 1);
	assert_true(f->in.intake.loops.plans[0].read);
	assert_false(f->in.intake.loops.plans[0].counted);
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

static void readings_that_cannot_be_are_not_believed(void **state)
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

static void a_counter_is_read_so_often_and_no_more(void **state)
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

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	    TEST(code_is_asked_for_when_it_has_a_share_of_the_ticks),
	    TEST(only_a_few_codes_are_open_at_a_time),
	    TEST(an_image_comes_with_the_windows_methods),
	    TEST(what_cannot_be_in_an_image_is_dropped),
	    TEST(bytecodes_come_with_what_they_name),
	    TEST(what_bytecodes_cannot_name_is_dropped),
	    TEST(names_that_are_too_long_leave_the_others),
	    TEST(code_that_nobody_asked_for_is_not_taken),
	    TEST(an_image_without_its_method_is_none),
	    TEST(ticks_go_to_their_loop_once_it_is_known),
	    TEST(loops_that_are_not_mapped_are_told_by_their_offset),
	    TEST(code_that_cannot_be_told_keeps_its_ticks_in_the_sums),
	    TEST(windows_without_loops_take_no_code),
	    TEST(a_hot_loop_gets_one_plan),
	    TEST(what_needs_no_counting_is_not_counted),
	    TEST(what_lies_around_itself_is_not_counted),
	    TEST(places_are_drawn_where_there_are_too_many),
	    TEST(a_burst_stands_for_the_places_that_were_not_counted),
	    TEST(a_walk_has_its_result_where_it_ends),
	    TEST(instances_are_counted_in_the_copy_with_most_of_the_time),
	    TEST(what_is_known_waits_for_what_is_not),
	    TEST(a_loop_around_a_hot_one_waits_for_it),
	    TEST(bursts_of_no_plan_are_not_believed),
	    TEST(readings_are_turns_of_instances),
	    TEST(readings_that_cannot_be_are_not_believed),
	    TEST(a_counter_is_read_so_often_and_no_more),
	};
#undef TEST

	return cmocka_run_group_tests(tests, NULL, NULL);
}
