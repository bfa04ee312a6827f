/*
 * A CodeImage message: what was copied of a compiled method, and the bytecodes of the methods in
 * it. Session thread.
 */
#ifndef JXPERF_AGENT_STREAM_CODE_MESSAGE_H
#define JXPERF_AGENT_STREAM_CODE_MESSAGE_H

#include <stdint.h>

#include "attach/agent/jvm/vm.h"
#include "attach/agent/stack/code_copy.h"
#include "proto/jxperf.pb-c.h"

/* Of all methods of an image together. */
#define CODE_BYTECODES_MAX (128u << 10)

/* What one takes, with the copy: protobuf-c has a struct and a pointer for each part. */
#define CODE_MESSAGE_BYTES                                                                        \
	(sizeof(struct code_copy) + CODE_BYTECODES_MAX +                                          \
	 COPIED_FRAMES_MAX * sizeof(Jxp__CodeImage__Frame) + COPIED_STACKS_MAX * sizeof(void *) + \
	 COPIED_RECORDS_MAX * (sizeof(Jxp__CodeImage__Record) + sizeof(void *)) +                 \
	 COPIED_CALLS_MAX * (sizeof(Jxp__CodeImage__Call) + sizeof(void *)) +                     \
	 LIMIT_CODE_METHODS * (sizeof(Jxp__CodeImage__Bytecodes) + sizeof(void *)))

/* Gives the number of a method, telling the engine its name first; 0: it has none. */
typedef uint32_t code_method_number(void *arg, uint64_t method);

struct code_message;

/* The parts' bytes are copy's, which outlives the message. vm is asked for bytecodes; NULL: there
 * are none. NULL when memory is short. */
struct code_message *code_message_new(const struct code_copy *copy, code_method_number *number,
				      void *arg, struct vm *vm);
void code_message_free(struct code_message *m); /* NULL is fine */

/* The message's own. */
Jxp__CodeImage *code_message_image(struct code_message *m);

#endif
