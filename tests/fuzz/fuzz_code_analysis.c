/*
 * Fuzzes the analysis of compiled code: machine code, records, calls and bytecodes that nobody
 * vouches for. libFuzzer entry point.
 *
 * The first byte says how many sixteenths of the input are machine code, the second how many of the
 * rest are bytecodes; what is left are records and calls. What comes out must hold together: parts
 * ascend, loops lie in later ones, sites, entries and inputs are instructions in the code.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/loops/code_analysis.h"
#include "proto/limits.h"

#define METHODS   3u
#define ITEMS_MAX 64u

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
		image->calls[image->call_count++] = (struct code_call){
		    .offset = image->records[i].offset,
		    .target = (Jxp__CodeImage__Call__Target)(image->records[i].offset % 4),
		    .method = image->records[i].frame_count};
}

static void check_input(const struct loop_input *input, const struct code_image *image)
{
	if (input->offset >= image->size || input->bytes > 64 || input->reg > 15 ||
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
		if (a->inputs[l->first_load + i].bytes == 0)
			abort();
	}
	for (uint32_t i = 0; i < l->turn_input_count; i++)
		check_input(&a->inputs[l->first_turn_input + i], image);
	for (uint32_t i = 0; i < l->scalar_count; i++) {
		const struct loop_scalar *s = &a->scalars[l->first_scalar + i];

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {.data = data, .size = size};
	struct code_image image = {.start = UINT64_C(0x7f0000000000)};
	struct code_analysis a;
	uint32_t code = take_byte(&in) % 17, bytecode = take_byte(&in) % 17;

	image.size = (uint32_t)(in.size * code / 16);
	image.bytes = take_bytes(&in, image.size);
	take_methods(&image, in.size * bytecode / 16, &in);
	take_records(&image, &in);
	if (code_analysis_make(&a, &image) == 0)
		check(&a, &image);
	code_analysis_release(&a);
	code_image_release(&image);
	return 0;
}
