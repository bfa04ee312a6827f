/*
 * Fuzzes the analysis of compiled code, and who makes its accesses: machine code, records, calls,
 * bytecodes and what they name that nobody vouches for. libFuzzer entry point.
 *
 * The first byte (modulo 17) says how many sixteenths of the input are machine code, the second how
 * many of the rest are bytecodes, and (divided by 17) how many of all are names and null checks, at
 * the end; what is left are records and calls. What comes out must hold together: parts ascend,
 * loops lie in later ones, sites, entries and inputs are instructions in the code; whoever makes an
 * access has a bytecode, and calls from the compiled method on.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "profile/attribution/attribution.h"
#include "profile/loops/code_analysis.h"
#include "proto/limits.h"

#define METHODS        3u
#define MEMBERS        8u
#define REFERENCES_MAX 32u /* of each method */
#define ITEMS_MAX      64u

struct input {
	const uint8_t *data;
	size_t size;
};

static uint32_t take_byte(struct input *in)
{
	if (in->size == 0)
		return 0;
	in->size--;
	return *in->data++;
}

/* Its own allocation, so that a read past its end is seen. */
static uint8_t *take_bytes(struct input *in, size_t size)
{
	uint8_t *copy = malloc(size + !size);

	if (!copy)
		abort(); /* The machine, not the input. */
	if (size > 0)
		memcpy(copy, in->data, size);
	in->data += size;
	in->size -= size;
	return copy;
}

static void take_methods(struct code_image *image, size_t bytes, struct input *in)
{
	image->bytecodes = take_bytes(in, bytes);
	image->bytecode_bytes = bytes;
	image->methods = calloc(METHODS, sizeof(image->methods[0]));
	if (!image->methods)
		abort();
	image->method_count = METHODS;
	for (uint32_t i = 0; i < METHODS; i++) {
		uint32_t from = (uint32_t)(bytes * i / METHODS);

		image->methods[i].name = i + 1;
		image->methods[i].bytecode = from;
		image->methods[i].bytecode_bytes = (uint32_t)(bytes * (i + 1) / METHODS) - from;
	}
	image->method = take_byte(in) % METHODS;
}

static void take_records(struct code_image *image, struct input *in)
{
	uint32_t offset = 0;

	image->records = calloc(ITEMS_MAX, sizeof(image->records[0]));
	image->frames = calloc(ITEMS_MAX * 3, sizeof(image->frames[0]));
	image->calls = calloc(ITEMS_MAX, sizeof(image->calls[0]));
	if (!image->records || !image->frames || !image->calls)
		abort();
	while (in->size > 0 && image->record_count < ITEMS_MAX) {
		struct code_record *r = &image->records[image->record_count++];

		offset += take_byte(in);
		*r = (struct code_record){.offset = offset,
					  .first_frame = (uint32_t)image->frame_count,
					  .frame_count = take_byte(in) % 4};
		for (uint32_t i = 0; i < r->frame_count; i++)
			image->frames[image->frame_count++] = (struct code_frame){
			    .method = take_byte(in) % METHODS, .bci = (int32_t)take_byte(in) - 1};
	}
	for (size_t i = 0; i < image->record_count; i += 2)
		image->calls[image->call_count++] =
		    (struct code_call){.offset = image->records[i].offset,
				       .target = image->records[i].offset % 4,
				       .method = image->records[i].frame_count};
}

/* ---------------------------------------------------------------- what bytecodes name */

/* Those that the rule knows of; a name may begin anywhere in them. */
static const char texts[] = "\0X\0f\0I\0()V\0clone\0[Ljava/lang/String;\0[[Z\0"
			    "java.lang.Object\0java.lang.System\0java.lang.ref.Reference\0"
			    "java.util.HashMap\0jdk.internal.misc.Unsafe";

static void take_members(struct code_image *image, struct input *in)
{
	image->texts = malloc(sizeof(texts));
	image->members = calloc(MEMBERS, sizeof(image->members[0]));
	if (!image->texts || !image->members)
		abort();
	memcpy(image->texts, texts, sizeof(texts));
	image->text_bytes = sizeof(texts);
	image->member_count = MEMBERS;
	for (uint32_t i = 0; i < MEMBERS; i++)
		image->members[i] = (struct code_member){
		    .class_name = take_byte(in) % sizeof(texts),
		    .name = take_byte(in) % sizeof(texts),
		    .descriptor = take_byte(in) % sizeof(texts),
		    .declared_in = take_byte(in) % sizeof(texts),
		};
}

static void take_references(struct code_image *image, uint32_t method, struct input *in)
{
	struct code_method *m = &image->methods[method];
	uint32_t count = take_byte(in) % (REFERENCES_MAX + 1), bci = take_byte(in);

	m->first_reference = (uint32_t)image->reference_count;
	for (; m->reference_count < count && bci < m->bytecode_bytes; bci += 1 + take_byte(in)) {
		struct code_reference *r = &image->references[image->reference_count++];

		m->reference_count++;
		*r = (struct code_reference){.bci = bci,
					     .member = take_byte(in) % MEMBERS,
					     .first_target = (uint32_t)image->target_count,
					     .target_count =
						 take_byte(in) % (LIMIT_CODE_TARGETS + 1)};
		for (uint32_t i = 0; i < r->target_count; i++)
			image->targets[image->target_count++] = take_byte(in) % METHODS;
	}
}

static void take_names(struct code_image *image, struct input *in)
{
	uint32_t offset = 0;

	image->references = calloc(METHODS * REFERENCES_MAX, sizeof(image->references[0]));
	image->targets =
	    calloc((size_t)METHODS * REFERENCES_MAX * LIMIT_CODE_TARGETS, sizeof(uint32_t));
	image->null_checks = calloc(ITEMS_MAX, sizeof(image->null_checks[0]));
	if (!image->references || !image->targets || !image->null_checks)
		abort();
	take_members(image, in);
	for (uint32_t i = 0; i < METHODS; i++)
		take_references(image, i, in);
	while (in->size > 0 && image->null_check_count < ITEMS_MAX) {
		offset += take_byte(in);
		if (offset >= image->size)
			return;
		image->null_checks[image->null_check_count++] =
		    (struct code_null_check){offset, take_byte(in) * image->size / 256};
		offset++;
	}
}

/* ---------------------------------------------------------------- loops */

static void check_input(const struct loop_input *input, const struct code_image *image)
{
	if (input->use.offset >= image->size || input->use.bytes > 64 || input->use.reg > 15 ||
	    input->method > image->method_count)
		abort();
}

static void check_inputs(const struct code_analysis *a, const struct code_loop *l,
			 const struct code_image *image)
{
	if (l->first_load + l->load_count > a->input_count ||
	    l->first_turn_input + l->turn_input_count > a->input_count ||
	    l->first_scalar + l->scalar_count > a->scalar_count ||
	    l->turn_input_count > LIMIT_PLAN_TURN_INPUTS || l->effect > LOOP_EFFECT_IO)
		abort();
	for (uint32_t i = 0; i < l->load_count; i++) {
		check_input(&a->inputs[l->first_load + i], image);
		if (a->inputs[l->first_load + i].use.bytes == 0)
			abort();
	}
	for (uint32_t i = 0; i < l->turn_input_count; i++)
		check_input(&a->inputs[l->first_turn_input + i], image);
	for (uint32_t i = 0; i < l->scalar_count; i++) {
		const struct plan_scalar *s = &a->scalars[l->first_scalar + i];

		if (s->reg > 15 || s->bytes == 0 || s->bytes > 8)
			abort();
	}
}

static void check_loop(const struct code_analysis *a, size_t i, const struct code_image *image)
{
	const struct code_loop *l = &a->loops[i];

	if (l->header >= image->size || (l->parent != LOOP_NO_PARENT && l->parent <= i) ||
	    (l->parent != LOOP_NO_PARENT && l->parent >= a->loop_count) || l->unroll == 0 ||
	    l->type >= LOOP_TYPES || l->first_site + l->site_count > a->site_count ||
	    l->first_entry + l->entry_count > a->entry_count)
		abort();
	if (l->mapped && (l->method >= image->method_count || l->header_bci < 0 ||
			  (l->header_bci > l->latch_bci && !l->recursion)))
		abort();
	check_inputs(a, l, image);
	for (uint32_t s = 0; s < l->site_count; s++)
		if (a->sites[l->first_site + s].offset >= image->size)
			abort();
	for (uint32_t e = 0; e < l->entry_count; e++)
		if (a->entries[l->first_entry + e] >= image->size)
			abort();
}

static void check(const struct code_analysis *a, const struct code_image *image)
{
	for (size_t i = 0; i < a->loop_count; i++)
		check_loop(a, i, image);
	for (size_t i = 0; i < a->part_count; i++) {
		const struct loop_part *p = &a->parts[i];

		if (p->start >= p->end || p->end > image->size || p->loop >= a->loop_count ||
		    (i > 0 && p->start < a->parts[i - 1].end) ||
		    code_analysis_loop_at(a, p->start) != p->loop)
			abort();
	}
}

/* ---------------------------------------------------------------- who makes accesses */

static const struct attribution_access accesses[] = {
    {JXP__LOCATION__KIND__FIELD, "X", "f", "X", "int", true, false},
    {JXP__LOCATION__KIND__FIELD, "java.util.HashMap", "f", "", "java.lang.String[]", false, true},
    {JXP__LOCATION__KIND__STATIC, "X", "f", "", "", true, true},
    {JXP__LOCATION__KIND__ELEMENT, "int[]", "", "", "int", true, false},
    {JXP__LOCATION__KIND__ELEMENT, "X[]", "", "", "X", false, true},
    {JXP__LOCATION__KIND__ELEMENT, "[]", "", "", "", true, true},
    {JXP__LOCATION__KIND__HEADER, "int[]", "length", "", "", true, false},
    {JXP__LOCATION__KIND__HEADER, "X", "class", "", "", true, false},
    {JXP__LOCATION__KIND__HEADER, "X", "mark", "", "", false, true},
    {JXP__LOCATION__KIND__SPILL, "", "", "", "", true, false},
};

#define ACCESSES      (sizeof(accesses) / sizeof(accesses[0]))
#define ACCESSES_EACH 4u /* of a place */

static void check_answer(const struct attribution *a, const struct attribution_answer *answer)
{
	struct instance_call path[INSTANCE_DEPTH_MAX];
	unsigned count = answer->count;
	const struct instance_call *last = &answer->calls[count ? count - 1 : 0];

	if (answer->certainty == CERTAINTY_UNKNOWN)
		return;
	if (answer->certainty <= CERTAINTY_NONE || answer->certainty > CERTAINTY_METHOD ||
	    count == 0 || count > INSTANCE_DEPTH_MAX || answer->calls[0].method != a->image.method)
		abort();
	for (unsigned i = 0; i < count; i++) {
		if (answer->calls[i].method >= METHODS)
			abort();
		path[count - 1 - i] = (struct instance_call){
		    a->image.methods[answer->calls[i].method].name, answer->calls[i].bci};
	}
	if (answer->certainty == CERTAINTY_METHOD
		? count != 1 || last->bci != -1
		: last->bci < 0 ||
		      (uint32_t)last->bci >= a->image.methods[last->method].bytecode_bytes)
		abort();
	if (attribution_match(a, path, count) > count)
		abort();
}

/* Ticks anywhere, some of them, are told by methods that there are, the compiled one's first. */
static void tell_ticks(const struct attribution *a)
{
	for (size_t i = 0; i < 2 * a->place_count; i += 1 + a->place_count / 16) {
		struct attribution_answer answer;

		if (attribution_find_tick(a, a->places[i / 2].offset + (i & 1), &answer) < 0)
			abort();
		if ((answer.certainty == CERTAINTY_INFERRED) != (answer.count > 0) ||
		    (answer.count > 0 && answer.calls[0].method != a->image.method))
			abort();
		for (unsigned k = 0; k < answer.count; k++)
			if (answer.calls[k].method >= a->image.method_count)
				abort();
	}
}

static void attribute(struct code_image *image, unsigned ignored)
{
	const struct attribution_options options = {.ignore_dense = ignored & 1,
						    .ignore_null_checks = ignored & 2};
	struct attribution a;

	if (attribution_make(&a, image, &options) < 0)
		return;
	for (size_t i = 0; i < a.place_count; i++)
		for (size_t k = 0; k < ACCESSES_EACH; k++) {
			const struct attribution_access *access =
			    &accesses[(i * ACCESSES_EACH + k) % ACCESSES];
			struct attribution_answer answer;

			if (attribution_find(&a, a.places[i].offset, access, &answer) < 0)
				abort();
			check_answer(&a, &answer);
		}
	tell_ticks(&a);
	attribution_release(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {.data = data, .size = size}, names;
	struct code_image image = {.start = UINT64_C(0x7f0000000000)};
	struct code_analysis a;
	uint32_t code = take_byte(&in), bytecode = take_byte(&in);

	names.size = in.size * (bytecode / 17) / 16;
	in.size -= names.size;
	names.data = in.data + in.size;
	image.size = (uint32_t)(in.size * (code % 17) / 16);
	image.bytes = take_bytes(&in, image.size);
	take_methods(&image, in.size * (bytecode % 17) / 16, &in);
	take_records(&image, &in);
	take_names(&image, &names);
	if (code_analysis_make(&a, &image) == 0)
		check(&a, &image);
	code_analysis_release(&a);
	attribute(&image, code / 17);
	code_image_release(&image);
	return 0;
}
