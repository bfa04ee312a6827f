/*
 * What the bytecodes of one image name, as its message has it: each member of a constant pool once,
 * with the methods that a call of it may lead to. Session thread.
 */
#ifndef JXPERF_AGENT_STREAM_CODE_MEMBERS_H
#define JXPERF_AGENT_STREAM_CODE_MEMBERS_H

#include "attach/agent/method/references.h"
#include "attach/agent/method/targets.h"
#include "proto/jxperf.pb-c.h"

/* What one image has. */
#define CODE_MEMBERS_MAX     3072u
#define CODE_MEMBER_BYTES    (192u << 10) /* their texts, on the wire */
#define CODE_MEMBERS_TEXT    (96u << 10)  /* here, where each is kept once */
#define CODE_MEMBERS_SYMBOLS 6144u
#define CODE_MEMBERS_PAGES   128u /* sets of parts of pages */

/* What one takes. */
#define CODE_MEMBERS_BYTES (1344u << 10)

struct code_members;

/* Of compiled code that names so many addresses of the JVM's, which outlive it, as does layout.
 * NULL when memory is short. */
struct code_members *code_members_new(const struct method_layout *layout, const uint64_t *names,
				      size_t count);
void code_members_free(struct code_members *m); /* NULL is fine */

/* Reads methods with it. */
const struct pool_reader *code_members_reader(const struct code_members *m);

/* The index of what a reference names, in the method whose constant pool that is; -1 where it
 * cannot be read, or there is no room. */
int32_t code_members_find(struct code_members *m, uint64_t pool, const struct reference *reference);

/* Where a call of the one with an index may lead: looked for when it is asked about first. */
struct member_targets {
	bool known; /* the caller's: numbers are set */
	uint8_t count, number_count;
	uint64_t methods[TARGETS_MAX]; /* addresses of Methods */
	uint32_t numbers[TARGETS_MAX];
};
struct member_targets *code_members_targets(struct code_members *m, uint32_t index);

/* Was there something that there was no room for? */
bool code_members_cut(const struct code_members *m);

/* For the message: all of them, by index. */
Jxp__CodeImage__Member **code_members_list(struct code_members *m, size_t *count);

#endif
