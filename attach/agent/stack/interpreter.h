/*
 * HotSpot's template interpreter, as far as its frames are told from outside: which of its parts a
 * pc lies in.
 *
 * The innermost frame's place is in a register or in its frame, by the part that runs: templates
 * of bytecodes keep it in r13, and save it before they call. Where a part is none of those that are
 * known here, or the frame is in another state than the part leaves it in, nothing is told.
 *
 * Async-signal-safe, but for interpreter_add.
 */
#ifndef JXPERF_AGENT_STACK_INTERPRETER_H
#define JXPERF_AGENT_STACK_INTERPRETER_H

#include <stdbool.h>
#include <stdint.h>

/* It has some 280 parts. */
#define INTERPRETER_PARTS_MAX 512u

enum interpreter_part {
	PART_OTHER,
	PART_ENTRY,    /* of methods: builds the frame */
	PART_BYTECODE, /* the template of one that calls nothing, */
	PART_INVOKE,   /* of one that calls, */
	PART_RETURN,   /* or returns */
	PART_BACK,     /* where calls return to */
};

struct interpreter {
	uint64_t low; /* [low, high) is all of it */
	uint64_t high;
	/* Where each of those in order ends, from low on. 0: they are not known. */
	unsigned part_count;
	uint32_t header_bytes; /* of each, before its code */
	uint32_t part_end[INTERPRETER_PARTS_MAX];
	uint8_t parts[INTERPRETER_PARTS_MAX];
};

/* Before a window: the next part, of this name and so many bytes. False when there is no room. */
bool interpreter_add(struct interpreter *interpreter, const char *name, uint32_t bytes);

static inline bool interpreter_contains(const struct interpreter *interpreter, uint64_t pc)
{
	return pc >= interpreter->low && pc < interpreter->high;
}

enum interpreter_part interpreter_part_at(const struct interpreter *interpreter, uint64_t pc);

/* The code of the part that pc lies in. */
struct interpreter_code {
	uint64_t begin, end;
};
struct interpreter_code interpreter_code_at(const struct interpreter *interpreter, uint64_t pc);

#endif
