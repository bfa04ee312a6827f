/*
 * The bytecodes of the methods of a window's images, with what they name: most methods are in more
 * than one image, and each is read once. Session thread.
 */
#ifndef JXPERF_AGENT_STREAM_CODE_BYTECODES_H
#define JXPERF_AGENT_STREAM_CODE_BYTECODES_H

#include "attach/agent/method/method_copy.h"
#include "attach/agent/stream/code_members.h"

/* So many are kept at a time; one image has room for all of it. */
#define CODE_BYTECODES_MAX  (128u << 10) /* bytes */
#define CODE_REFERENCES_MAX 6144u        /* bytecodes that name something */
#define CODE_METHODS_READ   1024u

/* One takes so much, with its members. */
#define CODE_BYTECODES_BYTES (CODE_MEMBERS_BYTES + (268u << 10))

/* A bytecode, and what it names: of the code members. */
struct read_reference {
	uint16_t bci;
	uint16_t member;
};

struct read_method {
	uint32_t number; /* 0: none */
	uint16_t size, reference_count;
	uint8_t *code;
	struct read_reference *references; /* ascending */
};

struct code_bytecodes;

/* NULL when memory is short. */
struct code_bytecodes *code_bytecodes_new(const struct method_layout *layout);
void code_bytecodes_free(struct code_bytecodes *b); /* NULL is fine */

/* Begins an image of code that names so many addresses. False when memory is short. */
bool code_bytecodes_begin(struct code_bytecodes *b, const uint64_t *names, size_t count);

/* Forgets all that was read; whether there was anything from images before. */
bool code_bytecodes_forget(struct code_bytecodes *b);

/* The bytecodes of the method with a number; NULL where they cannot be read, or have no room. What
 * it points to is there until all is forgotten. */
const struct read_method *code_bytecodes_read(struct code_bytecodes *b, uint32_t number,
					      const struct method_copy *method);

struct code_members *code_bytecodes_members(struct code_bytecodes *b);

/* Was there something that there was no room for, in this image? */
bool code_bytecodes_cut(const struct code_bytecodes *b);

#endif
