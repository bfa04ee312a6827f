/*
 * A code image taken apart: its flow graph and loops, what each instruction does, where calls lead
 * and which blocks only lead out of compiled code.
 *
 * Borrowed from the image, which stays. Instructions are those of the blocks, in their order; what
 * could not be decoded ends its block.
 */
#ifndef JXPERF_PROFILE_LOOPS_NATIVE_CODE_H
#define JXPERF_PROFILE_LOOPS_NATIVE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/code/effects.h"
#include "common/code/flow_graph.h"
#include "profile/loops/code_image.h"

#define NATIVE_INSNS_MAX (24u << 10)
#define NATIVE_DEPTH_MAX 24u /* of loops in loops */

/* Where values are: general registers and vectors as in REGISTER_*, then words of the frame. Words
 * that there is no number left for are not followed. */
#define NATIVE_REGISTERS  48u
#define NATIVE_SLOTS      64u
#define NATIVE_LOCATIONS  (NATIVE_REGISTERS + NATIVE_SLOTS)
#define NATIVE_THREAD_MAX 8u

/* Calls, by what they may do and which registers they leave alone. */
enum native_call {
	NATIVE_NO_CALL,
	NATIVE_CALL,         /* of compiled code, or the run time: may do anything */
	NATIVE_CALL_LEAF,    /* of C, or a stub that is called like it: the same; callees save */
	NATIVE_CALL_BARRIER, /* a collector's, called like C: does nothing to the code */
	NATIVE_CALL_NOTHING, /* ... and all registers are saved around it */
	NATIVE_CALL_ENDS,
};

struct native_insn {
	uint32_t offset;
	uint8_t call;  /* enum native_call */
	bool branches; /* conditional */
	int8_t slot;   /* of the frame, that its memory operand is: an index, or -1 */
	bool returns;
	struct effects does;
};

struct native_code {
	const struct code_image *image;
	struct flow_graph *graph;
	struct native_insn *insns;
	uint32_t *first_insn; /* by block; one more at the end */
	bool *cold;           /* by block: from there the code is left for good, by no return */
	bool *undecoded;      /* by block: its end is not known */
	unsigned *loop_insns; /* by loop, with those inside it */
	size_t insn_count;
	int64_t slots[NATIVE_SLOTS]; /* by number: from rsp */
	unsigned slot_count;
	/* Words of the JVM's thread that are stored to: where memory is allocated from. */
	int64_t thread_words[NATIVE_THREAD_MAX];
	unsigned thread_count;
	bool compact_headers; /* of objects: their class is loaded from there */
	/* The JVM has recorded all instructions that it knows something of, each where it ends, as
	 * it does while somebody listens to what it compiles. */
	bool dense;
};

/* 0; -E2BIG where the code is too large or too tangled, -ENOMEM; then n is empty. */
int native_code_make(struct native_code *n, const struct code_image *image);
void native_code_release(struct native_code *n);

/* Is block b in the loop, or in one inside it? */
bool native_in_loop(const struct native_code *n, uint16_t b, unsigned loop);

/* The instruction that begins at an offset; NULL where none does. */
const struct native_insn *native_insn_at(const struct native_code *n, uint32_t offset);

/* The instruction that ends at an offset, or NULL. */
const struct native_insn *native_insn_before(const struct native_code *n, uint32_t offset);

/* What the debug information says of a place, or NULL. */
const struct code_record *native_record_at(const struct native_code *n, uint32_t offset);

/* ... of an instruction: a call, one that may fault, or in dense code any. */
const struct code_record *native_record_of(const struct native_code *n,
					   const struct native_insn *insn);

/* Does a block lead to an uncommon trap for a branch that was never taken? Its call, or NULL.
 * Action reinterpret (deoptimization.hpp): when it is, the code is thrown away. */
const struct native_insn *native_pruned_branch(const struct native_code *n, uint16_t b);

/* Index of the image's methods, + 1, that a call leads straight to; 0: not known. */
uint32_t native_callee(const struct native_code *n, uint32_t offset);

/* Where the method begins that it was compiled from, where calls of itself tell: no debug
 * information does. Those by an inline cache lead to the check of the receiver's class before it.
 * False: it does not call itself. */
bool native_own_entry(const struct native_code *n, uint32_t *entry);

/* Does it call a stub of the JVM's that works for Java code: a copy, a comparison of strings? */
bool native_calls_stub(const struct native_code *n, const struct native_insn *insn);

/* Is it a direct call of what is no Java code? Where that is not known, too. */
bool native_calls_jvm(const struct native_code *n, const struct native_insn *insn);

/* The only block that b leads to, or FLOW_NO_BLOCK. */
uint16_t native_only_successor(const struct native_code *n, uint16_t b);

/* The only block that leads to b, or FLOW_NO_BLOCK. */
uint16_t native_only_source(const struct native_code *n, uint16_t b);

/* Instructions in the loop and all inside it. */
unsigned native_loop_insns(const struct native_code *n, unsigned loop);

/* Is it test [memory], register? HotSpot polls for safepoints by such a one. */
bool native_tests_memory(const struct native_code *n, const struct native_insn *insn);

/* ... where a register leads to: the value is nothing to it. */
bool native_polls(const struct native_code *n, const struct native_insn *insn);

#endif
