/*
 * A compiled method as its agent sent it: machine code, what the JVM's debug information says of
 * places in it, and the bytecodes of all methods that are inlined there, with those of methods that
 * they may lead to, and what these bytecodes name. Nobody vouches for any of it.
 *
 * Records, calls and null checks ascend by offset, a method's references by bci; whoever fills an
 * image in sees to that, and to all numbers being those of what is there. The image owns its
 * memory.
 */
#ifndef JXPERF_DAEMON_LOOPS_CODE_IMAGE_H
#define JXPERF_DAEMON_LOOPS_CODE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/jxperf.pb-c.h"

/* An inlined call, or the method itself. */
struct code_frame {
	uint32_t method; /* index of methods */
	int32_t bci;
};

/* What is known of one place. */
struct code_record {
	uint32_t offset;
	uint32_t first_frame; /* of frames, innermost first */
	uint32_t frame_count;
};

/* A call out of the code. */
struct code_call {
	uint32_t offset; /* of the instruction */
	Jxp__CodeImage__Call__Target target;
	uint32_t method; /* index of methods + 1, or 0 */
};

/* An instruction that may fault where a reference is null: it goes on at continuation then. */
struct code_null_check {
	uint32_t offset;
	uint32_t continuation;
};

/* What a bytecode names: a field, or a method, of which little is told. Where each text
 * begins in the image's texts; 0 is "". */
struct code_member {
	uint32_t class_name;  /* Java name with dots, arrays as long[] */
	uint32_t name;        /* of a method: where the JVM has code of its own for it, or "" */
	uint32_t descriptor;  /* as class files have it; of a method without names of classes */
	uint32_t declared_in; /* where that is known and not class_name */
};

/* One bytecode that names something. */
struct code_reference {
	uint32_t bci;
	uint32_t member;       /* index of members */
	uint32_t first_target; /* of targets: methods that it may lead to */
	uint32_t target_count; /* at most LIMIT_CODE_TARGETS */
};

struct code_method {
	uint32_t name;           /* method of the window's tree (profile/cct.h) */
	uint32_t bytecode;       /* where its code begins in bytecodes */
	uint32_t bytecode_bytes; /* 0: not known */
	uint32_t first_reference;
	uint32_t reference_count;
	uint32_t descriptor; /* as class files have it, where it has arrays */
	bool is_static;      /* told where it has a descriptor */
	bool io;             /* input or output (daemon/intake/code_intake.h) */
};

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
