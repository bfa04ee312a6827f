/*
 * A compiled method as its agent sent it: machine code, what the JVM's debug information says of
 * places in it, and the bytecodes of all methods that are inlined there, with those of methods that
 * they may lead to, and what these bytecodes name. Nobody vouches for any of it.
 *
 * Records, calls and null checks ascend by offset, a method's references by bci; whoever fills an
 * image in sees to that, and to all numbers being those of what is there. The image owns its
 * memory.
 */
#ifndef JXPERF_PROFILE_LOOPS_CODE_IMAGE_H
#define JXPERF_PROFILE_LOOPS_CODE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/code_image.h"

struct code_image {
	uint64_t code;  /* the agent's number */
	uint64_t start; /* address of the first byte */
	uint8_t *bytes;
	uint32_t size;
	uint32_t method;     /* index of methods: that it was compiled from */
	uint32_t loop_traps; /* reasons of traps, by bit, that have the record of a loop's head */
	struct code_method *methods;
	struct code_record *records;
	struct code_frame *frames;
	struct code_call *calls;
	uint8_t *bytecodes;
	uint16_t *array_types; /* by bytecodes' bytes (attribution/array_types.h); or NULL */
	struct code_null_check *null_checks;
	struct code_member *members;
	char *texts; /* each ends with a zero; the first is "" */
	struct code_reference *references;
	uint32_t *targets; /* indices of methods */
	size_t method_count, record_count, frame_count, call_count, bytecode_bytes;
	size_t null_check_count, member_count, text_bytes, reference_count, target_count;
};

void code_image_release(struct code_image *image);

/* Heap bytes held. */
size_t code_image_memory_bytes(const struct code_image *image);

/* What a bytecode of a method names; NULL: nothing, or it is not known. */
const struct code_reference *code_image_reference(const struct code_image *image, uint32_t method,
						  uint32_t bci);

/* A text of a member. */
const char *code_image_text(const struct code_image *image, uint32_t text);

/* The null check of the instruction at an offset; NULL where it has none. */
const struct code_null_check *code_image_null_check(const struct code_image *image,
						    uint32_t offset);

#endif
