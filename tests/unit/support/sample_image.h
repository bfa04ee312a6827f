/*
 * An image of compiled code that an agent sends, of the methods of sample_batch.h.
 */
#ifndef JXPERF_TESTS_UNIT_SUPPORT_SAMPLE_IMAGE_H
#define JXPERF_TESTS_UNIT_SUPPORT_SAMPLE_IMAGE_H

#include <stdint.h>

#include "proto/jxperf.pb-c.h"

#define CODE UINT64_C(0x7000000001)
#define FILL 2u /* method, and node */
#define SUM  3u

/* What Main.fill's code reads the field at; that it polls at, with a record; its end. */
#define READS 0u
#define POLLS 4u
#define ENDS  7u

/* Main.fill is compiled, Main.sum a getter that may be inlined there and leaves no record. */
struct sample_image {
	Jxp__CodeImage image;
	Jxp__CodeImage__Frame frame, *frame_list[1];
	Jxp__CodeImage__Record record, *record_list[1];
	Jxp__CodeImage__Bytecodes bytecodes[2], *bytecode_list[2];
	Jxp__CodeImage__Reference references[3], *reference_list[3];
	Jxp__CodeImage__Member members[3], *member_list[3];
	uint32_t target;
};

static void sample_member(struct sample_image *s, uint32_t i, const char *name,
			  const char *descriptor)
{
	jxp__code_image__member__init(&s->members[i]);
	s->members[i].class_name = (char *)"org.example.Main$Base";
	s->members[i].name = (char *)name;
	s->members[i].descriptor = (char *)descriptor;
	s->member_list[i] = &s->members[i];
}

static void sample_reference(struct sample_image *s, uint32_t i, int32_t bci, uint32_t member)
{
	jxp__code_image__reference__init(&s->references[i]);
	s->references[i].bci = bci;
	s->references[i].member = member;
	s->reference_list[i] = &s->references[i];
}

static void sample_bytecodes(struct sample_image *s, uint32_t i, uint32_t method,
			     ProtobufCBinaryData code)
{
	jxp__code_image__bytecodes__init(&s->bytecodes[i]);
	s->bytecodes[i].method = method;
	s->bytecodes[i].code = code;
	s->bytecode_list[i] = &s->bytecodes[i];
}

/* Main.fill: aload_0, invokevirtual sum (1), putfield rows (4), return (7); Main.sum: aload_0,
 * getfield total (1), lreturn. */
static void sample_image_methods(struct sample_image *s)
{
	static uint8_t fill[] = {0x2a, 0xb6, 0, 1, 0xb5, 0, 2, 0xb1};
	static uint8_t sum[] = {0x2a, 0xb4, 0, 1, 0xad};

	sample_member(s, 0, "sum", "()J");
	sample_member(s, 1, "rows", "J");
	sample_member(s, 2, "total", "J");
	sample_reference(s, 0, 1, 0);
	sample_reference(s, 1, 4, 1);
	sample_reference(s, 2, 1, 2);
	s->target = SUM;
	s->references[0].targets = &s->target;
	s->references[0].n_targets = 1;
	sample_bytecodes(s, 0, FILL, (ProtobufCBinaryData){sizeof(fill), fill});
	s->bytecodes[0].references = s->reference_list;
	s->bytecodes[0].n_references = 2;
	sample_bytecodes(s, 1, SUM, (ProtobufCBinaryData){sizeof(sum), sum});
	s->bytecodes[1].references = s->reference_list + 2;
	s->bytecodes[1].n_references = 1;
	s->image.members = s->member_list;
	s->image.n_members = 3;
	s->image.bytecodes = s->bytecode_list;
	s->image.n_bytecodes = 2;
}

static void sample_image_init(struct sample_image *s)
{
	/* mov rax, [rsi + 0xc]; test [r10], eax; ret */
	static uint8_t code[] = {0x48, 0x8b, 0x46, 0x0c, 0x41, 0x85, 0x02, 0xc3};

	*s = (struct sample_image){0};
	jxp__code_image__init(&s->image);
	s->image.code = CODE;
	s->image.method = FILL;
	s->image.bytes = (ProtobufCBinaryData){sizeof(code), code};
	jxp__code_image__frame__init(&s->frame);
	s->frame.method = FILL;
	s->frame.bci = 7;
	s->frame_list[0] = &s->frame;
	jxp__code_image__record__init(&s->record);
	s->record.offset = POLLS;
	s->record.frames = s->frame_list;
	s->record.n_frames = 1;
	s->record_list[0] = &s->record;
	s->image.records = s->record_list;
	s->image.n_records = 1;
	sample_image_methods(s);
}

#endif
