/*
 * A compiled method as its agent sent it: machine code, what the JVM's debug information says of
 * places in it, and the bytecodes of all methods that are inlined there. Nobody vouches for any of
 * it.
 *
 * Records and calls ascend by offset; whoever fills an image in sees to that, and to all numbers
 * being those of what is there. The image owns its memory.
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

struct code_method {
	uint32_t name;           /* method of the window's tree (profile/cct.h) */
	uint32_t bytecode;       /* where its code begins in bytecodes */
	uint32_t bytecode_bytes; /* 0: not known */
	bool io;                 /* input or output (daemon/intake/io_methods.h) */
};

struct code_image {
	uint64_t code;  /* the agent's number */
	uint64_t start; /* address of the first byte */
	uint8_t *bytes;
	uint32_t size;
	uint32_t method; /* index of methods: that it was compiled from */
	struct code_method *methods;
	struct code_record *records;
	struct code_frame *frames;
	struct code_call *calls;
	uint8_t *bytecodes;
	size_t method_count, record_count, frame_count, call_count, bytecode_bytes;
};

void code_image_release(struct code_image *image);

/* Heap bytes held. */
size_t code_image_memory_bytes(const struct code_image *image);

#endif
