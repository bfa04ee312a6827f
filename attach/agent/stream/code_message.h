/*
 * CodeImage messages: what was copied of a compiled method, and the bytecodes of the methods in it.
 * One makes all of a window's, one after the other. Session thread.
 */
#ifndef JXPERF_AGENT_STREAM_CODE_MESSAGE_H
#define JXPERF_AGENT_STREAM_CODE_MESSAGE_H

#include <stdint.h>

#include "attach/agent/method/method_table.h"
#include "attach/agent/stack/code_copy.h"
#include "attach/agent/stream/code_bytecodes.h"
#include "proto/jxperf.pb-c.h"

/* Methods that calls may lead to are added while there are fewer than this in all, and to this
 * depth below those of records. One that left no record has no call of its own in the code:
 * whatever it calls left none either. So longer ones are not looked through for calls. */
#define CODE_METHODS_MAX    512u
#define CODE_TARGETS_DEPTH  3u
#define CODE_LEADS_ON_BYTES 48u

/* One takes so much, with the copy. */
#define CODE_MESSAGE_BYTES \
	(sizeof(struct code_copy) + CODE_MESSAGE_LISTS_BYTES + CODE_BYTECODES_BYTES)

/* So much of these is for all that is sent but members and texts. */
#define CODE_MESSAGE_LISTS_BYTES (848u << 10)

struct code_methods {
	const struct method_table *table;
	const struct method_layout *layout;
	/* Gives the number of the Method at an address, telling the engine its name first; 0: it
	 * has none. */
	uint32_t (*number)(void *arg, uint64_t method);
	void *arg;
};

struct code_message;

/* What methods point to outlives it. NULL when memory is short. */
struct code_message *code_message_new(const struct code_methods *methods);
void code_message_free(struct code_message *m); /* NULL is fine */

/* The message of a copy, whose bytes it has, until the next is made; NULL when memory is short. */
Jxp__CodeImage *code_message_make(struct code_message *m, const struct code_copy *copy);

/* Is something of it left out, because it had no room? */
bool code_message_cut(const struct code_message *m);

#endif
