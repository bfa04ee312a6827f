/*
 * One x86-64 instruction as the samplers see it: which memory it names, how it reads and writes it,
 * and where control goes next.
 *
 * Pure functions of bytes and registers; async-signal-safe (Zydis neither allocates nor keeps
 * state). "Explicit" accesses are those of a memory operand. Implicit stack traffic of call, ret,
 * push and pop is described apart, because it is not sampled but can still be the second access of
 * a pair.
 */
#ifndef JXPERF_COMMON_CODE_INSN_H
#define JXPERF_COMMON_CODE_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/code/opcode.h"

#define INSN_MAX_BYTES 15

/* Bits of REG_EFL. */
#define INSN_FLAG_ZERO      0x040u
#define INSN_FLAG_DIRECTION 0x400u

enum insn_flow {
	FLOW_NEXT,        /* falls through */
	FLOW_CONDITIONAL, /* taken or not: flags, or rcx for jrcxz and loop */
	FLOW_JUMP,
	FLOW_CALL,
	FLOW_RETURN,
	FLOW_STOP, /* leaves user code or cannot be followed: syscall, int3, hlt, ud2, far */
};

enum insn_element {
	ELEMENT_INTEGER,
	ELEMENT_FLOAT32,
	ELEMENT_FLOAT64,
};

/* The elements of what a vector instruction accesses. A masked access touches only lanes whose bit
 * is set in opmask, or whose highest bit is set in mask_vector (extent.h). */
struct insn_lanes {
	enum insn_element element;
	bool untyped;          /* a plain vector move: element says nothing (element.h) */
	uint8_t opmask;        /* k1 to k7, or 0 */
	int8_t mask_vector;    /* ymm0 to ymm15, or -1 */
	uint8_t bytes;         /* of each, of a masked access */
	bool mask_overwritten; /* by the instruction itself */
};

struct insn {
	uint64_t ip;
	uint8_t length;
	uint8_t bytes[INSN_MAX_BYTES];
	bool has_memory; /* memory is valid: one explicit operand that can be evaluated */
	bool repeats;    /* rep-prefixed string instruction: traps with ip still on itself */
	/* It accesses memory, other than by implicit stack traffic, in one of the ways below. */
	bool loads;
	bool stores;
	bool string;          /* movs, stos, lods, ...: operands are [rsi] and/or [rdi] */
	bool string_source;   /* ... one of them is [rsi] */
	bool string_compares; /* ... cmps, scas: repeated until a comparison ends it */
	bool string_reads;    /* ... reads [rsi] (or [rdi] for scas) */
	bool string_writes;   /* ... writes [rdi] */
	bool unsupported;     /* touches memory in a way that is not evaluated: gather, scatter,
			       * compress, masked arithmetic, fs: and gs:, more than 64 bytes */
	int8_t
	    stack_delta; /* implicit stack traffic: -8 push-like (store), +8 pop-like (load), 0 */
	uint16_t string_size; /* bytes of one string element */
	struct operand memory;
	struct insn_lanes lanes;
	enum insn_flow flow;
	uint64_t writes;         /* of general registers, and flags */
	bool tests_memory;       /* test [mem], reg: what HotSpot polls for safepoints with */
	bool compares_immediate; /* test or cmp [mem], imm */
	bool compares_and_swaps; /* cmpxchg: a store only if the zero flag is set after it */
	int loads_register;      /* whose low memory.size bytes are a copy of what was
				  * loaded, or -1 */
	/* Control flow: a direct target, or through a register or memory operand. */
	bool target_direct;
	uint64_t target;
	int target_register; /* or -1 */
	uint16_t mnemonic;   /* ZydisMnemonic, for evaluating conditions */
};

/* Decodes the instruction at bytes[0..available), which stands at ip. False when there is none. */
bool insn_decode(const uint8_t *bytes, size_t available, uint64_t ip, struct insn *out);

/* Length alone, several times faster; 0 when there is no instruction. */
unsigned insn_length(const uint8_t *bytes, size_t available);

/* The address its memory operand names with these registers. The instruction must have one. */
uint64_t insn_effective_address(const struct insn *insn, const gregset_t regs);

/* For FLOW_CONDITIONAL: is the branch taken with these flags and registers? False in *known when
 * the condition is not one we evaluate. */
bool insn_branch_taken(const struct insn *insn, const gregset_t regs, bool *known);

/* The instruction has run and left these registers: did it store? */
bool insn_stored(const struct insn *insn, const gregset_t regs);

/* Does the instruction write a register that the operand, its own or another's, is made of? Then
 * the operand names another address, or the same by chance, once the instruction has run. */
bool insn_overwrites(const struct insn *insn, const struct operand *operand);

static inline bool insn_writes(const struct insn *insn, int reg)
{
	return reg >= 0 && (insn->writes & REGISTER_GENERAL(reg));
}

static inline bool insn_is_masked(const struct insn *insn)
{
	return insn->lanes.opmask || insn->lanes.mask_vector >= 0;
}

/* Intel syntax, for reports; rip-relative operands keep their displacement so that the text does
 * not depend on where the code lies. Not for handlers (slow). */
void insn_format(const uint8_t *bytes, size_t length, char *text, size_t size);

#endif
