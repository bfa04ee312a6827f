/*
 * What an instruction does to registers and memory, for following values through code: which
 * registers it reads and writes, all of them, and whether what it writes is a copy, a constant, or
 * what was there and some.
 *
 * Pure functions of bytes; async-signal-safe. Zydis does the work, some 200 ns an instruction: not
 * for walks in handlers.
 */
#ifndef JXPERF_COMMON_CODE_EFFECTS_H
#define JXPERF_COMMON_CODE_EFFECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/code/opcode.h"

/* What is written, of what is read. */
enum effect_kind {
	EFFECT_OTHER,
	EFFECT_COPY,     /* the one source, perhaps extended */
	EFFECT_CONSTANT, /* reads nothing */
	EFFECT_STEP,     /* the one source, and immediate */
	EFFECT_DERIVE,   /* sums, differences, shifts by constants, and with constants */
	EFFECT_SELECT,   /* one of its sources: cmov, minimum, maximum, blend */
	EFFECT_COMPARE,  /* writes nothing but flags */
	EFFECT_PAUSE,
};

struct effects {
	/* Of an encoding that is not known there, its length and memory alone. */
	struct opcode code;
	uint8_t kind; /* enum effect_kind */
	bool shifts_right;
	bool tests_null; /* compares with 0: test of a register with itself, cmp with 0 */
	uint64_t reads;  /* for addresses too */
	uint64_t writes; /* ... parts of a register are both read and written */
	/* Those of them that are vectors and operands of arithmetic, conversions, comparisons and
	 * broadcasts that say what their elements are. Moves, logic, shuffles and blends do not:
	 * compilers use those of the integers for floats and the other way round. */
	uint64_t float32, float64, integer;
	int64_t immediate; /* of EFFECT_STEP; of a shift or and, its constant */
};

/* The instruction at bytes[0..available). False when there is none. */
bool effects_decode(const uint8_t *bytes, size_t available, struct effects *out);

#endif
