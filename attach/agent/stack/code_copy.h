/*
 * A compiled method as it is at this moment: its machine code, what the JVM's debug information
 * says of places in it, and where its calls lead.
 *
 * The method may be unloaded, and its memory be given to another one, while it is copied. So all
 * of it is read safely, and it counts only if before and behind that the code map has the same
 * number there: it holds that against the JVM's own code heap, and no number of a compilation comes
 * twice. What is copied is plain numbers: a wrong one is a wrong record, never an address that
 * anybody reads unsafely.
 *
 * Session thread.
 */
#ifndef JXPERF_AGENT_STACK_CODE_COPY_H
#define JXPERF_AGENT_STACK_CODE_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attach/agent/code/codemap.h"
#include "attach/agent/stack/frame_layout.h"
#include "proto/code_image.h"
#include "proto/limits.h"

/* What is kept of one method; an image of it fits a frame of the session's. Most calls inlined at
 * one place are those at another, too: each is kept once. */
#define COPIED_RECORDS_MAX  3072u
#define COPIED_FRAMES_MAX   4096u
#define COPIED_STACKS_MAX   16384u
#define COPIED_CALLS_MAX    2048u
#define COPIED_CHECKS_MAX   4096u
#define COPIED_METADATA_MAX 1024u

_Static_assert(COPIED_RECORDS_MAX <= LIMIT_CODE_RECORDS, "what the engine takes");
_Static_assert(COPIED_CHECKS_MAX <= LIMIT_CODE_RECORDS, "what the engine takes");

struct copied_record {
	uint32_t offset;
	uint16_t first; /* of the copy's stacks, innermost first */
	uint16_t count;
};

struct copied_call {
	uint32_t offset;
	enum code_target target;
	uint64_t method; /* address of the Method, or 0 */
};

struct code_copy {
	struct code_blob blob;
	bool cut;            /* there were more records, or calls */
	uint32_t loop_traps; /* as in struct scope_layout */
	uint32_t record_count, frame_count, stack_count, call_count, check_count, metadata_count;
	uint8_t bytes[LIMIT_CODE_BYTES];
	struct copied_record records[COPIED_RECORDS_MAX];
	uint16_t stacks[COPIED_STACKS_MAX]; /* indices of frames */
	struct scope_call frames[COPIED_FRAMES_MAX];
	uint16_t frame_table[2 * COPIED_FRAMES_MAX]; /* by hash: index + 1 */
	struct copied_call calls[COPIED_CALLS_MAX];
	struct code_null_check checks[COPIED_CHECKS_MAX]; /* ascending, in the code */
	uint64_t metadata[COPIED_METADATA_MAX];           /* addresses that the code names */
};

/* The code of a number in the code map, to be freed with free. 0; -ENOENT when it is gone, -E2BIG
 * when it is larger than LIMIT_CODE_BYTES, -ENOMEM; then *out is NULL. */
int code_copy_take(struct code_copy **out, const struct frame_layout *layout, uint64_t serial);

/* Its bytes alone: size of them, into to. False when it is gone. */
bool code_copy_bytes(const struct code_blob *blob, uint8_t *to);

/* Whose code a place is in (codemap_place; 0: nowhere), for whoever asks which method of it makes
 * an access by an instruction of these bytes; *offset: where in it, of a call its last byte. 0,
 * with *offset as it was: code that is not there any more, or has other code in its place, is
 * nobody's. */
uint64_t code_copy_place(uint32_t at, const uint8_t *bytes, unsigned length, uint32_t *offset);

#endif
