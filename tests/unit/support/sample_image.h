/*
 * An image of compiled code that an agent sends, of the methods of sample_batch.h.
 */
#ifndef JXPERF_TESTS_UNIT_SUPPORT_SAMPLE_IMAGE_H
#define JXPERF_TESTS_UNIT_SUPPORT_SAMPLE_IMAGE_H

#include <stdint.h>

#include "proto/code_image.h"
#include "proto/jxperf.pb-c.h"

#define CODE UINT64_C(0x7000000001)
#define FILL 2u /* method, and node */
#define SUM  3u

/* What Main.fill's code reads the field at; that it polls at, with a record; its end. */
#define READS 0u
#define POLLS 4u
#define ENDS  7u

#define SENT(array) ((ProtobufCBinaryData){sizeof(array), (uint8_t *)(array)})

/* Texts, and where they begin. */
#define SAMPLE_TEXTS "\0org.example.Main$Base\0sum\0()J\0rows\0J\0total"
enum {
	TEXT_BASE = 1,
	TEXT_SUM = 23,
	TEXT_CALL = 27,
	TEXT_ROWS = 31,
	TEXT_LONG = 36,
	TEXT_TOTAL = 38
};

/* Main.fill is compiled, Main.sum a getter that may be inlined there and leaves no record. */
struct sample_image {
	Jxp__CodeImage image;
	struct code_method methods[2];
	struct code_frame frames[1];
	struct code_record records[1];
	struct code_reference references[3];
	struct code_member members[3];
	uint32_t targets[1];
	uint8_t bytecodes[13];
	char texts[sizeof(SAMPLE_TEXTS)];
};

/* Main.fill: aload_0, invokevirtual sum (1), putfield rows (4), return (7); Main.sum: aload_0,
 * getfield total (1), lreturn. */
static void sample_image_init(struct sample_image *s)
{
	/* mov rax, [rsi + 0xc]; test [r10], eax; ret */
	static uint8_t code[] = {0x48, 0x8b, 0x46, 0x0c, 0x41, 0x85, 0x02, 0xc3};

	*s = (struct sample_image){
	    .methods = {{.name = FILL, .bytecode_bytes = 8, .reference_count = 2},
			{.name = SUM,
			 .bytecode = 8,
			 .bytecode_bytes = 5,
			 .first_reference = 2,
			 .reference_count = 1}},
	    .frames = {{.method = 0, .bci = 7}},
	    .records = {{.offset = POLLS, .frame_count = 1}},
	    .references = {{.bci = 1, .member = 0, .target_count = 1},
			   {.bci = 4, .member = 1},
			   {.bci = 1, .member = 2}},
	    .members = {{.class_name = TEXT_BASE, .name = TEXT_SUM, .descriptor = TEXT_CALL},
			{.class_name = TEXT_BASE, .name = TEXT_ROWS, .descriptor = TEXT_LONG},
			{.class_name = TEXT_BASE, .name = TEXT_TOTAL, .descriptor = TEXT_LONG}},
	    .targets = {1},
	    .bytecodes = {0x2a, 0xb6, 0, 1, 0xb5, 0, 2, 0xb1, 0x2a, 0xb4, 0, 1, 0xad},
	    .texts = SAMPLE_TEXTS};
	jxp__code_image__init(&s->image);
	s->image.code = CODE;
	s->image.method = FILL;
	s->image.bytes = SENT(code);
	s->image.methods = SENT(s->methods);
	s->image.frames = SENT(s->frames);
	s->image.records = SENT(s->records);
	s->image.references = SENT(s->references);
	s->image.members = SENT(s->members);
	s->image.targets = SENT(s->targets);
	s->image.bytecodes = SENT(s->bytecodes);
	s->image.texts = SENT(s->texts);
}

#endif
