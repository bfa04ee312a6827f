/*
 * Which bytes of memory an access touches.
 *
 * All of its operand, mostly. Of a masked vector access only the bytes of active lanes: the mask is
 * in a register, which the signal's frame holds. Of a repeated string instruction one element at a
 * time: it is a loop of accesses, one of which is chosen.
 *
 * Async-signal-safe after xstate_init.
 */
#ifndef JXPERF_AGENT_CODE_EXTENT_H
#define JXPERF_AGENT_CODE_EXTENT_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "common/code/insn.h"
#include "attach/agent/code/search.h"
#include "common/random.h"

struct extent {
	uint64_t address;
	uint64_t active; /* bit i: the byte at address + i is accessed; not 0 if EXTENT_KNOWN */
	uint32_t size;   /* of the operand, to LIMIT_ACCESS_BYTES */
	/* Bytes that the access moves, and that a pair stands for. A repeated string instruction
	 * moves up to 64 bytes in a step. */
	uint32_t width;
};

enum extent_result {
	EXTENT_KNOWN,
	EXTENT_NOTHING, /* no lane is active, or nothing is left to repeat: no access */
	EXTENT_UNKNOWN, /* gather, scatter, compress, or a mask that cannot be read */
};

/* Do two runs of bytes share any? */
static inline bool extent_overlap(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
	return a < b + b_size && b < a + a_size;
}

/* All bytes of an operand. */
struct extent extent_whole(uint64_t address, uint32_t size);

/* The extent of an instruction's explicit memory operand, at address. after: it has run already,
 * and may have overwritten its mask. */
enum extent_result extent_of_operand(const struct insn *insn, const ucontext_t *uc,
				     uint64_t address, bool after, struct extent *out);

/* The extent of the access that an instruction is about to make, with registers as in uc. For a
 * string instruction it is one element of those that it still has to do, chosen at random. */
enum extent_result extent_of_next(const struct insn *insn, const ucontext_t *uc,
				  enum access_type type, struct random *random, struct extent *out);

#endif
