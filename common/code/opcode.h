/*
 * An instruction taken apart and not understood: prefixes, opcode, operand encodings, length. What
 * the walks over code need of most instructions, some seven times faster than a whole decoder
 * (code/insn.h), which is asked where more is needed.
 *
 * Covers 64-bit mode with legacy, VEX and EVEX encodings (Intel SDM volume 2, chapter 2 and
 * appendix A). Pure functions; async-signal-safe.
 */
#ifndef JXPERF_COMMON_CODE_OPCODE_H
#define JXPERF_COMMON_CODE_OPCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/code/registers.h"

enum opcode_map {
	OPCODE_ONE_BYTE,
	OPCODE_0F,
	OPCODE_0F38,
	OPCODE_0F3A,
};

#define OPCODE_REX_W 8u
#define OPCODE_REX_R 4u
#define OPCODE_REX_X 2u
#define OPCODE_REX_B 1u

/* A memory operand: base + index * scale + displacement, and where the next instruction begins. */
struct operand {
	int8_t base;
	int8_t index;
	uint8_t scale;
	bool rip_relative; /* no base; of struct insn, displacement is the address */
	/* The whole decoder alone tells what is done to it (code/insn.h, code/effects.h). */
	bool loads;
	bool stores;
	bool strange; /* more than one, or one that base and index do not tell: gather, fs:, strings
		       */
	uint16_t size; /* bytes */
	int64_t displacement;
};

#define OPERAND_NONE ((struct operand){.base = -1, .index = -1})

struct opcode {
	uint8_t length;
	uint8_t map; /* enum opcode_map */
	uint8_t code;
	uint8_t rex; /* OPCODE_REX_*, also of VEX and EVEX */
	uint8_t modrm;
	bool has_rex;
	bool has_modrm;
	bool vex; /* VEX or EVEX */
	bool evex;
	bool operand16; /* prefix 66 */
	bool repeat;    /* F3 */
	bool repeat_not;
	bool unusual; /* lock, a segment, 32-bit addresses: not for whoever looks at operands */
	bool has_memory;
	struct operand memory; /* of EVEX the displacement is not scaled */
	int64_t immediate;     /* sign-extended */
};

/* False when there is no instruction, or one of an encoding that is not known here. */
bool opcode_read(const uint8_t *bytes, size_t available, struct opcode *out);

/* Longer ones there are none. */
#define OPCODE_BYTES_MAX 15u

/* The instruction at ip, in code that can be read up to end. */
static inline bool opcode_read_at(uint64_t ip, uint64_t end, struct opcode *out)
{
	uint64_t left = end > ip ? end - ip : 0;

	return opcode_read((const uint8_t *)(uintptr_t)ip,
			   left < OPCODE_BYTES_MAX ? left : OPCODE_BYTES_MAX, out);
}

/* Is it this one, of a single byte? */
static inline bool opcode_is(const struct opcode *o, uint8_t code)
{
	return o->map == OPCODE_ONE_BYTE && !o->vex && o->code == code;
}

/* The register of one that has it in its code, as push (from = 0x50) and pop (0x58) do, in encoding
 * order; -1: it is another one. */
static inline int opcode_register_of(const struct opcode *o, uint8_t from)
{
	if (o->map != OPCODE_ONE_BYTE || o->vex || o->code < from || o->code > from + 7)
		return -1;
	return o->code - from + (o->rex & OPCODE_REX_B ? 8 : 0);
}

enum opcode_flow {
	OPCODE_NEXT,
	OPCODE_BRANCH, /* conditional, direct */
	OPCODE_JUMP,   /* direct */
	OPCODE_CALL,   /* direct */
	OPCODE_INDIRECT_JUMP,
	OPCODE_INDIRECT_CALL,
	OPCODE_RETURN,
	OPCODE_TRAP, /* ud2, hlt, int3: not reached by code that works */
};

enum opcode_flow opcode_flow(const struct opcode *o);

/* Where a direct branch, jump or call at ip leads to. */
static inline uint64_t opcode_target(const struct opcode *o, uint64_t ip)
{
	return ip + o->length + (uint64_t)o->immediate;
}

/* How a memory operand is used. */
enum opcode_use {
	OPCODE_USES_NOT = 0, /* lea, nop, prefetch */
	OPCODE_LOADS = 1,
	OPCODE_STORES = 2,
	OPCODE_LOADS_AND_STORES = 3,
	OPCODE_USE_UNKNOWN = 4, /* ask the whole decoder */
};

/* What an instruction with has_memory does with it; known of what compiled code is mostly made of.
 */
enum opcode_use opcode_use(const struct opcode *o);

static inline unsigned opcode_reg(const struct opcode *o)
{
	return ((o->modrm >> 3) & 7u) | (o->rex & OPCODE_REX_R ? 8u : 0);
}

static inline unsigned opcode_rm(const struct opcode *o)
{
	return (o->modrm & 7u) | (o->rex & OPCODE_REX_B ? 8u : 0);
}

/* The opcode's own extension in modrm. */
static inline unsigned opcode_group(const struct opcode *o)
{
	return (o->modrm >> 3) & 7u;
}

#endif
