/*
 * A CodeImage message: what was copied of a compiled method, and the bytecodes of the methods in
 * it. Session thread.
 */
#ifndef JXPERF_AGENT_STREAM_CODE_MESSAGE_H
#define JXPERF_AGENT_STREAM_CODE_MESSAGE_H

#include <stdint.h>

#include "attach/agent/method/method_table.h"
#include "attach/agent/stack/code_copy.h"
#include "attach/agent/stream/code_members.h"
#include "proto/jxperf.pb-c.h"

/* Of all methods of an image together. */
#define CODE_BYTECODES_MAX (128u << 10)

/* Of bytecodes that name something. */
#define CODE_REFERENCES_MAX 6144u

/* Methods that calls may lead to are added while there are fewer than this in all, and to this
 * depth below those of records. One that left no record has no call of its own in the code:
 * whatever it calls left none either. So longer ones are not looked through for calls. */
#define CODE_METHODS_MAX    512u
#define CODE_TARGETS_DEPTH  3u
#define CODE_LEADS_ON_BYTES 48u

/* What one takes, with the copy: protobuf-c has a struct and a pointer for each part. */
#define CODE_MESSAGE_BYTES                                                                        \
	(sizeof(struct code_copy) + CODE_BYTECODES_MAX +                                          \
	 COPIED_FRAMES_MAX * sizeof(Jxp__CodeImage__Frame) + COPIED_STACKS_MAX * sizeof(void *) + \
	 COPIED_RECORDS_MAX * (sizeof(Jxp__CodeImage__Record) + sizeof(void *)) +                 \
	 COPIED_CALLS_MAX * (sizeof(Jxp__CodeImage__Call) + sizeof(void *)) +                     \
	 COPIED_CHECKS_MAX * (sizeof(Jxp__CodeImage__NullCheck) + sizeof(void *)) +               \
	 CODE_MESSAGE_LISTS_BYTES + CODE_MEMBERS_BYTES)

/* Of these, all methods and what their bytecodes name. */
#define CODE_MESSAGE_LISTS_BYTES (768u << 10)

struct code_methods {
	const struct method_table *table;
	const struct method_layout *layout;
	/* Gives the number of the Method at an address, telling the engine its name first; 0: it
	 * has none. */
	uint32_t (*number)(void *arg, uint64_t method);
	void *arg;
};

struct code_message;

/* The parts' bytes are copy's, which outlives the message, as do methods. NULL when memory is
 * short. */
struct code_message *code_message_new(const struct code_copy *copy,
				      const struct code_methods *methods);
void code_message_free(struct code_message *m); /* NULL is fine */

/* Is something left out, because it had no room? */
bool code_message_cut(const struct code_message *m);

/* The message's own. */
Jxp__CodeImage *code_message_image(struct code_message *m);

#endif
