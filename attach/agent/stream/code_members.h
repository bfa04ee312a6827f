/*
 * Reads what the bytecodes of a window's images name, as their messages have it: each member of a
 * constant pool is read once, with the methods that a call of it may lead to. Session thread.
 *
 * A constant pool is known by its address as long as the method that named its first member is
 * still there. Classes that are loaded later do not add to where a call may lead.
 */
#ifndef JXPERF_AGENT_STREAM_CODE_MEMBERS_H
#define JXPERF_AGENT_STREAM_CODE_MEMBERS_H

#include "attach/agent/method/references.h"
#include "attach/agent/method/targets.h"
#include "proto/code_image.h"
#include "proto/jxperf.pb-c.h"

/* So many are kept at a time; one image has room for all of it. */
#define CODE_MEMBERS_MAX     3072u
#define CODE_MEMBERS_TEXT    (96u << 10)  /* where each of an image's is kept once */
#define CODE_MEMBER_BYTES    (192u << 10) /* of one image's texts, on the wire */
#define CODE_MEMBERS_SYMBOLS 6144u
#define CODE_MEMBERS_POOLS   1024u
#define CODE_MEMBERS_PAGES   128u /* sets of parts of pages */

/* One takes so much. */
#define CODE_MEMBERS_BYTES (1468u << 10)

struct code_members;

/* NULL when memory is short. */
struct code_members *code_members_new(const struct method_layout *layout);
void code_members_free(struct code_members *m); /* NULL is fine */

/* Begins an image, of compiled code that names so many addresses of the JVM's: none of the members
 * is in it, and memory is read anew. False when memory is short. */
bool code_members_begin(struct code_members *m, const uint64_t *names, size_t count);

/* Forgets all members, in the middle of an image, too. */
void code_members_forget(struct code_members *m);

/* Reads methods with it. */
const struct pool_reader *code_members_reader(const struct code_members *m);

/* The constant pool of a method that was just read, as code_members_find takes it; -1: there is
 * no room. */
int32_t code_members_pool(struct code_members *m, const struct method_copy *method);

/* The member that a reference names; -1 where it cannot be read, or there is no room. */
int32_t code_members_find(struct code_members *m, int32_t pool, const struct reference *reference);

/* The place of a member in the image's list, where it is put; -1: there is no room. */
int32_t code_members_use(struct code_members *m, uint32_t member);

/* Where a call of a member may lead: looked for when it is asked about first. */
struct member_targets {
	bool known; /* the caller's: numbers are set */
	uint8_t count, number_count;
	uint64_t methods[TARGETS_MAX]; /* addresses of Methods */
	uint32_t numbers[TARGETS_MAX];
};
struct member_targets *code_members_targets(struct code_members *m, uint32_t member);

/* Is the one with an index a variable handle's method? */
bool code_members_is_handle(const struct code_members *m, uint32_t index);

/* Was there something that there was no room for, in this image? */
bool code_members_cut(const struct code_members *m);

/* Puts a text among those of the image: where it begins. 0 for "", and where it has no room. */
uint32_t code_members_text(struct code_members *m, const char *text);

/* Gives the message the image's members and texts. */
void code_members_send(const struct code_members *m, Jxp__CodeImage *image);

#endif
